package approval_test

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/policy"
	"gatewayd/signer/approval"
)

var begin = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// person has a key file.
type person struct {
	name, public string
	key          ed25519.PrivateKey
}

func newPerson(t *testing.T, name string) person {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".key")
	public, err := approval.NewKey(path)
	require.NoError(t, err)
	key, err := approval.ReadKey(path)
	require.NoError(t, err)
	return person{name, public, key}
}

func (p person) approves(t *testing.T, c chain.Claim, until time.Time) chain.Approval {
	t.Helper()
	s, err := approval.Sign(p.key, "eth", c, until)
	require.NoError(t, err)
	return s
}

func rule(t *testing.T, needed int, tokens []approval.Token, people ...person) *approval.Rule {
	t.Helper()
	c := approval.Config{Needed: needed, Tokens: tokens}
	for _, p := range people {
		c.Approvers = append(c.Approvers, approval.Approver{Name: p.name, Key: p.public})
	}
	require.NoError(t, c.Check())
	r, err := approval.NewRule(c, []policy.Asset{{Network: "eth", Token: "tti_1", Symbol: "USDT", Chain: "eth", Asset: "0xusdt", Decimals: 8, TokenDecimals: 6}})
	require.NoError(t, err)
	return r
}

func claim() chain.Claim {
	return chain.Claim{
		Account: "0xhot",
		Payment: chain.Payment{ID: 7, Purpose: chain.Credit, Asset: "0xusdt", To: "0xbob", Amount: chain.NewAmount(500), Label: "l", Source: "s"},
		Cause:   chain.Cause{Network: "eth", Token: "tti_1", User: "vite_bob", Chain: "vite", Height: 9, Ref: "ref"},
	}
}

// TestOneOrTwoApprove: each approver once, and only approvers.
func TestOneOrTwoApprove(t *testing.T) {
	ann, ben, eve := newPerson(t, "ann"), newPerson(t, "ben"), newPerson(t, "eve")
	one, two := rule(t, 1, nil, ann, ben), rule(t, 2, nil, ann, ben)
	until := begin.Add(time.Hour)
	with := func(list ...chain.Approval) chain.Claim {
		c := claim()
		c.Approvals = list
		return c
	}
	enough := func(r *approval.Rule, list ...chain.Approval) (bool, string) {
		return r.Enough("eth", with(list...), begin)
	}
	a, again, b, e := ann.approves(t, claim(), until), ann.approves(t, claim(), until), ben.approves(t, claim(), until), eve.approves(t, claim(), until)

	for name, c := range map[string]struct {
		rule *approval.Rule
		list []chain.Approval
		want string
	}{
		"nobody":                      {one, nil, "0 of 1 approvals"},
		"a stranger":                  {one, []chain.Approval{e}, "0 of 1 approvals (the approval is not valid: its key is not an approver's)"},
		"one of two":                  {two, []chain.Approval{a}, "1 of 2 approvals"},
		"the same twice":              {two, []chain.Approval{a, a}, "1 of 2 approvals (ann has already approved it: only one approval counts)"},
		"one with two signatures":     {two, []chain.Approval{a, again}, "1 of 2 approvals (ann has already approved it: only one approval counts)"},
		"one and a stranger":          {two, []chain.Approval{a, e}, "1 of 2 approvals (the approval is not valid: its key is not an approver's)"},
		"one who is approver no more": {rule(t, 1, nil, ben), []chain.Approval{a}, "0 of 1 approvals (the approval is not valid: its key is not an approver's)"},
		"no approvers":                {rule(t, 1, nil), []chain.Approval{a}, "no approvers are configured"},
	} {
		ok, why := enough(c.rule, c.list...)
		require.False(t, ok, name)
		require.Equal(t, c.want, why, name)
	}
	for _, c := range []struct {
		rule *approval.Rule
		list []chain.Approval
	}{{one, []chain.Approval{a}}, {one, []chain.Approval{e, b}}, {two, []chain.Approval{a, b}}, {two, []chain.Approval{a, a, b}}} {
		ok, why := enough(c.rule, c.list...)
		require.True(t, ok, why)
	}
	flood := append(make([]chain.Approval, approval.MaxSignatures), a)
	ok, _ := enough(one, flood...)
	require.False(t, ok, "no more are looked at")
}

