package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	gethrpc "github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
	"gatewayd/httpserver/jsonrpc"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/checks"
	"gatewayd/vite/core"
)

// ErrAway says that the signer was not reached or gave no answer. Whether it did what it was asked for is unknown; every call may be repeated.
var ErrAway = errors.New("the signer does not answer")

// How long calls may take. Addresses are given inside a transaction of the records, which must not wait.
const (
	dialTime = 5 * time.Second
	callTime = 15 * time.Second
	giveTime = 2 * time.Second
)

// Client is the signer to the daemon. It connects when it is first asked and again after a connection broke. It is safe for concurrent use.
type Client struct {
	rpc  *gethrpc.Client
	http *http.Transport
	away atomic.Bool // the last call was not answered
}

// Dial takes a target that Check has found no fault with, and reads the certificates. It connects to nothing yet.
func Dial(t Target) (*Client, error) {
	c := &Client{http: &http.Transport{MaxIdleConnsPerHost: maxConnections / 4, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: dialTime}}
	url := t.URL
	dialer := net.Dialer{Timeout: dialTime}
	if path, unix := strings.CutPrefix(t.URL, jsonrpc.UnixScheme); unix {
		url = "http://signer"
		c.http.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dialer.DialContext(ctx, "unix", path) }
	} else {
		secure, err := t.TLS.client()
		if err != nil {
			return nil, fmt.Errorf("wallet.signer: %w", err)
		}
		c.http.DialContext, c.http.TLSClientConfig = dialer.DialContext, secure
	}
	rpc, err := gethrpc.DialOptions(context.Background(), url, gethrpc.WithHTTPClient(&http.Client{Transport: bounded{c.http}}))
	if err != nil {
		return nil, fmt.Errorf("wallet.signer: %w", err)
	}
	c.rpc = rpc
	return c, nil
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
	err := c.rpc.CallContext(ctx, into, namespace+"_"+method, args...)
	told, answers := answered(err)
	c.away.Store(err != nil && !answers)
	switch {
	case err == nil:
		return nil
	case answers:
		return told
	}
	return fmt.Errorf("%w: %s", ErrAway, plain(err))
}

// plain is why there was no answer, in one line.
func plain(err error) string {
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

// Sign is signer.Signer's.
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

// Authorize is signer.Signer's.
func (c *Client) Authorize(ctx context.Context, id chain.ID, claims ...chain.Claim) (verdicts []chain.Verdict, err error) {
	err = c.call(ctx, signTime, &verdicts, "authorize", id, append([]chain.Claim{}, claims...))
	if err == nil && len(verdicts) != len(claims) {
		err = fmt.Errorf("%w: %d verdicts for %d claims", ErrAway, len(verdicts), len(claims))
	}
	return verdicts, err
}

// Report is signer.Signer's.
func (c *Client) Report(ctx context.Context) (report checks.Report, err error) {
	err = c.call(ctx, callTime, &report, "report")
	return report, err
}

// Free is signer.Signer's.
func (c *Client) Free(ctx context.Context, paymentID uint64) error {
	return c.call(ctx, callTime, nil, "free", paymentID)
}

// Next is signer.Signer's.
func (c *Client) Next(ctx context.Context, id chain.ID, account string) (branch, number uint64, ok bool, err error) {
	var answer next
	err = c.call(ctx, callTime, &answer, "next", id, account)
	return answer.Branch, answer.Number, answer.Known, err
}

// First is signer.Signer's.
func (c *Client) First(ctx context.Context, id chain.ID, account string) (number uint64, ok bool, err error) {
	var answer next
	err = c.call(ctx, callTime, &answer, "first", id, account)
	return answer.Number, answer.Known, err
}

// Release is signer.Signer's.
func (c *Client) Release(ctx context.Context, id chain.ID, account string, next uint64) error {
	return c.call(ctx, callTime, nil, "release", id, account, next)
}

// GiveAddress is signer.Signer's. Of a signer that did not answer the last call it answers ErrAway at once: who waits holds up the records.
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

// Decide is signer.Signer's.
func (c *Client) Decide(ctx context.Context, id chain.ID, height uint64) error {
	return c.call(ctx, callTime, nil, "decide", id, height)
}

// Accounts is signer.Signer's.
func (c *Client) Accounts(ctx context.Context, id chain.ID, paths ...string) (list []string, err error) {
	if err = c.call(ctx, callTime, &list, "accounts", id, append([]string{}, paths...)); err == nil && len(list) != len(paths) {
		err = fmt.Errorf("%w: %d addresses for %d paths", ErrAway, len(list), len(paths))
	}
	return list, err
}

// DepositKey is signer.Signer's.
func (c *Client) DepositKey(ctx context.Context, id chain.ID) (key signer.DepositKey, err error) {
	err = c.call(ctx, callTime, &key, "depositKey", id)
	return key, err
}

// Identity is signer.Signer's.
func (c *Client) Identity(ctx context.Context) (id signguard.Identity, err error) {
	err = c.call(ctx, callTime, &id, "identity")
	return id, err
}

// Agent is signer.Signer's.
func (c *Client) Agent(ctx context.Context, network string, owner core.Address) (core.Address, error) {
	var text string
	if err := c.call(ctx, callTime, &text, "agent", network, owner.String()); err != nil {
		return core.Address{}, err
	}
	return core.ParseAddress(text)
}

// SignAgent is signer.Signer's.
func (c *Client) SignAgent(ctx context.Context, network string, owner core.Address, block []byte) (public, signature []byte, err error) {
	var answer sealed
	err = c.call(ctx, callTime, &answer, "signAgent", network, owner.String(), block)
	return answer.Public, answer.Signature, err
}
