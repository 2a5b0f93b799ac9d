package client

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// NewOrder is a limit order to be placed. Amount is of the trade token.
type NewOrder struct {
	Symbol        string
	Side          Side
	Amount, Price decimal.Decimal
	ClientOrderID string // the caller's own id, good for one order of the API key; may be empty
}

func (o NewOrder) params() params {
	return params{
		{"symbol", o.Symbol}, {"side", strconv.Itoa(int(o.Side))}, {"amount", o.Amount.String()}, {"price", o.Price.String()}, {"clientOrderId", o.ClientOrderID},
	}
}

// TestOrder has an order checked as Place has it, with its signature, the permission and the
// balance; nothing is placed.
func (c *Client) TestOrder(ctx context.Context, o NewOrder) error {
	return c.private(ctx, http.MethodPost, "order/test", o.params(), nil)
}

// Place places an order. Its status is then PendingRequest; pushes and Order report its later
// states. An error of the network does not mean that no order was placed.
func (c *Client) Place(ctx context.Context, o NewOrder) (Placed, error) {
	var p Placed
	err := c.private(ctx, http.MethodPost, "order", o.params(), &p)
	return p, err
}

// Cancel asks for the end of an order. Its status is PendingCancel until the exchange has decided.
func (c *Client) Cancel(ctx context.Context, symbol, orderID string) (Cancellation, error) {
	var done Cancellation
	err := c.private(ctx, http.MethodDelete, "order", params{{"symbol", symbol}, {"orderId", orderID}}, &done)
	return done, err
}

// CancelAll asks for the end of all open orders of a pair, and lists those it has asked for.
func (c *Client) CancelAll(ctx context.Context, symbol string) ([]Cancellation, error) {
	var done []Cancellation
	err := c.private(ctx, http.MethodDelete, "orders", params{{"symbol", symbol}}, &done)
	return done, err
}

// Sign is the signature of a request: HMAC-SHA256 over name=value pairs, sorted by name and joined
// by &, the values exactly as they are sent, before any URL encoding. signature itself is not among
// the values.
func Sign(secret string, values map[string]string) string {
	pairs := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, name+"="+values[name])
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(strings.Join(pairs, "&")))
	return hex.EncodeToString(mac.Sum(nil))
}

// param is one parameter of a request; one without a value is not sent.
type param struct{ name, value string }

type params []param

// number is a parameter that is left out when it is zero.
func number[N int | int64](name string, n N) param {
	if n == 0 {
		return param{name: name}
	}
	return param{name, strconv.FormatInt(int64(n), 10)}
}

// code is a parameter that may be zero.
func code[N ~int](name string, n *N) param {
	if n == nil {
		return param{name: name}
	}
	return param{name, strconv.Itoa(int(*n))}
}

// flag is 1 when set.
func flag(name string, on bool) param {
	if !on {
		return param{name: name}
	}
	return param{name, "1"}
}

func (p params) values() map[string]string {
	m := make(map[string]string, len(p))
	for _, one := range p {
		if one.value != "" {
			m[one.name] = one.value
		}
	}
	return m
}

func (p params) encode() string {
	v := make(url.Values, len(p))
	for name, value := range p.values() {
		v.Set(name, value)
	}
	return v.Encode()
}

// Wallet is an account as it proves itself: to apply for an API key the account's own key signs a
// text once. Orders are signed with the API key's secret, so the account's key is needed no more
// after that.
type Wallet struct {
	Address   string
	PublicKey []byte // 32 bytes
	// Sign makes the chain's signature, Ed25519 with BLAKE2b-512 as its hash: 64 bytes.
	Sign func(text []byte) ([]byte, error)
}

// Agent is an account's delegation address and its API key, if it has one.
type Agent struct {
	Address    string `json:"agentAddress"`
	Key        string `json:"apiKey"`            // empty without one
	CreateTime int64  `json:"createTime"`        // of the key, Unix seconds
	Stake      string `json:"agentPledgeAmount"` // for the delegation address, smallest unit of VITE
	Quota      uint64 `json:"quota"`             // that the delegation address can spend now; an order takes about 30,000
	MaxCount   int    `json:"maxCount"`          // private calls in a cycle
}

// IssuedKey is a new API key. No other answer shows the secret.
type IssuedKey struct {
	Address      string `json:"address"`
	AgentAddress string `json:"agentAddress"`
	Key          string `json:"apiKey"`
	Secret       string `json:"apiSecret"`
	CreateTime   int64  `json:"createTime"` // Unix seconds
}

// Package describes the rights of API keys.
type Package struct {
	Type     int    `json:"type"`
	MaxCount int    `json:"maxCount"` // private calls in a cycle
	Cycle    int    `json:"cycle"`    // seconds
	Amount   string `json:"amount"`   // price
}

// Agent asks for the delegation address of an account. It needs no API key: the address is there
// before.
func (c *Client) Agent(ctx context.Context, address string) (Agent, error) {
	return fetch[Agent](ctx, c, "agent/info", param{"address", address})
}

// Packages lists what API keys can do.
func (c *Client) Packages(ctx context.Context) ([]Package, error) {
	return fetch[[]Package](ctx, c, "agent/package")
}

// Apply applies for an API key. An account has one: CodeOther if it has one already.
func (c *Client) Apply(ctx context.Context, w Wallet) (IssuedKey, error) {
	var issued IssuedKey
	err := c.prove(ctx, w, "agent/key", "", &issued)
	return issued, err
}

// RemoveKey ends the account's API key. What was granted to the delegation address on the chain
// stays granted.
func (c *Client) RemoveKey(ctx context.Context, w Wallet) error {
	return c.prove(ctx, w, "agent/removal", "remove_", nil)
}

// prove sends the account's signature of "<prefix><delegation address>_<Unix seconds>".
func (c *Client) prove(ctx context.Context, w Wallet, path, prefix string, data any) error {
	agent, err := c.Agent(ctx, w.Address)
	if err != nil {
		return err
	}
	at := strconv.FormatInt(c.now().Unix(), 10)
	signature, err := w.Sign([]byte(prefix + agent.Address + "_" + at))
	if err != nil {
		return fmt.Errorf("signing for %s: %w", path, err)
	}
	form := params{
		{"address", w.Address},
		{"agentAddress", agent.Address},
		{"timestamp", at},
		{"pubKey", hex.EncodeToString(w.PublicKey)},
		{"signature", hex.EncodeToString(signature)},
	}
	return c.call(ctx, http.MethodPost, path, "", []byte(form.encode()), data)
}
