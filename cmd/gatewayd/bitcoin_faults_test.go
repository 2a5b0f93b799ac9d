package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/dev"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/internal/testing/faults"
)

// coinRounds is a daemon on nodes of which the first fails, with a user who deposits and withdraws
// in rounds.
type coinRounds struct {
	*bitcoinEnv
	faulty *faults.Node
	user   *coinUser
	nets   map[string][]int64 // what each payee is to get in the end, by script
	has    chain.Amount       // what the user is to have then
}

const roundDeposit, roundPayout = 5_000_000, 2_000_000

// newCoinRounds configures the proxy before the environment's node, and other nodes. The user has
// a first deposit.
func newCoinRounds(t *testing.T, others int) *coinRounds {
	t.Helper()
	w := &coinRounds{bitcoinEnv: prepareBitcoinEnv(t, bitcoinnode.Litecoind), nets: map[string][]int64{}}
	w.faulty = openFaultyNode(t, w.node.URL())
	c := &w.cfg.Bitcoin[0]
	c.Nodes, c.Timeout, c.OnDemand = []string{bitcoinnode.WithPassword(w.faulty.URL)}, 2*time.Second, false
	if others > 0 {
		c.Nodes = append(c.Nodes, w.node.URL())
	}
	for range others - 1 {
		n := w.newNode(t, bitcoinnode.Litecoind)
		require.NoError(t, n.Connect(w.node))
		require.NoError(t, n.Follow(t.Context(), w.node))
		c.Nodes = append(c.Nodes, n.URL())
	}
	w.cfg.Status.Every = 2 * time.Second
	w.cfg.Networks[0].Tokens[0].Withdrawals.Count, w.cfg.Vite[0].Confirmations = 20, 20
	w.begin(t)
	w.user = w.newUser(t, 0)
	w.deposit(t)
	w.awaitAll(t)
	return w
}

func (w *coinRounds) newNode(t *testing.T, kind bitcoinnode.Kind) *bitcoinnode.Node {
	t.Helper()
	miner, ok := network.Named(bitcoinnode.BitcoinNetwork).Of(w.payer.Script())
	require.True(t, ok)
	n, err := bitcoinnode.Start(t.Context(), bitcoinnode.Config{Kind: kind, Miner: miner.Text})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	return n
}

func (w *coinRounds) deposit(t *testing.T) {
	t.Helper()
	w.pay(t, wire.NewTxOut(roundDeposit, w.script(t, w.user.deposit)))
	var err error
	w.has, err = w.has.Add(w.units(t, roundDeposit))
	require.NoError(t, err)
}

// send has the user withdraw to a new payee, and deposit.
func (w *coinRounds) send(t *testing.T) {
	t.Helper()
	payee := w.payees(t, len(w.nets)+1)[len(w.nets)]
	w.mineUntil(t, "a gateway that is open", func() bool {
		return w.user.gateway.Get(t.Context(), "/withdraw-info", map[string]string{"tokenId": w.token.Token, "walletAddress": w.user.Address().String()}, new(dev.WithdrawInfo)) == nil
	})
	gross := w.withdraw(t, w.user, payee, roundPayout)
	w.nets[hex.EncodeToString(w.script(t, payee))] = []int64{roundPayout}
	var err error
	w.has, err = w.has.Sub(gross)
	require.NoError(t, err)
	w.deposit(t)
}

// isServed reports whether each deposit is credited and each withdrawal is in a block.
func (w *coinRounds) isServed(t *testing.T) bool {
	t.Helper()
	return w.haveAll(t, []*coinUser{w.user}, []chain.Amount{w.has}) && w.paid(t) == len(w.nets)
}

// paid is the number of payees in the chain.
func (w *coinRounds) paid(t *testing.T) int {
	t.Helper()
	return len(w.books(t, w.pool(t), w.user.deposit).payees)
}

func (w *coinRounds) awaitAll(t *testing.T) {
	t.Helper()
	w.mineUntil(t, "all transfers", func() bool { return w.isServed(t) })
}

// checkBooks compares what the chain shows with what was due.
func (w *coinRounds) checkBooks(t *testing.T) {
	t.Helper()
	w.mineUntil(t, "the records", func() bool { return w.isServed(t) && w.allDone(t, []*coinUser{w.user}) })
	b := w.books(t, w.pool(t), w.user.deposit)
	require.Equal(t, w.nets, b.payees)
	require.Equal(t, b.deposited-b.paid-b.fees, b.held)
	require.Contains(t, w.command(t, "audit"), " 0 differences")
}

