package exchangeapi

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// wallet is a user with a key of their own.
type wallet struct {
	key   core.PrivateKey
	agent core.Address
}

func walletOf(name string) wallet {
	k := keyOf(name)
	return wallet{k, must(fakeAgents{"main"}.Agent(context.Background(), k.Address()))}
}

// proof returns the wallet's request for a key or, with the prefix, its request to remove it.
func (w wallet) proof(prefix string, at int64) url.Values {
	time := strconv.FormatInt(at, 10)
	public := w.key.Public()
	return url.Values{
		"address": {w.key.Address().String()}, "agentAddress": {w.agent.String()}, "timestamp": {time},
		"pubKey": {hex.EncodeToString(public[:])}, "signature": {hex.EncodeToString(w.key.Sign([]byte(prefix + w.agent.String() + "_" + time)))},
	}
}

func TestKeyForAWallet(t *testing.T) {
	w := setup(t)
	bob := walletOf("bob")
	info := func() map[string]any {
		return w.get(api + "/agent/info?address=" + bob.key.Address().String()).object(t)
	}
	require.Equal(t, []any{bob.agent.String(), nil}, []any{info()["agentAddress"], info()["apiKey"]})
	proof := bob.proof("", w.clock.Now().Unix())
	issued := w.form("POST", api+"/agent/key", proof).object(t)
	require.Equal(t, bob.agent.String(), issued["agentAddress"])
	require.Equal(t, issued["apiKey"], info()["apiKey"])
	require.NotContains(t, info(), "apiSecret")
	require.NotContains(t, w.logged.String(), issued["apiSecret"])

	key, secret := w.key, w.secret
	w.key.Key, w.secret = issued["apiKey"].(string), issued["apiSecret"].(string)
	w.form("POST", api+"/order/test", w.sign("symbol", symbol, "amount", "1", "price", "1", "side", "0")).refused(t, codeParameter, "No permission")
	w.form("POST", api+"/agent/key", proof).refused(t, codeParameter, "used already")
	w.form("POST", api+"/agent/key", bob.proof("", w.clock.Now().Unix()-1)).refused(t, codeFailed, "already")
	w.form("POST", api+"/agent/removal", bob.proof("", w.clock.Now().Unix()-2)).refused(t, codeParameter, textSignature)

	removal := bob.proof(removalPrefix, w.clock.Now().Unix())
	require.Zero(t, w.form("POST", api+"/agent/removal", removal).Code)
	w.buy("100", "1").refused(t, codeParameter, "Invalid key")
	require.Nil(t, info()["apiKey"])
	w.form("POST", api+"/agent/removal", bob.proof(removalPrefix, w.clock.Now().Unix()-3)).refused(t, codeFailed, "no API key")
	again := w.form("POST", api+"/agent/key", bob.proof("", w.clock.Now().Unix()-4)).object(t)
	require.NotEqual(t, issued["apiKey"], again["apiKey"])
	require.Equal(t, bob.agent.String(), again["agentAddress"], "what is granted on the chain stays granted to the same address")
	w.key, w.secret = key, secret
	require.Zero(t, w.buy("100", "1").Code, "others' keys are as they were")
}

