package bitcoin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/internal/testing/faults"
	gateway "gatewayd/wallet"
)

// payer is an adapter whose accounts have coins in the chain of a real node.
type payer struct {
	*books
	t      *testing.T
	node   *bitcoinnode.Node
	of     string // network
	keys   *gateway.Keys
	config bitcoin.Config
	miner  wallet
	mined  []string // blocks with a coin of the miner
	pool   network.Own
	coins  []chain.HeldCoin // the largest first
	read   uint64           // the newest stored block
	fee    string           // coins per 1,000 vbytes that the node estimates; empty: too few blocks
	proxy  *faults.Node
	orders map[string]chain.Order // that were signed, by hash
	*bitcoin.Chain
}

// honest is a payer's fee that the node estimates itself.
const honest = "honest"

type nodeKind struct {
	kind    bitcoinnode.Kind
	network string
	args    []string
	flat    int64 // satoshi per vbyte where nothing is estimated
}

var payKinds = []nodeKind{
	{bitcoinnode.Btcd, bitcoins, nil, 1},
	{bitcoinnode.Litecoind, litecoins, []string{"-mempoolreplacement=1"}, 10},
}

// newPayer funds the pool with 3 coins of 1,000 vbytes and deposit addresses with smaller ones.
func newPayer(t *testing.T, k nodeKind, change func(*bitcoin.Config), amounts ...int64) *payer {
	t.Helper()
	p := &payer{books: newBooks(), orders: map[string]chain.Order{}, t: t, of: k.network, miner: newWallet(t, k.network, "miner")}
	var err error
	p.keys, err = gateway.FromMnemonic(mnemonic)
	require.NoError(t, err)
	p.config = bitcoin.Config{ID: "coin", Network: k.network, OnDemand: true, Confirmations: 1}
	if change != nil {
		change(&p.config)
	}
	p.config.Accounts = []network.Account{accountOf(t, k.network, p.config.AccountPath())}
	p.pool, err = p.config.Pool()
	require.NoError(t, err)
	p.node = start(t, bitcoinnode.Config{Kind: k.kind, Miner: p.miner.address, Args: k.args})
	p.proxy = proxy(t, p.node)
	p.proxy.Fail(faults.Fault{Habit: &faults.Habit{After: p.estimate}})
	p.config.Nodes = []string{bitcoinnode.WithPassword(p.proxy.URL)}
	p.reopen()
	p.mined, err = p.node.Mine(110, p.miner.address)
	require.NoError(t, err)
	p.fund(amounts...)
	return p
}

// estimate replaces the node's estimate. btcd has one after few blocks.
func (p *payer) estimate(_ *faults.Upstream, c faults.Call, a *faults.Answer) {
	switch {
	case p.fee == honest:
	case p.fee == "" && c.Method == "estimatefee":
		a.Refuse(-1, "not enough blocks have been observed")
	case p.fee == "":
	case c.Method == "estimatesmartfee" && (a.Error == nil || a.Error.Code != -32601):
		a.Return(map[string]any{"feerate": json.Number(p.fee), "blocks": 3})
	case c.Method == "estimatefee":
		a.Return(json.Number(p.fee))
	}
}

// reopen makes another adapter, which has asked and chosen nothing.
func (p *payer) reopen() {
	c, err := bitcoin.New(p.config, p.books)
	require.NoError(p.t, err)
	p.t.Cleanup(c.Close)
	p.Chain = c
}

// asks makes blocks ask for a fee.
func (p *payer) asks(coinsPerKilobyte string) {
	p.fee = coinsPerKilobyte
	p.reopen()
}

// address is one of the accounts' first, whose coins are held.
func (p *payer) address(branch, index uint32) network.Own {
	own, err := p.config.Accounts[0].Own(branch, index)
	require.NoError(p.t, err)
	p.own(own.Text)
	p.books.mu.Lock()
	defer p.books.mu.Unlock()
	p.books.keys[own.Text] = own.Path
	return own
}

