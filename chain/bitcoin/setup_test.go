package bitcoin_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/internal/testing/faults"
)

// books are our addresses and the coins of stored blocks.
type books struct {
	mu    sync.Mutex
	ours  map[string]bool
	coins map[string]chain.Coin
	asked int // for addresses
	fail  error

	keys map[string]string         // path of each address's key; without one its coins are not held
	held map[string]chain.HeldCoin // as the slots use them
	txs  map[string][]byte         // that made coins

	made, spent map[string]uint64 // heights of the coins' blocks
}

func newBooks(addresses ...string) *books {
	b := &books{ours: map[string]bool{}, coins: map[string]chain.Coin{}, keys: map[string]string{}, held: map[string]chain.HeldCoin{}, txs: map[string][]byte{}, made: map[string]uint64{}, spent: map[string]uint64{}}
	for _, a := range addresses {
		b.ours[a] = true
	}
	return b
}

func (b *books) Owned(_ context.Context, _ chain.ID, candidates []string) (map[string]bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	found := map[string]bool{}
	for _, c := range candidates {
		if b.ours[c] {
			found[c] = true
		}
	}
	return found, b.fail
}

func (b *books) Coins(_ context.Context, _ chain.ID, outpoints []string) (map[string]chain.Coin, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := map[string]chain.Coin{}
	for _, o := range outpoints {
		if c, ok := b.coins[o]; ok {
			found[o] = c
		}
	}
	return found, nil
}

// HeldCoins are the largest first, whatever the account.
func (b *books) HeldCoins(context.Context, chain.ID, string) (list []chain.HeldCoin, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.held {
		list = append(list, h)
	}
	slices.SortFunc(list, func(x, y chain.HeldCoin) int { return cmp.Or(y.Amount.Cmp(x.Amount), cmp.Compare(x.Out, y.Out)) })
	return list, b.fail
}

func (b *books) CoinsAt(_ context.Context, _ chain.ID, height uint64) (list []chain.Coin, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for out, coin := range b.coins {
		if spent := b.spent[out]; b.made[out] <= height && (spent == 0 || spent > height) {
			list = append(list, coin)
		}
	}
	return list, b.fail
}

func (b *books) CoinTxs(_ context.Context, _ chain.ID, hashes []string) (map[string][]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found := map[string][]byte{}
	for _, h := range hashes {
		if raw, ok := b.txs[h]; ok {
			found[h] = raw
		}
	}
	return found, b.fail
}

// store keeps the coins that a block makes, and drops those that it spends.
func (b *books) store(block chain.Block) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range block.Coins {
		tx, _, _ := strings.Cut(c.Out, ":")
		b.coins[c.Out], b.txs[tx], b.made[c.Out] = c, c.Made, block.Height
		if key := b.keys[c.Address]; key != "" {
			b.held[c.Out] = chain.HeldCoin{Coin: c, Key: key, Height: block.Height}
		}
	}
	for _, own := range block.OwnTxs {
		for _, out := range own.Spent {
			delete(b.held, out)
			b.spent[out] = block.Height
		}
	}
}

// use marks coins as those of a slot.
func (b *books) use(number uint64, signed bool, outs ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, out := range outs {
		h, ok := b.held[out]
		if !ok {
			continue // in no block yet
		}
		h.Bound, h.Number, h.Signed = true, number, h.Signed || signed
		b.held[out] = h
	}
}

func (b *books) own(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ours[address] = true
}

// start runs a node.
func start(t *testing.T, c bitcoinnode.Config) *bitcoinnode.Node {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n, err := bitcoinnode.Start(ctx, c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	return n
}

// open makes an adapter of nodes' URLs.
func open(t *testing.T, of string, accounts bitcoin.Accounts, change func(*bitcoin.Config), urls ...string) *bitcoin.Chain {
	t.Helper()
	config := bitcoin.Config{ID: "coin", Network: of, Nodes: urls, OnDemand: true}
	if change != nil {
		change(&config)
	}
	c, err := bitcoin.New(config, accounts)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// wallet is a key and its address on a network.
type wallet struct {
	*bitcoinnode.Wallet
	address string
}

func newWallet(t testing.TB, of, name string) wallet {
	t.Helper()
	w, err := bitcoinnode.NewWallet(name)
	require.NoError(t, err)
	a, ok := network.Named(of).Of(w.Script())
	require.True(t, ok)
	return wallet{w, a.Text}
}

// mine makes blocks and answers the new height.
func mine(t *testing.T, n *bitcoinnode.Node, count int, address string) uint64 {
	t.Helper()
	_, err := n.Mine(count, address)
	require.NoError(t, err)
	height, err := n.Height()
	require.NoError(t, err)
	return height
}

// follow waits until nodes have the newest block of the first.
func follow(t *testing.T, first *bitcoinnode.Node, others ...*bitcoinnode.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, n := range others {
		require.NoError(t, n.Follow(ctx, first))
	}
}

// proxy is a proxy before a node.
func proxy(t *testing.T, n *bitcoinnode.Node) *faults.Node {
	t.Helper()
	p, err := faults.Open(n.URL())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func head(t *testing.T, c *bitcoin.Chain) chain.Head {
	t.Helper()
	h, err := c.Head(t.Context())
	require.NoError(t, err)
	return h
}

func blockAt(t *testing.T, c *bitcoin.Chain, height uint64) chain.Block {
	t.Helper()
	b, err := c.Block(t.Context(), height)
	require.NoError(t, err)
	return b
}

func output(t *testing.T, of, address string, amount int64) *wire.TxOut {
	t.Helper()
	a, err := network.Named(of).Parse(address)
	require.NoError(t, err)
	return wire.NewTxOut(amount, a.Script)
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	require.NoError(t, err)
	return raw
}

// bare is a transaction without its witnesses.
func bare(t *testing.T, tx *wire.MsgTx) []byte {
	t.Helper()
	var raw bytes.Buffer
	require.NoError(t, tx.SerializeNoWitness(&raw))
	return raw.Bytes()
}
