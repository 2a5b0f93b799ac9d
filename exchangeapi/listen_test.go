package exchangeapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writePair makes a certificate of this machine for itself.
func writePair(t *testing.T, files TLS, serial int64) *x509.CertPool {
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
	pair := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(files.Key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	require.NoError(t, os.WriteFile(files.Cert, pair, 0o600))
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(pair))
	return pool
}

// A renewed pair of files is taken up while the server runs.
func TestTLSFiles(t *testing.T) {
	dir := t.TempDir()
	files := TLS{Cert: filepath.Join(dir, "cert"), Key: filepath.Join(dir, "key"), Reload: tick}
	first := writePair(t, files, 1)
	w := setup(t, func(c *Config, _ *Parts) { c.TLS = files })
	ask := func(pool *x509.CertPool) error {
		c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, DisableKeepAlives: true}}
		answer, err := c.Get("https://" + w.server.Addr() + api + "/time")
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	require.NoError(t, ask(first))
	second := writePair(t, files, 2)
	require.Eventually(t, func() bool { return ask(second) == nil }, waiting, tick)
	require.Error(t, ask(first))
	require.NoError(t, os.Remove(files.Key))
	_, err := loadCertificate(files)
	require.Error(t, err)
	require.NoError(t, ask(second), "the pair before stays in use")
}

func TestListenerTaken(t *testing.T) {
	w := setup(t)
	second, err := New(Config{Listen: w.server.Addr()}, Parts{Keys: w.keys})
	require.NoError(t, err)
	require.ErrorContains(t, second.Run(t.Context()), "address already in use")
	require.Empty(t, second.Addr())
}
