package cause_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/policy"
	"gatewayd/records/signguard"
	"gatewayd/signer/cause"
)

const (
	usd   = "tti_usd" // 2 decimals, an ERC-20 of 4 decimals, by address
	coin  = "tti_coin"
	depth = 3
)

// env is the signer's own view of two ledgers in memory, with a user who has an address and a
// label.
type env struct {
	t         *testing.T
	eth, vite *chaintest.Chain
	guard     *signguard.Guard
	guardFile string
	network   policy.Network
	checker   *cause.Checker
	accounts  []cause.Account
	user      string
	address   string
}

func amount(n uint64) chain.Amount { return chain.NewAmount(n) }

func setup(t *testing.T) *env {
	t.Helper()
	w := &env{t: t, eth: chaintest.New(chaintest.Config{ID: "eth", Finality: depth}), vite: chaintest.New(chaintest.Config{ID: "vite", Linked: true, Finality: depth})}
	var err error
	w.guardFile = filepath.Join(t.TempDir(), "guard.db")
	w.guard, err = signguard.Open(w.guardFile)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.guard.Close()) })
	final := policy.Depth{Tag: true, Count: depth}
	rules := policy.Policy{DepositConfirmations: final, WithdrawConfirmations: final, MaxWithdraw: amount(50_000), Fee: policy.Fee{Kind: "network", Min: amount(10)}}
	w.network = policy.Network{
		Name: "main", Source: "eth", Exchange: "vite", Funders: []string{w.eth.Address("treasury"), w.vite.Address("treasury")},
		Tokens: []policy.Token{
			{TokenID: usd, Decimals: 2, Asset: "usd", AssetDecimals: 4, Type: 0, Cold: w.eth.Address("cold"), Policy: rules},
			{TokenID: coin, Decimals: 2, Asset: chain.Native, AssetDecimals: 2, Type: 1, Policy: rules},
		},
	}
	w.user, w.address = w.vite.Address("user"), w.eth.Address("deposit/0")
	w.eth.Own(w.eth.Address("old hot"), w.eth.Address("hot"), w.eth.Address("gas"), w.address)
	w.vite.Own(w.vite.Address("gateway"), w.vite.Address("gateway of other"))
	w.accounts = []cause.Account{
		{Chain: "eth", Address: w.eth.Address("hot"), Network: "main", Kind: cause.Hot, Shared: true},
		{Chain: "eth", Address: w.eth.Address("hot 2"), Network: "main", Kind: cause.Hot},
		{Chain: "eth", Address: w.eth.Address("old hot"), Network: "main", Kind: cause.Hot, Shared: true, Retired: true},
		{Chain: "eth", Address: w.eth.Address("gas"), Network: "main", Kind: cause.Gas},
		{Chain: "vite", Address: w.vite.Address("gateway"), Network: "main", Kind: cause.Gateway},
		{Chain: "vite", Address: w.vite.Address("gateway of other"), Network: "other", Kind: cause.Gateway},
	}
	w.checker = cause.New(cause.Parts{
		Chains: map[chain.ID]cause.Reader{"eth": w.eth, "vite": w.vite}, Networks: w.networks, Accounts: w.accounts, Bindings: w.guard, Coin: w.guard,
	})
	for _, account := range []string{w.eth.Address("hot"), w.eth.Address("gas"), w.address} {
		w.eth.Endow(account, chain.Native, amount(1_000_000_000))
		w.eth.Endow(account, "usd", amount(10_000_000))
	}
	w.vite.Endow(w.vite.Address("gateway"), usd, amount(1_000_000))
	w.vite.Endow(w.vite.Address("gateway"), coin, amount(1_000_000))
	w.eth.Mine(10)
	w.vite.Mine(10)
	require.NoError(t, w.guard.GiveAddress(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Address: w.address, User: w.user}))
	require.NoError(t, w.guard.GiveLabel(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Label: "ABCD2345", User: w.user, Since: 5}))
	require.NoError(t, w.checker.Begin(t.Context()))
	require.NoError(t, w.checker.ReadOpenings(t.Context()))
	w.mine()
	require.NoError(t, w.checker.ReadOpenings(t.Context()))
	return w
}

