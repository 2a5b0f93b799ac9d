package cause_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/approval"
	"gatewayd/signer/checks"
	"gatewayd/signer/limits"
	"gatewayd/vite/core"
)

// thief owns the daemon: its process, its database, its configuration and every call of the signer.
// The signer's keys, sign-guard, configuration and nodes are not his. What he gets signed he sends.
type thief struct {
	*env
	*signer.Signer
	payee, owner string // his accounts
	last         uint64 // payment number
	approver     string // public key of a person whose private key the thief does not have
	now          time.Time
	paid         chain.Claim
	paidAt       uint64      // its block
	list         string      // of addresses, which is the owner's
	waiting      chain.Order // of a payment that is signed and in no block
}

// testKeys is the signer's keys.
type testKeys struct{ *chaintest.Chain }

func (testKeys) Sign(context.Context, string, []byte) (public, signature []byte, err error) {
	return nil, nil, nil
}
func (p testKeys) Account(_ chain.ID, path string) (string, error) { return p.Address(path), nil }
func (testKeys) Deposit(_ chain.ID, index uint32) (string, error) {
	return fmt.Sprint("deposit/", index), nil
}
func (testKeys) DepositKey(chain.ID) (key signer.DepositKey, err error) {
	return key, signer.ErrRefused
}
func (testKeys) Agent(string) (a core.Address, err error) { return a, signer.ErrRefused }

