package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/wallet"
)

// bitcoinEnv is a daemon in a process of its own with a real node of Bitcoin or Litecoin as its
// source chain.
type bitcoinEnv struct {
	*burstEnv
	node    *bitcoinnode.Node
	network *network.Network
	payer   *bitcoinnode.Wallet // of users who deposit
	miner   *bitcoinnode.Wallet
	funds   []bitcoinnode.Coin // of the payer, not spent yet
	token   dev.Token
}

// coinBlocks are mined for the payer's coins, and matureBlocks for their maturity.
const coinBlocks, matureBlocks = 20, 100

func newBitcoinEnv(t *testing.T, kind bitcoinnode.Kind, args ...string) *bitcoinEnv {
	t.Helper()
	w := prepareBitcoinEnv(t, kind, args...)
	w.begin(t)
	return w
}

// prepareBitcoinEnv makes everything but the daemon, for a test that changes its configuration.
func prepareBitcoinEnv(t *testing.T, kind bitcoinnode.Kind, args ...string) *bitcoinEnv {
	t.Helper()
	w := &bitcoinEnv{burstEnv: &burstEnv{dir: t.TempDir()}}
	name := bitcoinnode.LitecoinNetwork
	if kind == bitcoinnode.Btcd {
		name = bitcoinnode.BitcoinNetwork
	}
	w.network = network.Named(name)
	var err error
	w.payer, err = bitcoinnode.NewWallet("payer")
	require.NoError(t, err)
	w.miner, err = bitcoinnode.NewWallet("miner")
	require.NoError(t, err)
	w.node, err = bitcoinnode.Start(t.Context(), bitcoinnode.Config{Kind: kind, Miner: w.address(t, w.payer), Args: args})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.node.Close()) })
	for _, hash := range w.mine(t, coinBlocks, w.payer) {
		coin, err := w.node.Coinbase(hash)
		require.NoError(t, err)
		w.funds = append(w.funds, coin)
	}
	w.mine(t, matureBlocks, w.miner)

	w.exchange = startChain(t, "exchange", t.TempDir())
	w.exchange.send(t, "pace %s", exchangeFast)
	o := quickOptions(w.dir)
	o.Listen, o.Poll, o.Confirmations = freeAddress(t), 100*time.Millisecond, burstConfirmations
	w.cfg = dev.Config(o, "http://127.0.0.1:1", 1337, w.exchange.urls[1])
	w.info = dev.NewInfo(w.cfg, filepath.Join(w.dir, "config.yaml"), "")
	w.useBitcoin(t, name)
	return w
}

// begin starts the daemon, and funds its pool.
func (w *bitcoinEnv) begin(t *testing.T) {
	t.Helper()
	w.write(t)
	var err error
	w.log, err = os.Create(filepath.Join(w.dir, "daemon.log"))
	require.NoError(t, err)
	t.Cleanup(func() { w.logEnd(t) })
	require.NoError(t, w.start())
	t.Cleanup(func() { require.NoError(t, w.kill()) })
	w.fundPool(t)
}

// fundPool gives the gateway its first coins, once it follows the chain: it knows those of blocks
// that it has read.
func (w *bitcoinEnv) fundPool(t *testing.T) {
	t.Helper()
	waitFor(t, "the daemon to miss its coins", func() bool {
		text, err := os.ReadFile(w.log.Name())
		require.NoError(t, err)
		return bytes.Contains(text, []byte("holds too little coin"))
	})
	var outputs []*wire.TxOut
	for range 4 {
		outputs = append(outputs, wire.NewTxOut(100_000_000, w.script(t, w.pool(t))))
	}
	w.pay(t, outputs...)
	w.mineUntil(t, "the daemon", func() bool { return daemon.AskWell(t.Context(), dev.RootOf(w.info.Gateway)+"/health") == nil })
}

