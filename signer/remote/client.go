package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
	"gatewayd/httpserver"
	"gatewayd/httpserver/jsonrpc"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/checks"
	"gatewayd/vite/core"
)

// ErrAway means that the signer was not reached or gave no answer. The outcome of the request is
// unknown; every call may be repeated.
var ErrAway = errors.New("the signer does not answer")

// How long calls may take. New users wait for each other while an address is given. The signer
// itself waits 2 s for its nodes.
const (
	dialTime = 5 * time.Second
	callTime = 15 * time.Second
	giveTime = 5 * time.Second
	// patience is the time after which the signer is asked whether it works on a long call, and its
	// time to answer that.
	patience = 2500 * time.Millisecond
)

// Client is the daemon's connection to the signer, or to several of which one serves and the others
// are standbys. It connects on first use and again after a break, to the one that answered last, or
// else the next. It is safe for concurrent use.
type Client struct {
	rpc       *gethrpc.Client
	http      *http.Transport
	endpoints []endpoint
	at        atomic.Int32 // which of them is asked
	away      atomic.Bool  // the last call was not answered
}

// endpoint is the address of a signer.
type endpoint struct {
	network, address string
	secure           *tls.Config // nil over a socket
}

// Dial takes a target that Check has found no fault with, and reads the certificates. It connects
// to nothing yet.
func Dial(t Target) (*Client, error) {
	c := &Client{http: &http.Transport{MaxIdleConnsPerHost: maxConnections / 4, IdleConnTimeout: time.Minute}}
	c.http.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return c.connect(ctx) }
	for _, at := range t.all() {
		p, err := t.endpoint(at)
		if err != nil {
			return nil, fmt.Errorf("wallet.signer: %w", err)
		}
		c.endpoints = append(c.endpoints, p)
	}
	rpc, err := gethrpc.DialOptions(context.Background(), "http://signer", gethrpc.WithHTTPClient(&http.Client{Transport: bounded{c.http}}))
	if err != nil {
		return nil, fmt.Errorf("wallet.signer: %w", err)
	}
	c.rpc = rpc
	return c, nil
}

func (t Target) endpoint(at string) (p endpoint, err error) {
	if path, unix := strings.CutPrefix(at, jsonrpc.UnixScheme); unix {
		return endpoint{network: "unix", address: path}, nil
	}
	if p.secure, err = t.TLS.client(); err != nil {
		return p, err
	}
	u, err := url.Parse(at)
	if err != nil {
		return p, err
	}
	p.network, p.address, p.secure.ServerName = "tcp", u.Host, u.Hostname()
	return p, nil
}

// connect tries each endpoint once, beginning with the one that is in use. It returns the error of
// the last.
func (c *Client) connect(ctx context.Context) (conn net.Conn, err error) {
	first := int(c.at.Load())
	for i := range c.endpoints {
		at := (first + i) % len(c.endpoints)
		if conn, err = c.endpoints[at].connect(ctx); err == nil {
			c.at.Store(int32(at))
			return conn, nil
		}
	}
	return nil, err
}

func (p endpoint) connect(ctx context.Context) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, p.network, p.address)
	if err != nil || p.secure == nil {
		return conn, err
	}
	secured := tls.Client(conn, p.secure)
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secured, nil
}

// Close ends the connections.
func (c *Client) Close() error {
	c.rpc.Close()
	c.http.CloseIdleConnections()
	return nil
}

// bounded reads no more of an answer than any may have.
type bounded struct{ http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = limited{io.LimitReader(answer.Body, maxBody), answer.Body}
	}
	return answer, err
}

type limited struct {
	io.Reader
	io.Closer
}

// call asks in bounded time. What the signer answered is its own error, anything else is ErrAway.
func (c *Client) call(ctx context.Context, most time.Duration, into any, method string, args ...any) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	if id := httpserver.RequestOf(ctx); id != "" {
		ctx = gethrpc.NewContextWithHeaders(ctx, http.Header{"X-Request-Id": {id}})
	}
	at := c.at.Load()
	if most > giveTime {
		go c.watch(ctx, cancel)
	}
	err := c.rpc.CallContext(ctx, into, namespace+"_"+method, args...)
	told, answers := answered(err)
	c.away.Store(err != nil && !answers)
	switch {
	case err == nil:
		return nil
	case answers:
		return told
	}
	if c.at.CompareAndSwap(at, (at+1)%int32(len(c.endpoints))) { // it may be connected to one that hangs
		c.http.CloseIdleConnections()
	}
	if errors.Is(err, context.Canceled) { // by watch, or by a caller who reads no error
		err = context.DeadlineExceeded
	}
	return fmt.Errorf("%w: %s", ErrAway, noAnswerReason(err))
}

// watch cancels a long call when its signer hangs: another call was not answered meanwhile, or a
// short one is not. A standby may answer then, and every call may be repeated.
func (c *Client) watch(ctx context.Context, cancel func()) {
	defer cancel()
	for at := int32(-1); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(patience):
		}
		if at >= 0 && c.at.Load() != at {
			return
		}
		at = c.at.Load() // the call is connected by now
		asked, end := context.WithTimeout(ctx, patience)
		_ = c.rpc.CallContext(asked, nil, namespace+"_report") // whether it answers in time is asked, not what
		silent := asked.Err() != nil
		end()
		if silent {
			return
		}
	}
}

