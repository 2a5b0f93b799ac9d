package ethereum

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

const (
	// gasPerByte is the maximum cost of a byte of call data (the floor of EIP-7623).
	gasPerByte = 40
	// refusedGas is the gas that a receiver of native coin may use to refuse it.
	refusedGas = 79_000
)

// estimate is one node's estimate for a message.
type estimate struct {
	gas     uint64
	verdict verdict // empty when it was estimated
}

// gas returns the gas limit of a message: the nodes' median estimate with a margin, at least the
// intrinsic cost of its size, within the configured bound. A message that would be refused gets
// enough to be refused. Unused gas is not paid. The message is returned as fit made it.
func (c *Chain) gas(ctx context.Context, msg message, earlier attempts) (message, uint64, error) {
	if earlier.gas > 0 { // a replacement must not wait for an estimate
		if need, err := c.estimate(ctx, msg); err == nil {
			return msg, max(c.limit(msg, need), earlier.gas), nil
		}
		return msg, earlier.gas, nil
	}
	msg, need, err := c.fit(ctx, msg)
	least, most := c.gasBounds(msg)
	switch {
	case err == nil:
		return msg, c.limit(msg, need), nil
	case !isFinalFailure(err):
		return msg, 0, err
	case msg.token:
		return msg, most, nil
	case msg.batch != nil:
		return msg, c.limit(msg, least+newPayeeGas*uint64(len(msg.batch.pays))), nil
	}
	return msg, min(least+refusedGas, most), nil
}

// limit is the gas limit of a message that the nodes estimate at so much.
func (c *Chain) limit(msg message, need uint64) uint64 {
	least, most := c.gasBounds(msg)
	want := withMargin(need)
	if msg.batch != nil {
		want = msg.batch.limit(need, least)
	}
	return min(max(want, least), most)
}

// isFinalFailure reports whether an estimate means that the message fails permanently.
func isFinalFailure(err error) bool {
	return errors.Is(err, chain.ErrRefused) || errors.Is(err, chain.ErrGasLimit)
}

// withMargin adds a quarter, for a state that is another when the transaction is mined. A plain
// payment runs no code and needs none.
func withMargin(gas uint64) uint64 {
	if gas == minGas {
		return gas
	}
	return gas + gas/4
}

// estimate returns the gas that a message needs, asked once in a group of payments. ErrRefused and
// ErrGasLimit: a majority of the nodes sees the message fail. ErrNotNow: the account holds too
// little, or a majority refuses to say.
func (c *Chain) estimate(ctx context.Context, msg message) (gas uint64, err error) {
	return chain.Once(ctx, c.gasOf(msg), func(ctx context.Context) (uint64, error) { return c.askEstimate(ctx, msg) })
}

func (c *Chain) askEstimate(ctx context.Context, msg message) (gas uint64, err error) {
	_, most := c.gasBounds(msg)
	question := func(ctx context.Context, n *node) (estimate, error) { return estimateOn(ctx, n, msg, most) }
	same := quorum.Same[*node](c.majority(), func(e estimate) estimate { return e })
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, question, same))
	votes := make(map[verdict]int)
	var estimates []uint64
	for _, a := range good {
		if votes[a.Value.verdict]++; a.Value.verdict == "" {
			estimates = append(estimates, a.Value.gas)
		}
	}
	switch failing := votes[verdictReverted] + votes[verdictGasLimit]; {
	case votes[""] >= c.majority():
		return middleGas(estimates), nil
	case failing >= c.majority() && votes[verdictGasLimit] > votes[verdictReverted]:
		return 0, c.refusal(ctx, msg, fmt.Errorf("%w: %d", chain.ErrGasLimit, most))
	case failing >= c.majority():
		return 0, c.refusal(ctx, msg, chain.ErrRefused)
	case votes[verdictUnfunded] >= c.majority():
		return 0, fmt.Errorf("%w: the account holds too few coins", chain.ErrNotNow)
	case len(good) >= c.majority():
		return 0, fmt.Errorf("%w: the nodes differ, or do not try it", chain.ErrNotNow)
	}
	return 0, fmt.Errorf("estimating gas: %w", unavailable(faults))
}