// fund pays the first amount to the pool, and each other one to a deposit address.
func (p *payer) fund(amounts ...int64) {
	coin, err := p.node.Coinbase(p.mined[0])
	require.NoError(p.t, err)
	p.mined = p.mined[1:]
	p.address(network.Internal, 0)
	var outs []*wire.TxOut
	for i, amount := range amounts {
		to := p.pool.Text
		if i > 0 {
			to = p.address(network.External, uint32(i)).Text
		}
		outs = append(outs, output(p.t, p.of, to, amount))
	}
	rest := coin.Amount - 100_000
	for _, out := range outs {
		rest -= out.Value
	}
	outs = append(outs, output(p.t, p.of, p.miner.address, rest))
	tx, err := p.miner.Spend([]bitcoinnode.Coin{coin}, outs...)
	require.NoError(p.t, err)
	require.NoError(p.t, p.node.Send(tx))
	p.mine()
}

// mine makes a block and stores it, with those before it.
func (p *payer) mine() (newest chain.Block) {
	mine(p.t, p.node, 1, p.miner.address)
	top := head(p.t, p.Chain).Latest.Height
	for p.read < top {
		p.read++
		newest = blockAt(p.t, p.Chain, p.read)
		p.store(newest)
	}
	var err error
	p.coins, err = p.HeldCoins(p.t.Context(), "coin", p.pool.Text)
	require.NoError(p.t, err)
	return newest
}

// slot binds the largest free coin to a number.
func (p *payer) slot(number uint64) chain.Slot {
	coins, err := p.HeldCoins(p.t.Context(), "coin", p.pool.Text)
	require.NoError(p.t, err)
	for _, h := range coins {
		if !h.Bound {
			p.use(number, false, h.Out)
			return chain.Slot{Account: p.pool.Text, Key: p.pool.Path, Nonce: number, Coin: h.Out}
		}
	}
	p.t.Fatal("no coin is free")
	return chain.Slot{}
}

// sign signs a prepared attempt as a signer does, and stores it.
func (p *payer) sign(slot chain.Slot, pay chain.Payment, a chain.Attempt) chain.Attempt {
	p.t.Helper()
	rules, order := p.Rules(), chain.Order{Slot: slot, Payment: pay, Unsigned: a.Raw}
	digests, err := rules.Digests(order)
	require.NoError(p.t, err)
	fee, err := rules.Fee(order)
	require.NoError(p.t, err)
	require.Equal(p.t, a.FeeCap, fee)
	signatures := make([]chain.Signature, len(digests))
	for i, d := range digests {
		signatures[i].Public, signatures[i].Bytes, err = p.keys.Sign(p.t.Context(), d.Key, d.Hash)
		require.NoError(p.t, err)
	}
	sealed, err := rules.Seal(order, signatures...)
	require.NoError(p.t, err)
	require.Equal(p.t, a.Hash, sealed.Hash, "the hash is final before it is signed")
	a.Raw = sealed.Raw
	p.orders[a.Hash] = order
	p.books.mu.Lock()
	p.txs[a.Hash] = a.Raw
	p.books.mu.Unlock()
	p.use(slot.Nonce, true, a.Coins...)
	return a
}

// signed prepares and signs an attempt.
func (p *payer) signed(slot chain.Slot, pay chain.Payment, prev ...chain.Attempt) chain.Attempt {
	p.t.Helper()
	a, err := p.Prepare(p.t.Context(), slot, pay, prev)
	require.NoError(p.t, err)
	require.Equal(p.t, slot.Coin, a.Coins[0], "the slot's coin is first in each attempt")
	require.Equal(p.t, len(prev), a.Seq)
	return p.sign(slot, pay, a)
}

// sent signs an attempt and gives it to the node.
func (p *payer) sent(slot chain.Slot, pay chain.Payment, prev ...chain.Attempt) chain.Attempt {
	p.t.Helper()
	a := p.signed(slot, pay, prev...)
	require.Equal(p.t, []error{nil}, p.Broadcast(p.t.Context(), []chain.Attempt{a}))
	require.Equal(p.t, []string{a.Hash}, p.waiting())
	return a
}

func (p *payer) waiting() (ids []string) {
	require.NoError(p.t, p.node.Call(&ids, "getrawmempool"))
	return ids
}

func (p *payer) underpriced(slot chain.Slot, a chain.Attempt) bool {
	p.t.Helper()
	is, err := p.Underpriced(p.t.Context(), slot, a)
	require.NoError(p.t, err)
	return is
}

