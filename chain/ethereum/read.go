package ethereum

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
)

// block is one block with everything in it, proven unless the chain is unverified.
type block struct {
	hash   common.Hash
	parent common.Hash
	number uint64
	time   time.Time
	// nativeLogs: the protocol writes a log for each movement of native coin (EIP-7708, the
	// Amsterdam fork, whose headers are known by their block access list).
	nativeLogs bool
	unknown    bool // see unknown_type.go
	txs        []transaction
}

func (b *block) point() chain.Point { return chain.Point{Height: b.number, Hash: b.hash.Hex()} }

// transaction is one transaction with its receipt.
type transaction struct {
	claimed common.Hash    // hash as the node names it
	from    common.Address // as the node names it; checked before anything is reported
	to      *common.Address
	nonce   uint64
	value   *uint256.Int
	input   []byte
	ok      bool
	gasUsed uint64
	price   *uint256.Int // paid per gas
	extra   *uint256.Int // paid besides gas
	logs    []wireLog
	signed  *types.Transaction // nil on an unverified chain, and of an unknown type
}

// hash is the transaction's own hash where it can be computed.
func (t *transaction) hash() common.Hash {
	if t.signed != nil {
		return t.signed.Hash()
	}
	return t.claimed
}

// errNoReceipts is a node that has no receipts of a block that it has just shown.
var errNoReceipts = errors.New("the node has no receipts of a block that it has shown")

// read fetches a block from one node and proves it. want is the hash that the nodes agreed on; nil
// for whatever the node has at the height.
func (c *Chain) read(ctx context.Context, n *node, height uint64, want *common.Hash) (b *block, err error) {
	once := func() error {
		b, err = c.readOnce(ctx, n, height, want)
		return err
	}
	if want == nil && !n.announced(height) {
		return b, once()
	}
	return b, n.again(ctx, once)
}

func (c *Chain) readOnce(ctx context.Context, n *node, height uint64, want *common.Hash) (*block, error) {
	var raw *wireBlock
	if err := n.scan(ctx, func(s *scanner) { raw = scanBlock(s) }, "eth_getBlockByNumber", hexutil.EncodeUint64(height), true); err != nil {
		return nil, err
	}
	if raw == nil {
		return nil, fmt.Errorf("%s: block %d: %w", n.name, height, chain.ErrNotFound)
	}
	b, err := c.prove(raw, height, want)
	if err != nil {
		return nil, fmt.Errorf("%s: block %d: %w: %w", n.name, height, errLie, err)
	}
	receipts, err := n.receipts(ctx, raw)
	if err != nil {
		return nil, err
	}
	if err := c.attach(b, raw, receipts); err != nil {
		return nil, fmt.Errorf("%s: block %d: %w: %w", n.name, height, errLie, err)
	}
	return b, nil
}

// prove checks number, hash and transaction root.
func (c *Chain) prove(raw *wireBlock, height uint64, want *common.Hash) (*block, error) {
	if err := raw.Check(); err != nil {
		return nil, err
	}
	if uint64(*raw.Number) != height {
		return nil, fmt.Errorf("the node answers block %d", uint64(*raw.Number))
	}
	if want != nil && *raw.Hash != *want {
		return nil, fmt.Errorf("the node now has %s, not %s as agreed", raw.Hash, want)
	}
	b := &block{
		hash: *raw.Hash, parent: *raw.ParentHash, number: height, time: time.Unix(int64(raw.Time), 0).UTC(),
		nativeLogs: raw.AccessListHash != nil, txs: make([]transaction, len(raw.Transactions)),
	}
	if !c.config.Unverified {
		if hash := raw.Header().Hash(); hash != *raw.Hash {
			return nil, fmt.Errorf("the header's hash is %s, not %s", hash, raw.Hash)
		}
	}
	return b, c.proveTransactions(b, raw)
}

func (c *Chain) proveTransactions(b *block, raw *wireBlock) error {
	for i := range raw.Transactions {
		t := &raw.Transactions[i]
		b.txs[i] = transaction{
			claimed: t.Hash, from: t.From, to: t.To, nonce: uint64(t.Nonce), value: wireWord(t.Value), input: t.Input,
			price: wireWord(t.GasPrice), extra: new(uint256.Int),
		}
	}
	if c.config.Unverified {
		return nil
	}
	if raw.Unknown() {
		return b.proveKnownTypes(raw)
	}
	signed := make(types.Transactions, len(raw.Transactions))
	for i := range raw.Transactions {
		tx, err := raw.Transactions[i].Signed()
		if err != nil {
			return err
		}
		signed[i], b.txs[i].signed = tx, tx
	}
	if root := types.DeriveSha(signed, trie.NewStackTrie(nil)); root != raw.TxHash {
		return fmt.Errorf("the transactions have the root %s, but %s in the header", root, raw.TxHash)
	}
	return nil
}

// receipts asks for all receipts of a block, by its hash.
func (n *node) receipts(ctx context.Context, raw *wireBlock) ([]wireReceipt, error) {
	if len(raw.Transactions) == 0 {
		return nil, nil
	}
	if n.noReceipts.Load() {
		return n.receiptsOneByOne(ctx, raw)
	}
	var receipts []wireReceipt
	err := n.scan(ctx, func(s *scanner) { receipts = scanReceipts(s) }, "eth_getBlockReceipts", raw.Hash)
	switch {
	case notOffered(err):
		receipts, err = n.receiptsOneByOne(ctx, raw)
		n.noReceipts.Store(err == nil)
	case err == nil && receipts == nil:
		return nil, fmt.Errorf("%s: block %d: %w", n.name, uint64(*raw.Number), errNoReceipts)
	}
	return receipts, err
}

