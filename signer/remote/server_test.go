package remote_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/records/signguard"
	"gatewayd/signer/remote"
)

func amount(n uint64) uint256.Int { return *uint256.NewInt(n) }

// shortDir is a directory whose path leaves room for the name of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "s")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// authority signs certificates for both sides.
type authority struct {
	t    *testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, a.cert, a.cert, &a.key.PublicKey, a.key)
	require.NoError(t, err)
	a.write("ca.pem", "CERTIFICATE", raw)
	return a
}

func (a *authority) write(name, kind string, raw []byte) string {
	path := filepath.Join(a.dir, name)
	require.NoError(a.t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600))
	return path
}

// files are a certificate of its own for one side, and the authority's.
func (a *authority) files(name string) remote.TLS {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	require.NoError(a.t, err)
	private, err := x509.MarshalECPrivateKey(key)
	require.NoError(a.t, err)
	return remote.TLS{
		Cert: a.write(name+".pem", "CERTIFICATE", raw), Key: a.write(name+".key", "EC PRIVATE KEY", private), CA: filepath.Join(a.dir, "ca.pem"),
	}
}

// TestSeveralPlaces: of signers that stand by for each other the one that answers is asked, over
// sockets and over https, also after another has taken over.
func TestSeveralPlaces(t *testing.T) {
	dir, ours := shortDir(t), newAuthority(t, "ours")
	server, client := ours.files("server"), ours.files("client")
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, nobody.Close())
	for name, c := range map[string]struct {
		first, second remote.Config
		away          string
		files         remote.TLS
	}{
		"sockets": {remote.Config{Listen: "unix:" + dir + "/a"}, remote.Config{Listen: "unix:" + dir + "/b"}, "unix:" + dir + "/c", remote.TLS{}},
		"https":   {remote.Config{Listen: "https://127.0.0.1:0", TLS: server}, remote.Config{Listen: "https://" + nobody.Addr().String(), TLS: server}, "", client},
	} {
		t.Run(name, func(t *testing.T) {
			w := setup(t)
			stop := w.serve(c.first, func(at string) remote.Target {
				first := c.first.Listen
				if at != "" && c.files.CA != "" {
					first = "https://" + at
				}
				places := []string{c.second.Listen, first}
				if c.away != "" {
					places = append(places, c.away)
				}
				return remote.Target{URL: strings.Join(places, ", "), TLS: c.files}
			})
			both := w.service
			_, err := both.Identity(t.Context())
			require.NoError(t, err)
			stop()
			_, err = both.Identity(t.Context())
			require.ErrorIs(t, err, remote.ErrAway)
			w.serve(c.second, func(string) remote.Target { return remote.Target{URL: c.second.Listen, TLS: c.files} })
			_, err = both.Identity(t.Context())
			require.NoError(t, err)
		})
	}
	mixed := remote.Target{URL: "unix:/a,https://b:1", TLS: client}
	require.Error(t, mixed.Check())
	require.Error(t, remote.Target{URL: "unix:/a,unix:/b,"}.Check())
}

// TestStrangersAreRefused: a client of another authority, one without a certificate, and a server
// of another authority; each in one line.
func TestStrangersAreRefused(t *testing.T) {
	ours, theirs := newAuthority(t, "ours"), newAuthority(t, "theirs")
	server := ours.files("server")
	w := setup(t)
	var at string
	w.serve(remote.Config{Listen: "https://127.0.0.1:0", TLS: server}, func(address string) remote.Target {
		at = "https://" + address
		return remote.Target{URL: at, TLS: ours.files("client")}
	})
	_, err := w.Identity(t.Context())
	require.NoError(t, err)

	stranger := theirs.files("client")
	stranger.CA = server.CA // he knows the server, and it does not know him
	fooled := ours.files("fooled")
	fooled.CA = theirs.files("x").CA // the server is not whom he was told
	for name, files := range map[string]remote.TLS{"another client": stranger, "another server": fooled} {
		client, err := remote.Dial(remote.Target{URL: at, TLS: files})
		require.NoError(t, err)
		require.Eventually(t, func() bool { // a refusal may come after the connection was closed
			_, err = client.Identity(t.Context())
			require.ErrorIs(t, err, remote.ErrAway, name)
			require.NotContains(t, err.Error(), "\n", name)
			return strings.Contains(err.Error(), "certificate")
		}, time.Minute, 10*time.Millisecond, name)
		_, err = client.Sign(t.Context(), "eth", w.order(0, 1, "payee", 5))
		require.Error(t, err, name)
		require.NoError(t, client.Close())
	}
	bare := &http.Client{Transport: &http.Transport{}}
	_, err = bare.Post(strings.Replace(at, "https", "http", 1), "application/json", strings.NewReader("{}"))
	if err == nil { // a plain request to a TLS port is answered with 400
		_, err = w.Identity(t.Context())
		require.NoError(t, err)
	}
}