// noAnswerReason returns the reason for the missing answer, in one line.
func noAnswerReason(err error) string {
	var op *net.OpError
	var unknown *tls.CertificateVerificationError
	switch {
	case errors.As(err, &op) && op.Op == "remote error": // a TLS alert
		return "it refuses our certificate: " + op.Err.Error()
	case errors.As(err, &unknown):
		return "its certificate is not trusted: " + unknown.Err.Error()
	}
	return chain.PlainError(err)
}

// Sign and the methods below are signer.Signer's.
func (c *Client) Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error) {
	var answer signed
	if err := c.call(ctx, signTime, &answer, "sign", id, append([]chain.Order{}, orders...)); err != nil {
		return nil, err
	}
	if answer.Fault != nil {
		return answer.Txs, answer.Fault
	}
	if len(answer.Txs) != len(orders) {
		return nil, fmt.Errorf("%w: %d transactions for %d orders", ErrAway, len(answer.Txs), len(orders))
	}
	return answer.Txs, nil
}

func (c *Client) Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) (verdicts []chain.Verdict, err error) {
	err = c.call(ctx, signTime, &verdicts, "authorize", id, append([]chain.Claim{}, claims...))
	if err == nil && len(verdicts) != len(claims) {
		err = fmt.Errorf("%w: %d verdicts for %d claims", ErrAway, len(verdicts), len(claims))
	}
	return verdicts, err
}

// ask is call for one value.
func ask[T any](ctx context.Context, c *Client, method string, args ...any) (answer T, err error) {
	err = c.call(ctx, callTime, &answer, method, args...)
	return answer, err
}

func (c *Client) Report(ctx context.Context) (checks.Report, error) {
	return ask[checks.Report](ctx, c, "report")
}

func (c *Client) Free(ctx context.Context, paymentID uint64) error {
	return c.call(ctx, callTime, nil, "free", paymentID)
}

func (c *Client) Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error) {
	answer, err := ask[next](ctx, c, "next", id, account)
	return answer.Branch, answer.Number, answer.Known, err
}

func (c *Client) First(ctx context.Context, id chain.ID, account string) (number uint64, ok bool, err error) {
	answer, err := ask[next](ctx, c, "first", id, account)
	return answer.Number, answer.Known, err
}

func (c *Client) SignedAt(ctx context.Context, id chain.ID, account string, number uint64) ([]signguard.Signed, error) {
	return ask[[]signguard.Signed](ctx, c, "signedAt", id, account, number)
}

func (c *Client) Anchors(ctx context.Context, id chain.ID, coins ...string) ([]signguard.Anchor, error) {
	return ask[[]signguard.Anchor](ctx, c, "anchors", id, coins)
}

func (c *Client) Release(ctx context.Context, id chain.ID, account string, next uint64) error {
	return c.call(ctx, callTime, nil, "release", id, account, next)
}

// GiveAddress is signer.Signer's. When the signer did not answer the last call, it returns ErrAway
// at once: other new users wait for this one.
func (c *Client) GiveAddress(ctx context.Context, b signguard.Binding) (address string, err error) {
	if c.away.Load() {
		return "", ErrAway
	}
	err = c.call(ctx, giveTime, &address, "giveAddress", b)
	return address, err
}

// GiveLabel is signer.Signer's, as GiveAddress.
func (c *Client) GiveLabel(ctx context.Context, b signguard.Binding) error {
	if c.away.Load() {
		return ErrAway
	}
	return c.call(ctx, giveTime, nil, "giveLabel", b)
}

func (c *Client) ReadOutcomes(ctx context.Context, id chain.ID, height uint64) error {
	return c.call(ctx, callTime, nil, "decide", id, height)
}

func (c *Client) Accounts(ctx context.Context, id chain.ID, paths ...string) (list []string, err error) {
	if list, err = ask[[]string](ctx, c, "accounts", id, append([]string{}, paths...)); err == nil && len(list) != len(paths) {
		err = fmt.Errorf("%w: %d addresses for %d paths", ErrAway, len(list), len(paths))
	}
	return list, err
}

func (c *Client) DepositKey(ctx context.Context, id chain.ID) (signer.DepositKey, error) {
	return ask[signer.DepositKey](ctx, c, "depositKey", id)
}

func (c *Client) Identity(ctx context.Context) (signguard.Identity, error) {
	return ask[signguard.Identity](ctx, c, "identity")
}

func (c *Client) Agent(ctx context.Context, network string, owner core.Address) (core.Address, error) {
	text, err := ask[string](ctx, c, "agent", network, owner.String())
	if err != nil {
		return core.Address{}, err
	}
	return core.ParseAddress(text)
}

func (c *Client) SignAgent(ctx context.Context, network string, owner core.Address, block []byte) (public, signature []byte, err error) {
	answer, err := ask[sealed](ctx, c, "signAgent", network, owner.String(), block)
	return answer.Public, answer.Signature, err
}