func newThief(t *testing.T) *thief {
	t.Helper()
	w := setup(t)
	th := &thief{env: w, payee: w.eth.Address("thief"), owner: w.vite.Address("thief"), last: 100, now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	public, err := approval.NewKey(filepath.Join(t.TempDir(), "ann.key"))
	require.NoError(t, err)
	th.approver = public
	th.start()
	th.paid = w.ordered()
	require.NoError(t, th.take("eth", th.paid), "the honest payment")
	w.mine()
	head, err := w.eth.Head(t.Context())
	require.NoError(t, err)
	th.paidAt = head.Final.Height - 1
	require.NoError(t, th.ReadOutcomes(t.Context(), "eth", th.paidAt))
	return th
}

// start makes the signer, as a process that begins: with limits of a day, an approver, and a list
// that is not empty.
func (th *thief) start() {
	th.t.Helper()
	assets := []checks.Asset{{Network: "main", Token: usd, Symbol: "USD", Chain: "eth", Asset: "usd", Decimals: 4, TokenDecimals: 2}}
	list := filepath.Join(th.t.TempDir(), "list")
	th.list = list
	require.NoError(th.t, os.WriteFile(list, []byte(th.vite.Address("wanted")+"\n"), 0o600))
	set, err := checks.New(th.t.Context(), checks.Config{
		Limits:    limits.Config{Tokens: []limits.Token{{Network: "main", Token: usd, PerDay: amount(200_000)}}, Fees: []limits.FeeBudget{{Chain: "eth", PerDay: amount(20_000)}}},
		Approvals: approval.Config{Needed: 1, Approvers: []approval.Approver{{Name: "ann", Key: th.approver}}, Tokens: []approval.Token{{Network: "main", Token: usd, ApproveAbove: amount(40_000)}}},
		BlockList: checks.BlockListConfig{Files: []checks.BlockList{{Name: "sanctions", File: list}}},
	}, assets, th.guard, func() time.Time { return th.now })
	require.NoError(th.t, err)
	th.Signer = signer.New(signer.Parts{
		Keys: testKeys{th.eth}, Guard: th.guard, Rules: map[chain.ID]chain.Rules{"eth": th.eth.Rules(), "vite": th.vite.Rules()},
		Checks:  []signer.Check{set.Unless(th.checker.Check), checks.Func(set.Listed), checks.Func(set.Limited), checks.Func(set.Approved)},
		Ledgers: map[chain.ID]signer.Ledger{"eth": th.eth, "vite": th.vite}, Fees: set, Authorized: set.Authorized, Now: set.Now, Report: set.Report,
		Source: func(network string) (chain.ID, bool) { return "eth", network == "main" },
	})
}

// key is the path of an account of ours.
func (th *thief) key(account string) string {
	for _, key := range []string{"hot", "hot 2", "old hot", "gas", "deposit/0", "gateway"} {
		if th.eth.Address(key) == account || th.vite.Address(key) == account {
			return key
		}
	}
	return "nobody's"
}

func (th *thief) ledger(id chain.ID) *chaintest.Chain {
	if id == "vite" {
		return th.vite
	}
	return th.eth
}

// order is a payment at the next number of its account.
func (th *thief) order(id chain.ID, account string, p chain.Payment) chain.Order {
	th.t.Helper()
	c := th.ledger(id)
	head, err := c.AccountHead(th.t.Context(), account)
	require.NoError(th.t, err)
	slot := chain.Slot{Account: account, Key: th.key(account), Nonce: head.Next}
	if id == "vite" {
		slot.Branch, slot.Prev = 1, head.Hash
	}
	a, err := c.Prepare(th.t.Context(), slot, p, nil)
	require.NoError(th.t, err)
	return chain.Order{Slot: slot, Payment: p, Unsigned: a.Raw}
}

// take asks for leave, for signatures whatever the answer is, and sends what it gets. It answers
// the first refusal.
func (th *thief) take(id chain.ID, c chain.Claim) error {
	th.t.Helper()
	verdicts, err := th.Authorize(th.t.Context(), id, c)
	if err == nil && verdicts[0].State != chain.Authorized {
		err = errors.New(verdicts[0].Text)
	}
	return errors.Join(err, th.sign(id, th.order(id, c.Account, c.Payment)))
}

func (th *thief) sign(id chain.ID, orders ...chain.Order) error {
	th.t.Helper()
	signed, err := th.Sign(th.t.Context(), id, orders...)
	for _, tx := range signed {
		_ = chaintest.Send(th.t.Context(), th.ledger(id), chain.Attempt{Hash: tx.Hash, Raw: tx.Raw})
	}
	th.ledger(id).Mine(1)
	return err
}

// altered is an honest claim with something of it changed, under a number that was never used.
func (th *thief) altered(c chain.Claim, change func(*chain.Claim)) chain.Claim {
	th.last++
	c.Payment.ID = th.last
	change(&c)
	return c
}

// way is one way to get money out, and what in the refusal stops it.
type way struct {
	name, stops string
	try         func(*thief) error
}

// payoutWith and the like alter a claim of a fresh honest transfer.
func payoutWith(change func(*thief, *chain.Claim)) func(*thief) error {
	return func(th *thief) error {
		return th.take("eth", th.altered(th.ordered(), func(c *chain.Claim) { change(th, c) }))
	}
}

func creditWith(change func(*thief, *chain.Claim)) func(*thief) error {
	return func(th *thief) error {
		return th.take("vite", th.altered(th.usd(), func(c *chain.Claim) { change(th, c) }))
	}
}

func refundWith(change func(*thief, *chain.Claim)) func(*thief) error {
	return func(th *thief) error {
		return th.take("vite", th.altered(th.refunded(), func(c *chain.Claim) { change(th, c) }))
	}
}

func sweepWith(change func(*thief, *chain.Claim)) func(*thief) error {
	return func(th *thief) error {
		return th.take("eth", th.altered(th.sweep(), func(c *chain.Claim) { change(th, c) }))
	}
}

func coldWith(change func(*thief, *chain.Claim)) func(*thief) error {
	return func(th *thief) error {
		return th.take("eth", th.altered(th.cold(), func(c *chain.Claim) { change(th, c) }))
	}
}

// repeated is the payment that was made already, with something of it changed.
func repeated(change func(*thief, *chain.Claim)) func(*thief) error {
	return func(th *thief) error {
		return th.take("eth", th.altered(th.paid, func(c *chain.Claim) { change(th, c) }))
	}
}

var ways = []way{
	{"A withdrawal that no block has", "shows no transfer", payoutWith(func(th *thief, c *chain.Claim) { c.Cause.Ref, c.Payment.To = "invented", th.payee })},
	{"A deposit that no block has", "shows no transfer", creditWith(func(th *thief, c *chain.Claim) {
		c.Cause.Ref, c.Payment.To, c.Cause.User = "invented", th.owner, th.owner
	})},
	{"Coin that only balances show, at no address", "does not name coin", creditWith(func(th *thief, c *chain.Claim) { c.Cause.Ref, c.Payment.To = "audit:a:native:9", th.owner })},
	{"A withdrawal in a block to come", "not yet", payoutWith(func(th *thief, c *chain.Claim) { c.Cause.Height, c.Payment.To = 1<<40, th.payee })},
	{"A withdrawal that is not final", "is not final yet", func(th *thief) error { return th.take("eth", th.fresh()) }},
	{"A withdrawal whose block has left the chain", "shows no transfer", func(th *thief) error {
		c := th.fresh()
		th.vite.Reorg(1, false)
		th.mine()
		return th.take("eth", c)
	}},
	{"A withdrawal from before the signer watched", "before the signer watched", payoutWith(func(th *thief, c *chain.Claim) { c.Cause.Height, c.Payment.To = 1, th.payee })},
	{"A withdrawal paid to another", "names", payoutWith(func(th *thief, c *chain.Claim) { c.Payment.To = th.payee })},
	{"A withdrawal paid with another label", "names", payoutWith(func(_ *thief, c *chain.Claim) { c.Payment.Label = "mine" })},
	{"A withdrawal paid with a longer label, authorized as label and source", "takes nothing in", func(th *thief) error {
		c := th.altered(th.withdrawn(chain.Memo{Type: 0, Address: th.eth.Address("payee"), Label: "12"}), func(c *chain.Claim) { c.Payment.Label, c.Payment.Source = "12", "3|" })
		verdicts, err := th.Authorize(th.t.Context(), "eth", c)
		if err == nil && verdicts[0].State != chain.Authorized {
			err = errors.New(verdicts[0].Text)
		}
		c.Payment.Label, c.Payment.Source = "12|3", ""
		return errors.Join(err, th.sign("eth", th.order("eth", c.Account, c.Payment)))
	}},
	{"A withdrawal of another user's claimed as his", "belongs to", payoutWith(func(th *thief, c *chain.Claim) { c.Cause.User = th.owner })},
	{"A larger payout", "pays out 999000 at most", payoutWith(func(_ *thief, c *chain.Claim) { c.Payment.Amount = amount(999_001) })},
	{"A payout without its fee", "pays out 999000 at most", payoutWith(func(_ *thief, c *chain.Claim) { c.Payment.Amount = amount(1_000_000) })},
	{"A payout in another asset", "is paid out in usd", payoutWith(func(_ *thief, c *chain.Claim) { c.Payment.Asset = chain.Native })},
	{"A payout for a transfer without an order", "has no payee", func(th *thief) error {
		return th.take("eth", th.altered(th.withdrawn(chain.Memo{Type: -1}), func(*chain.Claim) {}))
	}},
	{"A deposit credited to another", "is for", creditWith(func(th *thief, c *chain.Claim) { c.Payment.To = th.owner })},
	{"A larger credit", "is worth 1234, not 123400", creditWith(func(_ *thief, c *chain.Claim) { c.Payment.Amount = amount(123_400) })},
	{"A credit in another token", "is credited in tti_usd", creditWith(func(_ *thief, c *chain.Claim) { c.Payment.Asset, c.Cause.Token = coin, coin })},
	{"A credit for our own sweep", "shows no transfer", func(th *thief) error {
		th.last++
		s := th.sweep()
		s.Payment.ID, s.Payment.Asset = th.last, chain.Native
		o := th.order("eth", s.Account, s.Payment)
		if _, err := th.Authorize(th.t.Context(), "eth", s); err != nil {
			return err
		}
		signed, err := th.Sign(th.t.Context(), "eth", o)
		if err != nil {
			return err
		}
		if err := chaintest.Send(th.t.Context(), th.eth, chain.Attempt{Hash: signed[0].Hash, Raw: signed[0].Raw}); err != nil {
			return err
		}
		th.eth.Mine(1)
		height, _, _ := th.eth.Find(signed[0].Hash)
		th.mine()
		return creditWith(func(th *thief, c *chain.Claim) {
			c.Cause.Ref, c.Cause.Height, c.Payment.To = signed[0].Hash, height, th.owner
		})(th)
	}},
	{"A user's address bound to him", "was given before", func(th *thief) error {
		_, err := th.GiveAddress(th.t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: 0, Address: th.address, User: th.owner})
		return errors.Join(err, creditWith(func(th *thief, c *chain.Claim) { c.Payment.To, c.Cause.User = th.owner, th.owner })(th))
	}},
	{"A user's label bound to him", "was given before", func(th *thief) error { return th.label("ABCD2345") }},
	{"A user's label bound to him in small letters, as senders may write it", "small letters", func(th *thief) error { return th.label("abcd2345") }},
	{"A label that looks like a user's", "no letter", func(th *thief) error { return th.label("ABCD234I") }},
	{"A user's label with a space, a zero-width space, NUL or full-width letters", "has 8 letters", func(th *thief) error {
		for _, label := range []string{"ABCD2345 ", "ABCD2345\u200b", "ABCD2345\x00", "\uff21\uff22CD2345"} {
			if err := th.label(label); err == nil || !strings.Contains(err.Error(), "has 8 letters") {
				return err
			}
		}
		return th.label("ABCD2345 ")
	}},
	{"Labels of 100 kB, to fill the disk", "not 100000 bytes", func(th *thief) error { return th.label(strings.Repeat("A", 100_000)) }},
	{"A label bound after its deposit", "before its address or label was issued", func(th *thief) error {
		return th.labelled("BND23456", func() error { th.mine(); return th.label("BND23456") })
	}},
	{"A label bound in its deposit's own block", "before its address or label was issued", func(th *thief) error {
		return th.labelled("BND23457", func() error { return th.label("BND23457") })
	}},
	{"A label bound on another chain, whose blocks are lower", "with deposits on", func(th *thief) error {
		return th.labelled("BND23458", func() error {
			return th.GiveLabel(th.t.Context(), signguard.Binding{Network: "main", Chain: "vite", Label: "BND23458", User: th.owner})
		})
	}},
	{"An address bound after its deposit", "before its address or label was issued", func(th *thief) error { return th.addressed(9, th.mine) }},
	{"An address bound in its deposit's own block", "before its address or label was issued", func(th *thief) error { return th.addressed(10, func() {}) }},
	{"A user's address bound to him on another chain with the same keys", "to another user on eth", func(th *thief) error {
		th.Signer = signer.New(signer.Parts{Keys: testKeys{th.eth}, Guard: th.guard, Ledgers: map[chain.ID]signer.Ledger{"bsc": th.eth}})
		defer th.start()
		_, err := th.GiveAddress(th.t.Context(), signguard.Binding{Network: "side", Chain: "bsc", Index: 0, Address: th.address, User: th.owner})
		return err
	}},
	{"His own address given out as ours", "address 7 of eth is", func(th *thief) error {
		_, err := th.GiveAddress(th.t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: 7, Address: th.payee, User: th.owner})
		return errors.Join(err, sweepWith(func(th *thief, c *chain.Claim) { c.Payment.To = th.payee })(th))
	}},
	{"A sweep to him", "our own accounts only", sweepWith(func(th *thief, c *chain.Claim) { c.Payment.To = th.payee })},
	{"Coin for gas to him", "our own accounts only", sweepWith(func(th *thief, c *chain.Claim) {
		c.Account, c.Payment = th.eth.Address("gas"), chain.Payment{ID: c.Payment.ID, Purpose: chain.Gas, Asset: chain.Native, To: th.payee, Amount: amount(5)}
	})},
	{"The gas account emptied into unused addresses", "has no tokens worth a sweep", func(th *thief) error {
		address := th.eth.Address("deposit/11")
		if _, err := th.GiveAddress(th.t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: 11, Address: address, User: th.owner}); err != nil {
			return err
		}
		return th.take("eth", th.gas(address))
	}},
	{"The gas account emptied into a user's address, again and again", "times in an hour", func(th *thief) error {
		for range 100 {
			verdicts, err := th.Authorize(th.t.Context(), "eth", th.gas(th.address))
			if err != nil || verdicts[0].State != chain.Authorized {
				return errors.Join(err, errors.New(verdicts[0].Text))
			}
		}
		return nil
	}},
	{"Money brought to a retired account of ours", "is retired: a sweep goes", sweepWith(func(th *thief, c *chain.Claim) {
		c.Account, c.Payment.To = th.eth.Address("hot"), th.eth.Address("old hot")
	})},
	{"A deposit swept to a retired account", "is retired: a sweep goes", sweepWith(func(th *thief, c *chain.Claim) { c.Payment.To = th.eth.Address("old hot") })},
	{"Money of a retired account to him", "our own accounts only", sweepWith(func(th *thief, c *chain.Claim) {
		c.Account, c.Payment.To = th.eth.Address("old hot"), th.payee
	})},
	{"A withdrawal paid from a retired account", "is retired and makes no payments", payoutWith(func(th *thief, c *chain.Claim) { c.Account = th.eth.Address("old hot") })},
	{"Coin for gas from a retired account", "only the gas account", sweepWith(func(th *thief, c *chain.Claim) {
		c.Account, c.Payment = th.eth.Address("old hot"), chain.Payment{ID: c.Payment.ID, Purpose: chain.Gas, Asset: chain.Native, To: th.eth.Address("hot 2"), Amount: amount(5)}
	})},
	{"Cold money to him", "the cold address of tti_usd is", coldWith(func(th *thief, c *chain.Claim) { c.Payment.To = th.payee })},
	{"Cold money to the cold address of another network", "has no network", coldWith(func(th *thief, c *chain.Claim) {
		c.Cause.Network, c.Payment.To = "other", th.eth.Address("cold of another network")
	})},
	{"Cold money to the cold address of another network, as ours", "the cold address of tti_usd is", coldWith(func(th *thief, c *chain.Claim) {
		c.Payment.To = th.eth.Address("cold of another network")
	})},
	{"Cold money of a token that has no cold address", "has no cold address", coldWith(func(th *thief, c *chain.Claim) {
		c.Payment.Asset, c.Payment.To, c.Cause.Token = chain.Native, th.payee, coin
	})},
	{"A user's deposit as cold money", "comes from a hot account", coldWith(func(th *thief, c *chain.Claim) { c.Account = th.address })},
	{"The same withdrawal again under another number", "its cause is paid", repeated(func(*thief, *chain.Claim) {})},
	{"A refund of what was paid out", "its cause is paid", func(th *thief) error {
		return th.take("vite", th.altered(th.paid, func(c *chain.Claim) {
			c.Account, c.Payment = th.vite.Address("gateway"), chain.Payment{ID: c.Payment.ID, Purpose: chain.Refund, Asset: usd, To: th.user, Amount: amount(10_000)}
		}))
	}},
	{"A refund to him", "needs approvals", refundWith(func(th *thief, c *chain.Claim) { c.Payment.To = th.owner })},
	{"A larger refund", "is of 10000, not of 10001", refundWith(func(_ *thief, c *chain.Claim) { c.Payment.Amount = amount(10_001) })},
	{"A refund of another network's money", "did not come to an account of main", func(th *thief) error {
		hash := th.vite.Deposit(th.owner, th.vite.Address("gateway of other"), usd, amount(10_000), chain.Memo{Type: -1})
		th.vite.Mine(1)
		in, height := th.find(th.vite, hash)
		th.mine()
		return refundWith(func(th *thief, c *chain.Claim) {
			c.Cause.Height, c.Cause.Ref, c.Cause.Sender, c.Cause.User, c.Payment.To = height, in.Ref, in.From, in.From, in.From
		})(th)
	}},
	{"A refund of the operators' own money", "no claim to it", func(th *thief) error {
		hash := th.eth.Deposit(th.eth.Address("treasury"), th.eth.Address("hot"), chain.Native, amount(50), chain.Memo{Type: -1})
		th.eth.Mine(1)
		in, height := th.find(th.eth, hash)
		th.mine()
		return th.take("eth", th.altered(th.paid, func(c *chain.Claim) {
			c.Payment = chain.Payment{ID: c.Payment.ID, Purpose: chain.Refund, Asset: chain.Native, To: in.From, Amount: amount(50)}
			c.Cause.Chain, c.Cause.Height, c.Cause.Ref, c.Cause.Sender = "eth", height, in.Ref, in.From
		}))
	}},
	{"A withdrawal signed twice while its first payment waits", "under another number", func(th *thief) error {
		c := th.altered(th.ordered(), func(*chain.Claim) {})
		if _, err := th.Authorize(th.t.Context(), "eth", c); err != nil {
			return err
		}
		th.waiting = th.order("eth", c.Account, c.Payment)
		if _, err := th.Sign(th.t.Context(), "eth", th.waiting); err != nil { // he keeps it
			return err
		}
		th.last++
		c.Payment.ID = th.last
		verdicts, err := th.Authorize(th.t.Context(), "eth", c)
		next := th.waiting
		next.Slot.Nonce++
		next.Payment.ID = c.Payment.ID
		a, prepared := th.eth.Prepare(th.t.Context(), next.Slot, next.Payment, nil)
		next.Unsigned = a.Raw
		return errors.Join(err, prepared, errors.New(verdicts[0].Text), th.sign("eth", next))
	}},
	{"That payment declared void by word", "no final block that it has read", func(th *thief) error { return th.Free(th.t.Context(), th.waiting.Payment.ID) }},
	{"That payment declared overtaken by word", "signed for payment", func(th *thief) error {
		if err := th.Release(th.t.Context(), "eth", th.waiting.Slot.Account, 1<<40); err != nil {
			return err
		}
		o := th.waiting
		o.Payment.ID, o.Payment.To = o.Payment.ID+1, th.payee
		a, err := th.eth.Prepare(th.t.Context(), o.Slot, o.Payment, nil)
		o.Unsigned = a.Raw
		return errors.Join(err, th.sign("eth", o), th.sign("eth", th.waiting)) // in the end he sends what he kept: the user is paid
	}},
	{"An outcome from a block that is not final", "is not final", func(th *thief) error {
		head, err := th.eth.Head(th.t.Context())
		return errors.Join(err, th.ReadOutcomes(th.t.Context(), "eth", head.Latest.Height))
	}},
	{"A signature without leave", "not authorized", func(th *thief) error {
		th.last++
		return th.sign("eth", th.order("eth", th.eth.Address("hot"), chain.Payment{ID: th.last, Purpose: chain.Credit, Asset: "usd", To: th.payee, Amount: amount(5)}))
	}},
	{"A transaction that is not its payment", "the transaction is", func(th *thief) error {
		c := th.altered(th.ordered(), func(*chain.Claim) {})
		if _, err := th.Authorize(th.t.Context(), "eth", c); err != nil {
			return err
		}
		o := th.order("eth", c.Account, c.Payment)
		c.Payment.To = th.payee
		o.Unsigned = th.order("eth", c.Account, c.Payment).Unsigned
		return th.sign("eth", o)
	}},
	{"The key of another account for an authorized payment", "not authorized", func(th *thief) error {
		c := th.altered(th.ordered(), func(*chain.Claim) {})
		if _, err := th.Authorize(th.t.Context(), "eth", c); err != nil {
			return err
		}
		return th.sign("eth", th.order("eth", th.eth.Address("gas"), chain.Payment{ID: c.Payment.ID, Purpose: chain.Credit, Asset: chain.Native, To: th.payee, Amount: amount(5)}))
	}},
	{"An order for another chain", "knows no chain", func(th *thief) error {
		_, err := th.Sign(th.t.Context(), "bsc", th.waiting)
		return err
	}},
	{"A network that is not the signer's", "has no network", payoutWith(func(th *thief, c *chain.Claim) { c.Cause.Network, c.Payment.To = "mine", th.payee })},
	{"A payment as a cancellation", "is never authorized", sweepWith(func(th *thief, c *chain.Claim) { c.Payment.Purpose, c.Payment.To = chain.Cancel, th.payee })},
	{"Endless cancellations, for their fees", "its signatures end before", func(th *thief) error {
		hot := th.eth.Address("hot")
		o := th.order("eth", hot, chain.Payment{Purpose: chain.Cancel, Asset: chain.Native, To: hot})
		o.Slot.Nonce += 50
		a, err := th.eth.Prepare(th.t.Context(), o.Slot, o.Payment, nil)
		o.Unsigned = a.Raw
		return errors.Join(err, th.sign("eth", o))
	}},
	{"A payment signed in two lines of a linked ledger", "not decided by a final block", func(th *thief) error {
		c := th.altered(th.usd(), func(*chain.Claim) {})
		if err := th.take("vite", c); err != nil {
			return err
		}
		o := th.order("vite", c.Account, c.Payment)
		o.Slot.Branch = 2
		return th.sign("vite", o)
	}},
	{"A payout in another line of its nonces, which a sweep has overtaken", "counts nonces", func(th *thief) error {
		c := th.altered(th.ordered(), func(*chain.Claim) {})
		s := th.altered(th.sweep(), func(s *chain.Claim) { s.Account, s.Payment.To = th.eth.Address("hot"), th.eth.Address("hot 2") })
		if _, err := th.Authorize(th.t.Context(), "eth", c, s); err != nil {
			return err
		}
		used := th.order("eth", s.Account, s.Payment)
		used.Slot.Branch, used.Slot.Nonce = 7, 0 // the first payment's, which is paid
		a, err := th.eth.Prepare(th.t.Context(), used.Slot, used.Payment, nil)
		if err != nil {
			return err
		}
		used.Unsigned = a.Raw
		o := th.order("eth", c.Account, c.Payment)
		o.Slot.Branch = 7
		if err := th.sign("eth", o, used); err != nil {
			return err
		}
		return errors.Join(th.ReadOutcomes(th.t.Context(), "eth", th.paidAt), th.take("eth", c))
	}},
	{"A credit in the line of a block that is overtaken, behind another block", "does not follow", func(th *thief) error {
		c, other := th.altered(th.usd(), func(*chain.Claim) {}), th.altered(th.usd(), func(*chain.Claim) {})
		if _, err := th.Authorize(th.t.Context(), "vite", c, other); err != nil {
			return err
		}
		th.last++
		behind := th.order("vite", c.Account, chain.Payment{ID: th.last, Purpose: chain.Receive, Source: "never sent"})
		behind.Slot.Branch = 7
		if _, err := th.Sign(th.t.Context(), "vite", behind); err != nil { // it is never sent
			return err
		}
		if err := th.take("vite", other); err != nil {
			return err
		}
		head, err := th.vite.Head(th.t.Context())
		if err != nil {
			return err
		}
		o := th.order("vite", c.Account, c.Payment)
		o.Slot.Branch = 7
		if err := th.sign("vite", o); err != nil {
			return err
		}
		th.mine()
		return errors.Join(th.ReadOutcomes(th.t.Context(), "vite", head.Latest.Height), th.take("vite", c))
	}},
	{"A listed sender whose name is changed", "came from", payoutWith(func(th *thief, c *chain.Claim) { c.Cause.Sender = th.vite.Address("somebody") })},
	{"A listed sender", "is on the list", func(th *thief) error { return th.take("eth", th.large("wanted", 10_000)) }},
	{"A large withdrawal without approval", "approval", func(th *thief) error { return th.take("eth", th.large("rich", 45_000)) }},
	{"A large withdrawal with a forged approval", "approval", func(th *thief) error {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			return err
		}
		c := th.large("rich", 45_000)
		forged, err := approval.Sign(key, "eth", c, th.now.Add(time.Hour))
		c.Approvals = []chain.Approval{forged}
		c.Approvals[0].Key = th.approver
		return errors.Join(err, th.take("eth", c))
	}},
	{"A refund to him with a forged approval", "approval", refundWith(func(th *thief, c *chain.Claim) {
		c.Payment.To = th.owner
		c.Approvals = []chain.Approval{{Key: th.approver, Expires: th.now.Add(time.Hour).Unix(), Nonce: "n", Signature: "c2hvcnQ="}}
	})},
	{"More in a day than the limit", "limit of a day", (*thief).overLimit},
	{"The limit reset by a start with the clock set back", "limit of a day", func(th *thief) error {
		th.now = th.now.Add(-48 * time.Hour)
		th.start()
		return th.overLimit()
	}},
	{"The limit freed by a clock that is a year ahead once", "limit of a day", func(th *thief) error {
		th.now = th.now.Add(365 * 24 * time.Hour)
		defer func() { th.now = th.now.Add(-365 * 24 * time.Hour) }()
		return th.take("eth", th.large("rich", 30_000)) // the limit is used up
	}},
	{"Authorizations of several days, signed at one moment", "more than 10m0s ago", func(th *thief) error {
		c := th.large("patient", 10_000)
		th.now = th.now.Add(96 * time.Hour)
		verdicts, err := th.Authorize(th.t.Context(), "eth", c)
		if err != nil || verdicts[0].State != chain.Authorized {
			return errors.Join(err, errors.New(verdicts[0].Text))
		}
		th.now = th.now.Add(25 * time.Hour)
		return th.sign("eth", th.order("eth", c.Account, c.Payment))
	}},
	{"A payment whose payee is listed after it was authorized", "is on the list", func(th *thief) error {
		return th.changed(th.large("listed later", 1_000), func(c chain.Claim) {
			require.NoError(th.t, os.WriteFile(th.list, []byte(c.Payment.To+"\n"), 0o600))
		})
	}},
	{"A payment whose account is retired after it was authorized", "is retired and makes no payments", func(th *thief) error {
		defer th.checker.Take(th.accounts)
		return th.changed(th.large("rich", 1_000), func(c chain.Claim) {
			retired := slices.Clone(th.accounts)
			for i := range retired {
				retired[i].Retired = retired[i].Retired || retired[i].Address == c.Account
			}
			th.checker.Take(retired)
		})
	}},
	{"Cold money to an address that is the cold one no more", "the cold address of tti_usd is", func(th *thief) error {
		cold := th.network.Tokens[0].Cold
		defer func() { th.network.Tokens[0].Cold = cold }()
		return th.changed(th.altered(th.cold(), func(*chain.Claim) {}), func(chain.Claim) { th.network.Tokens[0].Cold = th.eth.Address("new cold") })
	}},
	{"Gas paid to a miner, again and again", "fees", func(th *thief) error {
		for range 200 {
			if err := sweepWith(func(th *thief, c *chain.Claim) {
				c.Account, c.Payment.To = th.eth.Address("hot"), th.eth.Address("hot 2")
			})(th); err != nil {
				return err
			}
		}
		return nil
	}},
	{"Cold money in crumbs, for its fees", "fees", func(th *thief) error {
		for range 200 {
			if err := coldWith(func(*thief, *chain.Claim) {})(th); err != nil {
				return err
			}
		}
		return nil
	}},
	{"Numbers that no database keeps", "is above the maximum", func(th *thief) error {
		o := th.waiting
		o.Slot.Nonce = 1 << 63
		return th.sign("eth", o)
	}},
	{"More at once than is ever needed", "at most 256 are allowed", func(th *thief) error { return th.sign("eth", make([]chain.Order, signer.MaxOrders+1)...) }},
}

