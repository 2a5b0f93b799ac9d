package chaintest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

// Account is an account of ours with the path of its key.
type Account struct {
	Address string
	Key     string
}

// AddressCase is one line of the table that CheckAddress is tried on. Err is nil for a payable
// address, whose canonical form is Want.
type AddressCase struct {
	Address string
	Label   string
	Want    string
	Err     error
}

// Harness is one fresh ledger behind the adapter under test, with the controls that the suite
// needs. Payer holds at least 1,000,000 spendable units of Asset, and where there are fees enough
// native coin for a hundred payments.
type Harness struct {
	Chain     Ledger
	Keys      Keys
	Linked    bool        // the ledger links an account's blocks: no fees, no replacement, sends are received
	Asset     chain.Asset // what is deposited and paid; fees must not touch it
	Payer     Account
	Inbox     Account // another account of ours
	Addresses []AddressCase
	Depth     int // Mine(Depth) makes the present blocks final

	// Coins returns those that Payer can spend, the largest first: at least four of a quarter of what
	// it holds. Nil: the ledger's accounts have numbers.
	Coins func(t *testing.T) []chain.HeldCoin

	// Outsider returns a new valid address that is not ours, in canonical form.
	Outsider func(t *testing.T) string
	// Deposit sends units from an outside user and returns the transaction's hash. A block includes
	// it after Mine(1).
	Deposit func(t *testing.T, to string, asset chain.Asset, amount chain.Amount) string
	// Holding returns the ledger's own balance of an account, pending receives included.
	Holding func(t *testing.T, account string, asset chain.Asset) chain.Amount
	// Mine makes blocks; the first includes earlier broadcasts and deposits.
	Mine func(t *testing.T, blocks int)
	// Reorg replaces the newest blocks by a longer branch. With keep the new branch includes their
	// transactions at once or after Mine(1); otherwise they are gone until a new broadcast. Nil
	// when the ledger cannot do it.
	Reorg func(t *testing.T, depth int, keep bool)
}

// waitTimeout bounds the suite's wait for an adapter to see the ledger's changes.
const waitTimeout = 20 * time.Second

// Run holds an adapter against the promises of chain.Chain. fresh makes a new ledger for each of
// the cases.
func Run(t *testing.T, fresh func(t *testing.T) Harness) {
	cases := []struct {
		name string
		run  func(*testing.T, *bench)
	}{
		{"heads never go back", testHeads},
		{"blocks link", testLine},
		{"unknown heights", testUnknownHeight},
		{"addresses", testAddresses},
		{"ended contexts", testContexts},
		{"transfer seen once", testTransfer},
		{"equal transfers have different refs", testEqualTransfers},
		{"ref survives a re-org", testTransferReorg},
		{"transfer vanishes with its block", testTransferDropped},
		{"payment", testPayment},
		{"signing sends nothing", testSignPure},
		{"broadcast is idempotent", testRepeatedBroadcast},
		{"numbers are dense", testDense},
		{"a used slot pays nothing more", testUsedSlot},
		{"replacement", testReplacement},
		{"dropped payment is sent again", testDroppedPayment},
		{"between our own accounts", testOwn},
		{"tip settles", testSettled},
		{"more than there is", testOverdraft},
		{"receive", testReceive},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := fresh(t)
			ctx, cancel := context.WithTimeout(t.Context(), 5*waitTimeout)
			defer cancel()
			c.run(t, &bench{Harness: h, ctx: ctx, used: map[string]uint64{}})
		})
	}
}

// bench is a harness with what the cases do again and again.
type bench struct {
	Harness
	ctx  context.Context
	used map[string]uint64 // ledger of coins: the slots of the case by their coins
}

func units(n uint64) chain.Amount { return chain.NewAmount(n) }

func (b *bench) head(t *testing.T) chain.Head {
	t.Helper()
	h, err := b.Chain.Head(b.ctx)
	require.NoError(t, err)
	return h
}

// mine makes blocks and waits until the adapter sees them.
func (b *bench) mine(t *testing.T, n int) {
	t.Helper()
	before := b.head(t).Latest.Height
	b.Mine(t, n)
	b.wait(t, before+uint64(n))
}

