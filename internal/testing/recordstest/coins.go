package recordstest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// coinRig is the source chain of a rig as a ledger of coins.
type coinRig struct{ *Rig }

// mine advances the chain by a block with coins and transactions of ours, to the numbers that the
// records know.
func (p coinRig) mine(branch string, coins []chain.Coin, ownTxs ...chain.OwnTx) chain.Block {
	p.T.Helper()
	c := p.Cursor(Source)
	b := chain.Block{Point: chain.Point{Height: c.Height + 1, Hash: blockHash(Source, c.Height+1, branch)}, Parent: c.Hash, Time: p.Now(), Coins: coins}
	p.Do(func(tx *records.Tx) error {
		if err := tx.Chains().Advance(Source, b); err != nil {
			return err
		}
		for _, e := range ownTxs {
			s, _, err := tx.Coins().SpenderOf(Source, e)
			if err != nil {
				return err
			}
			e.Account, e.Number = s.Account, s.Number
			if err := tx.OwnTxs().See(records.OwnTx{Chain: Source, BlockHash: b.Hash, Height: b.Height, OwnTx: e}); err != nil {
				return err
			}
		}
		return tx.Chains().SetHead(Source, chain.Head{Latest: b.Point, Time: p.Now()})
	})
	return b
}

// coin is the output of a transaction that brings an amount to the hot account.
func coin(tx string, amount uint64) chain.Coin {
	return chain.Coin{Out: tx + ":0", Address: Hot, Amount: chain.NewAmount(amount), Made: []byte(tx)}
}

// outs are the coins that the hot account may spend, with ! for those that a slot uses and !! for
// those that a signed attempt spends.
func (p coinRig) outs() (list []string) {
	p.See(func(tx *records.Tx) error {
		held, err := tx.Coins().Held(Source, Hot)
		for _, h := range held {
			mark := map[bool]string{true: fmt.Sprintf("!%d", h.Number)}[h.Bound]
			if h.Signed {
				mark += "!"
			}
			list = append(list, h.Out+mark)
		}
		return err
	})
	return list
}

// at are our coins after a block so far above the final one.
func (p coinRig) at(above uint64) (list []string) {
	final := p.Cursor(Source).Final.Height
	p.See(func(tx *records.Tx) error {
		coins, err := tx.Coins().At(Source, final+above)
		for _, c := range coins {
			list = append(list, c.Out)
		}
		return err
	})
	slices.Sort(list)
	return list
}

func (p coinRig) bind(payments ...[]uint64) (bound []records.Slot, waits map[uint64]error) {
	p.T.Helper()
	p.Do(func(tx *records.Tx) (err error) {
		bound, waits, err = tx.Slots().BindCoins(payments, MaxUnmined)
		return err
	})
	return bound, waits
}

// sign stores an attempt of a slot that spends coins.
func (p coinRig) sign(s records.Slot, hash string, seq int, outs ...string) error {
	return p.Try(func(tx *records.Tx) error {
		return tx.Slots().AddAttempt(s, records.Attempt{Attempt: chain.Attempt{Seq: seq, Hash: hash, Raw: []byte(hash), Coins: outs}, Kind: records.AttemptPay})
	})
}

// testCoins: only mature coins of final blocks are spent, each by one slot, and those of a block
// that leaves the line are gone.
func testCoins(t *testing.T, url string) {
	p := coinRig{newRig(t, url)}
	deposit := p.Rig.bind("vite_coins")
	base := coin("base", 40)
	base.Matures = p.Cursor(Source).Height + 3
	b := p.mine("", []chain.Coin{coin("small", 5), {Out: "user:1", Address: deposit, Amount: chain.NewAmount(30), Made: []byte("user")}, base})
	require.Empty(t, p.outs(), "its block is not final")
	p.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	p.Finalize(Source)
	require.Empty(t, p.outs(), "its block has left the line")
	p.See(func(tx *records.Tx) error {
		known, err := tx.Coins().Known(Source, []string{"small:0"})
		require.Empty(t, known)
		return err
	})

	again := p.mine("again", b.Coins)
	p.Finalize(Source)
	require.Equal(t, []string{"user:1", "small:0"}, p.outs(), "largest first; the coinbase is not mature")
	p.See(func(tx *records.Tx) error {
		raw, err := tx.Coins().Txs(Source, []string{"user", "other"})
		require.Equal(t, map[string][]byte{"user": []byte("user")}, raw)
		known, knownErr := tx.Coins().Known(Source, []string{"user:1", "other:0"})
		require.NoError(t, knownErr)
		require.Equal(t, map[string]chain.Coin{"user:1": {Out: "user:1", Address: deposit, Amount: chain.NewAmount(30)}}, known)
		return err
	})
	p.mine("", nil)
	p.Finalize(Source)
	require.Equal(t, []string{"base:0", "user:1", "small:0"}, p.outs(), "the next block may spend it: %d", again.Height)
}

