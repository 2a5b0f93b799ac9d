package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
)

// burstWatch reads off both chains what becomes of a burst. It asks the chains alone, never the gateway.
type burstWatch struct {
	*burst
	sourceHead, exchangeHead uint64 // newest blocks
	deposits                 burstLeg
	withdrawals              burstLeg
	quota                    client.Quota // of the gateway's account when the last deposit was final

	byPayee map[common.Address]int // users' places in the list
	byUser  map[core.Address]int
	scanned uint64 // source blocks up to here have been looked at
	seen    uint64 // and the gateway's account up to this height
	told    string
	toldAt  time.Time
}

// watch begins where both chains are now.
func (b *burst) watch(ctx context.Context) (*burstWatch, error) {
	n := len(b.users)
	w := &burstWatch{
		burst: b, byPayee: make(map[common.Address]int, n), byUser: make(map[core.Address]int, n),
		deposits: newBurstLeg(n, b.info.Finality, b.info.Confirmations), withdrawals: newBurstLeg(n, b.info.Confirmations, b.info.Finality),
	}
	for i, u := range b.users {
		w.byPayee[u.payee], w.byUser[u.address()] = i, i
	}
	if err := w.heads(ctx); err != nil {
		return nil, err
	}
	latest, err := b.node.LatestAccountBlock(ctx, b.home)
	if err != nil {
		return nil, err
	}
	w.scanned, w.seen = w.sourceHead, latest.Height
	return w, nil
}

// watchEvery is well below the time of a block on the fastest clock that makes sense for a burst.
const watchEvery = 50 * time.Millisecond

// run looks until all payments are final; each look is told.
func (w *burstWatch) run(ctx context.Context, tell func()) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if err := w.look(ctx); err != nil {
			return err
		}
		tell()
		if w.deposits.settled(w.exchangeHead) && w.withdrawals.settled(w.sourceHead) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("watching the burst (%s): %w", w.text(), ctx.Err())
		case <-tick.C:
		}
	}
}

// look reads what is new. The heads are read first: what is found in blocks then is not younger than they are by more than a look.
func (w *burstWatch) look(ctx context.Context) error {
	for _, step := range []func(context.Context) error{w.heads, w.depositsIn, w.withdrawalsIn} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if w.deposits.follow(w.sourceHead, w.exchangeHead) {
		quota, err := w.node.Quota(ctx, w.home)
		if err != nil {
			return err
		}
		w.quota = quota
	}
	w.withdrawals.follow(w.exchangeHead, w.sourceHead)
	return errors.Join(w.credits(ctx), w.payouts(ctx))
}

func (w *burstWatch) heads(ctx context.Context) (err error) {
	if w.sourceHead, err = w.payer.client.BlockNumber(ctx); err != nil {
		return fmt.Errorf("asking for the source chain's head: %w", err)
	}
	if w.exchangeHead, err = w.node.SnapshotHeight(ctx); err != nil {
		return fmt.Errorf("asking for the exchange chain's head: %w", err)
	}
	return nil
}

func (w *burstWatch) depositsIn(ctx context.Context) error {
	places := w.deposits.missing()
	receipts := make([]*types.Receipt, len(places))
	calls := make([]rpc.BatchElem, len(places))
	for n, i := range places {
		calls[n] = rpc.BatchElem{Method: "eth_getTransactionReceipt", Args: []any{w.users[i].deposited}, Result: &receipts[n]}
	}
	if err := inBatches(ctx, w.payer.client.Client(), calls); err != nil {
		return err
	}
	for n, i := range places {
		if r := receipts[n]; r != nil {
			w.deposits.in[i] = r.BlockNumber.Uint64()
		}
	}
	return nil
}

func (w *burstWatch) withdrawalsIn(ctx context.Context) error {
	places := w.withdrawals.missing()
	hashes := make([]core.Hash, len(places))
	for n, i := range places {
		hashes[n] = w.users[i].withdrawn
	}
	blocks, err := w.node.AccountBlocksByHash(ctx, hashes)
	if err != nil {
		return err
	}
	for n, i := range places {
		if blocks[n] != nil {
			w.withdrawals.in[i] = blocks[n].FirstSnapshotHeight
		}
	}
	return nil
}