// restart starts a new daemon, which remembers nothing of the nodes.
func (w *coinRounds) restart(t *testing.T) {
	t.Helper()
	require.NoError(t, w.kill())
	require.NoError(t, w.start())
}

// output returns what a command prints, also when it fails.
func (w *bitcoinEnv) output(t *testing.T, args ...string) string {
	t.Helper()
	out, text := testStreams(t), new(bytes.Buffer)
	out.stdout = text
	_ = run(t.Context(), append(args, "-c", w.info.Config), out)
	return text.String()
}

// isNamed reports whether a line of a command's output has the faulty node and a text.
func (w *coinRounds) isNamed(t *testing.T, text string, command ...string) bool {
	t.Helper()
	for line := range strings.Lines(w.output(t, command...)) {
		if strings.Contains(line, strings.TrimPrefix(w.faulty.URL, "http://")) && strings.Contains(line, text) {
			return true
		}
	}
	return false
}

func (w *coinRounds) awaitNamed(t *testing.T, text string, command ...string) {
	t.Helper()
	waitFor(t, "the node to be named: "+text, func() bool { return w.isNamed(t, text, command...) })
}

// coinFault is a fault of the first node.
type coinFault struct {
	name  string
	begin func(t *testing.T, w *coinRounds) (end func())
	text  string   // by which the node is named; empty: it is not
	by    []string // the command that names it
}

// lies is a fault of the proxy.
func lies(fault func(w *coinRounds) faults.Fault) func(*testing.T, *coinRounds) func() {
	return func(_ *testing.T, w *coinRounds) func() {
		w.faulty.Fail(fault(w))
		return func() { w.faulty.Fail(faults.Fault{}) }
	}
}

// goesTo puts another node behind the proxy.
func goesTo(another func(t *testing.T, w *coinRounds) *bitcoinnode.Node) func(*testing.T, *coinRounds) func() {
	return func(t *testing.T, w *coinRounds) func() {
		require.NoError(t, w.faulty.GoTo(another(t, w).URL()))
		return func() { require.NoError(t, w.faulty.GoTo(w.node.URL())) }
	}
}

// blockLie changes each block that has more than a coinbase.
func blockLie(change func(w *coinRounds, b *wire.MsgBlock)) func(*testing.T, *coinRounds) func() {
	return lies(func(w *coinRounds) faults.Fault {
		return faults.Fault{Lie: func(method string, _ []any, result json.RawMessage) any {
			var text string
			if method != "getblock" || json.Unmarshal(result, &text) != nil {
				return result
			}
			var b wire.MsgBlock
			if raw, err := hex.DecodeString(text); err != nil || b.Deserialize(bytes.NewReader(raw)) != nil || len(b.Transactions) < 2 {
				return result
			}
			change(w, &b)
			var raw bytes.Buffer
			if err := b.Serialize(&raw); err != nil {
				return result
			}
			return hex.EncodeToString(raw.Bytes())
		}}
	})
}

// noWork shows one more block than there is, without work.
func noWork(w *coinRounds) faults.Fault {
	made := map[string]string{} // headers in hex, by hash
	return faults.Fault{Habit: &faults.Habit{After: func(up *faults.Upstream, c faults.Call, a *faults.Answer) {
		switch c.Method {
		case "getblockchaininfo":
			var info map[string]any
			var text string
			var h wire.BlockHeader
			if json.Unmarshal(a.Result, &info) != nil || up.Ask(&text, "getblockheader", info["bestblockhash"], false) != nil {
				return
			}
			if raw, err := hex.DecodeString(text); err != nil || h.Deserialize(bytes.NewReader(raw)) != nil {
				return
			}
			h.PrevBlock, h.Timestamp, h.Bits = h.BlockHash(), h.Timestamp.Add(time.Second), blockchain.BigToCompact(w.network.PowLimit)
			h.Bits -= 0x02000000 // more work than a header has by chance, and than the rules ask for
			var raw bytes.Buffer
			if h.Serialize(&raw) != nil {
				return
			}
			info["bestblockhash"], info["blocks"] = h.BlockHash().String(), info["blocks"].(float64)+1
			made = map[string]string{h.BlockHash().String(): hex.EncodeToString(raw.Bytes())}
			a.Return(info)
		case "getblockheader":
			if text, ok := made[fmt.Sprint(c.Params[0])]; ok {
				a.Return(text)
			}
		}
	}}}
}