func (n *node) receiptsOneByOne(ctx context.Context, raw *wireBlock) ([]wireReceipt, error) {
	receipts := make([]wireReceipt, len(raw.Transactions))
	asking, ctx := errgroup.WithContext(ctx)
	asking.SetLimit(keepIdle)
	for i := range receipts {
		asking.Go(func() error {
			return n.scan(ctx, func(s *scanner) { scanReceipt(s, &receipts[i]) }, "eth_getTransactionReceipt", raw.Transactions[i].Hash)
		})
	}
	return receipts, asking.Wait()
}

// attach proves the receipts and links each to its transaction.
func (c *Chain) attach(b *block, raw *wireBlock, receipts []wireReceipt) error {
	if len(receipts) != len(b.txs) {
		return fmt.Errorf("%d receipts for %d transactions", len(receipts), len(b.txs))
	}
	if !c.config.Unverified && !b.unknown {
		if err := proveReceipts(raw.ReceiptHash, receipts); err != nil {
			return err
		}
	}
	used := uint64(0)
	for i := range receipts {
		if c.config.Unverified && receipts[i].Cumulative == 0 {
			receipts[i].Cumulative = hexutil.Uint64(used) // of a transaction of the chain's own, as Polygon's state transfers
		}
		if err := b.txs[i].attach(&receipts[i], used, raw.BaseFee); err != nil {
			return fmt.Errorf("receipt %d: %w", i, err)
		}
		if b.unknown { // chains of unknown types charge besides gas, and not always the price that a transaction offers
			b.txs[i].extra = wireWord(receipts[i].L1Fee)
			if receipts[i].Price != nil {
				b.txs[i].price = wireWord(receipts[i].Price)
			}
		}
		used = uint64(receipts[i].Cumulative)
	}
	return nil
}

func proveReceipts(want common.Hash, receipts []wireReceipt) error {
	list := make(types.Receipts, len(receipts))
	for i := range receipts {
		list[i] = receipts[i].Consensus()
	}
	if root := types.DeriveSha(list, trie.NewStackTrie(nil)); root != want {
		return fmt.Errorf("the receipts have the root %s, but %s in the header", root, want)
	}
	return nil
}

// attach takes from a receipt what its root covers; usedBefore is the gas of the block's earlier
// transactions.
func (t *transaction) attach(r *wireReceipt, usedBefore uint64, baseFee *hexutil.Big) error {
	if r.TxHash == nil || *r.TxHash != t.claimed {
		return fmt.Errorf("it is not that of transaction %s", t.claimed)
	}
	// Any status but zero hashes like 1, so nothing else may pass.
	if r.Status == nil || *r.Status > 1 || len(r.PostState) > 0 {
		return errors.New("its status is neither 0 nor 1")
	}
	if uint64(r.Cumulative) < usedBefore {
		return errors.New("its cumulative gas is below the one before")
	}
	t.ok = *r.Status == 1
	t.gasUsed = uint64(r.Cumulative) - usedBefore
	t.logs = r.Logs
	if t.signed != nil {
		t.price = effectivePrice(t.signed, (*big.Int)(baseFee))
		return nil
	}
	t.extra = wireWord(r.L1Fee)
	if r.Price != nil {
		t.price = wireWord(r.Price)
	}
	return nil
}

// effectivePrice is a transaction's price per gas in a block with a base fee (nil before EIP-1559).
func effectivePrice(tx *types.Transaction, baseFee *big.Int) *uint256.Int {
	price := tx.GasFeeCap()
	if baseFee != nil {
		if wanted := new(big.Int).Add(baseFee, tx.GasTipCap()); wanted.Cmp(price) < 0 {
			price = wanted
		}
	}
	return uint256.MustFromBig(price)
}

// checkSender recovers who signed a transaction. On an unverified chain the node is believed.
func (c *Chain) checkSender(t *transaction) error {
	if t.signed == nil {
		return nil
	}
	from, err := types.Sender(c.sender, t.signed)
	if err != nil {
		return fmt.Errorf("transaction %s: recovering its sender: %w", t.hash(), err)
	}
	if from != t.from {
		return fmt.Errorf("transaction %s: its sender is %s, not %s", t.hash(), from, t.from)
	}
	return nil
}

// disguised reports whether a transaction that looks like a payment of ours was signed by an
// account other than the node's answer. No root covers the sender, so the node may hide one of
// ours. Recovering the sender of every transaction would cost more than the rest of the block.
func (c *Chain) disguised(t *transaction) bool {
	if t.signed == nil || t.to == nil || len(t.input) > maxLabel && !c.isToken(*t.to) && *t.to != c.payouts {
		return false
	}
	from, err := types.Sender(c.sender, t.signed)
	return err == nil && from != t.from
}

// fee is the native coin that a transaction burnt.
func (t *transaction) fee() (chain.Amount, error) {
	fee, over := new(uint256.Int).MulOverflow(t.price, uint256.NewInt(t.gasUsed))
	if over {
		return chain.Amount{}, fmt.Errorf("transaction %s: its fee is above 2^256", t.hash())
	}
	if _, over = fee.AddOverflow(fee, t.extra); over {
		return chain.Amount{}, fmt.Errorf("transaction %s: its fee is above 2^256", t.hash())
	}
	return chain.AmountOf(fee), nil
}
