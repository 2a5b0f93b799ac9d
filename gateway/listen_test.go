package gateway

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/httpserver"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

func local() Config { return Config{Config: httpserver.Config{Listen: "127.0.0.1:0"}} }

// Wallets that use plain HTTP get the refusal in their own envelope.
func TestPlainHTTPFromOutside(t *testing.T) {
	url := at(eth, "/meta-info", "tokenId", token)
	for policy, status := range map[string]int{httpserver.Refuse: 403, httpserver.Redirect: 308} {
		r := setup(t, func(c *Config, _ *Parts) { c.PlainHTTP = policy })
		request := httptest.NewRequest(http.MethodGet, url, nil)
		request.RemoteAddr, request.Host = "192.0.2.1:999", "gateway.example:8080"
		answer := httptest.NewRecorder()
		r.server.Handler().ServeHTTP(answer, request)
		require.Equal(t, status, answer.Code)
		if status == 403 {
			require.JSONEq(t, `{"code":1,"subCode":1052,"msg":"This gateway requires https.","data":null}`, answer.Body.String())
		}
	}
}

func TestGatewayThatCannotListen(t *testing.T) {
	r := recordstest.NewRig(t)
	cfg := local()
	cfg.TLS = httpserver.TLS{Cert: "missing", Key: "missing"}
	_, err := New(cfg, Parts{Store: r.Store, Routes: []Route{routeOf(eth, "eth", "eth")}})
	require.ErrorContains(t, err, "gateway: reading the certificate")
}

// A stop lets the request that runs have its answer, and the store's work end.
func TestStop(t *testing.T) {
	entered, letGo := make(chan struct{}), make(chan struct{})
	r := recordstest.NewRig(t)
	s, err := New(local(), Parts{Store: slow{r.Store, entered, letGo}, Routes: []Route{routeOf(eth, "eth", "eth")}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	require.NoError(t, s.Ready(t.Context()))
	answered := make(chan int, 1)
	go func() {
		response, err := http.Get("http://" + s.Addr() + at(eth, "/meta-info", "tokenId", token))
		if err != nil {
			answered <- 0
			return
		}
		defer response.Body.Close()
		answered <- response.StatusCode
	}()
	<-entered
	stop()
	close(letGo)
	require.Equal(t, 200, <-answered)
	require.NoError(t, <-done)
}

// slow is a store that reports its requests and waits for permission to answer.
type slow struct {
	store
	entered, letGo chan struct{}
}

func (s slow) RawRead(ctx context.Context, f func(*records.Tx) error) error {
	close(s.entered)
	<-s.letGo
	return s.store.RawRead(ctx, f)
}
