package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gatewayd/chain/ethereum/devnode"
)

// devInfo is what the demo, tests and people need to use a development world. Its file dev.json lies in the world's directory.
type devInfo struct {
	Gateway    string     `json:"gateway"` // base URL of the network "eth"
	Source     string     `json:"source"`
	Exchange   string     `json:"exchange"`
	ExchangeWS string     `json:"exchangeWs"`
	API        string     `json:"api"` // base URL of the exchange API
	Config     string     `json:"config"`
	Mnemonic   string     `json:"mnemonic"`
	FaucetKey  string     `json:"faucetKey"`
	Tokens     []devToken `json:"tokens"`
	// Depths of final blocks: Finality of the source chain, Confirmations of the exchange chain, a block itself included.
	Finality      uint64 `json:"finality"`
	Confirmations uint64 `json:"confirmations"`
}

type devToken struct {
	Symbol   string `json:"symbol"`
	Token    string `json:"token"`
	Asset    string `json:"asset"`
	Decimals uint8  `json:"decimals"`
	Type     int    `json:"type"`
	Minimum  string `json:"minimum"`
	Maximum  string `json:"maximum"`
}

func newDevInfo(cfg Config, path, exchangeWS string) devInfo {
	info := devInfo{
		Gateway: "http://" + cfg.Gateway.Listen + cfg.Networks[0].Path, Source: cfg.Ethereum[0].Nodes[0], Exchange: cfg.Vite[0].Nodes[0], ExchangeWS: exchangeWS,
		Config: path, Mnemonic: devMnemonic, FaucetKey: keyHex(devnode.FaucetKey()), Confirmations: cfg.Vite[0].Confirmations,
		Finality: cfg.Networks[0].Tokens[0].Deposits.Count,
	}
	for _, t := range cfg.Networks[0].Tokens {
		info.Tokens = append(info.Tokens, devToken{
			Symbol: t.Symbol, Token: t.Token, Asset: string(t.Asset), Decimals: t.Decimals, Type: t.Type,
			Minimum: t.MinWithdraw.String(), Maximum: t.MaxWithdraw.String(),
		})
	}
	return info
}

// devInfoPath is where the newest development world of this machine describes itself.
func devInfoPath() string { return filepath.Join(os.TempDir(), "gatewayd-dev.json") }

func (i devInfo) write(path string) error {
	text, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("describing the development world: %w", err)
	}
	return nil
}

// readDevInfo finds the running development world.
func readDevInfo(path string) (info devInfo, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return info, fmt.Errorf("no development world is described in %s", path)
	}
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	return info, err
}

func (i devInfo) print(w world, fresh bool) {
	keep := "State is kept in " + filepath.Dir(i.Config) + "."
	if fresh {
		keep = "State starts afresh each time; --dir DIR keeps it."
	}
	fmt.Fprintf(w.stdout, `gatewayd is ready. %s Keys are everybody's: never send real money here.

  gateway         %s
  health          %s
  API description %s
  source chain    %s
  exchange chain  %s  (WebSocket %s)
  exchange API    %s
  final           %d blocks deep on the source chain, %d snapshot blocks on the exchange chain

Tokens
`, keep, i.Gateway, rootOf(i.Gateway)+"/health", rootOf(i.Gateway)+"/openapi.json", i.Source, i.Exchange, i.ExchangeWS, i.exchangeAPI(), i.Finality, i.Confirmations)
	for _, t := range i.Tokens {
		fmt.Fprintf(w.stdout, "  %-9s %s  type %d  %s\n", t.Symbol, t.Token, t.Type, t.Asset)
	}
	fmt.Fprintf(w.stdout, `
Try
  make demo
  make demo-exchange
  curl '%s/meta-info?tokenId=%s'
  gatewayd records list -c %s
`, i.Gateway, i.Tokens[0].Token, i.Config)
}

// exchangeAPI says where the exchange API is, with its pushes and the page of keys.
func (i devInfo) exchangeAPI() string {
	if i.API == "" {
		return "none"
	}
	root := rootOf(i.API)
	return fmt.Sprintf("%s  (pushes ws%s/ws, API keys %s/keys)", i.API, strings.TrimPrefix(root, "http"), root)
}
