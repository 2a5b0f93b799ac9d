package ethereum_test

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"math/big"
	"strconv"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/chaintest"
)

// keyring signs for paths and knows which addresses are ours.
type keyring struct {
	mu    sync.Mutex
	keys  map[string]*ecdsa.PrivateKey
	ours  map[string]bool
	asked int
	fail  error
}

func newKeyring() *keyring {
	return &keyring{keys: map[string]*ecdsa.PrivateKey{}, ours: map[string]bool{}}
}

// add makes the n-th account ours.
func (k *keyring) add(n int) chain.Slot {
	key := testKey("ours " + strconv.Itoa(n))
	slot := chain.Slot{Account: crypto.PubkeyToAddress(key.PublicKey).Hex(), Key: "m/" + strconv.Itoa(n)}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys[slot.Key], k.ours[slot.Account] = key, true
	return slot
}

func (k *keyring) Sign(_ context.Context, path string, digest []byte) (_, signature []byte, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.keys[path] == nil {
		return nil, nil, errors.New("no such key")
	}
	signature, err = crypto.Sign(digest, k.keys[path])
	return nil, signature, err
}

func (k *keyring) Owned(_ context.Context, _ chain.ID, candidates []string) (map[string]bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked++
	found := map[string]bool{}
	for _, c := range candidates {
		if k.ours[c] {
			found[c] = true
		}
	}
	return found, k.fail
}

func testKey(name string) *ecdsa.PrivateKey {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("test " + name)))
	if err != nil {
		panic(err)
	}
	return key
}

func outsider(name string) common.Address { return crypto.PubkeyToAddress(testKey(name).PublicKey) }

// bundle is an embedded chain, the adapter on it, a hot account with coins and tokens, and a
// deposit address.
type bundle struct {
	*testing.T
	dev   *ethnode.Node
	chain *ethereum.Chain
	keys  *keyring
	hot   chain.Slot
	inbox chain.Slot
	usdt  chain.Asset
}

