package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/operator"
	"gatewayd/operator/console"
)

// TestConsole: a user that a command has made signs in, finds a held deposit, credits it and stops a channel, as the commands do.
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

	held := r.held(t, r.shared.DepositAddress, "NOBODY99")
	var page struct{ Records []operator.RecordRow }
	require.Equal(t, http.StatusOK, ask(http.MethodGet, "/records?needsOperator=true", nil, &page))
	require.Equal(t, held.InTx, page.Records[0].InTx)
	var refused struct{ Error string }
	require.Equal(t, http.StatusConflict, ask(http.MethodPost, "/records/"+name(held)+"/credit", map[string]string{"to": "vite_nobody", "why": "x"}, &refused))
	require.Contains(t, refused.Error, "no address that can be paid")
	var story []struct{ Record operator.RecordRow }
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/records/"+name(held)+"/credit", map[string]string{"to": r.wallet(r.dai), "why": "ticket 4711"}, &story))
	require.Equal(t, r.wallet(r.dai), story[0].Record.Wallet)
	require.Equal(t, r.wallet(r.dai), r.paid(t, held).Payee)
	require.Equal(t, "operator:anna", actorOf(r.story(t, name(held)), "ordered"))
	require.Equal(t, http.StatusConflict, ask(http.MethodPost, "/records/"+name(held)+"/refund", map[string]string{"why": "again"}, &refused))

	var after struct{ State string }
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/channels/eth/"+r.dai.Token.Token+"/deposit", map[string]any{"state": "MAINTAIN", "why": "a test"}, &after))
	require.Equal(t, "MAINTAIN", after.State)
	require.Contains(t, r.mustCommand(t, "channel", "list"), "a test")
	require.Equal(t, http.StatusOK, ask(http.MethodPost, "/channels/eth/"+r.dai.Token.Token+"/deposit", map[string]any{"state": "OPEN", "why": "over"}, &after))

	r.mustCommand(t, "console", "remove", "anna")
	require.Equal(t, http.StatusUnauthorized, ask(http.MethodGet, "/me", nil, &refused))
	_, err = r.command(t, "console", "remove", "anna")
	require.ErrorContains(t, err, "there is no user")
	require.False(t, strings.Contains(made, "$argon2id$"))
	r.settled(t)
}
