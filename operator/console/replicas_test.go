package console_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/devices"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// newReplicas are two consoles, each with its own connections to one database.
func newReplicas(t *testing.T) (one, two *page) {
	url := recordstest.Postgres(t).Database(t)
	open := func() *page {
		store, err := records.Open(t.Context(), records.Config{URL: url})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return newPageOn(t, store)
	}
	return open(), open()
}

// TestPasskeyOnAnotherProcess: a challenge of one process is answered at the other, once.
func TestPasskeyOnAnotherProcess(t *testing.T) {
	one, two := newReplicas(t)
	a := devices.New(t, host, origin)
	a.Uncounted = true
	two.signIn("operator")
	one.cookie, one.csrf, one.name = two.cookie, two.csrf, two.name
	created := a.Create(one.challenge("/passkeys/challenge"), []byte("operator"))
	body := map[string]any{"label": "laptop", "credential": created}
	status, text := two.ask(http.MethodPost, "/passkeys", body)
	require.Equal(t, http.StatusOK, status, text)
	status, text = one.ask(http.MethodPost, "/passkeys", body)
	require.Equal(t, http.StatusUnauthorized, status, text)

	one.cookie, two.cookie = nil, nil
	answer := a.Get(one.challenge("/sign-in/passkey/challenge"))
	status, text = two.signInByPasskey(answer)
	require.Equal(t, http.StatusOK, status, text)
	for _, p := range []*page{one, two} {
		status, text = p.signInByPasskey(answer)
		require.Equal(t, http.StatusUnauthorized, status, text)
		require.Contains(t, text, "the challenge is unknown, used or expired")
	}
}

// TestSignInsOfTwoProcesses: guesses are counted over both processes.
func TestSignInsOfTwoProcesses(t *testing.T) {
	const burst = 10
	one, two := newReplicas(t)
	wrong := map[string]string{"name": "operator", "password": "a wrong password", "code": "000000"}
	statuses := map[int]int{}
	for n := range 2 * burst {
		status, _ := []*page{one, two}[n%2].ask(http.MethodPost, "/sign-in", wrong)
		statuses[status]++
	}
	require.Positive(t, statuses[http.StatusTooManyRequests], "each process alone permits its half")
}