func TestProofs(t *testing.T) {
	w := setup(t)
	bob, eve := walletOf("bob"), walletOf("eve")
	now := w.clock.Now()
	change := func(name, value string) url.Values {
		v := bob.proof("", now.Unix())
		v.Set(name, value)
		return v
	}
	tests := []struct {
		name  string
		proof url.Values
		want  string
	}{
		{"no address", change("address", ""), "address is missing"},
		{"another's address", change("address", eve.key.Address().String()), "Invalid agentAddress"},
		{"another's agent", change("agentAddress", eve.agent.String()), "Invalid agentAddress"},
		{"another's key", change("pubKey", eve.proof("", now.Unix()).Get("pubKey")), "Invalid pubKey"},
		{"no key", change("pubKey", ""), "Invalid pubKey"},
		{"another's signature", change("signature", eve.proof("", now.Unix()).Get("signature")), textSignature},
		{"no signature", change("signature", "zz"), textSignature},
		{"another time", change("timestamp", strconv.FormatInt(now.Unix()-1, 10)), textSignature},
		{"too old", bob.proof("", now.Add(-proofAge-time.Second).Unix()), textTimestamp},
		{"too new", bob.proof("", now.Add(proofAhead+time.Second).Unix()), textTimestamp},
		{"no time", change("timestamp", ""), textTimestamp},
		{"negative", change("timestamp", "-1"), textTimestamp},
	}
	for _, tt := range tests {
		for _, path := range []string{"/agent/key", "/agent/removal"} {
			w.form("POST", api+path, tt.proof).refused(t, codeParameter, tt.want)
		}
	}
	list, err := w.keys.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 1)
	v := bob.proof("", now.UnixMilli())
	for _, name := range []string{"pubKey", "signature"} {
		v.Set(name, base64.StdEncoding.EncodeToString(must(hex.DecodeString(v.Get(name)))))
	}
	require.Zero(t, w.form("POST", api+"/agent/key", v).Code, "milliseconds and base64 do as well")
}

func TestApplicationsAreBounded(t *testing.T) {
	w := setup(t, func(c *Config, _ *Parts) { c.TrustProxy, c.KeysPerHour = []string{"127.0.0.0/8"}, 2 })
	ask := func(client string) code {
		request := request(t, "POST", w.url+api+"/agent/key")
		request.Header.Set("X-Forwarded-For", client)
		return w.do(request).Code
	}
	require.Equal(t, []code{codeParameter, codeParameter, codeFrequent}, []code{ask("192.0.2.1"), ask("192.0.2.1"), ask("192.0.2.1")})
	require.Equal(t, codeParameter, ask("192.0.2.2"))
}

func TestGrantsAndPackages(t *testing.T) {
	w := setup(t)
	list := func(owner core.Address) []any { return w.get(api + "/agent/grants?address=" + owner.String()).list(t) }
	require.Equal(t, []any{symbol}, list(w.owner))
	require.Empty(t, list(walletOf("bob").key.Address()))
	w.get(api+"/agent/grants?address=vite_1").refused(t, codeParameter, "Invalid address")
	packages := w.get(api + "/agent/package").list(t)
	require.Equal(t, map[string]any{"type": json.Number("0"), "maxCount": json.Number("1000"), "cycle": json.Number("60"), "amount": "0"}, packages[0])
}

// Pages of any origin can request keys: browsers send a form without a preflight request.
func TestKeysForPagesOfOtherOrigins(t *testing.T) {
	w := setup(t)
	for _, path := range []string{"/agent/info", "/agent/grants", "/agent/package", "/agent/key", "/agent/removal"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := request(t, http.MethodOptions, w.url+api+path)
			r.Header.Set("Origin", "https://wallet.example")
			r.Header.Set("Access-Control-Request-Method", method)
			r.Header.Set("Access-Control-Request-Headers", "content-type")
			answer, err := w.client.Do(r)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			require.Equal(t, "https://wallet.example", answer.Header.Get("Access-Control-Allow-Origin"))
			require.Contains(t, answer.Header.Get("Access-Control-Allow-Methods"), method)
			require.Equal(t, "content-type", answer.Header.Get("Access-Control-Allow-Headers"))
		}
	}
	bob := walletOf("bob")
	r := request(t, http.MethodPost, w.url+api+"/agent/key")
	r.Body = io.NopCloser(strings.NewReader(bob.proof("", w.clock.Now().Unix()).Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "https://wallet.example")
	got := w.do(r)
	require.Regexp(t, "^[0-9A-F]{32}$", got.object(t)["apiSecret"])
	require.Equal(t, []string{"https://wallet.example", "no-store"}, []string{got.header.Get("Access-Control-Allow-Origin"), got.header.Get("Cache-Control")})
}
