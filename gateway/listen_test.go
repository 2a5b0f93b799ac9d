package gateway

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
	"gatewayd/records/recordstest"
)

// writeCertificate replaces the pair of files by a new self-signed one.
func writeCertificate(t *testing.T, files TLS, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	sheet := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "gateway"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, sheet, sheet, &key.PublicKey, key)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files.Key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	require.NoError(t, os.WriteFile(files.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
}

// trust makes a client that believes the certificate file.
func trust(t *testing.T, file string) *http.Client {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	return &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true, ForceAttemptHTTP2: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func TestTLSFiles(t *testing.T) {
	dir := t.TempDir()
	files := TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), Reload: time.Millisecond}
	writeCertificate(t, files, 1)
	r := setup(t, func(c *Config, _ *Parts) {
		c.TLS, c.PlainListen, c.PlainHTTP = files, "127.0.0.1:0", plainRedirect
	})
	url := at(eth, "/meta-info", "tokenId", token)
	r.client = trust(t, files.Cert)
	require.Zero(t, r.get(url).Code)

	response, err := http.Get("http://" + r.server.PlainAddr() + url)
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, 200, response.StatusCode, "this machine is served in plain")

	writeCertificate(t, files, 2)
	r.client = trust(t, files.Cert)
	require.Eventually(t, func() bool {
		response, err := r.client.Get(r.url + url)
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.TLS.PeerCertificates[0].SerialNumber.Int64() == 2
	}, 10*time.Second, time.Millisecond)

	require.NoError(t, os.WriteFile(files.Cert, []byte("half a file"), 0o600))
	require.Eventually(t, func() bool { return r.get(url).Code == 0 }, 10*time.Second, time.Millisecond, "the one before stays in use")
	response, err = http.Get("http://" + r.server.Addr() + url)
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusBadRequest, response.StatusCode, "no plain HTTP at the HTTPS listener")
}

func TestCertificateReload(t *testing.T) {
	dir := t.TempDir()
	files := TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	_, err := loadCertificate(files)
	require.ErrorIs(t, err, os.ErrNotExist)
	writeCertificate(t, files, 1)
	c, err := loadCertificate(files)
	require.NoError(t, err)
	before := c.current.Load()
	changed, err := c.reload()
	require.NoError(t, err)
	require.False(t, changed)
	require.NoError(t, os.WriteFile(files.Key, []byte("broken"), 0o600))
	_, err = c.reload()
	require.Error(t, err)
	require.Same(t, before, c.current.Load())
	writeCertificate(t, files, 22)
	changed, err = c.reload()
	require.NoError(t, err)
	require.True(t, changed)
	require.NotSame(t, before, c.current.Load())
}

func TestPlainHTTPFromOutside(t *testing.T) {
	url := at(eth, "/meta-info", "tokenId", token)
	tests := []struct {
		name, policy, method, remote, proto string
		status                              int
		location                            string
	}{
		{"refused", plainRefuse, "GET", "192.0.2.1:999", "", 403, ""},
		{"redirected", plainRedirect, "GET", "192.0.2.1:999", "", 308, "https://gateway.example" + url},
		{"redirected head", plainRedirect, "HEAD", "192.0.2.1:999", "", 308, "https://gateway.example" + url},
		{"never a post", plainRedirect, "POST", "192.0.2.1:999", "", 403, ""},
		{"a stranger's word is not taken", plainRefuse, "GET", "192.0.2.1:999", "https", 403, ""},
		{"this machine", plainRefuse, "GET", "127.0.0.1:999", "", 200, ""},
		{"this machine, IPv6", plainRefuse, "GET", "[::1]:999", "", 200, ""},
		{"https at the proxy", plainRefuse, "GET", "10.0.0.1:999", "https", 200, ""},
		{"http at the proxy", plainRedirect, "GET", "10.0.0.1:999", "http", 308, "https://gateway.example" + url},
		{"proxy that says nothing", plainRefuse, "GET", "10.0.0.1:999", "", 200, ""},
		{"no address", plainRefuse, "GET", "", "", 403, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := setup(t, func(c *Config, _ *Parts) { c.PlainHTTP, c.TrustProxy = tt.policy, []string{"10.0.0.0/8"} })
			request := httptest.NewRequest(tt.method, url, nil)
			request.RemoteAddr, request.Host = tt.remote, "gateway.example:8080"
			if tt.proto != "" {
				request.Header.Set("X-Forwarded-Proto", tt.proto)
			}
			answer := httptest.NewRecorder()
			r.server.Handler().ServeHTTP(answer, request)
			require.Equal(t, tt.status, answer.Code)
			require.Equal(t, tt.location, answer.Header().Get("Location"))
			if tt.status == 403 {
				require.JSONEq(t, `{"code":1,"subCode":1052,"msg":"This gateway is served over https only.","data":null}`, answer.Body.String())
			}
		})
	}
}

