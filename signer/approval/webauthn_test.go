package approval_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/devices"
	"gatewayd/signer/approval"
)

const host, origin = "ops.example.org", "https://ops.example.org"

func site(t *testing.T) approval.Site {
	t.Helper()
	s, err := approval.ParseSite(origin + "/")
	require.NoError(t, err)
	return s
}

var challenge = []byte("exactly one challenge of 32 byte")

func verify(t *testing.T, a *devices.Authenticator, key string, challenge []byte) error {
	t.Helper()
	k, err := approval.ParsePasskeyKey(key)
	require.NoError(t, err)
	data, client, signature := a.Assert(challenge)
	_, err = site(t).Verify(k, challenge, approval.Assertion{AuthenticatorData: data, ClientData: client, Signature: signature})
	return err
}

// TestWhatCounts: of each kind of key a signature for this page and challenge, and nothing else.
func TestWhatCounts(t *testing.T) {
	for _, a := range []*devices.Authenticator{devices.New(t, host, origin), devices.NewEd25519(t, host, origin)} {
		require.NoError(t, verify(t, a, a.Key(), challenge))
		require.ErrorIs(t, verify(t, a, devices.New(t, host, origin).Key(), challenge), approval.ErrPasskeyRefused, "another's key")

		for what, lie := range map[string]func(*devices.Authenticator){
			"another page":       func(a *devices.Authenticator) { a.Origin = "https://ops.example.com" },
			"the page over http": func(a *devices.Authenticator) { a.Origin = "http://ops.example.org" },
			"another port":       func(a *devices.Authenticator) { a.Origin += ":8443" },
			"another host's key": func(a *devices.Authenticator) { a.RP = "example.org" },
			"a registration":     func(a *devices.Authenticator) { a.Type = "webauthn.create" },
			"nobody there":       (*devices.Authenticator).Absent,
			"not verified":       (*devices.Authenticator).Unverified,
		} {
			liar := *a
			lie(&liar)
			require.ErrorIs(t, verify(t, &liar, a.Key(), challenge), approval.ErrPasskeyRefused, what)
		}

		k, err := approval.ParsePasskeyKey(a.Key())
		require.NoError(t, err)
		data, client, signature := a.Assert(challenge)
		for what, c := range map[string]struct {
			challenge []byte
			approval.Assertion
		}{
			"another challenge":    {[]byte("another challenge"), approval.Assertion{AuthenticatorData: data, ClientData: client, Signature: signature}},
			"no challenge":         {nil, approval.Assertion{AuthenticatorData: data, ClientData: client, Signature: signature}},
			"another count":        {challenge, approval.Assertion{AuthenticatorData: append(data[:len(data)-1:len(data)-1], 99), ClientData: client, Signature: signature}},
			"another browser's":    {challenge, approval.Assertion{AuthenticatorData: data, ClientData: append(client, ' '), Signature: signature}},
			"no signature":         {challenge, approval.Assertion{AuthenticatorData: data, ClientData: client}},
			"no data":              {challenge, approval.Assertion{ClientData: client, Signature: signature}},
			"no JSON":              {challenge, approval.Assertion{AuthenticatorData: data, ClientData: []byte("{"), Signature: signature}},
			"more than it can be":  {challenge, approval.Assertion{AuthenticatorData: data, ClientData: append(client, make([]byte, 5000)...), Signature: signature}},
			"a long signature":     {challenge, approval.Assertion{AuthenticatorData: data, ClientData: client, Signature: make([]byte, 1000)}},
			"a long authenticator": {challenge, approval.Assertion{AuthenticatorData: make([]byte, 5000), ClientData: client, Signature: signature}},
		} {
			_, err := site(t).Verify(k, c.challenge, c.Assertion)
			require.ErrorIs(t, err, approval.ErrPasskeyRefused, what)
		}
		_, err = site(t).Verify(approval.PasskeyKey{}, challenge, approval.Assertion{AuthenticatorData: data, ClientData: client, Signature: signature})
		require.ErrorIs(t, err, approval.ErrPasskeyRefused)
	}
}

func TestRegistration(t *testing.T) {
	a := devices.New(t, host, origin)
	r, err := site(t).Register(challenge, a.Create(challenge, []byte("anna")))
	require.NoError(t, err)
	require.Equal(t, a.Key(), r.Key.String())
	c, err := approval.ParseCredential(a.Get(challenge))
	require.NoError(t, err)
	require.Equal(t, []any{r.ID, []byte("anna")}, []any{c.ID, c.UserHandle})
	count, err := site(t).Verify(r.Key, challenge, c.Assertion)
	require.NoError(t, err)
	require.Equal(t, a.Count, count)

	for what, lie := range map[string]func(*devices.Authenticator){
		"another page": func(a *devices.Authenticator) { a.Origin = "https://evil.example.org" },
		"another host": func(a *devices.Authenticator) { a.RP = "example.org" },
		"not verified": (*devices.Authenticator).Unverified,
	} {
		liar := *a
		lie(&liar)
		_, err := site(t).Register(challenge, liar.Create(challenge, []byte("anna")))
		require.ErrorIs(t, err, approval.ErrPasskeyRefused, what)
	}
	_, err = site(t).Register([]byte("another"), a.Create(challenge, []byte("anna")))
	require.ErrorIs(t, err, approval.ErrPasskeyRefused)
	for _, text := range []string{"", "{}", "null", string(a.Get(challenge)), strings.Replace(string(a.Create(challenge, nil)), `"id":"`, `"id":"AA`, 1)} {
		_, err := site(t).Register(challenge, json.RawMessage(text))
		require.ErrorIs(t, err, approval.ErrPasskeyRefused, text)
		if !strings.Contains(text, "signature") {
			_, err = approval.ParseCredential([]byte(text))
			require.ErrorIs(t, err, approval.ErrPasskeyRefused, text)
		}
	}
}

func TestSitesAndKeys(t *testing.T) {
	for text, want := range map[string]approval.Site{
		"https://ops.example.org":       {RP: "ops.example.org", Origin: "https://ops.example.org"},
		"https://Ops.example.org:8443/": {RP: "ops.example.org", Origin: "https://ops.example.org:8443"},
		"http://localhost:8070":         {RP: "localhost", Origin: "http://localhost:8070"},
	} {
		s, err := approval.ParseSite(text)
		require.NoError(t, err)
		require.Equal(t, want, s)
	}
	for _, text := range []string{"", "ops.example.org", "http://ops.example.org", "https://10.0.0.1", "http://127.0.0.1:8070", "https://[::1]", "https://a.org/console", "https://u@a.org", "https://a.org?x=1", "ftp://localhost"} {
		_, err := approval.ParseSite(text)
		require.Error(t, err, text)
	}
	for _, text := range []string{"", "passkey:", "passkey:AA", "passkey:!", "ed25519:AA", devices.New(t, host, origin).Key()[8:], "passkey:" + strings.Repeat("A", 300)} {
		_, err := approval.ParsePasskeyKey(text)
		require.Error(t, err, text)
	}
}
