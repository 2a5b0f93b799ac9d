package client

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const agentAddress = "vite_aaaa"

// fakeKeyAPI answers as the API does for keys and records the last form that it was sent.
func fakeKeyAPI(t *testing.T, answer string) (*Client, *http.Request) {
	var last http.Request
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = w.Write([]byte(`{"code":0,"msg":"ok","data":{"agentAddress":"` + agentAddress + `","apiKey":null,"createTime":null,` +
				`"agentPledgeAmount":"0","quota":21000,"type":0,"maxCount":10,"expireTime":null}}`))
			return
		}
		if r.ParseForm() == nil {
			last = *r
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(s.Close)
	return &Client{Base: s.URL + "/api/v2", Now: func() time.Time { return time.Unix(1700000000, 0) }}, &last
}

func testWallet(signed *string) Wallet {
	return Wallet{Address: "vite_bbbb", PublicKey: []byte{1, 2}, Sign: func(text []byte) ([]byte, error) {
		*signed = string(text)
		return []byte{3, 4}, nil
	}}
}

func TestApply(t *testing.T) {
	c, last := fakeKeyAPI(t, `{"code":0,"msg":"ok","data":{"address":"vite_bbbb","agentAddress":"vite_aaaa","apiKey":"K","apiSecret":"S","createTime":5}}`)
	var signed string
	issued, err := c.Apply(context.Background(), testWallet(&signed))
	require.NoError(t, err)
	require.Equal(t, IssuedKey{Address: "vite_bbbb", AgentAddress: agentAddress, Key: "K", Secret: "S", CreateTime: 5}, issued)
	require.Equal(t, agentAddress+"_1700000000", signed)
	require.Equal(t, "/api/v2/agent/key", last.URL.Path)
	for name, want := range map[string]string{
		"address": "vite_bbbb", "agentAddress": agentAddress, "timestamp": "1700000000", "pubKey": "0102", "signature": "0304",
	} {
		require.Equal(t, want, last.PostForm.Get(name), name)
	}
	agent, err := c.Agent(context.Background(), "vite_bbbb")
	require.NoError(t, err)
	require.Equal(t, Agent{Address: agentAddress, Stake: "0", Quota: 21000, MaxCount: 10}, agent)
}

func TestRemoveKey(t *testing.T) {
	c, last := fakeKeyAPI(t, `{"code":1004,"msg":"The account has no API key","data":{}}`)
	var signed string
	err := c.RemoveKey(context.Background(), testWallet(&signed))
	require.ErrorIs(t, err, CodeOther)
	require.ErrorContains(t, err, "no API key")
	require.Equal(t, "remove_"+agentAddress+"_1700000000", signed)
	require.Equal(t, "/api/v2/agent/removal", last.URL.Path)
	broken := errors.New("locked")
	w := Wallet{Address: "vite_bbbb", Sign: func([]byte) ([]byte, error) { return nil, broken }}
	require.ErrorIs(t, c.RemoveKey(context.Background(), w), broken)
}

// Errors identify their kind by code, and contain the time of the next attempt.
func TestErrorCodes(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "50")
		_, _ = w.Write([]byte(`{"code":1001,"msg":"Too frequent request","data":{}}`))
	}))
	t.Cleanup(s.Close)
	_, err := (&Client{Base: s.URL}).CancelAll(context.Background(), "VX_VITE")
	require.ErrorIs(t, err, CodeTooFrequent)
	require.NotErrorIs(t, err, CodeBalance)
	var code Code
	require.ErrorAs(t, err, &code)
	require.Equal(t, CodeTooFrequent, code)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, 50*time.Second, e.RetryAfter)
	require.Equal(t, "exchange API: code 1001: Too frequent request (HTTP 200)", e.Error())
}