// fakeSend takes transactions and sends none. changed is added to the hashes that it answers.
func fakeSend(changed byte) func(*coinRounds) faults.Fault {
	return func(*coinRounds) faults.Fault {
		return faults.Fault{Habit: &faults.Habit{Whole: func(calls []faults.Call) *faults.Reply {
			var tx wire.MsgTx
			if calls[0].Method != "sendrawtransaction" {
				return nil
			}
			raw, err := hex.DecodeString(fmt.Sprint(calls[0].Params[0]))
			if err != nil || tx.Deserialize(bytes.NewReader(raw)) != nil {
				return nil
			}
			hash := tx.TxHash()
			hash[0] += changed
			return &faults.Reply{Status: 200, Type: "application/json", Body: fmt.Sprintf(`{"id":%s,"result":%q,"error":null}`, calls[0].ID, hash)}
		}}}
	}
}

// pruned deletes all blocks but the newest ten. A real node keeps 288 at least, and a file of 128
// MiB.
func pruned(w *coinRounds) faults.Fault {
	height, err := w.node.Height()
	if err != nil {
		height = 0
	}
	lowest := height - 10
	return faults.Fault{Habit: &faults.Habit{After: func(up *faults.Upstream, c faults.Call, a *faults.Answer) {
		var h struct{ Height uint64 }
		switch {
		case c.Method == "getblockchaininfo":
			var info map[string]any
			if json.Unmarshal(a.Result, &info) == nil {
				info["pruned"], info["pruneheight"] = true, lowest
				a.Return(info)
			}
		case c.Method == "getblock" && up.Ask(&h, "getblockheader", c.Params[0]) == nil && h.Height < lowest:
			a.Refuse(-1, "Block not available (pruned data)")
		}
	}}}
}

// hangs stops the node's process.
func hangs(t *testing.T, w *coinRounds) (end func()) {
	n := w.newNode(t, bitcoinnode.Litecoind)
	require.NoError(t, n.Connect(w.node))
	require.NoError(t, n.Follow(t.Context(), w.node))
	require.NoError(t, w.faulty.GoTo(n.URL()))
	require.NoError(t, n.Signal(syscall.SIGSTOP))
	return func() {
		require.NoError(t, n.Signal(syscall.SIGCONT))
		require.NoError(t, n.Follow(t.Context(), w.node))
	}
}

// syncing is a node that has no block yet.
func syncing(t *testing.T, w *coinRounds) *bitcoinnode.Node {
	return w.newNode(t, bitcoinnode.Litecoind)
}

// behind is a node that was cut off some blocks ago.
func behind(t *testing.T, w *coinRounds) *bitcoinnode.Node {
	n := w.newNode(t, bitcoinnode.Litecoind)
	require.NoError(t, n.Copy(w.node, 1))
	w.mine(t, 3, w.miner)
	return n
}

// stranger is a node of another network.
func stranger(t *testing.T, w *coinRounds) *bitcoinnode.Node {
	n := w.newNode(t, bitcoinnode.Btcd)
	_, err := n.Mine(150, "")
	require.NoError(t, err)
	return n
}

var (
	byStatus, byDoctor = []string{"status"}, []string{"doctor"}

	// slowCoinNodes are nodes that are not wrong.
	slowCoinNodes = []coinFault{
		{"pruned", lies(pruned), "is pruned, its lowest block is", byDoctor},
		{"syncing", goesTo(syncing), "reads the past of the chain: true", byDoctor},
		{"behind", goesTo(behind), "", nil},
		{"hanging", hangs, "does not answer", byStatus},
	}
	// lyingCoinNodes are nodes that are wrong.
	lyingCoinNodes = []coinFault{
		{"no work", lies(noWork), "wrong answers", byStatus},
		{"a transaction is left out", blockLie(func(_ *coinRounds, b *wire.MsgBlock) { b.Transactions = b.Transactions[:len(b.Transactions)-1] }), "wrong answers", byStatus},
		{"a transaction too many", blockLie(addDeposit), "wrong answers", byStatus},
		{"another network", goesTo(stranger), bitcoin.ErrWrongChain.Error(), byStatus},
		{"takes transactions and sends none", lies(fakeSend(0)), "", nil},
		{"takes other transactions", lies(fakeSend(1)), "wrong answers", byStatus},
	}
)

