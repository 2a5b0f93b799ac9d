package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ethereum/go-ethereum/crypto"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev/ethnode"
	"gatewayd/vite/core"
	"gatewayd/wallet/keystore"
)

// Info is the description of a development environment for the demo, tests and people. Its file
// dev.json is in its directory.
type Info struct {
	Gateway    string  `json:"gateway"` // base URL of the network "eth"
	Source     string  `json:"source"`
	Exchange   string  `json:"exchange"`
	ExchangeWS string  `json:"exchangeWs"`
	API        string  `json:"api"`               // base URL of the exchange API
	Operators  string  `json:"operators"`         // URL of the operators' listener
	Console    string  `json:"console,omitempty"` // URL of the console that signs the demo operator in
	Config     string  `json:"config"`
	Mnemonic   string  `json:"mnemonic"`
	FaucetKey  string  `json:"faucetKey"`
	Tokens     []Token `json:"tokens"`
	Coin       *Coin   `json:"coin,omitempty"` // with --bitcoin
	// Depths of final blocks: Finality of the source chain, Confirmations of the exchange chain, a
	// block itself included.
	Finality      uint64 `json:"finality"`
	Confirmations uint64 `json:"confirmations"`
}

type Token struct {
	Symbol   string `json:"symbol"`
	Token    string `json:"token"`
	Asset    string `json:"asset"`
	Decimals uint8  `json:"decimals"`
	Type     int    `json:"type"`
	Minimum  string `json:"minimum"`
	Maximum  string `json:"maximum"`
}

// ID is the token on the exchange chain.
func (t Token) ID() core.TokenID { return MustToken(t.Token) }

// Text is an amount as people read it: "0.5 ETH-000".
func (t Token) Text(a chain.Amount) string { return a.Whole(t.Decimals) + " " + t.Symbol }

// Withdrawal is the data of a block that has the gateway pay an address; label is for tokens that
// have one.
func (t Token) Withdrawal(to, label string) ([]byte, error) {
	comment := core.Comment{Type: uint8(t.Type), Address: to}
	if t.Type == 1 {
		comment.Label = label
	}
	return comment.Encode()
}

func NewInfo(cfg config.Config, path, exchangeWS string) Info {
	info := Info{
		Gateway: "http://" + cfg.Gateway.Listen + cfg.Networks[0].Path, Source: cfg.Ethereum[0].Nodes[0], Exchange: cfg.Vite[0].Nodes[0], ExchangeWS: exchangeWS,
		Config: path, Mnemonic: Mnemonic, FaucetKey: keyHex(ethnode.FaucetKey()), Confirmations: cfg.Vite[0].Confirmations,
		Finality: cfg.Networks[0].Tokens[0].Deposits.Count,
	}
	for _, t := range cfg.Networks[0].Tokens {
		info.Tokens = append(info.Tokens, infoToken(t))
	}
	info.Coin = coinOf(cfg)
	return info
}

func infoToken(t config.Token) Token {
	return Token{
		Symbol: t.Symbol, Token: t.Token, Asset: string(t.Asset), Decimals: t.Decimals, Type: t.Type,
		Minimum: t.MinWithdraw.String(), Maximum: t.MaxWithdraw.String(),
	}
}

// Token finds a token by its symbol without the number that makes it unique.
func (i Info) Token(symbol string) (Token, error) {
	for _, t := range i.Tokens {
		if strings.HasPrefix(t.Symbol, symbol) {
			return t, nil
		}
	}
	return Token{}, fmt.Errorf("the development environment has no token %s", symbol)
}

// Faucet returns the account with coins and tokens for all users on the source chain.
func (i Info) Faucet(ctx context.Context) (*EthUser, error) {
	key, err := crypto.HexToECDSA(i.FaucetKey)
	if err != nil {
		return nil, fmt.Errorf("faucet key: %w", err)
	}
	return NewEthUser(ctx, i.Source, key)
}

// UserKey is the key of the n-th staked account of the exchange chain.
func (i Info) UserKey(n uint32) (core.PrivateKey, error) {
	return keystore.NewKeys(keystore.Seed(i.Mnemonic, "")).ByIndex(UserBase + n%Users)
}

// InfoPath is the description of the newest development environment on this machine.
func InfoPath() string { return filepath.Join(os.TempDir(), "gatewayd-dev.json") }

func (i Info) Write(path string) error {
	text, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(path, text); err != nil {
		return fmt.Errorf("describing the development environment: %w", err)
	}
	return nil
}

// ReadInfo finds the running development environment.
func ReadInfo(path string) (info Info, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return info, fmt.Errorf("no development environment is described in %s", path)
	}
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	return info, err
}

func (i Info) Print(w io.Writer, fresh bool) {
	keep := "State is kept in " + filepath.Dir(i.Config) + "."
	if fresh {
		keep = "State is discarded on exit; use --dir DIR to keep it."
	}
	fmt.Fprintf(w, `gatewayd is ready. %s The keys are public: never send real funds.

Open in a browser
%s
For programs
  gateway         %s
  exchange API    %s
  source chain    %s
  exchange chain  %s  (WebSocket %s)
  operators       %s  (/health, /ready, /metrics)

Tokens (final %d blocks deep on the source chain, %d snapshot blocks on the exchange chain)
`, keep, i.pages(), i.Gateway, i.exchangeAPI(), i.Source, i.Exchange, i.ExchangeWS, i.Operators, i.Finality, i.Confirmations)
	for _, t := range i.Tokens {
		fmt.Fprintf(w, "  %-9s %s  type %d  %s\n", t.Symbol, t.Token, t.Type, t.Asset)
	}
	if c := i.Coin; c != nil {
		fmt.Fprintf(w, "  %-9s %s  type %d  of %s at %s, gateway %s\n", c.Symbol, c.Token.Token, c.Type, c.Network, c.Node, c.Gateway)
	}
	fmt.Fprintf(w, `
Try
  make demo       # transfers of many users; demo-exchange for orders
  curl '%s/meta-info?tokenId=%s'
  gatewayd records list -c %s
`, i.Gateway, i.Tokens[0].Token, i.Config)
}

// pages lists the pages for people.
func (i Info) pages() string {
	text := fmt.Sprintf("  start           %s\n  bridge          %[1]s/bridge\n", RootOf(i.Gateway))
	if i.API != "" {
		text += fmt.Sprintf("  trade           %s/trade\n  API keys        %[1]s/keys\n", RootOf(i.API))
	}
	if i.Console != "" {
		text += fmt.Sprintf("  console         %s\n", i.Console)
	}
	return text
}

// exchangeAPI describes the exchange API's address and pushes.
func (i Info) exchangeAPI() string {
	if i.API == "" {
		return "none"
	}
	root := RootOf(i.API)
	return fmt.Sprintf("%s  (pushes ws%s/ws)", i.API, strings.TrimPrefix(root, "http"))
}

// replaceFile replaces a file atomically: commands may run while an environment starts.
func replaceFile(path string, text []byte) error {
	made, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = made.Write(text)
	if err = errors.Join(err, made.Close()); err == nil {
		err = os.Rename(made.Name(), path)
	}
	if err != nil {
		os.Remove(made.Name())
	}
	return err
}
