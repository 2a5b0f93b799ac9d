package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRateLimit(t *testing.T) {
	r := setup(t, func(c *Config, _ *Parts) {
		c.TrustProxy, c.RatePerSecond, c.Burst = []string{"127.0.0.0/8"}, 0.5, 3
	})
	ask := func(client, lang string) reply {
		return r.get(at(eth, "/meta-info", "tokenId", token), "X-Forwarded-For", client, "Origin", "https://x.vite.net", "lang", lang)
	}
	for range 3 {
		require.Zero(t, ask("192.0.2.1", "").Code)
	}
	full := ask("192.0.2.1", "")
	require.Equal(t, []int{200, 1, int(tooManyRequests)}, []int{full.status, full.Code, full.SubCode})
	require.Equal(t, "Too many requests. Please try again in 2 seconds.", *full.Msg)
	require.Equal(t, "2", full.header.Get("Retry-After"))
	require.Equal(t, "https://x.vite.net", full.header.Get("Access-Control-Allow-Origin"), "the page may read it")
	require.Equal(t, "请求过于频繁，请在 2 秒后重试。", *ask("192.0.2.1", "zh-cn").Msg)
	require.Equal(t, int(tooManyRequests), ask("6.6.6.6, 192.0.2.1", "").SubCode, "what a client writes in front counts for nothing")
	require.Zero(t, ask("192.0.2.2", "").Code, "others are served")
	pre := r.do("OPTIONS", at(eth, "/meta-info"), "X-Forwarded-For", "192.0.2.1", "Origin", "https://x.vite.net", "Access-Control-Request-Method", "GET")
	require.Equal(t, 204, pre.status, "preflights are not counted")
	r.Pass(2 * time.Second)
	require.Zero(t, ask("192.0.2.1", "").Code)
	require.Equal(t, int(tooManyRequests), ask("192.0.2.1", "").SubCode)
}

func TestForwardedForOfStrangersIsIgnored(t *testing.T) {
	r := setup(t, func(c *Config, _ *Parts) { c.TrustProxy, c.Burst = []string{"10.0.0.0/8"}, 1 })
	for range 5 {
		got := r.get(at(eth, "/meta-info", "tokenId", token), "X-Forwarded-For", "192.0.2.1")
		require.Zero(t, got.Code, "this machine is not counted")
	}
}