// changed has a claim authorized, changes what the signer's owner decides, and has the payment
// signed.
func (th *thief) changed(c chain.Claim, change func(chain.Claim)) error {
	verdicts, err := th.Authorize(th.t.Context(), "eth", c)
	if err != nil || verdicts[0].State != chain.Authorized {
		return errors.Join(err, errors.New(verdicts[0].Text))
	}
	change(c)
	return th.sign("eth", th.order("eth", c.Account, c.Payment))
}

// gas is a claim of coin for gas for an account.
func (th *thief) gas(to string) chain.Claim {
	th.last++
	return chain.Claim{
		Account: th.eth.Address("gas"), Cause: chain.Cause{Network: "main"},
		Payment: chain.Payment{ID: th.last, Purpose: chain.Gas, Asset: chain.Native, To: to, Amount: amount(5)},
	}
}

// label has a label bound to him.
func (th *thief) label(label string) error {
	return th.GiveLabel(th.t.Context(), signguard.Binding{Network: "main", Chain: "eth", Label: label, User: th.owner})
}

// labelled is a deposit with a label that nobody has, for which he asks as soon as it is his.
func (th *thief) labelled(label string, bind func() error) error {
	hash := th.eth.Deposit(th.eth.Address("sender"), th.eth.Address("hot"), chain.Native, amount(1234), chain.Memo{Type: -1, Label: label})
	th.eth.Mine(1)
	in, height := th.find(th.eth, hash)
	if err := bind(); err != nil {
		return err
	}
	th.mine()
	return th.take("vite", th.credit(in, height, coin))
}

