package client

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
)

// Wallet is an account as it proves itself: to apply for an API key the account's own key signs a text once. Orders are
// signed with the API key's secret, so the account's key is needed no more after that.
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

// Package is what API keys can do.
type Package struct {
	Type     int    `json:"type"`
	MaxCount int    `json:"maxCount"` // private calls in a cycle
	Cycle    int    `json:"cycle"`    // seconds
	Amount   string `json:"amount"`   // price
}

// Agent asks for the delegation address of an account. It needs no API key: the address is there before.
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

// RemoveKey ends the account's API key. What was granted to the delegation address on the chain stays granted.
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
