package httpserver

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// defaults is the base configuration of the tests' servers.
func defaults() Config {
	return Config{Listen: "127.0.0.1:0", RatePerSecond: 100, Burst: 100, MaxConnections: 16}
}

// hello answers every request.
func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

// start runs a server until the test ends, when it must end well.
func start(t *testing.T, cfg Config, h http.HandlerFunc) (*Server, *logtest.Hook) {
	t.Helper()
	cfg = cfg.Or(defaults())
	require.NoError(t, cfg.Check())
	log, hook := logtest.NewNullLogger()
	s, err := New(cfg, Parts{Name: "test server", Handler: h, Answer: time.Minute, Log: log})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	require.NoError(t, s.Ready(t.Context()))
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-done)
	})
	return s, hook
}

// writeCertificate replaces the pair of files by a new self-signed one.
func writeCertificate(t *testing.T, files TLS, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	sheet := &x509.Certificate{
		SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, sheet, sheet, &key.PublicKey, key)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files.Key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	require.NoError(t, os.WriteFile(files.Cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
}

func pairIn(dir string) TLS {
	return TLS{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem"), Reload: time.Millisecond}
}

// trust makes a client that believes the certificate file.
func trust(t *testing.T, file string) *http.Client {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(text))
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true, ForceAttemptHTTP2: true}}
}

// plain is a client that keeps no connection.
func plain() *http.Client { return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} }

func get(t *testing.T, c *http.Client, url string) *http.Response {
	t.Helper()
	response, err := c.Get(url)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response
}

// A renewed pair of files is taken up while the server runs.
func TestTLSFiles(t *testing.T) {
	files := pairIn(t.TempDir())
	writeCertificate(t, files, 1)
	s, _ := start(t, Config{TLS: files, PlainListen: "127.0.0.1:0"}, hello)
	first := get(t, trust(t, files.Cert), s.URL())
	require.Equal(t, []int{200, 2}, []int{first.StatusCode, first.ProtoMajor})
	require.Equal(t, 200, get(t, plain(), "http://"+s.PlainAddr()).StatusCode)
	require.Equal(t, http.StatusBadRequest, get(t, plain(), "http://"+s.Addr()).StatusCode, "no plain HTTP at the HTTPS listener")

	writeCertificate(t, files, 2)
	second := trust(t, files.Cert)
	require.Eventually(t, func() bool {
		response, err := second.Get(s.URL())
		return err == nil && response.Body.Close() == nil && response.TLS.PeerCertificates[0].SerialNumber.Int64() == 2
	}, 10*time.Second, time.Millisecond)

	require.NoError(t, os.WriteFile(files.Cert, []byte("half a file"), 0o600))
	require.Equal(t, 200, get(t, second, s.URL()).StatusCode, "the previous one stays in use")
}