// refusal distinguishes a token payment that the account cannot afford from one that the token or
// the receiver refuses.
func (c *Chain) refusal(ctx context.Context, msg message, why error) error {
	if !msg.token && (msg.batch == nil || msg.batch.token == nil) {
		return why
	}
	if msg.batch != nil {
		if allowed, err := c.Allowed(ctx, msg.from.Hex(), msg.asked.Asset, msg.asked.Amount); err != nil || !allowed {
			return errors.Join(err, fmt.Errorf("%w: the account does not allow the batch contract to move so much", chain.ErrNotNow))
		}
	}
	balance, err := c.Balance(ctx, msg.from.Hex(), msg.asked.Asset)
	if err != nil {
		return err
	}
	if balance.Less(msg.asked.Amount) {
		return fmt.Errorf("%w: the account holds %s of the token, %s are to be paid", chain.ErrNotNow, balance, msg.asked.Amount)
	}
	return why
}

// estimateOn lets one node try the message with a gas limit, so that a receiver cannot keep it
// busy. A refusal by the chain's rules is an answer, and so is an unknown one.
func estimateOn(ctx context.Context, n *node, msg message, most uint64) (estimate, error) {
	var gas hexutil.Uint64
	var err error
	if msg.batch != nil {
		gas, err = n.tryBatch(ctx, msg, most)
	} else {
		err = n.call(ctx, &gas, "eth_estimateGas", estimateArgs(msg, most)...)
	}
	switch v := classify(err); {
	case err == nil && gas == 0:
		return estimate{}, fmt.Errorf("%s: eth_estimateGas: no answer", n.name)
	case err == nil:
		return estimate{gas: uint64(gas)}, nil
	case errors.Is(err, errPassedOver):
		return estimate{verdict: verdictReverted}, nil
	case v == verdictReverted, v == verdictGasLimit, v == verdictUnfunded, v == verdictOther && isRefusal(err):
		return estimate{verdict: v}, nil
	}
	return estimate{}, err
}

func estimateArgs(msg message, most uint64) []any {
	return []any{map[string]any{
		"from": msg.from, "to": msg.to, "value": hexutil.EncodeBig(msg.value.ToBig()), "input": hexutil.Bytes(msg.data), "gas": hexutil.Uint64(most),
	}, "latest"}
}

// isRefusal reports whether a node itself refused, in any words.
func isRefusal(err error) bool {
	var remote rpc.Error
	return errors.As(err, &remote)
}

// Estimate tries a payment as Prepare would make it now, and answers the most that its fee may
// take, in wei: gas with a margin x the fee cap. The fee of a native sweep comes out of what it
// moves, so that is nothing. Errors are those of the port.
func (c *Chain) Estimate(ctx context.Context, account string, pay chain.Payment) (chain.Amount, error) {
	c = c.current()
	fee, err := c.estimateFee(ctx, account, pay)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("estimating payment %d of %s: %w", pay.ID, account, err)
	}
	return fee, nil
}

func (c *Chain) estimateFee(ctx context.Context, account string, pay chain.Payment) (fee chain.Amount, err error) {
	msg, err := c.message(chain.Slot{Account: account}, pay)
	if err != nil || pay.Purpose == chain.Sweep && !msg.token {
		return fee, err
	}
	msg, need, err := c.fit(ctx, msg)
	if err != nil {
		return fee, err
	}
	gas := c.limit(msg, need)
	ceiling, err := c.ceiling(msg, gas, nil)
	if err != nil {
		return fee, err
	}
	offer, err := c.offer(ctx, attempts{}, ceiling)
	if err != nil {
		return fee, err
	}
	return chain.AmountOf(offer.cap).Mul(gas)
}

// Cost is the value of an attempt and its gas at the fee cap, in wei. It asks no node.
func (c *Chain) Cost(a chain.Attempt) (chain.Amount, error) {
	tx, err := readAttempt(a)
	if err != nil {
		return chain.Amount{}, err
	}
	cost, over := uint256.FromBig(tx.Cost())
	if over {
		return chain.Amount{}, chain.ErrAmount
	}
	return chain.AmountOf(cost), nil
}