func setup(t *testing.T, change ...func(*ethnode.Config)) *bundle {
	t.Helper()
	var config ethnode.Config
	for _, c := range change {
		c(&config)
	}
	dev, err := ethnode.Start(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	b := &bundle{T: t, dev: dev, keys: newKeyring(), usdt: asset(dev.Contracts().USDT)}
	b.hot, b.inbox = b.keys.add(0), b.keys.add(1)
	b.chain = b.adapter(b.config())
	b.must(dev.SendETH(addr(b.hot), ether(100)))
	b.must(dev.SendToken(dev.Contracts().USDT, addr(b.hot), big.NewInt(1_000_000_000)))
	b.mine(1)
	return b
}

func legacy(c *ethnode.Config) { c.Legacy = true }

func amsterdam(c *ethnode.Config) { c.Amsterdam = true }

func (b *bundle) config() ethereum.Config {
	return ethereum.Config{
		ID: "eth", ChainID: b.dev.ChainID(), Nodes: []string{b.dev.URL()},
		Tokens: []chain.Asset{b.usdt, asset(b.dev.Contracts().DAI)},
	}
}

func (b *bundle) adapter(c ethereum.Config) *ethereum.Chain {
	b.Helper()
	adapter, err := ethereum.New(c, b.keys)
	require.NoError(b, err)
	b.Cleanup(adapter.Close)
	return adapter
}

func (b *bundle) must(hash common.Hash, err error) common.Hash {
	b.Helper()
	require.NoError(b, err)
	return hash
}

// mine makes blocks and answers the head's height.
func (b *bundle) mine(count int) uint64 {
	b.Helper()
	mineOn(b.T, b.dev, count)
	return b.height()
}

// mineOn makes blocks and waits until the pool knows them: for a moment after a block it judges
// transactions by the state before. Looking for a transaction to drop waits for the pool.
func mineOn(t *testing.T, dev *ethnode.Node, count int) {
	t.Helper()
	_, err := dev.Mine(count)
	require.NoError(t, err)
	_, err = dev.Drop(common.Hash{})
	require.NoError(t, err)
}

func (b *bundle) height() uint64 {
	b.Helper()
	height, err := b.dev.Client().BlockNumber(b.Context())
	require.NoError(b, err)
	return height
}

func (b *bundle) block(height uint64) chain.Block {
	b.Helper()
	block, err := b.chain.Block(b.Context(), height)
	require.NoError(b, err)
	return block
}

// newest is the head as the adapter reads it.
func (b *bundle) newest() chain.Block {
	b.Helper()
	return b.block(b.height())
}

func (b *bundle) deploy(bin string, arguments ...byte) common.Address {
	b.Helper()
	address, err := b.dev.Deploy(append(common.FromHex(bin), arguments...))
	require.NoError(b, err)
	b.mine(1)
	return address
}

func (b *bundle) call(to common.Address, wei int64, data []byte) common.Hash {
	b.Helper()
	return b.must(b.dev.SendCall(to, big.NewInt(wei), data))
}

// as signs and sends a transaction with any key.
func (b *bundle) as(key *ecdsa.PrivateKey, inner types.DynamicFeeTx) common.Hash {
	b.Helper()
	from := crypto.PubkeyToAddress(key.PublicKey)
	nonce, err := b.dev.Client().PendingNonceAt(b.Context(), from)
	require.NoError(b, err)
	inner.ChainID, inner.Nonce = new(big.Int).SetUint64(b.dev.ChainID()), nonce
	inner.GasTipCap, inner.GasFeeCap = big.NewInt(1e9), big.NewInt(100e9)
	if inner.Gas == 0 {
		inner.Gas = 200_000
	}
	head, err := b.dev.Client().HeaderByNumber(b.Context(), nil)
	require.NoError(b, err)
	var data types.TxData = &inner
	if head.BaseFee == nil {
		data = &types.LegacyTx{Nonce: inner.Nonce, GasPrice: inner.GasFeeCap, Gas: inner.Gas, To: inner.To, Value: inner.Value, Data: inner.Data}
	}
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(inner.ChainID), data)
	require.NoError(b, err)
	require.NoError(b, b.dev.Client().SendTransaction(b.Context(), tx))
	return tx.Hash()
}

func (b *bundle) tip(slot chain.Slot) chain.AccountHead {
	b.Helper()
	tip, err := b.chain.AccountHead(b.Context(), slot.Account)
	require.NoError(b, err)
	return tip
}

// next is a slot at the account's next nonce.
func (b *bundle) next(slot chain.Slot) chain.Slot {
	b.Helper()
	slot.Nonce = b.tip(slot).Next
	return slot
}

func (b *bundle) sign(slot chain.Slot, pay chain.Payment, prev ...chain.Attempt) chain.Attempt {
	b.Helper()
	attempt, err := chaintest.Sign(b.Context(), b.chain, b.keys, slot, pay, prev)
	require.NoError(b, err)
	return attempt
}

func (b *bundle) broadcast(a chain.Attempt) {
	b.Helper()
	require.NoError(b, chaintest.Send(b.Context(), b.chain, a))
}

func decode(t *testing.T, a chain.Attempt) *types.Transaction {
	t.Helper()
	var tx types.Transaction
	require.NoError(t, tx.UnmarshalBinary(a.Raw))
	return &tx
}

func addr(s chain.Slot) common.Address { return common.HexToAddress(s.Account) }

func asset(token common.Address) chain.Asset { return chain.Asset(token.Hex()) }

func ether(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e18)) }

func token() *contracts.TestToken { return contracts.NewTestToken() }

var errStore = errors.New("the store is closed")

func cryptoAddress(dev *ethnode.Node) common.Address {
	return crypto.PubkeyToAddress(dev.FaucetKey().PublicKey)
}

func bigInt(n uint64) *big.Int { return new(big.Int).SetUint64(n) }

func (b *bundle) hashAt(height uint64) (common.Hash, error) {
	header, err := b.dev.Client().HeaderByNumber(b.Context(), bigInt(height))
	if err != nil {
		return common.Hash{}, err
	}
	return header.Hash(), nil
}
