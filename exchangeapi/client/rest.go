// Package client is a client of the exchange API (docs/exchange-api.md) for bots and tests: API
// keys, signed and public REST calls, and a subscription to pushes, in any of the three shapes,
// that reconnects automatically.
//
//	c := client.Client{Base: "http://127.0.0.1:8090", Key: key, Secret: secret}
//	order := client.NewOrder{Symbol: "VX_VITE", Side: client.Buy, Amount: amount, Price: price}
//	placed, err := c.Place(ctx, order)
//
// It owns no state but its connections, and does not import this module's other packages: it can be
// copied out.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxAnswer is the largest answer that is read.
const maxAnswer = 16 << 20

// Code is the kind of an API error. It is an error, so errors.Is(err, client.CodeBalance) matches
// it.
type Code int

// The codes.
const (
	CodeGeneral     Code = 1
	CodeTooFrequent Code = 1001 // the key's calls of this cycle are used up
	CodeParameter   Code = 1002 // also a bad signature, a timestamp out of the window, and a pair that is not granted
	CodeNetwork     Code = 1003 // the chain did not take it, or the delegation address has no quota
	CodeOther       Code = 1004 // the order has ended, or is another's
	CodeService     Code = 1005
	CodeMinimum     Code = 1006 // the order is smaller than the market's minimum
	CodeBalance     Code = 1007 // too little on the exchange
)

// Error prints the number.
func (c Code) Error() string { return "code " + strconv.Itoa(int(c)) }

// Error is the API's answer that a request was not carried out. It wraps its Code.
type Error struct {
	Code       Code // of the envelope; zero if the answer had none
	HTTP       int  // status
	Msg        string
	RetryAfter time.Duration // when to ask again; zero if the API does not state it
}

// Error returns the API's text.
func (e *Error) Error() string {
	return fmt.Sprintf("exchange API: %s: %s (HTTP %d)", e.Code.Error(), e.Msg, e.HTTP)
}

// Unwrap is the code.
func (e *Error) Unwrap() error { return e.Code }

// Client calls the REST API. It may be used by several goroutines. Key and Secret are needed for
// private calls only.
type Client struct {
	Base   string // "https://host", on the test network "https://host/test"; an /api/v2 at its end is left out
	Key    string
	Secret string
	HTTP   *http.Client     // nil: a client with a timeout of 15 seconds
	Now    func() time.Time // signs requests; nil: time.Now. The server takes 5 s of lag and 1 s of lead: see ServerClock
	// Patience bounds the total wait of a call that the API refuses as too frequent, with the time
	// of the next attempt. Such a call was not carried out, so it is signed and sent again. A call
	// that would have to wait longer fails at once. Zero does not wait.
	Patience time.Duration
}

// public calls an endpoint that needs no signature.
func (c *Client) public(ctx context.Context, path string, q params, data any) error {
	return c.callWithRetry(ctx, func() error { return c.call(ctx, http.MethodGet, path, q.encode(), nil, data) })
}

// private signs the parameters and calls: in the query for DELETE, as a form for POST.
func (c *Client) private(ctx context.Context, method, path string, p params, data any) error {
	return c.callWithRetry(ctx, func() error { return c.signed(ctx, method, path, slices.Clone(p), data) })
}

func (c *Client) signed(ctx context.Context, method, path string, p params, data any) error {
	p = append(p, param{"key", c.Key}, param{"timestamp", strconv.FormatInt(c.now().UnixMilli(), 10)})
	p = append(p, param{"signature", Sign(c.Secret, p.values())})
	if method == http.MethodPost {
		return c.call(ctx, method, path, "", []byte(p.encode()), data)
	}
	return c.call(ctx, method, path, p.encode(), nil, data)
}

// callWithRetry makes a call, and makes it again as often as it comes too early and there is time.
func (c *Client) callWithRetry(ctx context.Context, call func() error) error {
	left := c.Patience
	for {
		err := call()
		var said *Error
		if !errors.As(err, &said) || !said.isEarly() || said.RetryAfter > left {
			return err
		}
		left -= said.RetryAfter
		select {
		case <-time.After(said.RetryAfter):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// isEarly reports whether the call was refused for coming too often, with a time to come again.
func (e *Error) isEarly() bool {
	return e.RetryAfter > 0 && (e.Code == CodeTooFrequent || e.HTTP == http.StatusTooManyRequests)
}

// call sends a request and reads the envelope's data into data.
func (c *Client) call(ctx context.Context, method, path, query string, form []byte, data any) error {
	address := c.base() + "/api/v2/" + path
	if query != "" {
		address += "?" + query
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(form))
	if err != nil {
		return fmt.Errorf("calling %s: %w", path, err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := c.http().Do(req)
	if err != nil {
		return fmt.Errorf("calling %s: %w", path, withoutQuery(err))
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	if len(body) > maxAnswer {
		return fmt.Errorf("reading the answer of %s: larger than %d bytes", path, maxAnswer)
	}
	return open(body, answer, path, data)
}

func (c *Client) base() string {
	return strings.TrimSuffix(strings.TrimSuffix(c.Base, "/"), "/api/v2")
}

func (c *Client) now() time.Time {
	if c.Now != nil {
		return c.Now()
	}
	return time.Now()
}

func (c *Client) http() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return &http.Client{Timeout: 15 * time.Second}
}

// withoutQuery is the error of a call without its URL: the query holds a signature.
func withoutQuery(err error) error {
	if e, ok := err.(*url.Error); ok { //nolint:errorlint // http.Client returns no other
		return e.Err
	}
	return err
}

// open reads an answer.
func open(body []byte, answer *http.Response, path string, data any) error {
	var envelope struct {
		Code *int            `json:"code"`
		Msg  string          `json:"msg"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.Code == nil {
		return &Error{HTTP: answer.StatusCode, Msg: "the answer is no envelope", RetryAfter: retryAfter(answer)}
	}
	if *envelope.Code != 0 || answer.StatusCode != http.StatusOK {
		return &Error{Code: Code(*envelope.Code), HTTP: answer.StatusCode, Msg: envelope.Msg, RetryAfter: retryAfter(answer)}
	}
	if data == nil {
		return nil
	}
	if err := json.Unmarshal(envelope.Data, data); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	return nil
}

// retryAfter reads the header, in seconds; a date is not read.
func retryAfter(answer *http.Response) time.Duration {
	n, err := strconv.ParseUint(answer.Header.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
