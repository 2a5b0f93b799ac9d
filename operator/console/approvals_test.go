package console_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/devices"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/signer/approval"
)

// asked is a request for an approver's signature.
type asked struct {
	Order struct {
		Record, Payment uint64
		Payee, Amount   string
		Signed          []approval.Field
	}
	Text    string
	Expires int64
	Nonce   string
	Options struct{ Challenge string }
}

func (a asked) challenge(t *testing.T) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(a.Options.Challenge)
	require.NoError(t, err)
	return raw
}

func (p *page) askApproval(record uint64) (a asked) {
	p.t.Helper()
	status, text := p.ask(http.MethodPost, fmt.Sprintf("/approvals/%d/challenge", record), map[string]string{})
	require.Equal(p.t, http.StatusOK, status, text)
	require.NoError(p.t, json.Unmarshal([]byte(text), &a))
	return a
}

func (p *page) approve(record uint64, a asked, credential json.RawMessage) (int, string) {
	p.t.Helper()
	return p.ask(http.MethodPost, fmt.Sprintf("/approvals/%d", record), map[string]any{"expires": a.Expires, "nonce": a.Nonce, "credential": credential})
}

// approvalsPage has a withdrawal whose payout waits for approvals, and two approvers with passkeys.
func approvalsPage(t *testing.T) (p *page, record uint64, ann, ben *devices.Authenticator) {
	t.Helper()
	rig := recordstest.NewRig(t)
	owed, payment := rig.Owe(records.Withdrawal, 500)
	rig.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(payment, records.Queued, records.HeldPayment, records.HeldApproval)
	})
	p = newPageOn(t, rig.Store)
	p.clock.Store(rig.Now().Unix())
	require.NoError(t, rig.Store.Update(t.Context(), func(tx *records.Tx) error {
		u, err := records.UserOf(tx, "approver")
		require.NoError(t, err)
		u.Name = "ben"
		return records.PutUser(tx, u)
	}))
	ann, ben = devices.New(t, host, origin), devices.NewEd25519(t, host, origin)
	for name, a := range map[string]*devices.Authenticator{"approver": ann, "ben": ben} {
		p.signIn(name)
		status, text := p.register(a, "key")
		require.Equal(t, http.StatusOK, status, text)
	}
	return p, owed.ID, ann, ben
}

// TestTwoApproveByPasskey: two people's approvals in the console satisfy the signer, and one
// person's does not.
func TestTwoApproveByPasskey(t *testing.T) {
	p, record, ann, ben := approvalsPage(t)
	cfg := approval.Config{Needed: 2, URL: origin, Approvers: []approval.Approver{{Name: "ann", Passkey: ann.Key()}, {Name: "ben", Passkey: ben.Key()}}}
	require.NoError(t, cfg.Check())
	rule, err := approval.NewRule(cfg, nil)
	require.NoError(t, err)
	enough := func() (bool, string) {
		w, err := (&operator.Session{Store: p.store}).WaitingPayment(t.Context(), record)
		require.NoError(t, err)
		w.Claim.Approvals = w.Known
		return rule.Enough(w.Payment.Chain, w.Claim, p.now())
	}
	_, text := p.ask(http.MethodGet, "/approvals", nil)
	var list []struct{ Record uint64 }
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	require.Len(t, list, 1)
	require.Equal(t, record, list[0].Record)

	p.signIn("approver")
	a := p.askApproval(record)
	require.Contains(t, a.Text, `payee: "`+a.Order.Payee+`"`)
	require.Contains(t, a.Text, `amount: "`+a.Order.Amount+`"`)
	for _, f := range a.Order.Signed {
		require.Contains(t, a.Text, fmt.Sprintf("\n%s: %q\n", f.Name, f.Value))
	}
	require.Equal(t, strings.Count(a.Text, "\n"), len(a.Order.Signed)+3, "title, end and nonce are signed besides")
	signed := ann.Get(a.challenge(t))
	status, text := p.approve(record, a, signed)
	require.Equal(t, http.StatusOK, status, text)
	ok, why := enough()
	require.False(t, ok)
	require.Equal(t, "1 of 2 approvals", why)
	status, _ = p.approve(record, a, signed)
	require.Equal(t, http.StatusConflict, status, "the same again")
	a = p.askApproval(record)
	status, _ = p.approve(record, a, ann.Get(a.challenge(t)))
	require.Equal(t, http.StatusConflict, status, "the same person again")

	p.signIn("ben")
	a = p.askApproval(record)
	status, text = p.approve(record, a, ben.Get(a.challenge(t)))
	require.Equal(t, http.StatusOK, status, text)
	ok, why = enough()
	require.True(t, ok, why)
	require.Contains(t, text, "operator:ben")
}