// testCoinSlots: each number has a coin of its own, which no other number gets.
func testCoinSlots(t *testing.T, url string) {
	p := coinRig{newRig(t, url)}
	var ids []uint64
	for range 5 {
		_, id := p.Owe(records.Withdrawal, 500)
		ids = append(ids, id)
	}
	bound, waits := p.bind([]uint64{ids[0]})
	require.Empty(t, bound)
	require.ErrorIs(t, waits[ids[0]], records.ErrFull, "there are no coins")

	p.mine("", []chain.Coin{coin("a", 10), coin("b", 30), coin("c", 20)})
	p.Finalize(Source)
	bound, waits = p.bind(ids[:2], ids[2:3])
	require.Empty(t, waits)
	require.Equal(t, []string{"b:0", "b:0", "c:0"}, []string{bound[0].Coin, bound[1].Coin, bound[2].Coin})
	require.Equal(t, []string{"b:0!7", "c:0!8", "a:0"}, p.outs())

	require.NoError(t, p.sign(bound[0], "t1", 0, "b:0", "a:0"))
	require.Equal(t, []string{"b:0!7!", "c:0!8", "a:0!7!"}, p.outs())
	require.ErrorIs(t, p.sign(bound[2], "t2", 0, "c:0", "a:0"), records.ErrConflict, "another slot uses it")
	require.ErrorIs(t, p.sign(bound[2], "t2", 0, "c:0", "none:0"), records.ErrConflict, "it is no coin of ours")
	require.NoError(t, p.sign(bound[2], "t2", 0, "c:0"))
	bound, waits = p.bind([]uint64{ids[3]})
	require.Empty(t, bound, "all coins are used")
	require.ErrorIs(t, waits[ids[3]], records.ErrFull)
}

// testManyCoins: a slot's coins are held however many larger ones there are. Else its attempt could
// not be replaced.
func testManyCoins(t *testing.T, url string) {
	p := coinRig{newRig(t, url)}
	_, id := p.Owe(records.Withdrawal, 500)
	p.mine("", []chain.Coin{coin("small", 5)})
	p.Finalize(Source)
	p.bind([]uint64{id})
	var many []chain.Coin
	for i := range 2100 {
		many = append(many, coin(fmt.Sprint("large", i), 100))
	}
	p.mine("", many)
	p.Finalize(Source)
	outs := p.outs()
	require.Equal(t, "small:0!7", outs[len(outs)-1])
	require.Less(t, len(outs), len(many), "the others are bounded")
}