// addDeposit adds a deposit of the user's to a block.
func addDeposit(w *coinRounds, b *wire.MsgBlock) {
	more := b.Transactions[len(b.Transactions)-1].Copy()
	a, err := w.network.Parse(w.user.deposit)
	if err != nil {
		return
	}
	more.TxOut[0].PkScript, more.TxOut[0].Value = a.Script, 100_000_000
	b.Transactions = append(b.Transactions, more)
}

// TestSlowCoinNodes: with three nodes of which one has deleted old blocks, still reads the past, is
// behind or hangs, deposits and withdrawals go on.
func TestSlowCoinNodes(t *testing.T) {
	t.Parallel()
	oneOfThree(t, slowCoinNodes)
}

// TestLyingCoinNodes: with three nodes of which one lies, deposits and withdrawals go on, and the
// liar is named.
func TestLyingCoinNodes(t *testing.T) {
	t.Parallel()
	oneOfThree(t, lyingCoinNodes)
}

func oneOfThree(t *testing.T, list []coinFault) {
	t.Helper()
	w := newCoinRounds(t, 2)
	for _, fault := range list {
		t.Log(fault.name)
		end := fault.begin(t, w)
		w.restart(t)
		w.send(t)
		w.awaitAll(t)
		if fault.text != "" {
			w.awaitNamed(t, fault.text, fault.by...)
		}
		end()
	}
	w.checkBooks(t)
}

// TestOnlyCoinNode: while the only node is wrong or away, the gateway shows it, and books and pays
// nothing that is not in the chain. When the fault ends, it goes on by itself.
func TestOnlyCoinNode(t *testing.T) {
	t.Parallel()
	w := newCoinRounds(t, 0)
	for _, fault := range []struct {
		coinFault
		shown string // in `gatewayd status`
	}{
		{named("syncing"), "STOP nodes_unreachable"},
		{named("hanging"), "STOP nodes_unreachable"},
		{named("no work"), "there is no work in it"},
		{named("another network"), bitcoin.ErrWrongChain.Error()},
		{named("a transaction is left out"), "the transactions have the root"},
		{named("a transaction too many"), "the transactions have the root"},
	} {
		t.Log(fault.name)
		w.send(t)
		end := fault.begin(t, w)
		w.mine(t, 8, w.miner) // with the deposit
		w.awaitShown(t, fault.shown)
		require.False(t, w.isServed(t))
		end()
		w.awaitAll(t)
	}
	w.outlivesFakes(t)
	w.outlivesPruning(t)
	w.checkBooks(t)
}

// outlivesFakes has the only node send no transaction that it takes.
func (w *coinRounds) outlivesFakes(t *testing.T) {
	t.Helper()
	for _, name := range []string{"takes transactions and sends none", "takes other transactions"} {
		t.Log(name)
		end, signed := named(name).begin(t, w), w.signed(t)
		w.send(t)
		w.mineUntil(t, "the payout to be signed", func() bool { return w.signed(t) > signed })
		w.mine(t, 3, w.miner)
		require.Equal(t, len(w.nets)-1, w.paid(t))
		end()
		w.awaitAll(t)
	}
}

// outlivesPruning has the only node delete blocks while the daemon is away.
func (w *coinRounds) outlivesPruning(t *testing.T) {
	t.Helper()
	require.NoError(t, w.kill())
	w.deposit(t)
	w.mine(t, 20, w.miner)
	end := named("pruned").begin(t, w)
	require.NoError(t, w.start())
	w.awaitShown(t, "STOP follower_stuck")
	require.True(t, w.isNamed(t, "is pruned, its lowest block is", byDoctor...))
	require.False(t, w.isServed(t))
	end()
	w.awaitAll(t)
}

// named is one of the faults.
func named(name string) coinFault {
	all := slices.Concat(slowCoinNodes, lyingCoinNodes)
	return all[slices.IndexFunc(all, func(f coinFault) bool { return f.name == name })]
}

// signed is the number of payouts that the daemon has signed.
func (w *coinRounds) signed(t *testing.T) (count int) {
	t.Helper()
	text, err := os.ReadFile(w.log.Name())
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "payment signed") && strings.Contains(line, "chain=coin") {
			count++
		}
	}
	return count
}

// awaitShown waits until `gatewayd status` has a text, which it may divide into lines.
func (w *coinRounds) awaitShown(t *testing.T, text string) {
	t.Helper()
	waitFor(t, "status to show: "+text, func() bool {
		return strings.Contains(strings.Join(strings.Fields(w.output(t, "status")), " "), text)
	})
}