// TestSockets: the file has its mode, and a peer that is this user may connect.
func TestSockets(t *testing.T) {
	for mode, want := range map[string]os.FileMode{"": 0o600, "0600": 0o600, "0660": 0o660} {
		w, path := setup(t), filepath.Join(shortDir(t), "s")
		w.serve(remote.Config{Listen: "unix:" + path, Mode: mode, Peer: strconv.Itoa(os.Getuid())}, func(string) remote.Target { return remote.Target{URL: "unix:" + path} })
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm())
		_, err = w.Identity(t.Context())
		require.NoError(t, err)
	}
}

// TestAskedForHealth: whoever runs the signer learns that it answers, with or without a
// certificate, and in one line that it does not.
func TestAskedForHealth(t *testing.T) {
	w, path := setup(t), filepath.Join(shortDir(t), "s")
	cfg := remote.Config{Listen: "unix:" + path}
	require.ErrorIs(t, cfg.Ask(t.Context()), remote.ErrAway)
	stop := w.serve(cfg, func(string) remote.Target { return remote.Target{URL: "unix:" + path} })
	require.NoError(t, cfg.Ask(t.Context()))
	stop()
	require.ErrorIs(t, cfg.Ask(t.Context()), remote.ErrAway)

	ours := newAuthority(t, "ours")
	cfg = remote.Config{Listen: "https://127.0.0.1:0", TLS: ours.files("server")}
	stop = w.serve(cfg, func(address string) remote.Target {
		cfg.Listen = "https://" + address
		return remote.Target{URL: cfg.Listen, TLS: ours.files("client")}
	})
	require.NoError(t, cfg.Ask(t.Context()))
	stop()
	require.ErrorIs(t, cfg.Ask(t.Context()), remote.ErrAway)
}

// TestAwayAndBack: calls of a signer that is away fail as such, addresses at once, and the same
// client goes on when it is there again.
func TestAwayAndBack(t *testing.T) {
	w, path := setup(t), filepath.Join(shortDir(t), "s")
	cfg, at := remote.Config{Listen: "unix:" + path}, remote.Target{URL: "unix:" + path}
	_, err := w.sign(w.order(0, 1, "payee", 5))
	require.NoError(t, err)
	client, err := remote.Dial(at)
	require.NoError(t, err)
	_, err = client.Identity(t.Context())
	require.ErrorIs(t, err, remote.ErrAway, "not there yet")
	require.NotContains(t, err.Error(), path, "no path")
	_, err = client.GiveAddress(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: 1, Address: w.eth.Address("deposit 1"), User: "alice"})
	require.ErrorIs(t, err, remote.ErrAway)

	for range 2 {
		stop := w.serve(cfg, func(string) remote.Target { return at })
		_, err = client.Sign(t.Context(), "eth", w.order(0, 1, "payee", 5))
		require.NoError(t, err, "the same order again, as after a lost answer")
		stop()
		_, err = client.Sign(t.Context(), "eth", w.order(0, 1, "payee", 5))
		require.ErrorIs(t, err, remote.ErrAway)
	}
	w.serve(cfg, func(string) remote.Target { return at })
	_, err = client.Identity(t.Context())
	require.NoError(t, err)
	_, err = client.GiveAddress(t.Context(), signguard.Binding{Network: "main", Chain: "eth", Index: 1, Address: w.eth.Address("deposit 1"), User: "alice"})
	require.NoError(t, err)
	require.NoError(t, client.Close())
}

