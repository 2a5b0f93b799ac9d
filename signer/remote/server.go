package remote

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/user"
	"strconv"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"github.com/sirupsen/logrus"
	"golang.org/x/net/netutil"

	"gatewayd/chain"
	"gatewayd/httpserver"
	"gatewayd/httpserver/jsonrpc"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/checks"
	"gatewayd/vite/core"
)

// signTime bounds one call: it may read the chains for a complete group.
const signTime = time.Minute

// Server answers for a signer. Run serves once.
type Server struct {
	*jsonrpc.Server
	log  logrus.FieldLogger
	peer *uint32 // the user whose processes may connect, in addition to its own; nil: any
}

// NewServer takes a configuration that Check has found no fault with, and reads the certificates.
// It starts nothing.
func NewServer(cfg Config, s signer.Service, log logrus.FieldLogger) (*Server, error) {
	secure, err := cfg.TLS.server()
	if err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	out := &Server{log: log}
	if cfg.Peer != "" {
		uid, err := uidOf(cfg.Peer)
		if err != nil {
			return nil, fmt.Errorf("signer: peer: %w", err)
		}
		out.peer = &uid
	}
	geth := gethrpc.NewServer()
	if err := geth.RegisterName(namespace, &api{s}); err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	out.Server = jsonrpc.New(geth, jsonrpc.Config{
		Name: "the signer", HTTP: cfg.address(), TLS: secure, Mode: cfg.mode(),
		MaxBody: maxBody, MaxMessage: maxBody, MaxBatch: maxBatch, MaxBatchResponse: maxBody, WriteTimeout: signTime,
		Guard: httpserver.ForwardedRequestID,
		Limit: func(l net.Listener) net.Listener { return netutil.LimitListener(out.known(l), maxConnections) },
		Stop:  func() {},
	})
	return out, nil
}

// uidOf is a user's number, by name or number.
func uidOf(name string) (uint32, error) {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(n), nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(u.Uid, 10, 32)
	return uint32(n), err
}

// known lets only processes of the peer and of the signer's own user connect to a socket.
func (s *Server) known(l net.Listener) net.Listener {
	if s.peer == nil {
		return l
	}
	return &knownListener{l, s}
}

type knownListener struct {
	net.Listener
	*Server
}

// Accept waits for a connection of the peer; others are closed.
func (l *knownListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		socket, unix := c.(*net.UnixConn)
		if !unix {
			return c, nil // over TLS
		}
		uid, err := peerOf(socket)
		if err == nil && (uid == *l.peer || int64(uid) == int64(os.Getuid())) { // its own user has the keys anyway: `gatewayd health`
			return c, nil
		}
		l.log.WithField("uid", uid).WithError(err).Warn("a connection of another user than signer.peer is refused")
		_ = c.Close()
	}
}

// api are the methods as go-ethereum's rpc package calls them. Each is a method of the signer.
type api struct{ signer signer.Service }

func (a *api) Sign(ctx context.Context, id chain.ID, orders []chain.Order) signed {
	txs, err := a.signer.Sign(ctx, id, orders...)
	return signed{txs, faultOf(err)}
}

func (a *api) Authorize(ctx context.Context, id chain.ID, claims []chain.Claim) ([]chain.Verdict, error) {
	return answer(a.signer.Authorize(ctx, id, claims...))
}

func (a *api) Report(ctx context.Context) (checks.Report, error) {
	return answer(a.signer.Report(ctx))
}

func (a *api) Free(ctx context.Context, paymentID uint64) error {
	return wireError(a.signer.Free(ctx, paymentID))
}

func (a *api) Next(ctx context.Context, id chain.ID, account string) (next, error) {
	branch, number, known, err := a.signer.Next(ctx, id, account)
	return next{branch, number, known}, wireError(err)
}

func (a *api) First(ctx context.Context, id chain.ID, account string) (next, error) {
	number, known, err := a.signer.First(ctx, id, account)
	return next{Number: number, Known: known}, wireError(err)
}

func (a *api) SignedAt(ctx context.Context, id chain.ID, account string, number uint64) ([]signguard.Signed, error) {
	return answer(a.signer.SignedAt(ctx, id, account, number))
}

func (a *api) Anchors(ctx context.Context, id chain.ID, coins []string) ([]signguard.Anchor, error) {
	return answer(a.signer.Anchors(ctx, id, coins...))
}

func (a *api) Release(ctx context.Context, id chain.ID, account string, next uint64) error {
	return wireError(a.signer.Release(ctx, id, account, next))
}

func (a *api) Decide(ctx context.Context, id chain.ID, height uint64) error {
	return wireError(a.signer.ReadOutcomes(ctx, id, height))
}

func (a *api) GiveAddress(ctx context.Context, b signguard.Binding) (string, error) {
	return answer(a.signer.GiveAddress(ctx, b))
}

func (a *api) GiveLabel(ctx context.Context, b signguard.Binding) error {
	return wireError(a.signer.GiveLabel(ctx, b))
}

func (a *api) Accounts(ctx context.Context, id chain.ID, paths []string) ([]string, error) {
	return answer(a.signer.Accounts(ctx, id, paths...))
}

func (a *api) DepositKey(ctx context.Context, id chain.ID) (signer.DepositKey, error) {
	return answer(a.signer.DepositKey(ctx, id))
}

func (a *api) Identity(ctx context.Context) (signguard.Identity, error) {
	return answer(a.signer.Identity(ctx))
}

func (a *api) Agent(ctx context.Context, network, owner string) (string, error) {
	of, err := core.ParseAddress(owner)
	if err != nil {
		return "", wireError(fmt.Errorf("%w: owner: %w", signer.ErrRefused, err))
	}
	agent, err := a.signer.Agent(ctx, network, of)
	return agent.String(), wireError(err)
}

func (a *api) SignAgent(ctx context.Context, network, owner string, block []byte) (sealed, error) {
	of, err := core.ParseAddress(owner)
	if err != nil {
		return sealed{}, wireError(fmt.Errorf("%w: owner: %w", signer.ErrRefused, err))
	}
	public, signature, err := a.signer.SignAgent(ctx, network, of, block)
	return sealed{public, signature}, wireError(err)
}

// answer is a value with its error as callers get it.
func answer[T any](value T, err error) (T, error) { return value, wireError(err) }

// wireError is an error with its code; nil stays nil.
func wireError(err error) error {
	if err == nil {
		return nil
	}
	return faultOf(err)
}