// credits reads what is new in the gateway's account, as far as snapshot blocks hold it.
func (w *burstWatch) credits(ctx context.Context) error {
	blocks, err := w.newest(ctx)
	if err != nil {
		return fmt.Errorf("reading the gateway's account: %w", err)
	}
	for _, b := range slices.Backward(blocks) {
		if b.FirstSnapshotHeight == 0 {
			return nil
		}
		w.seen = b.Height
		if i, ours := w.byUser[b.ToAddress]; ours && b.IsSend() {
			if err := w.deposits.pay(i, b.FirstSnapshotHeight, chain.AmountOf(&b.Amount), w.users[i].deposit); err != nil {
				return fmt.Errorf("credit of %s: %w", b.ToAddress, err)
			}
		}
	}
	return nil
}

// newest are the blocks of the gateway's account that have not been seen in a snapshot block, newest first.
func (w *burstWatch) newest(ctx context.Context) (list []client.AccountBlock, err error) {
	latest, err := w.node.LatestAccountBlock(ctx, w.home)
	if err != nil {
		return nil, err
	}
	from, height := &latest.Hash, latest.Height
	for height > w.seen {
		page, err := w.node.AccountBlocks(ctx, w.home, from, nil, int(min(height-w.seen, client.MaxPage)))
		if err != nil || len(page) == 0 {
			return nil, err
		}
		list = append(list, page...)
		last := page[len(page)-1]
		from, height = &last.PreviousHash, last.Height-1
	}
	return list, nil
}

// payouts looks at source blocks for payments to the users' payees.
func (w *burstWatch) payouts(ctx context.Context) error {
	for w.scanned < w.sourceHead {
		height := w.scanned + 1
		block, err := w.payer.client.BlockByNumber(ctx, new(big.Int).SetUint64(height))
		if err != nil {
			return fmt.Errorf("reading source block %d: %w", height, err)
		}
		for _, tx := range block.Transactions() {
			to, amount := payeeOf(tx)
			i, ours := w.byPayee[to]
			if !ours {
				continue
			}
			if err := w.withdrawals.pay(i, height, amount, w.users[i].net); err != nil {
				return fmt.Errorf("payout to %s: %w", to, err)
			}
		}
		w.scanned = height
	}
	return nil
}

// payeeOf reads who gets what by a transaction: a transfer of a token if it looks like one, else of coins.
func payeeOf(tx *types.Transaction) (to common.Address, amount chain.Amount) {
	const selector, argument = 4, 32
	call := contracts.NewTestToken().PackTransfer(common.Address{}, new(big.Int))
	data := tx.Data()
	if len(data) >= len(call) && bytes.Equal(data[:selector], call[:selector]) {
		value := new(big.Int).SetBytes(data[selector+argument : selector+2*argument])
		return common.BytesToAddress(data[selector : selector+argument]), amountOf(value)
	}
	if tx.To() == nil {
		return common.Address{}, amount
	}
	return *tx.To(), amountOf(tx.Value())
}

// amountOf is a value of a transaction, which always fits.
func amountOf(value *big.Int) chain.Amount { return chain.AmountOf(uint256.MustFromBig(value)) }

// tell prints how far everything is, at most once a second and only what is new.
func (w *burstWatch) tell() {
	if text := w.text(); text != w.told && time.Since(w.toldAt) >= time.Second {
		w.told, w.toldAt = text, time.Now()
		w.log.progress(map[string]int{
			"sourceBlock": int(w.sourceHead), "snapshotBlock": int(w.exchangeHead), "credited": w.deposits.paid(), "paidOut": w.withdrawals.paid(),
		}, text)
	}
}

func (w *burstWatch) text() string {
	return fmt.Sprintf("source block %d, snapshot block %d: deposits %s; withdrawals %s", w.sourceHead, w.exchangeHead, w.deposits.text(w.sourceHead), w.withdrawals.text(w.exchangeHead))
}

// result is complete when everything is final.
func (w *burstWatch) result() burstResult {
	n := uint64(len(w.users))
	eachBlock := w.quota.Max / core.QuotaWindow
	return burstResult{
		Count: len(w.users), Deposits: w.deposits.result(promisedCredits(n, w.quota.Current, eachBlock)),
		Withdrawals: w.withdrawals.result(promisedPayouts(n)), QuotaBlocks: quotaBlocks(n, w.quota.Current, eachBlock),
	}
}