func TestRedirectNamesThePort(t *testing.T) {
	files := TLS{Cert: "cert.pem", Key: "key.pem"}
	for listen, want := range map[string]string{":443": "gateway.example", ":8443": "gateway.example:8443", "[::]:https": "gateway.example"} {
		s := &Server{cfg: Config{Listen: listen, TLS: files}}
		require.Equal(t, want, s.httpsHost("gateway.example:80"), listen)
		require.Equal(t, want, s.httpsHost("gateway.example"), listen)
	}
}

func TestACMEChallenges(t *testing.T) {
	r := recordstest.NewRig(t)
	s, err := New(Config{
		Listen: "127.0.0.1:0", PlainListen: "127.0.0.1:0", ACME: ACME{Domains: []string{"gateway.example"}, Cache: t.TempDir()},
	}, Parts{Store: r.Store, Routes: []Route{routeOf(eth, "eth", "eth")}})
	require.NoError(t, err)
	require.Contains(t, s.tlsConfig().NextProtos, "acme-tls/1")
	require.Contains(t, s.tlsConfig().NextProtos, "h2")
	for host, status := range map[string]int{"gateway.example": 404, "evil.example": 403} {
		request := httptest.NewRequest(http.MethodGet, "/.well-known/acme-challenge/x", nil)
		request.Host = host
		answer := httptest.NewRecorder()
		s.plainHandler().ServeHTTP(answer, request)
		require.Equal(t, status, answer.Code, host)
	}
}

func TestPortThatIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	r := recordstest.NewRig(t)
	s, err := New(Config{Listen: l.Addr().String()}, Parts{Store: r.Store, Routes: []Route{routeOf(eth, "eth", "eth")}})
	require.NoError(t, err)
	require.ErrorContains(t, s.Run(t.Context()), "address already in use")
	require.Empty(t, s.Addr())

	s, err = New(Config{Listen: "127.0.0.1:0", PlainListen: l.Addr().String(), ACME: ACME{Domains: []string{"a.example"}, Cache: t.TempDir()}},
		Parts{Store: r.Store, Routes: []Route{routeOf(eth, "eth", "eth")}})
	require.NoError(t, err)
	require.ErrorContains(t, s.Run(t.Context()), "address already in use", "the plain listener")
}

func TestConnectionsAreBounded(t *testing.T) {
	r := setup(t, func(c *Config, _ *Parts) { c.MaxConnections = 1 })
	url := at(eth, "/meta-info", "tokenId", token)
	require.Zero(t, r.get(url).Code) // the client keeps its connection
	waiting, err := net.Dial("tcp", r.server.Addr())
	require.NoError(t, err)
	defer waiting.Close()
	_, err = waiting.Write([]byte("GET " + url + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
	require.NoError(t, err)
	require.NoError(t, waiting.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err = waiting.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	r.client.CloseIdleConnections()
	require.NoError(t, waiting.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err = waiting.Read(make([]byte, 1))
	require.NoError(t, err, "served when the first has gone")
}

// A stop lets the request that runs have its answer.
func TestStop(t *testing.T) {
	entered, letGo := make(chan struct{}), make(chan struct{})
	r := recordstest.NewRig(t)
	s, err := New(Config{Listen: "127.0.0.1:0"}, Parts{Store: slow{r.Store, entered, letGo}, Routes: []Route{routeOf(eth, "eth", "eth")}})
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
	late, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, (&Server{ready: make(chan struct{})}).Ready(late), context.Canceled)
}

// slow is a store that says when it is asked and answers when it may.
type slow struct {
	store
	entered, letGo chan struct{}
}

func (s slow) View(ctx context.Context, f func(*records.Tx) error) error {
	close(s.entered)
	<-s.letGo
	return s.store.View(ctx, f)
}
