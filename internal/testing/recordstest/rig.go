package recordstest

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/view"
)

// What a rig is made of: one network between two chains, one token.
const (
	Network  = "eth"
	Source   = chain.ID("eth")
	Exchange = chain.ID("vite")
	Token    = "tti_5649544520544f4b454e6e40"
	Hot      = "0xHot"
	Shared   = "0xShared"
	GasTank  = "0xGas"
	Gateway  = "vite_gateway"
	Alice    = "vite_alice"
	Bob      = "vite_bob"

	MaxUnmined = 16 // slots of an account that a rig lets be in no block
)

// Rig is a store with two followed chains and adopted accounts, and the steps of a deposit and a
// withdrawal. A step that fails ends the test.
type Rig struct {
	T     testing.TB
	Store *records.Store
	URL   string
	Pages *view.Pages
	clock atomic.Int64
	count int
}

// Open makes an empty SQLite store that ends with the test.
func Open(t testing.TB) *records.Store {
	t.Helper()
	return open(t, "sqlite:"+filepath.Join(t.TempDir(), "records.db"), nil)
}

func open(t testing.TB, url string, now func() time.Time) *records.Store {
	t.Helper()
	s, err := records.Open(context.Background(), records.Config{URL: url, Now: now, Observe: recorder(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// NewRig makes a rig on an empty SQLite database.
func NewRig(t testing.TB) *Rig {
	t.Helper()
	return newRig(t, "sqlite:"+filepath.Join(t.TempDir(), "records.db"))
}

func newRig(t testing.TB, url string) *Rig {
	t.Helper()
	r := &Rig{T: t, URL: url, Pages: view.NewPages()}
	r.clock.Store(time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC).UnixMilli())
	r.Store = open(t, url, r.Now)
	r.Do(func(tx *records.Tx) error {
		for _, id := range []chain.ID{Source, Exchange} {
			if err := tx.Chains().Start(id, chain.Point{Height: 100, Hash: blockHash(id, 100, "")}); err != nil {
				return err
			}
		}
		for i, a := range []records.Account{
			{Chain: Source, Account: Hot, Kind: records.KindHot}, {Chain: Source, Account: Shared, Kind: records.KindShared},
			{Chain: Source, Account: GasTank, Kind: records.KindGas}, {Chain: Exchange, Account: Gateway, Kind: records.KindGateway},
		} {
			a.Network, a.KeyPath = Network, fmt.Sprintf("m/44'/0'/%d'", i)
			if err := tx.Accounts().Ensure(a); err != nil {
				return err
			}
		}
		if err := tx.Accounts().Adopt(Source, Hot, 7, ""); err != nil {
			return err
		}
		return tx.Accounts().Adopt(Exchange, Gateway, 1, "base-hash")
	})
	return r
}

// Now is the rig's own time.
func (r *Rig) Now() time.Time { return time.UnixMilli(r.clock.Load()).UTC() }

// Pass lets time go by.
func (r *Rig) Pass(d time.Duration) { r.clock.Add(d.Milliseconds()) }

// Try runs f in a writing transaction.
func (r *Rig) Try(f func(*records.Tx) error) error { return r.Store.Update(context.Background(), f) }

// Do is Try that must not fail.
func (r *Rig) Do(f func(*records.Tx) error) {
	r.T.Helper()
	require.NoError(r.T, r.Try(f))
}

// See runs f on a snapshot.
func (r *Rig) See(f func(*records.Tx) error) {
	r.T.Helper()
	require.NoError(r.T, r.Store.View(context.Background(), f))
}

func blockHash(id chain.ID, height uint64, branch string) string {
	return fmt.Sprintf("%s-block-%d%s", id, height, branch)
}

// Cursor returns the followed position of a chain.
func (r *Rig) Cursor(id chain.ID) (c records.Cursor) {
	r.T.Helper()
	r.See(func(tx *records.Tx) (err error) { c, err = tx.Chains().Cursor(id); return err })
	return c
}

// Mine advances a chain by a block with transactions of our accounts. branch distinguishes blocks
// of one height.
func (r *Rig) Mine(id chain.ID, branch string, ownTxs ...chain.OwnTx) chain.Block {
	r.T.Helper()
	c := r.Cursor(id)
	b := chain.Block{
		Point:  chain.Point{Height: c.Height + 1, Hash: blockHash(id, c.Height+1, branch)},
		Parent: c.Hash, Time: r.Now(), OwnTxs: ownTxs,
	}
	r.Do(func(tx *records.Tx) error {
		if err := tx.Chains().Advance(id, b); err != nil {
			return err
		}
		for _, e := range ownTxs {
			if err := tx.OwnTxs().See(records.OwnTx{Chain: id, BlockHash: b.Hash, Height: b.Height, OwnTx: e}); err != nil {
				return err
			}
		}
		return tx.Chains().SetHead(id, chain.Head{Latest: b.Point, Time: r.Now()})
	})
	return b
}

// Finalize makes everything up to the cursor final.
func (r *Rig) Finalize(id chain.ID) {
	r.T.Helper()
	c := r.Cursor(id)
	r.Do(func(tx *records.Tx) error {
		return tx.Chains().SetHead(id, chain.Head{Latest: c.Point, Final: c.Point, Time: r.Now()})
	})
}

// Incoming is a transfer to us as a block shows it, made out for Alice, not stored.
func (r *Rig) Incoming(d records.Direction, amount uint64, b chain.Block) records.Transfer {
	r.count++
	t := records.Transfer{
		Network: Network, Direction: d, Chain: Source, Token: Token, Owner: Alice, Payee: Alice,
		Transfer: chain.Transfer{
			Ref: fmt.Sprintf("0xin%d:val", r.count), Tx: fmt.Sprintf("0xin%d", r.count), From: "0xuser", To: "0xdeposit", Asset: chain.Native, Amount: chain.NewAmount(amount),
		},
		Net: chain.NewAmount(amount), Height: b.Height, BlockHash: b.Hash, BlockAt: b.Time,
		Policy: records.Policy{
			Decimals: 18, AssetDecimals: 18, MinDeposit: chain.NewAmount(10),
			DepositConfirmations: records.Depth{Count: 12, Tag: true}, WithdrawConfirmations: records.Depth{Count: 30},
		},
	}
	if d == records.Withdrawal {
		t.Chain, t.Asset, t.From, t.To, t.Payee = Exchange, Token, Alice, Gateway, "0xpayee"
		t.Fee, t.Net = chain.NewAmount(1), chain.NewAmount(amount-1)
		t.Memo = chain.Memo{Raw: []byte{0x0b, 0xc3, 0}, Address: "0xpayee"}
	}
	return t
}

// Receive mines a block with a transfer in it and stores both.
func (r *Rig) Receive(d records.Direction, amount uint64) (t records.Transfer) {
	r.T.Helper()
	id := Source
	if d == records.Withdrawal {
		id = Exchange
	}
	in := r.Incoming(d, amount, r.Mine(id, ""))
	r.Do(func(tx *records.Tx) (err error) { t, _, err = tx.Transfers().See(in); return err })
	return t
}

// CreditOf is the payment that a transfer asks for.
func CreditOf(t records.Transfer) records.Payment {
	p := records.Payment{
		TransferID: t.ID, Purpose: chain.Credit, Network: t.Network, Token: t.Token, Chain: Exchange, Account: Gateway, Asset: Token,
		Amount: t.Net, Payee: t.Payee, PayeeLabel: t.PayeeLabel,
	}
	if t.Direction == records.Withdrawal {
		p.Chain, p.Account, p.Asset = Source, Hot, chain.Native
	}
	return p
}

// Owe receives a transfer, decides it as final and queues its credit.
func (r *Rig) Owe(d records.Direction, amount uint64) (t records.Transfer, payment uint64) {
	r.T.Helper()
	t = r.Receive(d, amount)
	r.Finalize(t.Chain)
	r.Do(func(tx *records.Tx) (err error) {
		if err := tx.Transfers().Move(t.ID, records.Seen, records.Final, ""); err != nil {
			return err
		}
		payment, err = tx.Payments().Queue(CreditOf(t))
		return err
	})
	return t, payment
}

// Bind gives a payment its slot.
func (r *Rig) Bind(payment uint64) (s records.Slot) {
	r.T.Helper()
	r.Do(func(tx *records.Tx) (err error) { s, err = tx.Slots().Bind(payment, MaxUnmined); return err })
	return s
}

// Sign stores one more attempt in a slot and answers its hash.
func (r *Rig) Sign(s records.Slot, kind string) (hash string) {
	r.T.Helper()
	r.Do(func(tx *records.Tx) error {
		before, err := tx.Slots().Attempts(s)
		if err != nil {
			return err
		}
		hash = fmt.Sprintf("out-%s-%s-%d-%d-%d", s.Chain, s.Account, s.Branch, s.Nonce, len(before))
		return tx.Slots().AddAttempt(s, records.Attempt{Attempt: chain.Attempt{Seq: len(before), Hash: hash, Raw: []byte(hash), FeeCap: chain.NewAmount(9)}, Kind: kind})
	})
	return hash
}

// Settle mines the slot's attempt, makes it final and settles the slot as paid.
func (r *Rig) Settle(s records.Slot, hash string) {
	r.T.Helper()
	b := r.Mine(s.Chain, "", chain.OwnTx{Account: s.Account, Number: s.Nonce, Tx: hash, OK: true, Fee: chain.NewAmount(21000)})
	r.Finalize(s.Chain)
	r.Do(func(tx *records.Tx) error {
		if err := tx.Slots().SettlePaid(s, hash, b.Hash); err != nil {
			return err
		}
		return tx.OwnTxs().MarkSettled(records.OwnTx{Chain: s.Chain, BlockHash: b.Hash, OwnTx: chain.OwnTx{Account: s.Account, Number: s.Nonce, Tx: hash}})
	})
}

// Pay takes a queued payment all the way and answers the hash that paid it.
func (r *Rig) Pay(payment uint64) string {
	r.T.Helper()
	s := r.Bind(payment)
	hash := r.Sign(s, records.AttemptPay)
	r.Settle(s, hash)
	return hash
}

// Payment reads a payment.
func (r *Rig) Payment(id uint64) (p records.Payment) {
	r.T.Helper()
	r.See(func(tx *records.Tx) (err error) { p, err = tx.Payments().Get(id); return err })
	return p
}

// Transfer reads a transfer.
func (r *Rig) Transfer(id uint64) (t records.Transfer) {
	r.T.Helper()
	r.See(func(tx *records.Tx) (err error) { t, err = tx.Transfers().Get(id); return err })
	return t
}