func (w *env) networks() []policy.Network { return []policy.Network{w.network} }

// find is the transfer of a transaction in its block.
func (w *env) find(c *chaintest.Chain, hash string) (t chain.Transfer, height uint64) {
	w.t.Helper()
	height, _, ok := c.Find(hash)
	require.True(w.t, ok)
	b, err := c.Block(w.t.Context(), height)
	require.NoError(w.t, err)
	for _, t := range b.Transfers {
		if t.Tx == hash {
			return t, height
		}
	}
	require.Fail(w.t, "no transfer")
	return t, 0
}

func (w *env) mine() { w.eth.Mine(depth + 1); w.vite.Mine(depth + 1) }

// deposited is the honest claim for a deposit of 12.34 to the user's address.
func (w *env) deposited(memo chain.Memo, to string, asset chain.Asset, units uint64) chain.Claim {
	w.t.Helper()
	hash := w.eth.Deposit(w.eth.Address("sender"), to, asset, amount(units), memo)
	w.eth.Mine(1)
	t, height := w.find(w.eth, hash)
	w.mine()
	return chain.Claim{
		Account: w.vite.Address("gateway"),
		Payment: chain.Payment{ID: 1, Purpose: chain.Credit, Asset: usd, To: w.user, Amount: amount(1234)},
		Cause:   chain.Cause{Network: "main", Token: usd, User: w.user, Chain: "eth", Height: height, Ref: t.Ref, Sender: t.From},
	}
}

func (w *env) usd() chain.Claim {
	return w.deposited(chain.Memo{Type: -1}, w.address, "usd", 123_400)
}

// withdrawn is the honest claim for a withdrawal of 100.00 to a payee.
func (w *env) withdrawn(memo chain.Memo) chain.Claim {
	w.t.Helper()
	hash := w.vite.Deposit(w.user, w.vite.Address("gateway"), usd, amount(10_000), memo)
	w.vite.Mine(1)
	t, height := w.find(w.vite, hash)
	w.mine()
	return chain.Claim{
		Account: w.eth.Address("hot"),
		Payment: chain.Payment{ID: 2, Purpose: chain.Credit, Asset: "usd", To: w.eth.Address("payee"), Amount: amount(999_000)},
		Cause:   chain.Cause{Network: "main", Token: usd, User: w.user, Chain: "vite", Height: height, Ref: t.Ref, Sender: t.From},
	}
}

func (w *env) ordered() chain.Claim {
	return w.withdrawn(chain.Memo{Type: 0, Address: w.eth.Address("payee")})
}

func (w *env) sweep() chain.Claim {
	return chain.Claim{
		Account: w.address, Payment: chain.Payment{ID: 3, Purpose: chain.Sweep, Asset: "usd", To: w.eth.Address("hot"), Amount: amount(5)},
		Cause: chain.Cause{Network: "main"},
	}
}

func (w *env) cold() chain.Claim {
	return chain.Claim{
		Account: w.eth.Address("hot"), Payment: chain.Payment{ID: 8, Purpose: chain.Cold, Asset: "usd", To: w.eth.Address("cold"), Amount: amount(5)},
		Cause: chain.Cause{Network: "main", Token: usd},
	}
}

func (w *env) refunded() chain.Claim {
	c := w.ordered()
	c.Account = w.vite.Address("gateway")
	c.Payment = chain.Payment{ID: 4, Purpose: chain.Refund, Asset: usd, To: w.user, Amount: amount(10_000)}
	return c
}

func (w *env) verdict(id chain.ID, c chain.Claim) chain.Verdict {
	w.t.Helper()
	list, err := w.checker.Check(w.t.Context(), id, []chain.Claim{c})
	require.NoError(w.t, err)
	require.Len(w.t, list, 1)
	require.Equal(w.t, list[0].State == chain.Authorized, list[0].Text == "", "%+v", list[0])
	require.NotContains(w.t, list[0].Text, "\n")
	return list[0]
}