// addressed is a deposit to an address that nobody has, for which he asks as soon as it is his.
func (th *thief) addressed(index uint32, wait func()) error {
	address := th.eth.Address(fmt.Sprint("deposit/", index))
	th.eth.Own(address)
	hash := th.eth.Deposit(th.eth.Address("sender"), address, "usd", amount(123_400), chain.Memo{Type: -1})
	th.eth.Mine(1)
	in, height := th.find(th.eth, hash)
	wait()
	if _, err := th.GiveAddress(th.t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: index, Address: address, User: th.owner}); err != nil {
		return err
	}
	th.mine()
	return th.take("vite", th.credit(in, height, usd))
}

// credit is a claim of a deposit of 12.34 for him.
func (th *thief) credit(in chain.Transfer, height uint64, token string) chain.Claim {
	th.last++
	return chain.Claim{
		Account: th.vite.Address("gateway"),
		Payment: chain.Payment{ID: th.last, Purpose: chain.Credit, Asset: chain.Asset(token), To: th.owner, Amount: amount(1234)},
		Cause:   chain.Cause{Network: "main", Token: token, User: th.owner, Chain: "eth", Height: height, Ref: in.Ref, Sender: in.From},
	}
}

// large is a withdrawal by a user of so much, with all of its net amount to be paid.
func (th *thief) large(user string, gross uint64) chain.Claim {
	hash := th.vite.Deposit(th.vite.Address(user), th.vite.Address("gateway"), usd, amount(gross), chain.Memo{Type: 0, Address: th.eth.Address("payee of " + user)})
	th.vite.Mine(1)
	in, height := th.find(th.vite, hash)
	th.mine()
	return th.altered(th.paid, func(c *chain.Claim) {
		c.Payment.To, c.Payment.Amount = th.eth.Address("payee of "+user), amount((gross-10)*100)
		c.Cause = chain.Cause{Network: "main", Token: usd, User: in.From, Chain: "vite", Height: height, Ref: in.Ref, Sender: in.From}
	})
}

