package dev

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/records"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/wallet"
)

// Coin describes the second source chain of `gatewayd dev --bitcoin` and the network that serves
// it.
type Coin struct {
	Token
	Gateway string `json:"gateway"` // base URL of its network
	Node    string `json:"node"`    // URL of the node, with user and password
	Network string `json:"network"` // of the node
}

// coinKind describes the chain of one of the programs.
type coinKind struct {
	symbol, name, network string
	token                 core.TokenID
	args                  []string // of the program
}

var coinKinds = map[bitcoinnode.Kind]coinKind{
	bitcoinnode.Btcd: {symbol: "BTC", name: "Bitcoin", network: bitcoinnode.BitcoinNetwork, token: core.TokenID([]byte("BTC OF DEV"))},
	bitcoinnode.Litecoind: {
		symbol: "LTC", name: "Litecoin", network: bitcoinnode.LitecoinNetwork, token: core.TokenID([]byte("LTC OF DEV")),
		// MWEB never begins: its first block needs a transaction that a node without a wallet
		// cannot make.
		args: []string{"-vbparams=mweb:9999999990:9999999999", "-mempoolreplacement=1"},
	},
}

const (
	coinID        = "coin"    // of the chain and of its network
	coinAccount   = 1         // the network's on the exchange chain
	coinSupply    = 1_000_000 // of the gateway token
	coinsAtStart  = 20        // mature ones of the faucet
	poolCoins     = 8         // that the gateway begins with
	poolCoin      = 25        // each of them
	coinMinimum   = 10        // thousandths of a coin
	coinMaximum   = 10_000
	coinFinality  = 2 // at least: the pool's coins are in the newest block when the daemon begins
	coinFinalMost = 100
)

// coinChain is the chain of --bitcoin: a node, which makes blocks while it runs, and a faucet,
// which gets what they yield.
type coinChain struct {
	coinKind
	period time.Duration // between blocks
	node   *bitcoinnode.Node
	faucet *CoinUser
}

// faucetName is the wallet of the faucet.
const faucetName = "faucet"

// CheckBitcoin names the programs that --bitcoin can be.
func (o Options) CheckBitcoin() error {
	if _, known := coinKinds[bitcoinnode.Kind(o.Bitcoin)]; !known && o.Bitcoin != "" {
		return fmt.Errorf("--bitcoin %s: must be %s or %s", o.Bitcoin, bitcoinnode.Btcd, bitcoinnode.Litecoind)
	}
	return nil
}

// openCoin starts the node with coins for the faucet and for the gateway's pool.
func openCoin(ctx context.Context, o Options, keys *wallet.Keys) (c *coinChain, err error) {
	if _, err := os.Stat(filepath.Join(o.Dir, "config.yaml")); err == nil {
		return nil, fmt.Errorf("--bitcoin: its chain ends with the program: use a new directory, --dir %s has an earlier one", o.Dir)
	}
	kind := bitcoinnode.Kind(o.Bitcoin)
	c = &coinChain{coinKind: coinKinds[kind], period: o.Period}
	if c.faucet, err = NewCoinUser(nil, c.network, faucetName); err != nil {
		return nil, err
	}
	c.node, err = bitcoinnode.Start(ctx, bitcoinnode.Config{Kind: kind, Miner: c.faucet.Address(), Args: c.args})
	if err != nil {
		return nil, fmt.Errorf("--bitcoin: %w", err)
	}
	c.faucet.node = c.node.Client
	if err := c.fund(keys); err != nil {
		return nil, errors.Join(fmt.Errorf("funding the gateway on the chain of %s: %w", kind, err), c.node.Close())
	}
	return c, nil
}

// fund mines the faucet's first coins, and gives the pool its own.
func (c *coinChain) fund(keys *wallet.Keys) error {
	if err := c.mine(coinsAtStart + coinMaturity); err != nil {
		return err
	}
	pool, err := c.pool(keys)
	if err != nil {
		return err
	}
	if _, err := c.faucet.send(pool, Whole(poolCoin, bitcoin.CoinDecimals), poolCoins); err != nil {
		return err
	}
	return c.mine(1)
}

func (c *coinChain) mine(blocks int) error {
	_, err := c.node.Mine(blocks, c.faucet.Address())
	return err
}