func (b *bench) wait(t *testing.T, height uint64) {
	t.Helper()
	require.Eventually(t, func() bool {
		h, err := b.Chain.Head(b.ctx)
		return err == nil && h.Latest.Height >= height
	}, waitTimeout, 5*time.Millisecond, "no head at %d", height)
}

// line is the blocks from a height to the head.
func (b *bench) line(t *testing.T, from uint64) []chain.Block {
	t.Helper()
	var line []chain.Block
	for h := from; h <= b.head(t).Latest.Height; h++ {
		block, err := b.Chain.Block(b.ctx, h)
		require.NoError(t, err)
		line = append(line, block)
	}
	return line
}

// transfers is the movements of one transaction in the line from a height on.
func (b *bench) transfers(t *testing.T, from uint64, hash string) []chain.Transfer {
	t.Helper()
	var found []chain.Transfer
	for _, block := range b.line(t, from) {
		for _, tr := range block.Transfers {
			if tr.Tx == hash {
				found = append(found, tr)
			}
		}
	}
	return found
}

// ownTxs returns the transactions of an account of ours from a height on.
func (b *bench) ownTxs(t *testing.T, from uint64, account string) []chain.OwnTx {
	t.Helper()
	var found []chain.OwnTx
	for _, block := range b.line(t, from) {
		for _, e := range block.OwnTxs {
			if e.Account == account {
				found = append(found, e)
			}
		}
	}
	return found
}

// slot is the payer's next place on the ledger. On a ledger of coins it is used from then on.
func (b *bench) slot(t *testing.T) chain.Slot {
	t.Helper()
	if b.Coins != nil {
		return b.coinSlot(t)
	}
	tip, err := b.Chain.AccountHead(b.ctx, b.Payer.Address)
	require.NoError(t, err)
	return chain.Slot{Account: b.Payer.Address, Key: b.Payer.Key, Nonce: tip.Next, Prev: tip.Hash}
}

func (b *bench) coinSlot(t *testing.T) chain.Slot {
	t.Helper()
	for _, c := range b.Coins(t) {
		if _, used := b.used[c.Out]; !used {
			b.used[c.Out] = uint64(len(b.used))
			return chain.Slot{Account: b.Payer.Address, Key: b.Payer.Key, Nonce: b.used[c.Out], Coin: c.Out}
		}
	}
	require.Fail(t, "no coin is left")
	return chain.Slot{}
}

// requireNumber checks that a transaction is of a slot.
func (b *bench) requireNumber(t *testing.T, slot chain.Slot, a chain.Attempt, e chain.OwnTx) {
	t.Helper()
	require.Equal(t, a.Hash, e.Tx)
	require.True(t, e.OK)
	if b.Coins == nil {
		require.Equal(t, slot.Nonce, e.Number)
		return
	}
	require.Equal(t, slot.Coin, a.Coins[0])
	require.Equal(t, a.Coins, e.Spent)
	require.Zero(t, e.Number)
}

func (b *bench) credit(id uint64, to string, amount uint64) chain.Payment {
	return chain.Payment{ID: id, Purpose: chain.Credit, Asset: b.Asset, To: to, Amount: units(amount)}
}

func (b *bench) sign(t *testing.T, slot chain.Slot, pay chain.Payment, prev ...chain.Attempt) chain.Attempt {
	t.Helper()
	a, err := Sign(b.ctx, b.Chain, b.Keys, slot, pay, prev)
	require.NoError(t, err)
	require.NotEmpty(t, a.Hash)
	require.NotEmpty(t, a.Raw)
	require.Equal(t, len(prev), a.Seq)
	return a
}

// pay makes payment 1, of 500, and mines it.
func (b *bench) pay(t *testing.T, to string) chain.Attempt {
	t.Helper()
	a := b.sign(t, b.slot(t), b.credit(1, to, 500))
	require.NoError(t, Send(b.ctx, b.Chain, a))
	b.mine(t, 1)
	return a
}

func (b *bench) requireHolding(t *testing.T, account string, want uint64) {
	t.Helper()
	require.Equal(t, units(want), b.Holding(t, account, b.Asset))
}
