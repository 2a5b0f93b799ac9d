package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/devices"
	"gatewayd/operator"
	"gatewayd/operator/console"
)

// TestConsole: a user that a command has made signs in, finds a held deposit, credits it and stops
// a channel, as the commands do.
func TestConsole(t *testing.T) {
	t.Parallel()
	r := newOrderRig(t)
	made := r.mustCommand(t, "console", "add", "anna", "--role", "operator")
	given := func(what string) string { return regexp.MustCompile(what + ` +(\S+)`).FindStringSubmatch(made)[1] }
	require.Contains(t, r.mustCommand(t, "console", "list"), "anna  operator")
	_, err := r.command(t, "console", "add", "Bert!")
	require.ErrorContains(t, err, "NAME")
	_, err = r.command(t, "console", "add", "bert", "--role", "owner")
	require.ErrorContains(t, err, "--role")

	var me struct{ Name, CSRF string }
	var cookie *http.Cookie
	ask := func(method, path string, body, into any) int {
		t.Helper()
		text, err := json.Marshal(body)
		require.NoError(t, err)
		q, err := http.NewRequestWithContext(t.Context(), method, r.Info.Operators+"/console/api"+path, bytes.NewReader(text))
		require.NoError(t, err)
		q.Header.Set("X-CSRF-Token", me.CSRF)
		if cookie != nil {
			q.AddCookie(cookie)
		}
		answer, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		defer answer.Body.Close()
		for _, c := range answer.Cookies() {
			cookie = c
		}
		require.NoError(t, json.NewDecoder(answer.Body).Decode(into))
		return answer.StatusCode
	}
	code, err := console.CodeAt(given("second factor"), time.Now())
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/sign-in", map[string]string{"name": "anna", "password": given("password"), "code": code}, &me))

	held := r.newHeldRecord(t, r.shared.DepositAddress, "NOBODY99")
	var page struct{ Records []operator.RecordRow }
	require.Equal(t, http.StatusOK, ask(http.MethodGet, "/records?needsOperator=true", nil, &page))
	require.Equal(t, held.InTx, page.Records[0].InTx)
	var refused struct{ Error string }
	require.Equal(t, http.StatusConflict, ask(http.MethodPost, "/records/"+recordName(held)+"/credit", map[string]string{"to": "vite_nobody", "why": "x"}, &refused))
	require.Contains(t, refused.Error, "not a payable address")
	var details []struct{ Record operator.RecordRow }
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/records/"+recordName(held)+"/credit", map[string]string{"to": r.wallet(r.dai), "why": "ticket 4711"}, &details))
	require.Equal(t, r.wallet(r.dai), details[0].Record.Wallet)
	require.Equal(t, r.wallet(r.dai), r.waitForPaid(t, held).Payee)
	require.Equal(t, "operator:anna", actorOf(r.recordDetail(t, recordName(held)), "ordered"))
	require.Equal(t, http.StatusConflict, ask(http.MethodPost, "/records/"+recordName(held)+"/refund", map[string]string{"why": "again"}, &refused))

	var after struct{ State string }
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/channels/eth/"+r.dai.Token.Token+"/deposit", map[string]any{"state": "MAINTAIN", "why": "a test"}, &after))
	require.Equal(t, "MAINTAIN", after.State)
	require.Contains(t, r.mustCommand(t, "channel", "list"), "a test")
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/channels/eth/"+r.dai.Token.Token+"/deposit", map[string]any{"state": "OPEN", "why": "over"}, &after))

	var accounts []struct{ Chain, Address, Kind, State string }
	require.Equal(t, http.StatusOK, ask(http.MethodGet, "/accounts", nil, &accounts))
	at := slices.IndexFunc(accounts, func(a struct{ Chain, Address, Kind, State string }) bool { return a.Kind == "gas" })
	for _, order := range []struct{ name, after string }{{"stop", "halted"}, {"resume", "ok"}} {
		path := "/accounts/" + accounts[at].Chain + "/" + accounts[at].Address + "/" + order.name
		require.Equal(t, http.StatusOK, ask(http.MethodPost, path, map[string]string{"why": "ticket 4712"}, &accounts), order.name)
		require.Equal(t, order.after, accounts[at].State)
	}
	require.Equal(t, http.StatusConflict, ask(http.MethodPost, "/records/"+recordName(held)+"/settle", map[string]string{"hash": held.InTx, "why": "x"}, &refused))

	var options struct{ Challenge string }
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/passkeys/challenge", nil, &options))
	challenge, err := base64.RawURLEncoding.DecodeString(options.Challenge)
	require.NoError(t, err)
	key := devices.New(t, "localhost", strings.Replace(r.Info.Operators, "127.0.0.1", "localhost", 1))
	var row struct{ ID string }
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/passkeys", map[string]any{"label": "laptop", "credential": key.Create(challenge, []byte("anna"))}, &row))
	require.Contains(t, r.mustCommand(t, "console", "passkeys"), "{name: anna, passkey: "+key.Key()+"}")
	require.Contains(t, r.mustCommand(t, "console", "remove-passkey", "anna", row.ID), "remove its entry")
	_, err = r.command(t, "console", "remove-passkey", "anna", row.ID)
	require.ErrorContains(t, err, "has no passkey")

	log := r.mustCommand(t, "history", "list")
	for _, line := range []string{"operator:anna", "resume on", "ticket 4712", "passkey added", "credit to"} {
		require.Contains(t, log, line)
	}
	verified := r.mustCommand(t, "history", "verify")
	kept := regexp.MustCompile(`\d+:[0-9a-f]{64}`).FindString(verified)
	require.Contains(t, r.mustCommand(t, "history", "verify", "--kept", kept), "none changed, none missing")
	_, err = r.command(t, "history", "verify", "--kept", "1"+kept)
	require.ErrorContains(t, err, "removed or rewritten")
	_, err = r.command(t, "history", "verify", "--kept", "x")
	require.ErrorContains(t, err, "--kept")
	require.NotContains(t, r.mustCommand(t, "records", "list", "--address", held.From, "--amount", "1", "--from", "2020-01-01"), "usage")

	r.mustCommand(t, "console", "remove", "anna")
	require.Equal(t, http.StatusUnauthorized, ask(http.MethodGet, "/me", nil, &refused))
	_, err = r.command(t, "console", "remove", "anna")
	require.ErrorContains(t, err, "there is no user")
	require.False(t, strings.Contains(made, "$argon2id$"))
	r.waitUntilSettled(t)
}