func (p *payer) pay(id uint64, seed byte, amount int64) chain.Payment {
	to, err := network.Named(p.of).Make(network.P2WPKH, bytes.Repeat([]byte{seed}, 20))
	require.NoError(p.t, err)
	return chain.Payment{ID: id, Purpose: chain.Credit, Asset: chain.Native, To: to.Text, Amount: chain.NewAmount(uint64(amount))}
}

func batchOf(pays ...chain.Payment) chain.Payment {
	all := chain.Payment{ID: pays[0].ID, Purpose: chain.Batch, Asset: chain.Native, Members: pays}
	for _, p := range pays {
		all.Amount, _ = all.Amount.Add(p.Amount)
	}
	return all
}

func (p *payer) balance() string {
	sum, err := p.Balance(p.t.Context(), p.pool.Text, chain.Native)
	require.NoError(p.t, err)
	return sum.String()
}

func number(a chain.Amount) int64 { return int64(a.Uint256().Uint64()) }

var cancellation = chain.Payment{ID: 1, Purpose: chain.Cancel, Asset: chain.Native}

// TestPayments: a batch of three spends coins of the pool and of users, at the same time as a
// second slot, from the choice of coins to the outcomes in a block.
func TestPayments(t *testing.T) {
	for _, k := range payKinds {
		for _, addresses := range []string{"p2wpkh", "p2tr"} {
			t.Run(string(k.kind)+" "+addresses, func(t *testing.T) {
				t.Parallel()
				p := newPayer(t, k, func(c *bitcoin.Config) { c.Addresses = addresses }, 3_000_000, 1_000_000, 900_000, 800_000)
				require.Equal(t, "5700000", p.balance())
				batch := batchOf(p.pay(1, 1, 2_500_000), p.pay(2, 2, 700_000), p.pay(3, 3, 50_000))
				estimate, err := p.Estimate(t.Context(), p.pool.Text, batch)
				require.NoError(t, err)
				alone, err := p.Separate(t.Context(), batch.Members)
				require.NoError(t, err)
				require.Equal(t, []bool{false, false, false}, alone)

				slot := p.slot(7)
				first := p.signed(slot, batch)
				require.Equal(t, p.outs(0, 1), first.Coins, "as few coins as suffice")
				require.Equal(t, estimate, first.FeeCap)
				size := len(first.Raw)
				require.Less(t, number(first.FeeCap), k.flat*int64(size), "witnesses are cheaper")
				require.Greater(t, number(first.FeeCap), k.flat*int64(size)/2)
				require.Equal(t, "1700000", p.balance(), "coins of signed attempts are spent")

				single := p.pay(4, 4, 100_000)
				other := p.signed(p.slot(8), single)
				require.Equal(t, p.outs(2), other.Coins)
				both := []chain.Attempt{first, other}
				for range 2 { // known already the second time
					require.Equal(t, []error{nil, nil}, p.Broadcast(t.Context(), both))
				}
				did, err := p.Describe(t.Context(), first.Hash)
				require.NoError(t, err, "a pool has it")
				require.Equal(t, []string{"2500000", "700000", "50000"}, amountsOf(did))
				require.Equal(t, slot.Coin, did.Coin)
				_, err = p.Describe(t.Context(), strings.Repeat("ab", 32))
				require.ErrorIs(t, err, chain.ErrNotFound)

				b := p.mine()
				require.Len(t, b.OwnTxs, 2)
				require.Empty(t, b.Transfers, "change is no deposit")
				for _, own := range b.OwnTxs {
					require.Equal(t, p.pool.Text, own.Account)
					if own.Tx == first.Hash {
						require.Equal(t, []chain.Outcome{chain.MemberPaid, chain.MemberPaid, chain.MemberPaid}, own.Members)
						require.Equal(t, first.Coins, own.Spent)
						require.Equal(t, first.FeeCap, own.Fee)
						require.Empty(t, own.To)
					} else {
						require.Equal(t, chain.OwnTx{Account: p.pool.Text, Tx: other.Hash, OK: true, Fee: other.FeeCap, To: single.To, Value: single.Amount, Spent: other.Coins}, own)
					}
				}
				require.Len(t, b.Coins, 8, "few coins become more")
				for _, coin := range b.Coins {
					require.True(t, coin.Own)
					require.Equal(t, p.pool.Text, coin.Address)
				}
				require.Equal(t, []error{nil, nil}, p.Broadcast(t.Context(), both), "a block has them")
				require.False(t, p.underpriced(slot, first))
				mined, err := p.Describe(t.Context(), first.Hash)
				require.NoError(t, err)
				require.Equal(t, did, mined)
				for i, m := range batch.Members {
					require.True(t, mined.Pays(i, m.Fingerprint(), m.ID))
				}
				// the change pays the next ones
				p.sent(p.slot(9), p.pay(5, 5, 500_000))
				require.Len(t, p.mine().OwnTxs, 1)
				for _, n := range p.Nodes() {
					require.Zero(t, n.Faults, n.LastFault)
				}
			})
		}
	}
}