// maxGasUses bounds the payments of an asset from which the usual gas is computed.
const maxGasUses = 31

// recordGasUse records how much gas a payment of ours has used.
func (c *Chain) recordGasUse(t *transaction) {
	if !t.didAsAsked() || t.to == nil {
		return
	}
	asset, gas := chain.Native, t.gasUsed
	_, isAllowance := readApproveCall(t.input)
	switch call, isBatch := readBatchCall(t.input); {
	case isAllowance:
		return
	case c.isToken(*t.to):
		asset = assetOf(*t.to)
	case *t.to == c.payouts && (!isBatch || len(call.pays) == 0):
		return
	case *t.to == c.payouts:
		asset, gas = call.use(gas)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	uses := append(c.used[asset], gas)
	c.used[asset] = uses[max(0, len(uses)-maxGasUses):]
}

// usualGas returns the expected gas of a payment of an asset: the median of the last payments, so
// that one odd receiver does not count.
func (c *Chain) usualGas(asset chain.Asset) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if uses := slices.Sorted(slices.Values(c.used[asset])); len(uses) > 0 {
		return uses[len(uses)/2]
	}
	switch asset {
	case chain.Native:
		return minGas
	case batchedCoin:
		return coinPayeeGas
	}
	return c.config.TokenGas
}

// PayoutCost returns the expected cost of one payment of an asset now, in wei: its gas x (base fee
// + tip, or the gas price), plus an eighth, since the base fee may rise by that in a block. Users
// are charged by it; the ceiling of a signed transaction is about twice as high. Where payments of
// the asset may share a transaction, it is the cost of one in a batch of ten, unless the gateway
// keeps the saving.
func (c *Chain) PayoutCost(ctx context.Context, asset chain.Asset) (chain.Amount, error) {
	c = c.current()
	if asset != chain.Native {
		if _, err := c.token(asset); err != nil {
			return chain.Amount{}, fmt.Errorf("cost of a payment: %w", err)
		}
	}
	now, err := c.Fees(ctx)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("cost of a payment: %w", err)
	}
	gas := c.usualGas(asset)
	if n := min(c.MaxBatch(asset), usualBatch); n > 1 && c.config.Batch.Saving != savingGateway {
		gas = min(gas, c.sharedGas(asset, uint64(n)))
	}
	return chain.AmountOf(raised(now.Price.Uint256())).Mul(gas)
}

// SweepCost returns the remainder that must stay when all native coin of one of our addresses is
// sent to another, in wei: the gas of a plain payment at the fee cap that Sign would offer now,
// with room for one replacement.
func (c *Chain) SweepCost(ctx context.Context) (chain.Amount, error) {
	c = c.current()
	return c.costAtRaisedFee(ctx, minGas)
}

// TokenSweepCost is the native coin that an address needs to send one token payment, in wei: like
// SweepCost, with the gas of the dearest of the configured tokens and Sign's margin.
func (c *Chain) TokenSweepCost(ctx context.Context) (chain.Amount, error) {
	c = c.current()
	gas := uint64(0)
	for token := range *c.tokens.Load() {
		gas = max(gas, c.usualGas(assetOf(token)))
	}
	return c.costAtRaisedFee(ctx, withMargin(max(gas, c.config.TokenGas)))
}

// costAtRaisedFee returns the cost of gas at the fee cap of a first attempt made now, raised once.
// ErrFeeCeiling: no attempt is possible now.
func (c *Chain) costAtRaisedFee(ctx context.Context, gas uint64) (chain.Amount, error) {
	now, err := c.gasPrices(ctx)
	if err != nil {
		return chain.Amount{}, fmt.Errorf("cost of a sweep: %w", err)
	}
	offer, err := now.first(c.minTip, c.maxFee.Load())
	if err != nil {
		return chain.Amount{}, fmt.Errorf("cost of a sweep: %w", err)
	}
	return chain.AmountOf(raised(offer.cap)).Mul(gas)
}