// useBitcoin makes the node the source chain of the only network, with the token of its coin.
func (w *bitcoinEnv) useBitcoin(t *testing.T, name string) {
	t.Helper()
	w.cfg.Ethereum = nil
	w.cfg.Bitcoin = []bitcoin.Config{{ID: "coin", Network: name, Nodes: []string{w.node.URL()}, OnDemand: true}}
	w.cfg.Bitcoin[0].Batch.Wait = time.Second
	n := &w.cfg.Networks[0]
	n.Source, n.Funders = "coin", nil
	for _, t := range n.Tokens {
		if t.Asset == chain.Native {
			n.Tokens = []config.Token{t}
		}
	}
	k := &n.Tokens[0]
	k.AssetDecimals, k.Deposits.Count = bitcoin.CoinDecimals, 6
	least := dev.Whole(1, k.Decimals-3)
	k.MinDeposit, k.MinWithdraw, k.Fee.Amount = least, least, least
	for _, known := range w.info.Tokens {
		if known.Token == k.Token {
			w.token = known
		}
	}
	stores, store, password := recovered(t)
	w.cfg.Log.Level, w.cfg.Wallet = "info", config.Wallet{Store: filepath.Join(stores, store), PasswordFile: password}
}

func (w *bitcoinEnv) write(t *testing.T) {
	t.Helper()
	text, err := yaml.Marshal(w.cfg)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(w.info.Config, text, 0o600))
}

func (w *bitcoinEnv) address(t *testing.T, of *bitcoinnode.Wallet) string {
	t.Helper()
	a, ok := w.network.Of(of.Script())
	require.True(t, ok)
	return a.Text
}

// mine makes blocks. btcd's pay the payer, whatever the miner.
func (w *bitcoinEnv) mine(t *testing.T, count int, to *bitcoinnode.Wallet) []string {
	t.Helper()
	hashes, err := w.node.Mine(count, w.address(t, to))
	require.NoError(t, err)
	return hashes
}

// script is the output script of an address.
func (w *bitcoinEnv) script(t *testing.T, address string) []byte {
	t.Helper()
	a, err := w.network.Parse(address)
	require.NoError(t, err)
	return a.Script
}

// pool is the address of the gateway's paying account.
func (w *bitcoinEnv) pool(t *testing.T) string {
	t.Helper()
	return w.own(t, network.Internal, 0)
}

// own is an address of the gateway.
func (w *bitcoinEnv) own(t *testing.T, branch, index uint32) string {
	t.Helper()
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	require.NoError(t, err)
	path := "m/84'/1'/0'"
	key, err := keys.AccountKey(path)
	require.NoError(t, err)
	account, err := w.network.NewAccount(path, key)
	require.NoError(t, err)
	own, err := account.Own(branch, index)
	require.NoError(t, err)
	return own.Text
}

// pay sends one transaction of the payer with outputs, of which several may go to one address. The
// rest, less a fee, is the payer's coin again once it is mined.
func (w *bitcoinEnv) pay(t *testing.T, outputs ...*wire.TxOut) string {
	t.Helper()
	const fee = 20_000
	coin := w.funds[0]
	left := coin.Amount - fee
	for _, out := range outputs {
		left -= out.Value
	}
	require.Positive(t, left)
	tx, err := w.payer.Spend([]bitcoinnode.Coin{coin}, append(outputs, wire.NewTxOut(left, w.payer.Script()))...)
	require.NoError(t, err)
	require.NoError(t, w.node.Send(tx))
	w.funds = append(w.funds[1:], bitcoinnode.Coin{Out: wire.OutPoint{Hash: tx.TxHash(), Index: uint32(len(outputs))}, Amount: left})
	return tx.TxHash().String()
}

// coinBooks are the gateway's books by the chain alone.
type coinBooks struct {
	deposited, held, paid, fees int64
	payees                      map[string][]int64 // outputs to strangers in our transactions, by script in hex
	transactions, coins         int                // ours; coins are unspent
}