// TestHangingSigner: a signer that takes a long call and then answers nothing, as a frozen one, is
// left for the standby long before the call's time has passed. What it took may be signed again.
func TestHangingSigner(t *testing.T) {
	w, dir := setup(t), shortDir(t)
	hanging, err := net.Listen("unix", filepath.Join(dir, "first"))
	require.NoError(t, err)
	defer hanging.Close() // the system takes connections, and nothing reads them
	standby := "unix:" + filepath.Join(dir, "second")
	w.serve(remote.Config{Listen: standby}, func(string) remote.Target { return remote.Target{URL: standby} })
	order := w.order(0, 1, "payee", 5)
	_, err = w.sign(order)
	require.NoError(t, err)

	client, err := remote.Dial(remote.Target{URL: "unix:" + hanging.Addr().String() + "," + standby})
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // half of the call's time
	defer cancel()
	_, err = client.Sign(ctx, "eth", order)
	require.ErrorIs(t, err, remote.ErrAway)
	require.NoError(t, ctx.Err(), "it was left earlier")
	_, err = client.Sign(t.Context(), "eth", order)
	require.NoError(t, err)
}

// TestBodiesAreBounded: neither side reads more than any call takes.
func TestBodiesAreBounded(t *testing.T) {
	w, path := setup(t), filepath.Join(shortDir(t), "s")
	w.serve(remote.Config{Listen: "unix:" + path}, func(string) remote.Target { return remote.Target{URL: "unix:" + path} })
	c := &http.Client{Transport: &http.Transport{DialContext: dialer(path)}}
	ask := func(body string) int {
		answer, err := c.Post("http://signer", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer answer.Body.Close()
		return answer.StatusCode
	}
	const call = `{"jsonrpc":"2.0","id":1,"method":"signer_identity","params":[]}`
	require.Equal(t, http.StatusOK, ask(call))
	require.Equal(t, http.StatusRequestEntityTooLarge, ask(call+strings.Repeat(" ", 5<<20)))

	l, err := net.Listen("unix", filepath.Join(shortDir(t), "s"))
	require.NoError(t, err)
	var pages atomic.Int64
	endless := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		page := bytes.Repeat([]byte(" "), 1<<20)
		for ; ; pages.Add(1) {
			if _, err := w.Write(page); err != nil {
				return
			}
		}
	})}
	go func() { _ = endless.Serve(l) }()
	defer endless.Close()
	client, err := remote.Dial(remote.Target{URL: "unix:" + l.Addr().String()})
	require.NoError(t, err)
	_, err = client.Identity(t.Context())
	require.ErrorIs(t, err, remote.ErrAway)
	require.Less(t, pages.Load(), int64(64), "what was read of an answer without end, in MiB, and what the system had room for")
}

func TestConfigCheck(t *testing.T) {
	files := remote.TLS{Cert: "a", Key: "b", CA: "c"}
	for fault, c := range map[string]remote.Config{
		"absolute path":       {Listen: "unix:s"},
		"https://host:port":   {Listen: "http://127.0.0.1:1"},
		"cert, key and ca":    {Listen: "https://127.0.0.1:1", TLS: remote.TLS{Cert: "a"}},
		"has its mode":        {Listen: "unix:/s", TLS: files},
		"0600 or 0660":        {Listen: "unix:/s", Mode: "0666"},
		"are a Unix socket's": {Listen: "https://127.0.0.1:1", TLS: files, Mode: "0600"},
	} {
		require.ErrorContains(t, c.Check(), fault)
	}
	require.NoError(t, remote.Config{}.Check())
	require.NoError(t, remote.Config{Listen: "unix:/s", Mode: "0660"}.Check())
	require.NoError(t, remote.Target{URL: "https://signer.example:8765", TLS: files}.Check())
	require.Error(t, remote.Target{URL: "https://signer.example", TLS: files}.Check(), "a port is wanted")
	log := logrus.New()
	_, err := remote.NewServer(remote.Config{Listen: "https://127.0.0.1:0", TLS: files}, nil, log)
	require.ErrorContains(t, err, "tls: reading the authority")
	_, err = remote.Dial(remote.Target{URL: "https://127.0.0.1:1", TLS: files})
	require.ErrorContains(t, err, "tls: reading the authority")
	_, err = remote.NewServer(remote.Config{Listen: "unix:/s", Peer: "nobody-of-this-name"}, nil, log)
	require.ErrorContains(t, err, "peer: ")
}

func dialer(path string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", path)
	}
}