// outs are the outpoints of the coins that were held after the last block.
func (p *payer) outs(places ...int) (list []string) {
	for _, i := range places {
		list = append(list, p.coins[i].Out)
	}
	return list
}

func amountsOf(o chain.Outgoing) (list []string) {
	for _, m := range o.Members {
		list = append(list, m.Amount.String())
	}
	return list
}

// TestReplacedAndCancelled: an attempt that offers too little is replaced two times, with a further
// coin, and then cancelled.
func TestReplacedAndCancelled(t *testing.T) {
	for _, k := range payKinds {
		t.Run(string(k.kind), func(t *testing.T) {
			t.Parallel()
			p := newPayer(t, k, nil, 100_000, 90_000, 80_000)
			pay := p.pay(1, 1, 96_000)
			slot := p.slot(1)
			first := p.sent(slot, pay)
			require.Len(t, first.Coins, 1)
			require.False(t, p.underpriced(slot, first), "nothing is estimated")
			p.asks(fmt.Sprintf("0.%08d", k.flat*1_000*12/10))
			require.False(t, p.underpriced(slot, first), "within the margin")
			p.asks("0.00050000")
			require.True(t, p.underpriced(slot, first))

			second := p.sent(slot, pay, first)
			require.Len(t, second.Coins, 2, "it adds a coin")
			require.False(t, p.underpriced(slot, second))
			p.asks("0.00001000")
			third := p.sent(slot, pay, first, second)
			require.Equal(t, second.Coins, third.Coins)
			require.Greater(t, number(third.FeeCap), number(second.FeeCap), "it replaces at any estimate")
			_, err := p.Prepare(t.Context(), slot, p.pay(1, 2, 96_000), []chain.Attempt{first, second, third})
			require.ErrorContains(t, err, "pays others")
			cancel := p.sent(slot, cancellation, first, second, third)
			b := p.mine()
			require.Len(t, b.OwnTxs, 1)
			require.Equal(t, chain.OwnTx{Account: p.pool.Text, Tx: cancel.Hash, OK: true, Fee: cancel.FeeCap, Spent: cancel.Coins}, b.OwnTxs[0])
			did, err := p.Describe(t.Context(), cancel.Hash)
			require.NoError(t, err)
			require.Equal(t, chain.Outgoing{Asset: chain.Native, Coin: slot.Coin}, did)

			_, err = p.Prepare(t.Context(), slot, pay, []chain.Attempt{first})
			require.ErrorIs(t, err, chain.ErrNoReplacement, "its coin is spent")
			err = p.Broadcast(t.Context(), []chain.Attempt{first})[0]
			require.ErrorAs(t, err, new(chain.Refusal))
		})
	}
}

// TestNodeThatKeepsTheFirst: litecoind replaces no transaction by default. After one refused
// replacement, no other is made.
func TestNodeThatKeepsTheFirst(t *testing.T) {
	t.Parallel()
	p := newPayer(t, nodeKind{bitcoinnode.Litecoind, litecoins, nil, 10}, nil, 1_000_000)
	pay := p.pay(1, 1, 500_000)
	slot := p.slot(1)
	first := p.sent(slot, pay)
	p.asks("0.00100000")
	require.True(t, p.underpriced(slot, first), "the node is not known yet")
	second := p.signed(slot, pay, first)
	err := p.Broadcast(t.Context(), []chain.Attempt{second})[0]
	var refused chain.Refusal
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Text, "txn-mempool-conflict (-26)")
	require.False(t, p.underpriced(slot, first))
	require.False(t, p.underpriced(slot, second))
	require.Len(t, p.mine().OwnTxs, 1, "the first is mined")
}

