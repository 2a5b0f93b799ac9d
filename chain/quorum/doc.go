// Package quorum asks the nodes of one ledger the same thing, and keeps what is known of each of them.
//
// It owns who is asked first, how long slow nodes are waited for, and which nodes are left alone: those that do not answer for a while, and
// those that were wrong. It does not own what an answer means: the adapters say when the answers suffice (a majority of all configured
// nodes, never of those that happened to answer) and which answer was wrong.
//
//	willing nodes ──ask──▶ answers ──enough?──▶ done, the slow ones are left behind
//	                           └──not decided──▶ the unwilling nodes are asked too
//
// So a node that is slow, silent or left out costs nothing while the others agree, and is heard as soon as they do not.
package quorum