// TestApprovalsThatDoNotCount: by other people than approvers, by another person's passkey, from
// another page, unverified, or of another payment.
func TestApprovalsThatDoNotCount(t *testing.T) {
	p, record, ann, ben := approvalsPage(t)
	for _, role := range []string{"viewer", "operator"} {
		p.signIn(role)
		for _, path := range []string{"/challenge", "", "/reject"} {
			status, _ := p.ask(http.MethodPost, fmt.Sprintf("/approvals/%d%s", record, path), map[string]string{"why": "x"})
			require.Equal(t, http.StatusForbidden, status, role+path)
		}
	}
	p.signIn("approver")
	refused := func(what string, want int, change func(*asked), sign func(asked) json.RawMessage) {
		t.Helper()
		a := p.askApproval(record)
		credential := sign(a)
		if change != nil {
			change(&a)
		}
		status, text := p.approve(record, a, credential)
		require.Equal(t, want, status, "%s: %s", what, text)
	}
	byAnn := func(a asked) json.RawMessage { return ann.Get(a.challenge(t)) }
	refused("another user's passkey", http.StatusForbidden, nil, func(a asked) json.RawMessage { return ben.Get(a.challenge(t)) })
	refused("nobody's passkey", http.StatusForbidden, nil, func(a asked) json.RawMessage { return devices.New(t, host, origin).Get(a.challenge(t)) })
	refused("another challenge", http.StatusUnauthorized, nil, func(asked) json.RawMessage { return ann.Get([]byte("another challenge")) })
	refused("another time", http.StatusUnauthorized, func(a *asked) { a.Expires++ }, byAnn)
	refused("another nonce", http.StatusUnauthorized, func(a *asked) { a.Nonce = "x" }, byAnn)
	refused("a time that is over", http.StatusUnauthorized, func(a *asked) { a.Expires = p.now().Unix() }, byAnn)
	refused("no signature", http.StatusBadRequest, nil, func(asked) json.RawMessage { return json.RawMessage(`{}`) })
	for what, lie := range map[string]func(*devices.Authenticator){
		"another page": func(a *devices.Authenticator) { a.Origin = "https://ops.example.com" },
		"not verified": (*devices.Authenticator).Unverified,
		"a sign-in":    func(a *devices.Authenticator) { a.Type = "webauthn.create" },
	} {
		refused(what, http.StatusUnauthorized, nil, func(a asked) json.RawMessage {
			liar := *ann
			lie(&liar)
			return liar.Get(a.challenge(t))
		})
	}
	require.NoError(t, p.store.View(t.Context(), func(tx *records.Tx) error {
		known, err := tx.Payments().Approvals([]uint64{1, 2, 3})
		require.Empty(t, known)
		return err
	}))
	for path, want := range map[string]int{"/approvals/x/challenge": http.StatusBadRequest, "/approvals/99/challenge": http.StatusNotFound, fmt.Sprintf("/approvals/%d/reject", record): http.StatusServiceUnavailable} {
		status, text := p.ask(http.MethodPost, path, map[string]string{"why": "x"})
		require.Equal(t, want, status, "%s: %s", path, text)
	}
}