// TestLostCoin: a foreign transaction spends a further coin of an attempt. The attempt is replaced
// by one with other coins, at any price.
func TestLostCoin(t *testing.T) {
	for _, k := range payKinds {
		t.Run(string(k.kind), func(t *testing.T) {
			t.Parallel()
			p := newPayer(t, k, nil, 100_000, 90_000, 80_000)
			stolen := p.held[p.coins[1].Out]
			thief := p.signed(chain.Slot{Account: p.pool.Text, Nonce: 9, Coin: stolen.Out}, p.pay(9, 9, 50_000))
			p.held[stolen.Out] = stolen
			p.reopen()
			slot, pay := p.slot(1), p.pay(1, 1, 150_000)
			first := p.signed(slot, pay)
			require.Equal(t, p.outs(0, 1), first.Coins)
			require.False(t, p.underpriced(slot, first))
			require.Equal(t, []error{nil}, p.Broadcast(t.Context(), []chain.Attempt{thief}))
			want := []string{p.coins[0].Out, p.coins[2].Out}
			p.mine()
			require.ErrorAs(t, p.Broadcast(t.Context(), []chain.Attempt{first})[0], new(chain.Refusal))
			require.True(t, p.underpriced(slot, first))
			maps.DeleteFunc(p.held, func(_ string, h chain.HeldCoin) bool { return h.Own }) // the thief's change
			second := p.sent(slot, pay, first)
			require.Equal(t, want, second.Coins)
			require.Greater(t, number(second.FeeCap), number(first.FeeCap), "a pool may still have the first")
			require.False(t, p.underpriced(slot, second))
			require.Equal(t, second.Hash, p.mine().OwnTxs[0].Tx)
		})
	}
}

// TestForgottenIsReplaced: a pool has dropped an attempt that offers too little.
func TestForgottenIsReplaced(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[1], nil, 1_000_000)
	slot := p.slot(1)
	first := p.signed(slot, p.pay(1, 1, 500_000))
	require.False(t, p.underpriced(slot, first), "it offers enough")
	p.asks("0.00100000")
	require.True(t, p.underpriced(slot, first))
	p.sent(slot, p.pay(1, 1, 500_000), first)
	require.False(t, p.underpriced(slot, first), "another attempt of its slot waits")
}

// TestChoices: slots that are prepared at the same time choose different coins. A new choice of a
// slot replaces its earlier one. A minute later the records decide.
func TestChoices(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[0], nil, 100_000, 90_000, 80_000, 70_000, 60_000)
	one, two := p.slot(1), p.slot(2)
	prepare := func(slot chain.Slot) (chain.Attempt, error) {
		return p.Prepare(t.Context(), slot, p.pay(slot.Nonce, 1, 150_000), nil)
	}
	a, err := prepare(one)
	require.NoError(t, err)
	require.Equal(t, p.outs(0, 2), a.Coins)
	again, err := prepare(one)
	require.NoError(t, err)
	require.Equal(t, a.Coins, again.Coins, "its own choice is free")
	b, err := prepare(two)
	require.NoError(t, err)
	require.Equal(t, p.outs(1, 3), b.Coins, "not what another has chosen")
	three := chain.Slot{Account: p.pool.Text, Nonce: 3, Coin: p.coins[4].Out}
	_, err = prepare(three)
	require.ErrorIs(t, err, chain.ErrNotNow)

	p.use(1, true, a.Coins...)
	p.reopen() // what was chosen is forgotten, what was stored is not
	b, err = prepare(two)
	require.NoError(t, err)
	require.Equal(t, p.outs(1, 3), b.Coins)
	_, err = p.Prepare(t.Context(), chain.Slot{Account: p.pool.Text, Nonce: 9, Coin: p.coins[0].Out}, p.pay(9, 1, 1_000), nil)
	require.ErrorIs(t, err, chain.ErrNotNow, "the coin of another slot is none of this")
}