// TestHonestClaims pass, each kind of them.
func TestHonestClaims(t *testing.T) {
	w := setup(t)
	ok := chain.Verdict{State: chain.Authorized}
	require.Equal(t, ok, w.verdict("vite", w.usd()))
	labelled := w.deposited(chain.Memo{Type: -1, Label: "abcd2345"}, w.eth.Address("hot"), chain.Native, 1234)
	labelled.Payment.Asset, labelled.Cause.Token = coin, coin
	require.Equal(t, ok, w.verdict("vite", labelled))
	require.Equal(t, ok, w.verdict("eth", w.ordered()))
	require.Equal(t, ok, w.verdict("vite", w.refunded()))
	require.Equal(t, ok, w.verdict("eth", w.sweep()))
	require.Equal(t, ok, w.verdict("eth", w.cold()))
	gas := w.sweep()
	gas.Account, gas.Payment = w.eth.Address("gas"), chain.Payment{ID: 5, Purpose: chain.Gas, Asset: chain.Native, To: w.address, Amount: amount(1)}
	require.Equal(t, ok, w.verdict("eth", gas))
	level := w.sweep()
	level.Account, level.Payment.To = w.eth.Address("hot"), w.eth.Address("hot 2")
	require.Equal(t, ok, w.verdict("eth", level))
	back := w.usd()
	back.Account, back.Payment = w.eth.Address("hot"), chain.Payment{ID: 6, Purpose: chain.Refund, Asset: "usd", To: w.eth.Address("sender"), Amount: amount(123_400)}
	require.Equal(t, ok, w.verdict("eth", back))
}