// overLimit has honest withdrawals paid until one is held.
func (th *thief) overLimit() error {
	for range 20 {
		if err := th.take("eth", th.large("rich", 30_000)); err != nil {
			return err
		}
	}
	return nil
}

// fresh is a withdrawal of a user's in the newest block, with the thief as its payee.
func (th *thief) fresh() chain.Claim {
	c := th.ordered()
	hash := th.vite.Deposit(th.user, th.vite.Address("gateway"), usd, amount(10_000), chain.Memo{Type: 0, Address: th.eth.Address("payee")})
	th.vite.Mine(1)
	in, height := th.find(th.vite, hash)
	return th.altered(c, func(c *chain.Claim) { c.Cause.Ref, c.Cause.Height, c.Payment.To = in.Ref, height, th.payee })
}

// has is what somebody has of everything.
func (th *thief) has(eth, vite string) (sum []chain.Amount) {
	for _, asset := range []chain.Asset{"usd", chain.Native} {
		sum = append(sum, th.eth.Holding(eth, asset))
	}
	for _, token := range []chain.Asset{usd, coin} {
		sum = append(sum, th.vite.Holding(vite, token))
	}
	return sum
}

// TestThiefGetsNothing: whoever owns the daemon tries every way of the list. Not one unit leaves
// that no final transfer of a user's orders, and each refusal is one line with its reason.
func TestThiefGetsNothing(t *testing.T) {
	require.GreaterOrEqual(t, len(ways), 30)
	th := newThief(t)
	honest := th.has(th.eth.Address("payee"), th.user)
	for _, w := range ways {
		err := w.try(th)
		require.ErrorContains(t, err, w.stops, w.name)
		th.mine()
		require.Equal(t, make([]chain.Amount, 4), th.has(th.payee, th.owner), w.name)
	}
	twice := amount(2 * 999_000) // what the user ordered and was signed: before, and by the thief's own hand
	require.Equal(t, []chain.Amount{twice, honest[1]}, th.has(th.eth.Address("payee"), th.user)[:2])
	for _, c := range []*chaintest.Chain{th.eth, th.vite} {
		for id, n := range c.Paid() {
			require.Equal(t, 1, n, "payment %d on %s", id, c.ID())
		}
	}
}

// TestDocumentCountsTheWays: docs/signer-checks.md has the number of the ways that are tried.
func TestDocumentCountsTheWays(t *testing.T) {
	text, err := os.ReadFile("../../docs/signer-checks.md")
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("tries %d ways (`signer/cause/thief_test.go`)", len(ways)))
}