// TestUnpayable: one payee whose payment no transaction can make is refused alone.
func TestUnpayable(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[0], nil, 1_000_000, 50_000)
	good, dust := p.pay(1, 1, 100_000), p.pay(2, 2, 200)
	ours := p.pay(3, 1, 100_000)
	ours.To = p.pool.Text
	foreign := p.pay(4, 1, 100_000)
	foreign.To = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"
	slot := p.slot(1)
	for _, bad := range []chain.Payment{dust, ours, foreign} {
		alone, err := p.Separate(t.Context(), []chain.Payment{good, bad})
		require.NoError(t, err)
		require.Equal(t, []bool{false, true}, alone)
		for _, pay := range []chain.Payment{bad, batchOf(good, bad)} {
			_, err = p.Estimate(t.Context(), p.pool.Text, pay)
			require.ErrorIs(t, err, chain.ErrRefused)
			_, err = p.Prepare(t.Context(), slot, pay, nil)
			require.ErrorIs(t, err, chain.ErrRefused)
		}
	}
	_, err := p.Estimate(t.Context(), p.pool.Text, good)
	require.NoError(t, err)

	much := p.pay(5, 1, 1_050_000)
	_, err = p.Estimate(t.Context(), p.pool.Text, much)
	require.ErrorIs(t, err, chain.ErrNotNow)
	_, err = p.Prepare(t.Context(), slot, much, nil)
	require.ErrorIs(t, err, chain.ErrNotNow)
	p.use(1, true, p.outs(0, 1)...)
	_, err = p.Estimate(t.Context(), p.pool.Text, good)
	require.ErrorIs(t, err, chain.ErrNotNow, "no coin is left")
	token := good
	token.Asset = "token"
	_, err = p.Estimate(t.Context(), p.pool.Text, token)
	require.ErrorContains(t, err, "asset: ")
	_, err = p.Balance(t.Context(), p.pool.Text, "token")
	require.ErrorContains(t, err, "asset ")
}

// TestFees: the floor, the nodes' median and the ceilings.
func TestFees(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[1], func(c *bitcoin.Config) { c.MaxFeeRate = 100 }, 1_000_000)
	cost := func() int64 {
		amount, err := p.PayoutCost(t.Context(), chain.Native)
		require.NoError(t, err)
		return number(amount)
	}
	flat := cost()
	require.InDelta(t, 10*80, flat, 50)
	for text, rate := range map[string]int64{"0.00001000": 10, "0.00030000": 30, "0.00030001": 30, "1e-3": 100, "-1": 10, "0": 10} {
		p.asks(text)
		require.InDelta(t, flat*rate/10, cost(), 1, text)
	}
	slot, pay := p.slot(1), p.pay(1, 1, 500_000)
	p.asks("0.00100000")
	top := p.signed(slot, pay)
	p.asks("0.00100001")
	_, err := p.Estimate(t.Context(), p.pool.Text, pay)
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	_, err = p.Prepare(t.Context(), slot, pay, nil)
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	p.asks("0.00500000")
	require.False(t, p.underpriced(slot, top), "it offers the ceiling")
	_, err = p.Prepare(t.Context(), slot, pay, []chain.Attempt{top})
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	p.asks("")
	cheap := p.signed(slot, pay)
	p.asks("0.00500000")
	require.True(t, p.underpriced(slot, cheap))
	again := p.signed(slot, pay, cheap)
	require.Equal(t, top.FeeCap, again.FeeCap, "a replacement offers the ceiling")
	p.asks("0.00050000")
	for _, of := range []chain.Payment{pay, batchOf(pay, p.pay(2, 2, 10_000))} {
		of.MaxFee = chain.NewAmount(1_000)
		_, err = p.Prepare(t.Context(), slot, of, nil)
		require.ErrorIs(t, err, chain.ErrFeeCeiling, "the payment's own")
	}
	p.asks("0.00150000")
	require.NoError(t, p.SetMaxFee("150"))
	dear := p.signed(slot, pay) // by the rules of now
	require.NoError(t, p.SetMaxFee("149"))
	_, err = p.Prepare(t.Context(), slot, pay, nil)
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	rules := bitcoin.NewSigningRules(p.config)
	order := p.orders[dear.Hash]
	_, err = rules.Fee(order)
	require.ErrorIs(t, err, chain.ErrFeeCeiling)
	require.NoError(t, rules.SetMaxFee("150"))
	_, err = rules.Fee(order)
	require.NoError(t, err)
	for _, wrong := range []string{"", "0", "-1", "1.5", "10000000000"} {
		require.ErrorContains(t, rules.SetMaxFee(wrong), "max_fee_rate")
	}
	p.asks("1e300")
	_, err = p.PayoutCost(t.Context(), chain.Native)
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.NotZero(t, p.Nodes()[0].Faults)
}