// testCoinOutcomes: what a number did not spend is free again; a transaction that spends another
// number's coin ends that one.
func testCoinOutcomes(t *testing.T, url string) {
	p := coinRig{newRig(t, url)}
	_, first := p.Owe(records.Withdrawal, 500)
	_, second := p.Owe(records.Withdrawal, 600)
	p.mine("", []chain.Coin{coin("a", 10), coin("b", 30), coin("c", 20)})
	p.Finalize(Source)
	bound, _ := p.bind([]uint64{first}, []uint64{second})
	require.NoError(t, p.sign(bound[0], "t1", 0, "b:0", "a:0"))
	require.NoError(t, p.sign(bound[0], "t1x", 1, "b:0"))

	spent := chain.OwnTx{Tx: "t1x", OK: true, Spent: []string{"b:0"}}
	p.mine("lost", []chain.Coin{coin("t1x", 9)}, spent)
	require.Equal(t, []string{"c:0!8", "a:0!7!"}, p.outs())
	require.Equal(t, []string{"a:0", "b:0", "c:0"}, p.at(0), "a block above has spent one")
	require.Equal(t, []string{"a:0", "c:0", "t1x:0"}, p.at(1))
	p.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	require.Equal(t, []string{"b:0!7!", "c:0!8", "a:0!7!"}, p.outs(), "the block that spends it has left the line")
	require.Equal(t, []string{"a:0", "b:0", "c:0"}, p.at(0))

	spent.Spent = append(spent.Spent, "c:0") // which only a thief's daemon asks for
	b := p.mine("", []chain.Coin{coin("t1x", 9)}, spent)
	p.See(func(tx *records.Tx) error {
		_, err := tx.Coins().Displaced(Source, "t1x", b.Hash)
		require.ErrorIs(t, err, records.ErrNotFinal)
		return nil
	})
	p.Finalize(Source)
	require.Equal(t, []string{"a:0", "t1x:0"}, p.at(0))
	p.Do(func(tx *records.Tx) error {
		ownTxs, err := tx.OwnTxs().Unsettled(Source, 9)
		require.NoError(t, err)
		require.Equal(t, []any{Hot, uint64(7), "t1x"}, []any{ownTxs[0].Account, ownTxs[0].Number, ownTxs[0].Tx})
		displaced, err := tx.Coins().Displaced(Source, "t1x", b.Hash)
		require.NoError(t, err)
		require.Equal(t, []records.Slot{bound[1]}, displaced)
		require.NoError(t, tx.Slots().SettleVoid(displaced[0], "t1x", b.Hash, records.CoinSpent, true))
		return tx.Slots().SettlePaid(bound[0], "t1x", b.Hash)
	})
	require.Equal(t, []string{"a:0", "t1x:0"}, p.outs(), "what the paid number did not spend is free")
	require.Equal(t, records.Queued, p.Payment(second).State)

	p.See(func(tx *records.Tx) error {
		s, found, err := tx.Coins().SpenderOf(Source, chain.OwnTx{Tx: "foreign", Spent: []string{"a:0"}})
		require.Equal(t, []any{Hot, false}, []any{s.Account, found})
		return err
	})
}

// testCoinHead: the numbers that only the sign-guard knows are used when final blocks show them.
func testCoinHead(t *testing.T, url string) {
	p := coinRig{newRig(t, url)}
	_, id := p.Owe(records.Withdrawal, 500)
	p.mine("", []chain.Coin{coin("a", 10), coin("b", 30)})
	p.Finalize(Source)
	head := func(end uint64) (h chain.AccountHead) {
		p.See(func(tx *records.Tx) (err error) {
			a, err := tx.Accounts().Get(Source, Hot)
			if err == nil {
				h, err = tx.Coins().Head(a, end)
			}
			return err
		})
		return h
	}
	require.Equal(t, chain.AccountHead{Next: 7, Settled: true}, head(9))
	bound, _ := p.bind([]uint64{id})
	require.Equal(t, chain.AccountHead{Next: 8}, head(10), "a slot waits")
	for number, out := range map[uint64]string{8: "b:0", 9: "a:0"} { // the second spends the slot's coin
		e := records.OwnTx{Chain: Source, OwnTx: chain.OwnTx{Account: Hot, Number: number, Tx: fmt.Sprint("lost", number), OK: true, Spent: []string{out}}}
		b := p.mine(fmt.Sprint(number), nil)
		e.BlockHash, e.Height = b.Hash, b.Height
		p.Finalize(Source)
		p.Do(func(tx *records.Tx) error {
			if err := tx.OwnTxs().See(e); err != nil {
				return err
			}
			return tx.OwnTxs().MarkSettled(e)
		})
	}
	require.Equal(t, "b:0", bound[0].Coin)
	require.Equal(t, chain.AccountHead{Next: 10, Settled: true}, head(10), "no block can come for the slot any more")
	require.Equal(t, chain.AccountHead{Next: 10, Settled: true}, head(12))
}

// merge queues a payment that brings coins together.
func (p coinRig) merge(source string) (uint64, error) {
	return queue(p.Rig, records.Payment{Purpose: chain.Merge, Network: Network, Chain: Source, Account: Hot, Asset: chain.Native, Payee: Hot, Source: source})
}

