package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// Watch reads off both chains what becomes of a burst. It asks the chains alone, never the gateway.
type Watch struct {
	*Burst
	SourceHead, ExchangeHead uint64 // newest blocks
	Deposits                 Leg
	Withdrawals              Leg
	Payouts                  map[common.Hash]int // payouts of each transaction on the source chain
	quota                    client.Quota        // of the gateway's account when the last deposit was final

	batches common.Address         // the contract of batches
	byPayee map[common.Address]int // users' places in the list
	byUser  map[core.Address]int
	senders map[core.Address]bool // sponsors, whose sends to users are no credits
	scanned uint64                // source blocks up to here were read
	seen    uint64                // and snapshot blocks up to here
	told    string
	toldAt  time.Time
}

// watch begins where both chains are now.
func (b *Burst) watch(ctx context.Context) (*Watch, error) {
	n := len(b.Users)
	contract, err := ethereum.PayoutsContract()
	if err != nil {
		return nil, err
	}
	w := &Watch{
		Burst: b, batches: common.HexToAddress(contract.Address), byPayee: make(map[common.Address]int, n), byUser: make(map[core.Address]int, n), Payouts: map[common.Hash]int{}, senders: map[core.Address]bool{},
		Deposits: newLeg(n, b.info.Finality, b.info.Confirmations), Withdrawals: newLeg(n, b.info.Confirmations, b.info.Finality),
	}
	for i, u := range b.Users {
		w.byPayee[u.payee], w.byUser[u.Address()] = i, i
	}
	if err := w.heads(ctx); err != nil {
		return nil, err
	}
	for _, s := range b.Sponsors {
		w.senders[s.Address()] = true
	}
	w.scanned, w.seen = w.SourceHead, w.ExchangeHead
	return w, nil
}

// watchEvery is well below the time of a block on the fastest clock that makes sense for a burst.
const watchEvery = 50 * time.Millisecond

// Run reads both chains until all payments are final, and reports each reading.
func (w *Watch) Run(ctx context.Context, tell func()) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if err := w.read(ctx); err != nil {
			return err
		}
		tell()
		if w.Deposits.Settled(w.ExchangeHead) && w.Withdrawals.Settled(w.SourceHead) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("watching the burst (%s): %w", w.text(), ctx.Err())
		case <-tick.C:
		}
	}
}

// read reads what is new. The heads are read first: what is found in blocks then is at most one
// reading younger.
func (w *Watch) read(ctx context.Context) error {
	for _, step := range []func(context.Context) error{w.heads, w.depositsIn, w.withdrawalsIn} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if w.Deposits.Follow(w.SourceHead, w.ExchangeHead) {
		quota, err := w.Node.Quota(ctx, w.home)
		if err != nil {
			return err
		}
		w.quota = quota
	}
	w.Withdrawals.Follow(w.ExchangeHead, w.SourceHead)
	return errors.Join(w.credits(ctx), w.payouts(ctx))
}

func (w *Watch) heads(ctx context.Context) (err error) {
	if w.SourceHead, err = w.Payer.Client.BlockNumber(ctx); err != nil {
		return fmt.Errorf("asking for the source chain's head: %w", err)
	}
	if w.ExchangeHead, err = w.Node.SnapshotHeight(ctx); err != nil {
		return fmt.Errorf("asking for the exchange chain's head: %w", err)
	}
	return nil
}

func (w *Watch) depositsIn(ctx context.Context) error {
	places := w.Deposits.missing()
	receipts := make([]*types.Receipt, len(places))
	calls := make([]rpc.BatchElem, len(places))
	for n, i := range places {
		calls[n] = rpc.BatchElem{Method: "eth_getTransactionReceipt", Args: []any{w.Users[i].deposited}, Result: &receipts[n]}
	}
	if err := inBatches(ctx, w.Payer.Client.Client(), calls); err != nil {
		return err
	}
	for n, i := range places {
		if r := receipts[n]; r != nil {
			w.Deposits.In[i] = r.BlockNumber.Uint64()
		}
	}
	return nil
}

func (w *Watch) withdrawalsIn(ctx context.Context) error {
	places := w.Withdrawals.missing()
	hashes := make([]core.Hash, len(places))
	for n, i := range places {
		hashes[n] = w.Users[i].withdrawn
	}
	blocks, err := w.Node.AccountBlocksByHash(ctx, hashes)
	if err != nil {
		return err
	}
	for n, i := range places {
		if blocks[n] != nil {
			w.Withdrawals.In[i] = blocks[n].FirstSnapshotHeight
		}
	}
	return nil
}

// chunksAtOnce bounds what one answer of the node holds.
const chunksAtOnce = 50