// TestMedianOfNodes: a wrong estimate of one of three nodes changes nothing. A node without an
// estimate does not count, and of two estimates the lower one counts.
func TestMedianOfNodes(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[1], nil, 1_000_000)
	estimates := []string{"", "", ""}
	var own *faults.Node
	for i := range estimates {
		own = proxy(t, p.node)
		own.Fail(faults.Fault{Habit: &faults.Habit{After: func(_ *faults.Upstream, c faults.Call, a *faults.Answer) {
			if c.Method == "estimatesmartfee" && estimates[i] != "" {
				a.Return(map[string]any{"feerate": json.Number(estimates[i])})
			}
		}}})
		p.config.Nodes = append(p.config.Nodes[:i], bitcoinnode.WithPassword(own.URL))
	}
	later := func(of ...string) int64 {
		copy(estimates, of)
		p.config.Nodes = slices.Clone(p.config.Nodes)
		slices.Reverse(p.config.Nodes) // with other nodes, the rate of the last seconds does not count
		require.NoError(t, p.SetNodes(p.config.Nodes))
		amount, err := p.Estimate(t.Context(), p.pool.Text, p.pay(1, 1, 500_000))
		require.NoError(t, err)
		return number(amount)
	}
	fee := func(of ...string) int64 {
		p.reopen()
		return later(of...)
	}
	flat := fee("", "", "")
	require.Equal(t, 2*flat, fee("0.0002", "0.0019", "0.0002"))
	require.Equal(t, 2*flat, fee("0.0002", "0.0019", ""))
	require.Equal(t, 2*flat, fee("", "", "0.0002"))
	require.Equal(t, flat, fee("0.00002", "0.00002", "0.0019"), "not below the floor")

	require.Equal(t, 2*flat, fee("", "0.0019", ""), "one node alone: twice the floor, where nothing was agreed")
	require.Equal(t, 2*flat, later("0.0002", "0.0003", ""))
	require.Equal(t, 4*flat, later("", "0.0019", ""), "twice what was agreed")
	require.Equal(t, 4*flat, later("", "0.0019", ""), "and no more than that")
	require.Equal(t, 3*flat, later("", "0.0003", ""), "fees that fall are taken from one node")
	require.Equal(t, 5*flat, later("", "0.0019", "0.0005"))
	own.Fail(faults.Fault{Dead: true})
	require.Equal(t, 5*flat, later("0.0019", "0.0005", ""))
}

// TestBtcdEstimates: btcd has another method, with the same unit.
func TestBtcdEstimates(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[0], func(c *bitcoin.Config) { c.MaxFeeRate = 1_000 }, 1_000_000)
	p.asks(honest)
	var want float64
	require.NoError(t, p.node.Call(&want, "estimatefee", 3))
	a := p.signed(p.slot(1), p.pay(1, 1, 500_000))
	var tx wire.MsgTx
	require.NoError(t, tx.Deserialize(bytes.NewReader(a.Raw)))
	size := (3*tx.SerializeSizeStripped() + tx.SerializeSize() + 3) / 4
	require.Greater(t, want, 0.001, "of the transaction that funds the pool")
	require.InEpsilon(t, want*1e5*float64(size), number(a.FeeCap), 0.02)
}

// TestLiesAboutSending: a node that answers another hash does not have the transaction.
func TestLiesAboutSending(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[0], nil, 1_000_000)
	a := p.signed(p.slot(1), p.pay(1, 1, 500_000))
	p.proxy.Fail(faults.Fault{Lie: func(method string, _ []any, result json.RawMessage) any {
		if method == "sendrawtransaction" {
			return strings.Repeat("ab", 32)
		}
		return result
	}})
	err := p.Broadcast(t.Context(), []chain.Attempt{a})[0]
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorContains(t, err, "it took other bytes")
	changed := a
	changed.Hash = strings.Repeat("ab", 32)
	err = p.Broadcast(t.Context(), []chain.Attempt{changed})[0]
	require.ErrorContains(t, err, "its bytes have the hash")
	p.proxy.Fail(faults.Fault{Dead: true})
	errs := p.Broadcast(t.Context(), []chain.Attempt{a, changed})
	require.ErrorIs(t, errs[0], chain.ErrUnavailable)
	require.False(t, errors.As(errs[0], new(chain.Refusal)))
	_, err = p.Underpriced(t.Context(), chain.Slot{Coin: a.Coins[0]}, a)
	require.ErrorIs(t, err, chain.ErrUnavailable)
}