// testMerges: a merge gets a small coin, and leaves the large ones to payouts. There is one at a
// time, and one that loses its slot ends.
func testMerges(t *testing.T, url string) {
	p := coinRig{newRig(t, url)}
	_, payout := p.Owe(records.Withdrawal, 500)
	_, late := p.Owe(records.Withdrawal, 500)
	merge, err := p.merge("")
	require.NoError(t, err)
	_, err = p.merge("")
	require.ErrorIs(t, err, records.ErrConflict)
	p.mine("", []chain.Coin{coin("large", 90_000), coin("dust", 9_999), coin("small", 10_000), coin("other", 20_000)})
	p.Finalize(Source)
	bound, waits := p.bind([]uint64{merge}, []uint64{payout})
	require.Empty(t, waits)
	require.Equal(t, []string{"small:0", "large:0"}, []string{bound[0].Coin, bound[1].Coin})
	require.NoError(t, p.sign(bound[0], "m1", 0, "small:0", "dust:0"))
	spent := chain.OwnTx{Tx: "thief", OK: true, Spent: []string{"small:0"}}
	b := p.mine("", nil, spent)
	p.Finalize(Source)
	p.Do(func(tx *records.Tx) error {
		return tx.Slots().SettleVoid(bound[0], "thief", b.Hash, records.CoinSpent, true)
	})
	require.Equal(t, records.VoidPayment, p.Payment(merge).State, "another is ordered when it is needed")
	require.Equal(t, []string{"large:0!8", "other:0", "dust:0"}, p.outs())

	merge, err = p.merge("")
	require.NoError(t, err)
	bound, waits = p.bind([]uint64{late}, []uint64{merge})
	require.Empty(t, waits)
	require.Equal(t, []string{"dust:0", "other:0"}, []string{bound[0].Coin, bound[1].Coin}, "no number waits while there are coins")
}

// testChildren: only a merge spends a coin that no block makes, only the change that it was ordered
// for, and no other slot gets that coin.
func testChildren(t *testing.T, url string) {
	p := coinRig{newRig(t, url)}
	_, payout := p.Owe(records.Withdrawal, 500)
	_, late := p.Owe(records.Withdrawal, 500)
	p.mine("", []chain.Coin{coin("a", 90_000), coin("b", 80_000), coin("c", 70_000), coin("d", 60_000)})
	p.Finalize(Source)
	bound, _ := p.bind([]uint64{payout})
	require.NoError(t, p.sign(bound[0], "parent", 0, "a:0"))
	p.See(func(tx *records.Tx) error {
		raw, err := tx.Coins().Txs(Source, []string{"parent"})
		require.Equal(t, map[string][]byte{"parent": []byte("parent")}, raw)
		return err
	})
	child, err := p.merge("parent:0")
	require.NoError(t, err)
	stranger, err := p.merge("stranger:0")
	require.NoError(t, err)
	children, _ := p.bind([]uint64{child}, []uint64{stranger}, []uint64{late})
	require.Equal(t, []string{"d:0", "c:0", "b:0"}, []string{children[0].Coin, children[1].Coin, children[2].Coin})
	for name, err := range map[string]error{
		"another's parent": p.sign(children[0], "x", 0, "d:0", "parent:1"),
		"no parent":        p.sign(children[1], "x", 0, "c:0", "stranger:0"),
		"a payout":         p.sign(children[2], "x", 0, "b:0", "parent:0"),
	} {
		require.ErrorIs(t, err, records.ErrConflict, name)
	}
	require.NoError(t, p.sign(children[0], "child", 0, "d:0", "parent:0"))
	require.Equal(t, []string{"a:0!7!", "b:0!10", "c:0!9", "d:0!8!"}, p.outs())

	parent := chain.OwnTx{Tx: "parent", OK: true, Spent: []string{"a:0"}}
	made := []chain.Coin{coin("parent", 85_000)}
	p.mine("left", made, parent)
	p.Do(func(tx *records.Tx) error { _, err := tx.Chains().StepBack(Source); return err })
	b := p.mine("", made, parent)
	p.Finalize(Source)
	require.Equal(t, []string{"parent:0!8!", "b:0!10", "c:0!9", "d:0!8!"}, p.outs(), "it is the child's")
	p.Do(func(tx *records.Tx) error { return tx.Slots().SettlePaid(bound[0], "parent", b.Hash) })
	require.NoError(t, p.sign(children[0], "child2", 1, "d:0", "parent:0"))
	b = p.mine("", []chain.Coin{coin("child", 140_000)}, chain.OwnTx{Tx: "child", OK: true, Spent: []string{"d:0", "parent:0"}})
	p.Finalize(Source)
	p.Do(func(tx *records.Tx) error { return tx.Slots().SettlePaid(children[0], "child", b.Hash) })
	require.Equal(t, []string{"child:0", "b:0!10", "c:0!9"}, p.outs())
	_, err = p.merge("parent:0")
	require.ErrorIs(t, err, records.ErrConflict, "one for each attempt")
}
