package console_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/devices"
	"gatewayd/records"
)

// challenge asks for one.
func (p *page) challenge(path string) []byte {
	p.t.Helper()
	status, text := p.ask(http.MethodPost, path, map[string]string{})
	require.Equal(p.t, http.StatusOK, status, text)
	var options struct{ Challenge string }
	require.NoError(p.t, json.Unmarshal([]byte(text), &options))
	raw, err := base64.RawURLEncoding.DecodeString(options.Challenge)
	require.NoError(p.t, err)
	return raw
}

// register gives who is signed in a passkey.
func (p *page) register(a *devices.Authenticator, label string) (int, string) {
	p.t.Helper()
	return p.ask(http.MethodPost, "/passkeys", map[string]any{"label": label, "credential": a.Create(p.challenge("/passkeys/challenge"), []byte(p.name))})
}

func (p *page) signInByPasskey(credential json.RawMessage) (int, string) {
	p.t.Helper()
	return p.ask(http.MethodPost, "/sign-in/passkey", map[string]any{"credential": credential})
}

// TestPasskeysSignIn: alone, without password and code, once for each challenge.
func TestPasskeysSignIn(t *testing.T) {
	p := newPage(t)
	a := devices.New(t, host, origin)
	a.Uncounted = true
	p.signIn("operator")
	status, text := p.register(a, "laptop")
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, text, "{name: operator, passkey: "+a.Key()+"}")
	status, _ = p.register(a, "the same")
	require.Equal(t, http.StatusConflict, status)
	_, text = p.ask(http.MethodGet, "/passkeys", nil)
	require.Contains(t, text, "laptop")
	_, text = p.ask(http.MethodGet, "/history?people=true", nil)
	require.Contains(t, text, "passkey added")
	status, _ = p.ask(http.MethodPost, "/sign-out", nil)
	require.Equal(t, http.StatusOK, status)

	p.cookie = nil
	asked := a.Get(p.challenge("/sign-in/passkey/challenge"))
	status, text = p.signInByPasskey(asked)
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, text, `"name":"operator"`)
	require.True(t, p.cookie.HttpOnly)
	status, _ = p.ask(http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusOK, status)
	status, _ = p.signInByPasskey(asked)
	require.Equal(t, http.StatusUnauthorized, status, "a signature signs in once")
}

// TestPasskeysThatSignNobodyIn: what is for another page or challenge, of another, unverified,
// late, or of a copy.
func TestPasskeysThatSignNobodyIn(t *testing.T) {
	p := newPage(t)
	a := devices.New(t, host, origin)
	p.signIn("operator")
	status, text := p.register(a, "laptop")
	require.Equal(t, http.StatusOK, status, text)
	p.cookie = nil
	for what, lie := range map[string]func(*devices.Authenticator){
		"another page":       func(a *devices.Authenticator) { a.Origin = "https://ops.example.com" },
		"another host":       func(a *devices.Authenticator) { a.RP = "example.org" },
		"not verified":       (*devices.Authenticator).Unverified,
		"another credential": func(b *devices.Authenticator) { *b = *devices.New(t, host, origin) },
		"another's key":      func(b *devices.Authenticator) { id := b.ID; *b = *devices.New(t, host, origin); b.ID = id },
		"another user":       func(a *devices.Authenticator) { a.User = []byte("viewer") },
		"a copy of it":       func(a *devices.Authenticator) { a.Count = 0 },
	} {
		p.advance(time.Minute)
		liar := *a
		lie(&liar)
		status, text := p.signInByPasskey(liar.Get(p.challenge("/sign-in/passkey/challenge")))
		require.Equal(t, http.StatusUnauthorized, status, "%s: %s", what, text)
		require.Nil(t, p.cookie, what)
	}
	status, _ = p.signInByPasskey(a.Get([]byte("a challenge that nobody gave out")))
	require.Equal(t, http.StatusUnauthorized, status)
	late := p.challenge("/sign-in/passkey/challenge")
	p.advance(6 * time.Minute)
	status, _ = p.signInByPasskey(a.Get(late))
	require.Equal(t, http.StatusUnauthorized, status)
	for _, body := range []string{"", "{}", `{"credential":{}}`, `{"credential":1}`} {
		status, _ = p.ask(http.MethodPost, "/sign-in/passkey", body)
		require.GreaterOrEqual(t, status, http.StatusBadRequest, body)
	}
	require.Nil(t, p.cookie)

	p.signIn("operator")
	for what, lie := range map[string]func(*devices.Authenticator){
		"another page": func(a *devices.Authenticator) { a.Origin = "https://ops.example.com" },
		"not verified": (*devices.Authenticator).Unverified,
	} {
		liar := devices.New(t, host, origin)
		lie(liar)
		status, _ := p.register(liar, "x")
		require.Equal(t, http.StatusBadRequest, status, what)
	}
	own := p.challenge("/passkeys/challenge")
	p.signIn("viewer")
	status, _ = p.ask(http.MethodPost, "/passkeys", map[string]any{"label": "x", "credential": devices.New(t, host, origin).Create(own, []byte("viewer"))})
	require.Equal(t, http.StatusUnauthorized, status, "another user's challenge")
}

// TestPasskeysAreRemoved: one's own by oneself, which ends the sessions elsewhere; all of them with
// the user, or with a new password.
func TestPasskeysAreRemoved(t *testing.T) {
	p := newPage(t)
	a := devices.NewEd25519(t, host, origin)
	p.signIn("operator")
	_, text := p.register(a, "laptop")
	var made struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(text), &made))
	elsewhere := p.cookie
	p.signIn("viewer")
	status, _ := p.ask(http.MethodPost, "/passkeys/"+made.ID+"/remove", nil)
	require.Equal(t, http.StatusNotFound, status, "it is another's")
	p.signIn("operator")
	status, _ = p.ask(http.MethodPost, "/passkeys/"+made.ID+"/remove", nil)
	require.Equal(t, http.StatusOK, status)
	status, _ = p.ask(http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusOK, status)
	here := p.cookie
	p.cookie = elsewhere
	status, _ = p.ask(http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusUnauthorized, status, "a session elsewhere")
	p.cookie = nil
	status, _ = p.signInByPasskey(a.Get(p.challenge("/sign-in/passkey/challenge")))
	require.Equal(t, http.StatusUnauthorized, status)

	p.cookie = here
	status, text = p.register(a, "again")
	require.Equal(t, http.StatusOK, status, text)
	require.NoError(t, p.store.Update(t.Context(), func(tx *records.Tx) error {
		u, err := records.UserOf(tx, "operator")
		require.NoError(t, err)
		return records.PutUser(tx, u)
	}))
	status, _ = p.ask(http.MethodGet, "/me", nil)
	require.Equal(t, http.StatusUnauthorized, status, "signed out by a new password")
	p.cookie = nil
	status, _ = p.signInByPasskey(a.Get(p.challenge("/sign-in/passkey/challenge")))
	require.Equal(t, http.StatusUnauthorized, status, "and without passkeys")
}

// TestPasskeyTriesAreBounded: strangers ask for so many challenges.
func TestPasskeyTriesAreBounded(t *testing.T) {
	p := newPage(t)
	refused := 0
	for range 15 {
		if status, _ := p.ask(http.MethodPost, "/sign-in/passkey/challenge", map[string]string{}); status == http.StatusTooManyRequests {
			refused++
		}
	}
	require.Equal(t, 5, refused)
}