// TestAlteredClaims: one thing is changed in an honest claim, and the verdict names it.
func TestAlteredClaims(t *testing.T) {
	w := setup(t)
	deposit, payout, refund, sweep := w.usd(), w.ordered(), w.refunded(), w.sweep()
	cold := w.cold()
	thief, viteThief := w.eth.Address("thief"), w.vite.Address("thief")
	for name, c := range map[string]struct {
		chain  chain.ID
		claim  chain.Claim
		change func(*chain.Claim)
		state  chain.VerdictState
		text   string
	}{
		"cold: payee":             {"eth", cold, func(c *chain.Claim) { c.Payment.To = thief }, chain.RefusedClaim, "the cold address of tti_usd is"},
		"cold: label":             {"eth", cold, func(c *chain.Claim) { c.Payment.Label = "mine" }, chain.RefusedClaim, "the cold address of tti_usd is"},
		"cold: asset":             {"eth", cold, func(c *chain.Claim) { c.Payment.Asset = chain.Native }, chain.RefusedClaim, "no token"},
		"cold: token":             {"eth", cold, func(c *chain.Claim) { c.Cause.Token, c.Payment.Asset = coin, chain.Native }, chain.RefusedClaim, "has no cold address"},
		"cold: chain":             {"vite", cold, func(c *chain.Claim) { c.Account = w.vite.Address("gateway") }, chain.RefusedClaim, "comes from a hot account"},
		"cold: account":           {"eth", cold, func(c *chain.Claim) { c.Account = w.address }, chain.RefusedClaim, "comes from a hot account"},
		"cold: network":           {"eth", cold, func(c *chain.Claim) { c.Cause.Network = "other" }, chain.RefusedClaim, "no network"},
		"credit: payee":           {"vite", deposit, func(c *chain.Claim) { c.Payment.To = viteThief }, chain.RefusedClaim, "is for " + w.user},
		"credit: user":            {"vite", deposit, func(c *chain.Claim) { c.Cause.User = viteThief }, chain.RefusedClaim, "belongs to " + w.user},
		"credit: sender":          {"vite", deposit, func(c *chain.Claim) { c.Cause.Sender = thief }, chain.RefusedClaim, "came from"},
		"credit: amount":          {"vite", deposit, func(c *chain.Claim) { c.Payment.Amount = amount(1235) }, chain.RefusedClaim, "is worth 1234, not 1235"},
		"credit: token":           {"vite", deposit, func(c *chain.Claim) { c.Payment.Asset = coin }, chain.RefusedClaim, "is credited in tti_usd"},
		"credit: chain":           {"eth", deposit, func(c *chain.Claim) { c.Account = w.eth.Address("hot") }, chain.RefusedClaim, "credited on vite"},
		"credit: account":         {"vite", deposit, func(c *chain.Claim) { c.Account = viteThief }, chain.RefusedClaim, "is not an account of main"},
		"credit: network":         {"vite", deposit, func(c *chain.Claim) { c.Cause.Network = "other" }, chain.RefusedClaim, "no network"},
		"credit: ref":             {"vite", deposit, func(c *chain.Claim) { c.Cause.Ref = "invented" }, chain.HeldClaim, "shows no transfer"},
		"credit: audit":           {"vite", deposit, func(c *chain.Claim) { c.Cause.Ref = "audit:x:native:1" }, chain.RefusedClaim, "does not name coin"},
		"credit: height":          {"vite", deposit, func(c *chain.Claim) { c.Cause.Height++ }, chain.HeldClaim, "shows no transfer"},
		"credit: future":          {"vite", deposit, func(c *chain.Claim) { c.Cause.Height = 1 << 40 }, chain.LaterClaim, "not yet at"},
		"credit: before":          {"vite", deposit, func(c *chain.Claim) { c.Cause.Height = 1 }, chain.HeldClaim, "before the signer watched"},
		"credit: chain of cause":  {"vite", deposit, func(c *chain.Claim) { c.Cause.Chain = "bsc" }, chain.RefusedClaim, "does not reach"},
		"credit: label":           {"vite", deposit, func(c *chain.Claim) { c.Payment.Label = "x" }, chain.RefusedClaim, "no label"},
		"payout: payee":           {"eth", payout, func(c *chain.Claim) { c.Payment.To = thief }, chain.RefusedClaim, "not " + thief},
		"payout: label":           {"eth", payout, func(c *chain.Claim) { c.Payment.Label = "x" }, chain.RefusedClaim, "names"},
		"payout: amount":          {"eth", payout, func(c *chain.Claim) { c.Payment.Amount = amount(999_001) }, chain.RefusedClaim, "pays out 999000 at most"},
		"payout: token":           {"eth", payout, func(c *chain.Claim) { c.Payment.Asset = chain.Native }, chain.RefusedClaim, "is paid out in usd"},
		"payout: user":            {"eth", payout, func(c *chain.Claim) { c.Cause.User = viteThief }, chain.RefusedClaim, "belongs to"},
		"payout: on the exchange": {"vite", payout, func(c *chain.Claim) { c.Account = w.vite.Address("gateway") }, chain.RefusedClaim, "paid out on eth"},
		"refund: payee":           {"vite", refund, func(c *chain.Claim) { c.Payment.To = viteThief }, chain.HeldClaim, "needs approvals"},
		"refund: amount":          {"vite", refund, func(c *chain.Claim) { c.Payment.Amount = amount(10_001) }, chain.RefusedClaim, "is of 10000"},
		"refund: token":           {"vite", refund, func(c *chain.Claim) { c.Payment.Asset = coin }, chain.RefusedClaim, "is refunded in"},
		"refund: the other chain": {"eth", refund, func(c *chain.Claim) { c.Account = w.eth.Address("hot") }, chain.RefusedClaim, "is refunded on vite"},
		"sweep: payee":            {"eth", sweep, func(c *chain.Claim) { c.Payment.To = thief }, chain.RefusedClaim, "our own accounts only"},
		"sweep: to an address":    {"eth", sweep, func(c *chain.Claim) { c.Payment.To = w.address }, chain.RefusedClaim, "a paying account"},
		"sweep: account":          {"eth", sweep, func(c *chain.Claim) { c.Account = thief }, chain.RefusedClaim, "is not an account of"},
		"sweep: label":            {"eth", sweep, func(c *chain.Claim) { c.Payment.Label = "x" }, chain.RefusedClaim, "no label"},
		"gas: payee":              {"eth", sweep, func(c *chain.Claim) { c.Payment.Purpose, c.Payment.To = chain.Gas, thief }, chain.RefusedClaim, "our own accounts only"},
		"gas: from a user's":      {"eth", sweep, func(c *chain.Claim) { c.Payment.Purpose = chain.Gas }, chain.RefusedClaim, "only the gas account"},
		"cancel":                  {"eth", sweep, func(c *chain.Claim) { c.Payment.Purpose = chain.Cancel }, chain.RefusedClaim, "is not allowed"},
	} {
		claim := c.claim
		c.change(&claim)
		v := w.verdict(c.chain, claim)
		require.Equal(t, c.state, v.State, "%s: %s", name, v.Text)
		require.Contains(t, v.Text, c.text, name)
	}
}

