// Package rpc serves a wallet's entropy stores over JSON-RPC 2.0 as the exchange chain's node does:
// the wallet_* methods of both its generations, with its results, codes and texts.
//
//	HTTP ────── loopback, no browser, bearer token ─┐
//	WebSocket ─ loopback, no browser, bearer token ─┼─ jsonrpc ─ api ─┬─ wallet.Manager: stores, keys
//	Unix socket (0600) ─────────────────────────────┘                 └─ ledger: transactions
//
// Every caller has full access, so all three ways have one authority: a file's owner, or the holder
// of a secret. It owns the wire shapes, access, the transports' bounds and the making of a
// transaction. It does not own stores and keys (wallet), transports (httpserver/jsonrpc), nor the
// connection to the exchange chain, which the caller passes as a ledger.
//
// docs/wallet-differences.md lists the differences from a node's answers; a test replays recordings
// and reads that list. Methods: docs/wallet-rpc.md; codes and transports:
// docs/exchange-chain-rpc.md 5.1, 5.2.
package rpc

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"github.com/sirupsen/logrus"
	"golang.org/x/net/netutil"

	"gatewayd/httpserver"
	"gatewayd/httpserver/jsonrpc"
	"gatewayd/wallet"
)

// Bounds of the transports.
const (
	maxBody          = 128 << 10 // of a request, a message or a batch; a node's own for HTTP
	maxBatch         = 50
	maxBatchResponse = 4 << 20
	maxConnections   = 100 // of one transport

	// writeTimeout leaves room for passwords that wait their turn. A call that works longer, on a
	// nonce, needs another transport.
	writeTimeout = 120 * time.Second
)

// Config selects the listening addresses. The zero value serves nothing.
type Config struct {
	IPC           string `yaml:"ipc"`             // path of a Unix socket, reachable by its owner only
	HTTP          string `yaml:"http"`            // loopback address and port
	WS            string `yaml:"ws"`              // another one
	JWTSecretFile string `yaml:"jwt_secret_file"` // 32 bytes in hexadecimal, for the tokens that HTTP and WebSocket want; made if missing
}

// Enabled reports whether anything is served.
func (c Config) Enabled() bool { return c.IPC != "" || c.HTTP != "" || c.WS != "" }

// Check reports every fault of the configuration.
func (c Config) Check() error {
	for name, address := range map[string]string{"http": c.HTTP, "ws": c.WS} {
		switch {
		case address == "":
		case !loopback(address):
			return fmt.Errorf("%s: %q is not an address of this machine alone, such as 127.0.0.1:8645; reach it from elsewhere through ssh", name, address)
		case c.JWTSecretFile == "":
			return fmt.Errorf("jwt_secret_file must be set with %s", name)
		}
	}
	if c.HTTP != "" && c.HTTP == c.WS && !strings.HasSuffix(c.HTTP, ":0") {
		return fmt.Errorf("http and ws must not share %s", c.HTTP)
	}
	return nil
}

// loopback passes IP addresses only: a name can be pointed anywhere.
func loopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().IsLoopback()
}

// Parts are the server's dependencies.
type Parts struct {
	Wallet *wallet.Manager
	Ledger ledger // where transactions go; nil: sending is refused
	Log    logrus.FieldLogger
	Tell   func(httpserver.Request)         // receives every request over HTTP; may be nil
	Called func(method string, failed bool) // receives every call on any transport; over HTTP also of OtherMethod; may be nil
	Now    func() time.Time                 // of tokens; nil: time.Now
}

// Server serves one wallet. Run ends calls in flight when it ends.
type Server struct {
	*jsonrpc.Server
	cfg    Config
	called func(method string, failed bool)
	known  map[string]bool // methods
	geth   *gethrpc.Server
	now    func() time.Time
	secret []byte
}

// New makes a server and starts nothing.
func New(cfg Config, p Parts) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, fmt.Errorf("wallet RPC: %w", err)
	}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Called == nil {
		p.Called = func(string, bool) {}
	}
	life, end := context.WithCancel(context.Background())
	module := &api{wallet: p.Wallet, sender: newSender(p.Ledger), log: p.Log, life: life, called: p.Called}
	s := &Server{cfg: cfg, called: p.Called, known: methods(module), geth: gethrpc.NewServer(), now: p.Now}
	s.Server = jsonrpc.New(s.geth, jsonrpc.Config{
		Name: "wallet RPC", HTTP: cfg.HTTP, WS: cfg.WS, IPC: cfg.IPC,
		MaxBody: maxBody, MaxMessage: maxBody, MaxBatch: maxBatch, MaxBatchResponse: maxBatchResponse, WriteTimeout: writeTimeout,
		Origins: []string{"*"}, // refused before
		Guard:   func(h http.Handler) http.Handler { return httpserver.ObserveHandler(p.Tell, s.guard(h)) }, Limit: func(l net.Listener) net.Listener { return netutil.LimitListener(l, maxConnections) }, Stop: end,
	})
	if err := s.geth.RegisterName("wallet", module); err != nil {
		return nil, fmt.Errorf("wallet RPC: %w", err)
	}
	return s, nil
}

// Listen binds the configured addresses, so that HTTPAddr and WSAddr are known; called again it
// does nothing. Run calls it by itself.
func (s *Server) Listen() (err error) {
	if s.secret == nil && (s.cfg.HTTP != "" || s.cfg.WS != "") {
		if s.secret, err = loadSecret(s.cfg.JWTSecretFile); err != nil {
			return fmt.Errorf("wallet RPC: jwt_secret_file: %w", err)
		}
	}
	return s.Server.Listen()
}

// Run serves until ctx ends, then ends calls and connections. It returns nil for an orderly end. A
// Server runs once.
func (s *Server) Run(ctx context.Context) error {
	if err := s.Listen(); err != nil {
		return err
	}
	return s.Server.Run(ctx)
}

// guard keeps out web pages, also those that point a name of theirs at this machine, and who has no
// token.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case r.Header.Get("Origin") != "":
			http.Error(w, "web pages are not served", http.StatusForbidden)
		case !ownHost(r.Host):
			http.Error(w, "invalid host specified", http.StatusForbidden)
		case !bearer:
			http.Error(w, "missing token", http.StatusUnauthorized)
		default:
			if err := checkToken(s.secret, token, s.now()); err != nil {
				http.Error(w, err.Error(), http.StatusUnauthorized)
				return
			}
			if r.Method == http.MethodPost {
				s.countUnknown(r)
			}
			next.ServeHTTP(w, r)
		}
	})
}

func ownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && ip.IsLoopback()
}
