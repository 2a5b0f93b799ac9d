// Package quorum asks the nodes of one ledger the same question, and stores the state of each of
// them.
//
// It owns the order of asking, the waits for slow nodes, and the choice of nodes to skip: those
// that did not answer for a while, and those that were wrong. It does not own the meaning of an
// answer. The adapters decide when the answers suffice (a majority of all configured nodes, never
// of those that happened to answer) and which answer was wrong.
//
//	willing nodes ──ask──▶ answers ──enough?──▶ done, the slow ones are abandoned
//	                           └──not decided──▶ the unwilling nodes are asked too
//
// So a node that is slow, silent or skipped costs nothing while the others agree, and is heard as
// soon as they do not.
package quorum