// books reads the complete chain. ours are the gateway's addresses.
func (w *bitcoinEnv) books(t *testing.T, ours ...string) coinBooks {
	t.Helper()
	own := map[string]bool{}
	for _, a := range ours {
		own[string(w.script(t, a))] = true
	}
	b := coinBooks{payees: map[string][]int64{}}
	unspent := map[wire.OutPoint]*wire.TxOut{}
	height, err := w.node.Height()
	require.NoError(t, err)
	for h := uint64(1); h <= height; h++ {
		block, err := w.node.Block(h)
		require.NoError(t, err)
		for _, tx := range block.Transactions {
			b.add(t, tx, own, unspent)
		}
	}
	for _, out := range unspent {
		b.held += out.Value
		b.coins++
	}
	return b
}

func (b *coinBooks) add(t *testing.T, tx *wire.MsgTx, own map[string]bool, unspent map[wire.OutPoint]*wire.TxOut) {
	t.Helper()
	spent, inputs := int64(0), 0
	for _, in := range tx.TxIn {
		if coin, ours := unspent[in.PreviousOutPoint]; ours {
			spent, inputs = spent+coin.Value, inputs+1
			delete(unspent, in.PreviousOutPoint)
		}
	}
	if inputs > 0 {
		require.Len(t, tx.TxIn, inputs, "a stranger's coin in a transaction of ours")
		b.transactions++
	}
	for i, out := range tx.TxOut {
		spent -= out.Value
		switch {
		case own[string(out.PkScript)]:
			unspent[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}] = out
			if inputs == 0 {
				b.deposited += out.Value
			}
		case inputs > 0:
			b.paid += out.Value
			key := hex.EncodeToString(out.PkScript)
			b.payees[key] = append(b.payees[key], out.Value)
		}
	}
	if inputs > 0 {
		b.fees += spent
	}
}

// payees are addresses of each kind that is paid.
func (w *bitcoinEnv) payees(t *testing.T, count int) (list []string) {
	t.Helper()
	sizes := map[network.Kind]int{network.P2PKH: 20, network.P2SH: 20, network.P2WPKH: 20, network.P2WSH: 32, network.P2TR: 32}
	kinds := []network.Kind{network.P2PKH, network.P2SH, network.P2WPKH, network.P2WSH, network.P2TR}
	for i := range count {
		kind := kinds[i%len(kinds)]
		program := bytes.Repeat([]byte{byte(i + 1), byte(i >> 8)}, sizes[kind]/2)
		a, err := w.network.Make(kind, program)
		require.NoError(t, err)
		list = append(list, a.Text)
	}
	return list
}

// user is a wallet on the exchange chain with the gateway's address for its deposits.
type coinUser struct {
	*dev.ViteUser
	gateway *dev.GatewayUser
	deposit string
}

func (w *bitcoinEnv) newUser(t *testing.T, n uint32) *coinUser {
	t.Helper()
	key, err := w.info.UserKey(n)
	require.NoError(t, err)
	u := &coinUser{gateway: dev.NewGatewayUser(w.info.Gateway)}
	u.ViteUser, err = dev.NewViteUser(t.Context(), w.info.Exchange, key)
	require.NoError(t, err)
	t.Cleanup(u.Node.Close)
	place, err := u.gateway.DepositInfo(t.Context(), w.token.Token, u.Address().String())
	require.NoError(t, err)
	require.Empty(t, place.Label)
	u.deposit = place.DepositAddress
	return u
}

// units is an amount of satoshi in the gateway token's units.
func (w *bitcoinEnv) units(t *testing.T, satoshi int64) chain.Amount {
	t.Helper()
	a, _, err := chain.NewAmount(uint64(satoshi)).Rescale(bitcoin.CoinDecimals, w.token.Decimals)
	require.NoError(t, err)
	return a
}

// mineUntil makes blocks until a condition holds.
func (w *bitcoinEnv) mineUntil(t *testing.T, what string, done func() bool) {
	t.Helper()
	require.NoError(t, dev.Within(t.Context(), burstTimeout(t), what, func() (bool, error) {
		if done() {
			return true, nil
		}
		w.mine(t, 1, w.miner)
		return false, sleep(t.Context(), 300*time.Millisecond)
	}))
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
