package gateway

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/chain"
)

// FuzzQuery: no query string panics, and what is read is within its bounds.
func FuzzQuery(f *testing.F) {
	for _, raw := range []string{
		"", "amount=1&containsFee=true&pageNum=1&pageSize=30", "amount=-100000000", "amount=12345678.9", "amount=&amount=", "pageNum=007&pageSize=0",
		"amount=" + strings.Repeat("9", 39), "containsFee=undefined", "a;b", "%zz", "tokenId=\x00", "pageNum=99999999999999999999&pageSize=1e3",
		"amount=0001", "amount=+1", "amount=%201", "containsFee=TRUE",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := readQuery(raw)
		if err != nil {
			require.Equal(t, queryMalformed, refusalOf(err).fault)
			return
		}
		if offset, limit, err := q.page(); err == nil {
			require.True(t, offset >= 0 && limit >= 1 && limit <= maxPageSize)
		} else {
			require.Equal(t, 1, refusalOf(err).code())
		}
		if a, err := q.amount(); err == nil {
			want, err := chain.ParseAmount(q.values.Get("amount"))
			require.NoError(t, err)
			require.Equal(t, want, a)
		} else {
			require.Equal(t, 1, refusalOf(err).code())
		}
		if contains, err := q.containsFee(); err == nil {
			require.False(t, q.values.Has("containsFee") && q.values.Get("containsFee") == "")
			require.Equal(t, contains, strings.EqualFold(q.values.Get("containsFee"), "true") || q.values.Get("containsFee") == "1")
		}
	})
}

// Whatever is asked wherever, the answer is an envelope that fits the description, and never a
// server error.
func TestWalk(t *testing.T) {
	r := setup(t)
	paths := []string{"", "/", "/nothing", eth, eth + "/", "/..", "/%2e%2e/", eth + "/meta-info/x"}
	for path := range endpoints() {
		paths = append(paths, eth+path, eth+"/"+path, bsc+path, path)
	}
	fields := []string{"tokenId", "walletAddress", "withdrawAddress", "label", "labelName", "amount", "containsFee", "pageNum", "pageSize", "other"}
	values := map[string][]string{
		"tokenId": {token, labelled, costly}, "walletAddress": {alice, bob, "VITE_ALICE"}, "withdrawAddress": {"0xuser"},
		"amount": {"0", "1000", strings.Repeat("9", 78)}, "containsFee": {"true", "0"}, "pageNum": {"1", "2"}, "pageSize": {"10", "30"},
	}
	good := 0
	rapid.Check(t, func(rt *rapid.T) {
		query := url.Values{}
		for _, field := range fields {
			switch known := values[field]; {
			case rapid.IntRange(0, 9).Draw(rt, "absent") == 0:
			case len(known) > 0 && rapid.IntRange(0, 9).Draw(rt, "wild") > 0:
				query.Add(field, rapid.SampledFrom(known).Draw(rt, field))
			default:
				query.Add(field, rapid.String().Draw(rt, field))
			}
		}
		target := rapid.SampledFrom(paths).Draw(rt, "path")
		request := httptest.NewRequest(http.MethodGet, "http://gateway.example/", nil)
		request.URL = &url.URL{Path: target, RawQuery: query.Encode()}
		request.RemoteAddr = "127.0.0.1:1"
		request.Header["Lang"] = []string{rapid.String().Draw(rt, "lang")}
		answer := httptest.NewRecorder()
		r.server.Handler().ServeHTTP(answer, request)
		require.Contains(rt, []int{200, 404}, answer.Code, target)
		out := reply{status: answer.Code, header: answer.Header(), body: answer.Body.String()}
		require.NoError(rt, json.Unmarshal(answer.Body.Bytes(), &out.envelope))
		r.checkSpec(request, out)
		require.NotEqual(rt, int(internal), out.SubCode, "%s?%s: %s", target, query.Encode(), r.logged)
		if out.Code == 0 {
			good++
		}
	})
	require.Positive(t, good, "some of it was right")
}
