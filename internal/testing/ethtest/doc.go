// Package ethtest runs external nodes as source chains for tests and demonstrations: anvil and
// geth, each as a child process on a loopback port, with the same faucet and the same contracts at
// the same addresses as dev/ethnode.
//
// It owns the child process, its folder and its log. It owns no chain rules: the node determines a
// control's effect, and where a node has no such control the answer is ErrNotSupported. The
// programs are installed by scripts/npm-install.sh (anvil) and scripts/go-tool.sh geth.
package ethtest