// pool is the gateway's address on the chain.
func (c *coinChain) pool(keys *wallet.Keys) (string, error) {
	cfg := config.Config{Bitcoin: []bitcoin.Config{c.config(1)}}
	k, _ := cfg.Chain(coinID)
	return k.Account(keys, k.Coins.Pool())
}

func (c *coinChain) config(finality uint64) bitcoin.Config {
	return bitcoin.Config{ID: coinID, Network: c.network, Nodes: []string{c.node.URL()}, Confirmations: finality, OnDemand: true, Batch: bitcoin.Batch{Wait: time.Second}}
}

// run makes blocks once the daemon has read the one with the pool's first coins.
func (c *coinChain) run(ctx context.Context, d *daemon.Daemon) error {
	begun := func() (begun bool, err error) {
		err = d.Store.View(ctx, func(tx *records.Tx) error {
			cursor, err := tx.Chains().Cursor(coinID)
			begun = !cursor.Missing
			return err
		})
		return begun, err
	}
	err := Poll(ctx, begun)
	if err == nil {
		err = c.mine(coinFinality)
	}
	for tick := time.NewTicker(c.period); err == nil; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			err = c.mine(1)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("making blocks of --bitcoin: %w", err)
}

// ready waits until the gateway opens withdrawals: the pool's first coins are final.
func (c Coin) ready(ctx context.Context, wallet core.Address) error {
	query := map[string]string{"tokenId": c.Token.Token, "walletAddress": wallet.String()}
	return Within(ctx, Soon, "withdrawals of "+c.Symbol, func() (bool, error) {
		return NewGatewayUser(c.Gateway).Get(ctx, "/withdraw-info", query, &WithdrawInfo{}) == nil, nil
	})
}

// addTo adds the chain and its network to a configuration.
func (c *coinChain) addTo(cfg *config.Config, o Options) {
	finality := uint64(min(max(o.Finality, coinFinality), coinFinalMost))
	cfg.Bitcoin = append(cfg.Bitcoin, c.config(finality))
	units := func(thousandths uint64) chain.Amount { return Whole(thousandths, bitcoin.CoinDecimals-3) }
	first := cfg.Networks[0]
	cfg.Networks = append(cfg.Networks, config.Network{
		Name: coinID, Path: "/gateway/" + coinID, Source: coinID, Exchange: first.Exchange, Account: coinAccount, ExchangeExplorer: first.ExchangeExplorer,
		Tokens: []config.Token{{
			Token: c.token.String(), Symbol: c.symbol + "-000", Decimals: bitcoin.CoinDecimals, Asset: chain.Native, AssetDecimals: bitcoin.CoinDecimals,
			MinDeposit: units(coinMinimum), MinWithdraw: units(coinMinimum), MaxWithdraw: units(coinMaximum),
			Deposits: records.Depth{Count: finality}, Withdrawals: first.Tokens[0].Withdrawals, Fee: records.Fee{Kind: "network"},
		}},
	})
}

// addToken adds the coin's token to a genesis: all of it belongs to the network's account.
func (c *coinChain) addToken(g *ledger.Genesis, keys *wallet.Keys) error {
	gateway, err := daemon.ExchangeAddress(keys, wallet.GatewayPath(coinAccount))
	if err != nil {
		return err
	}
	supply := *Whole(coinSupply, bitcoin.CoinDecimals).Uint256()
	g.Tokens = append(g.Tokens, ledger.TokenInfo{ID: c.token, Name: c.name, Symbol: c.symbol, Decimals: bitcoin.CoinDecimals, TotalSupply: supply, Owner: g.ExchangeOwner})
	g.Accounts = append(g.Accounts, ledger.GenesisAccount{Address: gateway, Balances: map[core.TokenID]uint256.Int{c.token: supply}})
	g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: g.Stakes[0].Staker, Beneficiary: gateway, Amount: g.Stakes[0].Amount})
	return nil
}

// coinOf describes the coin of a configuration; nil where it has none.
func coinOf(cfg config.Config) *Coin {
	for _, n := range cfg.Networks {
		if n.Source == coinID {
			t := infoToken(n.Tokens[0])
			return &Coin{Token: t, Gateway: "http://" + cfg.Gateway.Listen + n.Path, Node: cfg.Bitcoin[0].Nodes[0], Network: cfg.Bitcoin[0].Network}
		}
	}
	return nil
}