// TestStoredCoinsAreProven: what the records have of a coin is held against the transaction that
// made it.
func TestStoredCoinsAreProven(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[0], nil, 1_000_000)
	slot, pay := p.slot(1), p.pay(1, 1, 500_000)
	stored, out := p.held[slot.Coin], slot.Coin
	tx, _, _ := strings.Cut(out, ":")
	for want, change := range map[string]func(){
		"it is not 2000000 satoshi": func() {
			h := stored
			h.Amount = chain.NewAmount(2_000_000)
			p.held[out] = h
		},
		"as stored": func() {
			h := stored
			h.Key = p.pool.Path[:len(p.pool.Path)-1] + "5"
			p.held[out] = h
		},
		"the coin is not held": func() {
			h := stored
			h.Key = "m/84'/1'/7'/0/1"
			p.held[out] = h
		},
		"the stored transaction": func() { p.txs[tx] = p.txs[tx][:40] },
	} {
		raw := p.txs[tx]
		change()
		_, err := p.Prepare(context.Background(), slot, pay, nil)
		require.ErrorContains(t, err, want)
		p.held[out], p.txs[tx] = stored, raw
	}
	_, err := p.Prepare(context.Background(), slot, pay, nil)
	require.NoError(t, err)
}

// TestManyCoins: the proofs of a transaction's coins fit into an order; a pool with many coins gets
// no more of them.
func TestManyCoins(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[0], nil, 1_000_000)
	for i := range int64(30) { // users withdraw from exchanges, in transactions of 100,000 bytes
		to := p.address(network.External, uint32(i))
		tx := wire.NewMsgTx(2)
		tx.LockTime = uint32(i)
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
		for range 3_200 {
			tx.AddTxOut(wire.NewTxOut(100_000-i, to.Script))
		}
		out := wire.OutPoint{Hash: tx.TxHash(), Index: 3_199}.String()
		coin := chain.Coin{Out: out, Address: to.Text, Amount: chain.NewAmount(uint64(100_000 - i)), Made: bare(t, tx)}
		p.store(chain.Block{Coins: []chain.Coin{coin}})
	}
	slot := p.slot(1)
	_, err := p.Prepare(t.Context(), slot, p.pay(1, 1, 2_600_000), nil)
	require.ErrorIs(t, err, chain.ErrNotNow, "no more than the order has room for")
	a := p.signed(slot, p.pay(1, 1, 2_300_000))
	require.Greater(t, len(a.Coins), 10)
	require.Len(t, changeOf(t, a), 1, "the pool has coins enough")
}

// changeOf are the outputs of a signed attempt after its payee's.
func changeOf(t *testing.T, a chain.Attempt) []*wire.TxOut {
	var tx wire.MsgTx
	require.NoError(t, tx.Deserialize(bytes.NewReader(a.Raw)))
	return tx.TxOut[1:]
}

// TestPayerPromises: what needs no node.
func TestPayerPromises(t *testing.T) {
	t.Parallel()
	config := bitcoin.Config{ID: "coin", Network: bitcoins, Nodes: []string{"http://127.0.0.1:1"}, Batch: bitcoin.Batch{Most: 1, Wait: time.Second}}
	c, err := bitcoin.New(config, newBooks())
	require.NoError(t, err)
	t.Cleanup(c.Close)
	require.Equal(t, 1, c.MaxBatch(chain.Native))
	require.Zero(t, c.MaxBatch("token"))
	require.Equal(t, time.Second, c.BatchWait())
	require.Empty(t, c.BatchTo(chain.Native))
	cost, err := c.Cost(chain.Attempt{FeeCap: chain.NewAmount(5)})
	require.NoError(t, err)
	require.True(t, cost.IsZero())
	head, err := c.AccountHead(t.Context(), "any")
	require.NoError(t, err)
	require.Equal(t, chain.AccountHead{Settled: true}, head)
	require.Equal(t, 100, c.MaxUnmined())
	_, err = c.Balance(t.Context(), "any", chain.Native)
	require.ErrorContains(t, err, "our accounts are not known")
}