// TestTransfersThatProveNothing: what stands in a final block, and orders no payment.
func TestTransfersThatProveNothing(t *testing.T) {
	w := setup(t)
	refused := func(id chain.ID, c chain.Claim, state chain.VerdictState, text string) {
		t.Helper()
		v := w.verdict(id, c)
		require.Equal(t, state, v.State, v.Text)
		require.Contains(t, v.Text, text)
	}
	refused("eth", w.withdrawn(chain.Memo{Type: -1}), chain.RefusedClaim, "has no payee")
	refused("eth", w.withdrawn(chain.Memo{Type: 0, Address: w.eth.Address("payee"), Fault: "trailing_bytes"}), chain.RefusedClaim, "has no payee")
	refused("eth", w.withdrawn(chain.Memo{Type: 0, Address: "nonsense"}), chain.RefusedClaim, "has no payee")
	ours := w.withdrawn(chain.Memo{Type: 0, Address: w.address})
	ours.Payment.To = w.address
	refused("eth", ours, chain.RefusedClaim, "an account of ours")
	early := w.deposited(chain.Memo{Type: -1, Label: "OTHER"}, w.eth.Address("hot"), chain.Native, 1234)
	early.Payment.Asset, early.Cause.Token = coin, coin
	refused("vite", early, chain.HeldClaim, "has not issued")
	require.NoError(t, w.guard.GiveLabel(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Label: "OTHER", User: w.user, Since: early.Cause.Height}))
	refused("vite", early, chain.HeldClaim, "before its address or label was issued")
	funding := w.eth.Deposit(w.eth.Address("treasury"), w.eth.Address("hot"), chain.Native, amount(50), chain.Memo{Type: -1})
	w.eth.Mine(1)
	in, height := w.find(w.eth, funding)
	w.mine()
	refused("eth", chain.Claim{
		Account: w.eth.Address("hot"), Payment: chain.Payment{ID: 1, Purpose: chain.Refund, Asset: chain.Native, To: in.From, Amount: amount(50)},
		Cause: chain.Cause{Network: "main", Chain: "eth", Height: height, Ref: in.Ref, Sender: in.From},
	}, chain.RefusedClaim, "no claim to it")
	failed := w.eth.Send(chaintest.Out{From: w.eth.Address("sender"), To: w.address, Asset: "usd", Amount: amount(123_400), Failed: true, Memo: chain.Memo{Type: -1}})
	w.eth.Mine(1)
	in, height = w.find(w.eth, failed)
	w.mine()
	c := w.usd()
	c.Cause.Height, c.Cause.Ref = height, in.Ref
	refused("vite", c, chain.RefusedClaim, "moved nothing")
}

// TestDepthIsTheSigners: neither a block that is not final, nor one that left the line, proves
// anything.
func TestDepthIsTheSigners(t *testing.T) {
	w := setup(t)
	c := w.usd()
	hash := w.eth.Deposit(w.eth.Address("sender"), w.address, "usd", amount(123_400), chain.Memo{Type: -1})
	w.eth.Mine(1)
	in, height := w.find(w.eth, hash)
	c.Cause.Height, c.Cause.Ref = height, in.Ref
	require.Equal(t, chain.LaterClaim, w.verdict("vite", c).State)
	w.eth.Reorg(1, false)
	w.mine()
	require.Equal(t, chain.HeldClaim, w.verdict("vite", c).State, "another block took its place")
	w.eth.Lie(chaintest.Always(chaintest.Refuse, chaintest.CallBlock))
	next := w.ordered()
	next.Cause.Chain = "eth"
	require.Equal(t, chain.LaterClaim, w.verdict("eth", next).State, "nodes that do not answer decide nothing")
}