func TestCertificateReload(t *testing.T) {
	files := pairIn(t.TempDir())
	_, err := loadCertificate(files)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = New(Config{TLS: files}, Parts{Name: "test server"})
	require.ErrorContains(t, err, "test server: reading the certificate")
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

// The log contains the certificate's changes while the server runs.
func TestCertificateFollowed(t *testing.T) {
	files := pairIn(t.TempDir())
	writeCertificate(t, files, 1)
	_, hook := start(t, Config{TLS: files}, hello)
	said := func(text string) func() bool {
		return func() bool {
			for _, entry := range hook.AllEntries() {
				if strings.Contains(entry.Message, text) {
					return true
				}
			}
			return false
		}
	}
	writeCertificate(t, files, 2)
	require.Eventually(t, said("certificate read again"), 10*time.Second, time.Millisecond)
	require.NoError(t, os.Remove(files.Key))
	require.Eventually(t, said("the previous one stays in use"), 10*time.Second, time.Millisecond)
}

func TestACMEChallenges(t *testing.T) {
	cfg := Config{PlainListen: "127.0.0.1:0", ACME: ACME{Domains: []string{"gateway.example"}, Cache: t.TempDir()}}.Or(defaults())
	require.NoError(t, cfg.Check())
	s, err := New(cfg, Parts{Name: "test server", Handler: http.HandlerFunc(hello)})
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
	taken := l.Addr().String()
	for name, cfg := range map[string]Config{
		"main":  {Listen: taken},
		"plain": {PlainListen: taken, ACME: ACME{Domains: []string{"a.example"}, Cache: t.TempDir()}},
	} {
		s, err := New(cfg.Or(defaults()), Parts{Name: "test server", Handler: http.HandlerFunc(hello)})
		require.NoError(t, err)
		require.ErrorContains(t, s.Run(t.Context()), "address already in use", name)
		require.Empty(t, s.Addr())
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	cfg := defaults()
	cfg.MaxConnections = 1
	s, _ := start(t, cfg, hello)
	keeping := &http.Client{Transport: &http.Transport{}}
	response, err := keeping.Get(s.URL())
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	waiting, err := net.Dial("tcp", s.Addr())
	require.NoError(t, err)
	defer waiting.Close()
	_, err = io.WriteString(waiting, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)
	require.NoError(t, waiting.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err = waiting.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	keeping.CloseIdleConnections()
	require.NoError(t, waiting.SetReadDeadline(time.Now().Add(10*time.Second)))
	_, err = waiting.Read(make([]byte, 1))
	require.NoError(t, err, "served when the first has gone")
}

func TestHugeHeadersAreRefused(t *testing.T) {
	s, _ := start(t, Config{}, hello)
	request, err := http.NewRequest(http.MethodGet, s.URL(), nil)
	require.NoError(t, err)
	request.Header.Set("X", strings.Repeat("x", 2*MaxHeader))
	response, err := plain().Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, response.StatusCode)
}

// A stop lets the request that runs have its answer.
func TestStop(t *testing.T) {
	entered, letGo := make(chan struct{}), make(chan struct{})
	log, _ := logtest.NewNullLogger()
	s, err := New(defaults(), Parts{Name: "test server", Answer: time.Minute, Log: log, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(entered)
		<-letGo
		hello(w, r)
	})})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	require.NoError(t, s.Ready(t.Context()))
	answered := make(chan int, 1)
	go func() {
		response, err := plain().Get(s.URL())
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

// A request that does not end in its time does not hold up the stop.
func TestStopThatIsNotHeeded(t *testing.T) {
	entered, letGo := make(chan struct{}), make(chan struct{})
	log, _ := logtest.NewNullLogger()
	s, err := New(defaults(), Parts{Name: "test server", Answer: -stopMargin, Log: log, Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-letGo
	})})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	require.NoError(t, s.Ready(t.Context()))
	asked := make(chan error, 1)
	go func() {
		response, err := plain().Get(s.URL())
		if err == nil {
			err = response.Body.Close()
		}
		asked <- err
	}()
	<-entered
	stop()
	require.ErrorContains(t, <-done, "stopping the test server")
	require.Error(t, <-asked)
	close(letGo)
}

func TestWhereItListensIsLogged(t *testing.T) {
	files := pairIn(t.TempDir())
	writeCertificate(t, files, 1)
	s, hook := start(t, Config{TLS: files, PlainListen: "127.0.0.1:0"}, hello)
	require.Eventually(t, func() bool { return len(hook.AllEntries()) > 0 }, 10*time.Second, time.Millisecond)
	entry := hook.AllEntries()[0]
	require.Equal(t, "listening", entry.Message)
	require.Equal(t, logrus.Fields{"server": "test server", "url": "https://" + s.Addr(), "plain": "http://" + s.PlainAddr()}, entry.Data)

	_, hook = start(t, Config{Listen: "0.0.0.0:0"}, hello)
	require.Eventually(t, func() bool { return len(hook.AllEntries()) == 2 }, 10*time.Second, time.Millisecond)
	require.Contains(t, hook.LastEntry().Message, "requests of other machines are refused")
}

// Clients' faults below HTTP are logged at debug level only.
func TestClientsNoise(t *testing.T) {
	files := pairIn(t.TempDir())
	writeCertificate(t, files, 1)
	s, hook := start(t, Config{TLS: files}, hello)
	s.Log.SetLevel(logrus.DebugLevel)
	get(t, plain(), "http://"+s.Addr())
	require.Eventually(t, func() bool {
		last := hook.LastEntry()
		return last != nil && last.Level == logrus.DebugLevel && last.Message == "connection"
	}, 10*time.Second, time.Millisecond)
}
