package approval_test

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/devices"
	"gatewayd/signer/approval"
)

const console = "https://ops.example.org"

// touched is the approval that a passkey signs of a payment.
func touched(t *testing.T, a *devices.Authenticator, c chain.Claim, until time.Time) chain.Approval {
	t.Helper()
	key, err := approval.ParsePasskeyKey(a.Key())
	require.NoError(t, err)
	nonce, err := approval.NewNonce()
	require.NoError(t, err)
	data, client, signature := a.Assert(approval.Challenge("eth", c, until.Unix(), nonce))
	return approval.FromPasskey(key, approval.Assertion{AuthenticatorData: data, ClientData: client, Signature: signature}, until.Unix(), nonce)
}

func passkeyRule(t *testing.T, needed int, approvers ...approval.Approver) *approval.Rule {
	t.Helper()
	c := approval.Config{Needed: needed, URL: console, Approvers: approvers}
	require.NoError(t, c.Check())
	r, err := approval.NewRule(c, nil)
	require.NoError(t, err)
	return r
}

// TestTwoPasskeysApprove: two people with passkeys approve, or one with a passkey and one with a
// key file; one of them alone, however often, does not.
func TestTwoPasskeysApprove(t *testing.T) {
	ann, ben, carl := devices.New(t, "ops.example.org", console), devices.NewEd25519(t, "ops.example.org", console), newPerson(t, "carl")
	r := passkeyRule(t, 2, approval.Approver{Name: "ann", Passkey: ann.Key()}, approval.Approver{Name: "ben", Passkey: ben.Key()}, approval.Approver{Name: "carl", Key: carl.public})
	until := begin.Add(time.Hour)
	a, again, b, f := touched(t, ann, claim(), until), touched(t, ann, claim(), until), touched(t, ben, claim(), until), carl.approves(t, claim(), until)
	for _, list := range [][]chain.Approval{{a, b}, {a, f}, {a, a, b}} {
		c := claim()
		c.Approvals = list
		ok, why := r.Enough("eth", c, begin)
		require.True(t, ok, why)
	}
	for _, list := range [][]chain.Approval{{a}, {a, a}, {a, again}} {
		c := claim()
		c.Approvals = list
		ok, why := r.Enough("eth", c, begin)
		require.False(t, ok)
		require.Contains(t, why, "1 of 2 approvals")
	}
}

// TestPasskeysApproveOnePayment: the signature belongs to exactly this payment and time, by a
// person who was verified on the console's own page.
func TestPasskeysApproveOnePayment(t *testing.T) {
	ann := devices.New(t, "ops.example.org", console)
	r := passkeyRule(t, 1, approval.Approver{Name: "ann", Passkey: ann.Key()})
	until := begin.Add(time.Hour)
	s := touched(t, ann, claim(), until)
	name, err := r.Verify("eth", claim(), s, begin)
	require.NoError(t, err)
	require.Equal(t, "ann", name)

	for what, change := range map[string]func(*chain.Claim){
		"payee":   func(c *chain.Claim) { c.Payment.To = "0xeve" },
		"amount":  func(c *chain.Claim) { c.Payment.Amount = chain.NewAmount(501) },
		"account": func(c *chain.Claim) { c.Account = "0xother" },
		"cause":   func(c *chain.Claim) { c.Cause.Ref = "other" },
	} {
		c := claim()
		change(&c)
		_, err := r.Verify("eth", c, s, begin)
		require.ErrorIs(t, err, approval.ErrRefused, what)
	}
	_, err = r.Verify("eth", claim(), s, until)
	require.ErrorContains(t, err, "it ended at")

	for what, lie := range map[string]func(*devices.Authenticator){
		"another page": func(a *devices.Authenticator) { a.Origin = "https://ops.example.com" },
		"another host": func(a *devices.Authenticator) { a.RP = "example.org" },
		"not verified": (*devices.Authenticator).Unverified,
		"nobody there": (*devices.Authenticator).Absent,
	} {
		liar := *ann
		lie(&liar)
		_, err := r.Verify("eth", claim(), touched(t, &liar, claim(), until), begin)
		require.ErrorIs(t, err, approval.ErrRefused, what)
	}
	forged := touched(t, devices.New(t, "ops.example.org", console), claim(), until)
	forged.Key = ann.Key()
	_, err = r.Verify("eth", claim(), forged, begin)
	require.ErrorIs(t, err, approval.ErrRefused, "another's passkey")

	for what, change := range map[string]func(*chain.Approval){
		"expires":     func(s *chain.Approval) { s.Expires++ },
		"nonce":       func(s *chain.Approval) { s.Nonce += "x" },
		"no data":     func(s *chain.Approval) { s.AuthenticatorData = "" },
		"no client":   func(s *chain.Approval) { s.ClientData = "" },
		"no base64":   func(s *chain.Approval) { s.ClientData = "!" },
		"other data":  func(s *chain.Approval) { s.AuthenticatorData = base64.StdEncoding.EncodeToString([]byte("other")) },
		"no signed":   func(s *chain.Approval) { s.Signature = "" },
		"key as file": func(s *chain.Approval) { s.Key = newPerson(t, "eve").public },
	} {
		altered := s
		change(&altered)
		_, err := r.Verify("eth", claim(), altered, begin)
		require.ErrorIs(t, err, approval.ErrRefused, what)
	}
}

func TestConfigurationsOfPasskeys(t *testing.T) {
	ann := devices.New(t, "ops.example.org", console)
	a := approval.Approver{Name: "ann", Passkey: ann.Key()}
	file := newPerson(t, "ann").public
	for want, c := range map[string]approval.Config{
		"exactly one of":                    {Approvers: []approval.Approver{{Name: "ann", Passkey: ann.Key(), Key: file}}},
		"must be a passkey's public key":    {Approvers: []approval.Approver{{Name: "ann", Passkey: "passkey:AA"}}},
		"another approver has the same key": {Approvers: []approval.Approver{a, {Name: "ben", Passkey: ann.Key()}}},
		"url: ":                             {URL: "http://ops.example.org", Approvers: []approval.Approver{a}},
		"one of key and passkey":            {Approvers: []approval.Approver{{Name: "ann"}}},
	} {
		require.ErrorContains(t, c.Check(), want)
	}
	require.NoError(t, approval.Config{Approvers: []approval.Approver{a}}.Check())
}