// TestAddressesGivenLaterAreSeen: a block that was read before an address was given out is read
// again for it.
func TestAddressesGivenLaterAreSeen(t *testing.T) {
	w := setup(t)
	other := w.eth.Address("deposit/1")
	hash := w.eth.Deposit(w.eth.Address("sender"), other, "usd", amount(123_400), chain.Memo{Type: -1})
	c := w.usd()
	require.Equal(t, chain.Authorized, w.verdict("vite", c).State)
	height, _, _ := w.eth.Find(hash)
	require.Equal(t, c.Cause.Height, height)
	w.eth.Own(other)
	require.NoError(t, w.guard.GiveAddress(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Address: other, Index: 1, User: w.user}))
	in, _ := w.find(w.eth, hash)
	c.Cause.Ref = in.Ref
	before := w.eth.Calls(chaintest.CallBlock)
	require.Equal(t, chain.Authorized, w.verdict("vite", c).State)
	require.Equal(t, chain.Authorized, w.verdict("vite", c).State)
	require.Equal(t, before+1, w.eth.Calls(chaintest.CallBlock), "what is final is read once")
}

// TestRetiredAccountsAtTheSigner: a retired account sends to those that pay, and nothing is brought
// to it but coin for gas. None of it is held for people.
func TestRetiredAccountsAtTheSigner(t *testing.T) {
	w := setup(t)
	old, next := w.eth.Address("hot"), w.eth.Address("hot 2")
	w.checker.Take([]cause.Account{
		{Chain: "eth", Address: old, Network: "main", Kind: cause.Hot, Shared: true, Retired: true},
		{Chain: "eth", Address: next, Network: "main", Kind: cause.Hot, Shared: true},
		{Chain: "eth", Address: w.eth.Address("gas"), Network: "main", Kind: cause.Gas},
		{Chain: "vite", Address: w.vite.Address("gateway"), Network: "main", Kind: cause.Gateway, Retired: true},
	})
	sent := func(purpose chain.Purpose, from, to string) chain.VerdictState {
		c := w.sweep()
		c.Account, c.Payment.Purpose, c.Payment.To, c.Payment.Asset = from, purpose, to, chain.Native
		return w.verdict("eth", c).State
	}
	require.Equal(t, chain.Authorized, sent(chain.Sweep, old, next), "what it holds goes to who pays")
	require.Equal(t, chain.LaterClaim, sent(chain.Sweep, next, old))
	require.Equal(t, chain.LaterClaim, sent(chain.Sweep, w.address, old))
	require.Equal(t, chain.Authorized, sent(chain.Gas, w.eth.Address("gas"), old))
	require.Equal(t, chain.RefusedClaim, sent(chain.Gas, old, next))

	paid := w.ordered()
	require.Equal(t, chain.LaterClaim, w.verdict("eth", paid).State)
	paid.Account = next
	require.Equal(t, chain.Authorized, w.verdict("eth", paid).State, "a withdrawal to a retired address of the gateway is paid")
	require.Equal(t, chain.LaterClaim, w.verdict("vite", w.refunded()).State)
	labelled := w.deposited(chain.Memo{Type: -1, Label: "abcd2345"}, old, chain.Native, 1234)
	labelled.Account, labelled.Payment.Asset, labelled.Cause.Token = w.vite.Address("gateway"), coin, coin
	require.Equal(t, chain.LaterClaim, w.verdict("vite", labelled).State)
	w.checker.Take([]cause.Account{
		{Chain: "eth", Address: old, Network: "main", Kind: cause.Hot, Shared: true, Retired: true},
		{Chain: "vite", Address: w.vite.Address("gateway"), Network: "main", Kind: cause.Gateway},
	})
	require.Equal(t, chain.Authorized, w.verdict("vite", labelled).State, "what came to a retired address with a label is its user's")
}