// credits reads new snapshot blocks for sends to users. The gateway may pay from any number of
// accounts, so every sender counts but the sponsors, who gave the users what they withdraw.
func (w *Watch) credits(ctx context.Context) error {
	for w.seen < w.ExchangeHead {
		chunks, err := w.Node.Chunks(ctx, w.seen+1, min(w.seen+chunksAtOnce, w.ExchangeHead))
		if err != nil {
			return fmt.Errorf("reading snapshot blocks from %d: %w", w.seen+1, err)
		}
		if len(chunks) == 0 {
			return nil
		}
		for _, c := range chunks {
			if err := w.creditsOf(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *Watch) creditsOf(c client.Chunk) error {
	for _, b := range c.Blocks {
		i, ours := w.byUser[b.ToAddress]
		if !ours || !b.IsSend() || w.senders[b.Address] {
			continue
		}
		if err := w.Deposits.Pay(i, c.Snapshot.Height, chain.AmountOf(&b.Amount), w.Users[i].Deposit); err != nil {
			return fmt.Errorf("credit of %s: %w", b.ToAddress, err)
		}
	}
	w.seen = c.Snapshot.Height
	return nil
}

// payouts searches source blocks for payments to the users' payees.
func (w *Watch) payouts(ctx context.Context) error {
	for w.scanned < w.SourceHead {
		height := w.scanned + 1
		block, err := w.Payer.Client.BlockByNumber(ctx, new(big.Int).SetUint64(height))
		if err != nil {
			return fmt.Errorf("reading source block %d: %w", height, err)
		}
		for _, tx := range block.Transactions() {
			paid, err := w.paidBy(ctx, tx)
			if err != nil {
				return err
			}
			for _, p := range paid {
				i, ours := w.byPayee[p.to]
				if !ours {
					continue
				}
				w.Payouts[tx.Hash()]++
				if err := w.Withdrawals.Pay(i, height, p.amount, w.Users[i].Net); err != nil {
					return fmt.Errorf("payout to %s: %w", p.to, err)
				}
			}
		}
		w.scanned = height
	}
	return nil
}

// payout is a payment to a payee.
type payout struct {
	to     common.Address
	amount chain.Amount
}

// paidBy returns the payouts of a transaction: of a batch of tokens by the token's events, of a
// batch of coin by the contract's event, of any other its own.
func (w *Watch) paidBy(ctx context.Context, tx *types.Transaction) (list []payout, err error) {
	if tx.To() == nil || *tx.To() != w.batches {
		to, amount := payeeOf(tx)
		return []payout{{to, amount}}, nil
	}
	receipt, err := w.Payer.Client.TransactionReceipt(ctx, tx.Hash())
	if err != nil {
		return nil, fmt.Errorf("reading the receipt of batch %s: %w", tx.Hash(), err)
	}
	if tx.Value().Sign() > 0 {
		return coinPaidBy(tx.Data(), receipt.Logs)
	}
	for _, l := range receipt.Logs {
		if len(l.Topics) == 3 && len(l.Data) == 32 {
			list = append(list, payout{common.BytesToAddress(l.Topics[2][:]), AmountOf(new(big.Int).SetBytes(l.Data))})
		}
	}
	return list, nil
}

// coinPaidBy returns the payees of a call of payCoin whose bit is set in the contract's last event:
// those are packed as 20 bytes of address and 16 bytes of amount.
func coinPaidBy(call []byte, logs []*types.Log) (list []payout, err error) {
	if len(logs) == 0 {
		return nil, nil // it failed
	}
	event, err := contracts.NewPayouts().UnpackPaidEvent(logs[len(logs)-1])
	if err != nil {
		return nil, fmt.Errorf("reading the event of a batch: %w", err)
	}
	const head, address, payee = 4 + 3*32, common.AddressLength, common.AddressLength + 16
	for i, packed := 0, call[head:]; len(packed) >= payee && i < event.Paid.BitLen(); i, packed = i+1, packed[payee:] {
		if event.Paid.Bit(i) == 1 {
			list = append(list, payout{common.BytesToAddress(packed[:address]), AmountOf(new(big.Int).SetBytes(packed[address:payee]))})
		}
	}
	return list, nil
}

// payeeOf returns the payee and the amount of a transaction: a transfer of a token if it has that
// form, else of coins.
func payeeOf(tx *types.Transaction) (to common.Address, amount chain.Amount) {
	const selector, argument = 4, 32
	call := contracts.NewTestToken().PackTransfer(common.Address{}, new(big.Int))
	data := tx.Data()
	if len(data) >= len(call) && bytes.Equal(data[:selector], call[:selector]) {
		value := new(big.Int).SetBytes(data[selector+argument : selector+2*argument])
		return common.BytesToAddress(data[selector : selector+argument]), AmountOf(value)
	}
	if tx.To() == nil {
		return common.Address{}, amount
	}
	return *tx.To(), AmountOf(tx.Value())
}

// AmountOf is a value of a transaction, which always fits.
func AmountOf(value *big.Int) chain.Amount { return chain.AmountOf(uint256.MustFromBig(value)) }

// Tell prints the progress, at most once a second and only changes.
func (w *Watch) Tell() {
	if text := w.text(); text != w.told && time.Since(w.toldAt) >= time.Second {
		w.told, w.toldAt = text, time.Now()
		w.log.Progress(map[string]int{
			"sourceBlock": int(w.SourceHead), "snapshotBlock": int(w.ExchangeHead), "credited": w.Deposits.Paid(), "paidOut": w.Withdrawals.Paid(),
		}, text)
	}
}

func (w *Watch) text() string {
	return fmt.Sprintf("source block %d, snapshot block %d: deposits %s; withdrawals %s", w.SourceHead, w.ExchangeHead, w.Deposits.text(w.SourceHead), w.Withdrawals.text(w.ExchangeHead))
}

// Result is complete when everything is final.
func (w *Watch) Result() Result {
	n := uint64(len(w.Users))
	eachBlock := w.quota.Max / core.QuotaWindow
	return Result{
		Count: len(w.Users), Deposits: w.Deposits.Result(promisedCredits(n, w.quota.Current, eachBlock)),
		Withdrawals: w.Withdrawals.Result(promisedPayouts(n)), QuotaBlocks: quotaBlocks(n, w.quota.Current, eachBlock),
	}
}
