// Package remote is the signer in another process: a server in front of a signer, and a client for
// the daemon.
//
//	daemon ─ Client ─ JSON-RPC 2.0 over HTTP ─┬─ Unix socket: mode, peer's user ─┬─ Server ─ Signer
//	                                          └─ HTTPS: certificates, both sides ┘
//
// It owns the wire's shapes, the bounds of size and time, and access. The signer decides what is
// signed.
package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gatewayd/chain"
	"gatewayd/httpserver/jsonrpc"
)

// TLS names the PEM files of one side: its own certificate and key, and the authority that has
// signed the other side's. Certificates are read again for each connection, the authority at the
// start.
type TLS struct {
	Cert string `yaml:"cert"`
	Key  string `yaml:"key"`
	CA   string `yaml:"ca"`
}

// Config sets a server's address.
type Config struct {
	Listen string `yaml:"listen"` // unix:/path of a socket, or https://host:port
	Mode   string `yaml:"mode"`   // of the socket: 0600 (default) or 0660
	// of the socket: the user, by name or number, whose processes may connect in addition to the
	// signer's own; empty: as the mode permits
	Peer string `yaml:"peer"`
	TLS  TLS    `yaml:"tls"` // of https
}

// Target is a client's address list: one, or several separated by commas, whose signers are
// standbys for each other.
type Target struct {
	URL string
	TLS TLS
}

func (t Target) all() []string {
	list := strings.Split(t.URL, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// Check names the first setting that cannot be used. A server that is not configured is no fault.
func (c Config) Check() error {
	if c.Listen == "" {
		return nil
	}
	unix, err := checkEndpoint("listen", c.Listen, c.TLS)
	switch {
	case err != nil:
		return err
	case !unix && (c.Mode != "" || c.Peer != ""):
		return errors.New("mode and peer are a Unix socket's: https has certificates")
	case c.Mode != "" && c.Mode != "0600" && c.Mode != "0660":
		return fmt.Errorf("mode %q: must be 0600 or 0660", c.Mode)
	case c.Peer != "" && !tellsPeers:
		return errors.New("peer: this system does not report the user of a socket connection")
	}
	return nil
}

// Check names the first setting that cannot be used.
func (t Target) Check() error {
	kinds := map[bool]bool{}
	for _, endpoint := range t.all() {
		unix, err := checkEndpoint("signer", endpoint, t.TLS)
		if err != nil {
			return err
		}
		kinds[unix] = true
	}
	if len(kinds) > 1 {
		return errors.New("signer: standby signers must all use sockets, or all https")
	}
	return nil
}

// checkEndpoint accepts unix:/path and https://host:port, and reports which it is.
func checkEndpoint(key, endpoint string, files TLS) (unix bool, err error) {
	path, unix := strings.CutPrefix(endpoint, jsonrpc.UnixScheme)
	if unix {
		switch {
		case !filepath.IsAbs(path):
			err = fmt.Errorf("%s %q: must be unix: and an absolute path", key, endpoint)
		case files != TLS{}:
			err = errors.New("tls is for https: a socket has its mode and the peer's user")
		}
		return true, err
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" || u.Port() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return false, fmt.Errorf("%s %q: must be unix:/path of a socket or https://host:port", key, endpoint)
	}
	if files.Cert == "" || files.Key == "" || files.CA == "" {
		return false, fmt.Errorf("%s %s: tls requires cert, key and ca: both sides show certificates", key, endpoint)
	}
	return false, nil
}

// address returns the listening address of a checked configuration.
func (c Config) address() string {
	if u, err := url.Parse(c.Listen); err == nil && u.Scheme == "https" {
		return net.JoinHostPort(u.Hostname(), u.Port())
	}
	return c.Listen
}

// Ask is nil when a signer answers where it listens: over its socket with its sign-guard's
// identity, over https with a certificate, for who asks here has none.
func (c Config) Ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	if c.TLS.Cert != "" {
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // the name in it is the one that daemons use
		conn, err := dialer.DialContext(ctx, "tcp", here(c.address()))
		if err != nil {
			return fmt.Errorf("%w: %s", ErrAway, chain.PlainError(err))
		}
		return conn.Close()
	}
	client, err := Dial(Target{URL: c.Listen})
	if err != nil {
		return err
	}
	_, err = client.Identity(ctx)
	return errors.Join(err, client.Close())
}

// here is a listener's address as this machine reaches it.
func here(listen string) string {
	host, port, _ := net.SplitHostPort(listen) // Check has read it
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func (c Config) mode() os.FileMode {
	mode, err := strconv.ParseUint(c.Mode, 8, 32)
	if err != nil {
		return 0 // of an empty one
	}
	return os.FileMode(mode)
}

// server is the TLS of a server, which knows its clients by their certificates; nil over a socket.
func (t TLS) server() (*tls.Config, error) {
	if t.Cert == "" {
		return nil, nil
	}
	clients, err := t.authority()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return t.own() },
	}, nil
}

// client is the TLS of a client.
func (t TLS) client() (*tls.Config, error) {
	servers, err := t.authority()
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: servers,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return t.own() },
	}, nil
}

// own reads the certificate, and with authority sees at the start that the files can be used.
func (t TLS) own() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("tls: reading the certificate: %w", err)
	}
	return &pair, nil
}

func (t TLS) authority() (*x509.CertPool, error) {
	text, err := os.ReadFile(t.CA)
	if err != nil {
		return nil, fmt.Errorf("tls: reading the authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tls: %s holds no certificate", t.CA)
	}
	_, err = t.own()
	return pool, err
}