// TestApprovalsAreForOnePayment: none counts for a payment that differs in anything but its number,
// and none outlasts its time.
func TestApprovalsAreForOnePayment(t *testing.T) {
	ann := newPerson(t, "ann")
	r := rule(t, 1, nil, ann)
	s := ann.approves(t, claim(), begin.Add(time.Hour))
	name, err := r.Verify("eth", claim(), s, begin)
	require.NoError(t, err)
	require.Equal(t, "ann", name)
	renumbered := claim()
	renumbered.Payment.ID = 8
	_, err = r.Verify("eth", renumbered, s, begin)
	require.NoError(t, err, "restored records number payments anew")

	for what, change := range map[string]func(*chain.Claim){
		"account":       func(c *chain.Claim) { c.Account = "0xother" },
		"purpose":       func(c *chain.Claim) { c.Payment.Purpose = chain.Refund },
		"asset":         func(c *chain.Claim) { c.Payment.Asset = "native" },
		"payee":         func(c *chain.Claim) { c.Payment.To = "0xeve" },
		"amount":        func(c *chain.Claim) { c.Payment.Amount = chain.NewAmount(501) },
		"label":         func(c *chain.Claim) { c.Payment.Label = "m" },
		"source":        func(c *chain.Claim) { c.Payment.Source = "t" },
		"network":       func(c *chain.Claim) { c.Cause.Network = "bsc" },
		"cause's chain": func(c *chain.Claim) { c.Cause.Chain = "eth" },
		"cause's block": func(c *chain.Claim) { c.Cause.Height = 10 },
		"cause":         func(c *chain.Claim) { c.Cause.Ref = "other" },
		"two fields":    func(c *chain.Claim) { c.Payment.To, c.Payment.Label = "0xbob\"\nlabel: \"l", "" },
	} {
		c := claim()
		change(&c)
		_, err := r.Verify("eth", c, s, begin)
		require.ErrorContains(t, err, "it is for another payment", what)
		require.ErrorIs(t, err, approval.ErrRefused)
	}
	_, err = r.Verify("bsc", claim(), s, begin)
	require.ErrorContains(t, err, "another payment")

	altered := s
	altered.Expires += 3600
	_, err = r.Verify("eth", claim(), altered, begin)
	require.ErrorContains(t, err, "another payment")
	altered = s
	altered.Nonce = "other"
	_, err = r.Verify("eth", claim(), altered, begin)
	require.ErrorContains(t, err, "another payment")
	altered = s
	altered.Signature = "c2hvcnQ="
	_, err = r.Verify("eth", claim(), altered, begin)
	require.ErrorContains(t, err, "it is not a signature")
	_, err = r.Verify("eth", claim(), s, begin.Add(time.Hour))
	require.ErrorContains(t, err, "it ended at 2026-11-23T13:00:00Z")
	_, err = r.Verify("eth", claim(), ann.approves(t, claim(), begin.Add(8*24*time.Hour)), begin)
	require.ErrorContains(t, err, "longer than 168h0m0s")
}

// TestWhichPaymentsWantApproval by amount, and by whether the payee is known.
func TestWhichPaymentsWantApproval(t *testing.T) {
	ann := newPerson(t, "ann")
	r := rule(t, 1, []approval.Token{{Network: "eth", Token: "tti_1", ApproveAbove: chain.NewAmount(100_000_000), FirstPayoutAbove: chain.NewAmount(10_000_000)}}, ann)
	wanted := func(whole uint64, known bool, purpose chain.Purpose, asset chain.Asset) string {
		why, err := r.Wanted("eth", chain.Payment{Purpose: purpose, Asset: asset, To: "0xbob", Amount: chain.NewAmount(whole * 100_000_000)},
			func() (bool, error) { return known, nil })
		require.NoError(t, err)
		return why
	}
	require.Empty(t, wanted(100, true, chain.Credit, "0xusdt"))
	require.Equal(t, "101 USDT are above 100 USDT", wanted(101, true, chain.Credit, "0xusdt"))
	require.Empty(t, wanted(10, false, chain.Credit, "0xusdt"))
	require.Equal(t, "11 USDT are above 10 USDT, and 0xbob was never paid before", wanted(11, false, chain.Credit, "0xusdt"))
	require.Empty(t, wanted(1_000, false, chain.Refund, "0xusdt"))
	require.Empty(t, wanted(1_000, false, chain.Credit, "0xother"))
}

func TestKeysAreTheirOwners(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ann.key")
	public, err := approval.NewKey(path)
	require.NoError(t, err)
	_, err = approval.ParsePublic(public)
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	_, err = approval.NewKey(path)
	require.ErrorIs(t, err, os.ErrExist)

	require.NoError(t, os.Chmod(path, 0o640))
	_, err = approval.ReadKey(path)
	require.ErrorContains(t, err, "its owner alone")
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.WriteFile(path, []byte("nothing"), 0o600))
	_, err = approval.ReadKey(path)
	require.ErrorContains(t, err, "is not a key of")
	for _, text := range []string{"", "ed25519:", "ed25519:YQ==", public[1:], public + "="} {
		_, err := approval.ParsePublic(text)
		require.ErrorContains(t, err, "must be a public key")
	}
}

func TestConfigurationsOfApprovals(t *testing.T) {
	ann, ben := newPerson(t, "ann"), newPerson(t, "ben")
	a, b := approval.Approver{Name: "ann", Key: ann.public}, approval.Approver{Name: "ben", Key: ben.public}
	some := []approval.Token{{Network: "eth", Token: "tti_1", ApproveAbove: chain.NewAmount(1)}}
	for want, c := range map[string]approval.Config{
		"needed: 3":                         {Needed: 3, Approvers: []approval.Approver{a}},
		"1 for 2 signatures":                {Needed: 2, Approvers: []approval.Approver{a}, Tokens: some},
		"0 for 1 signatures":                {Tokens: some},
		"used twice":                        {Approvers: []approval.Approver{a, {Name: "ann", Key: ben.public}}},
		"another approver has the same key": {Approvers: []approval.Approver{a, {Name: "ben", Key: ann.public}}},
		"must be a public key":              {Approvers: []approval.Approver{{Name: "ann", Key: "x"}}},
		"at most 32 are allowed":            {Approvers: make([]approval.Approver, 33)},
		"must be listed once":               {Approvers: []approval.Approver{a, b}, Tokens: append(some, some...)},
		"approve_above or first_payout":     {Approvers: []approval.Approver{a}, Tokens: []approval.Token{{Network: "eth", Token: "t"}}},
		"first_payout_above is above ap":    {Approvers: []approval.Approver{a}, Tokens: []approval.Token{{Network: "eth", Token: "t", ApproveAbove: chain.NewAmount(1), FirstPayoutAbove: chain.NewAmount(2)}}},
	} {
		require.ErrorContains(t, c.Check(), want)
	}
	require.NoError(t, approval.Config{}.Check())
	require.NoError(t, approval.Config{Needed: 2, Approvers: []approval.Approver{a, b}, Tokens: some}.Check())
}
