package ethereum

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// feeBlocks is the number of blocks from which the tip is computed.
const feeBlocks = 10

// gasPrices asks all nodes. A majority must see the same kind of chain, with or without a base fee;
// of their numbers the middle one counts, base fee and tip each for itself.
func (c *Chain) gasPrices(ctx context.Context) (gasPrices, error) {
	return chain.Once(ctx, pricesOf{c}, c.askGasPrices)
}

// pricesOf is the question for a chain's prices in a group of payments.
type pricesOf struct{ *Chain }

func (c *Chain) askGasPrices(ctx context.Context) (gasPrices, error) {
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, gasPricesOf, quorum.Same[*node](c.majority(), gasPrices.key)))
	for _, legacy := range []bool{false, true} {
		var bases, tips []*uint256.Int
		for _, a := range good {
			if a.Value.legacy == legacy {
				bases, tips = append(bases, a.Value.base), append(tips, a.Value.tip)
			}
		}
		if len(bases) >= c.majority() {
			return gasPrices{median(bases), median(tips), legacy}, nil
		}
	}
	if len(good) >= c.majority() {
		faults = append(faults, errors.New("the nodes differ in whether the chain has a base fee"))
	}
	return gasPrices{}, fmt.Errorf("reading fees: %w", unavailable(faults))
}

// gasPricesOf asks one node. The base fee of its newest block decides, because a node may answer
// eth_feeHistory on a chain without one too. With a base fee and without eth_feeHistory, such a
// chain still accepts a gas price.
func gasPricesOf(ctx context.Context, n *node) (gasPrices, error) {
	var newest *struct {
		Base *hexutil.Big `json:"baseFeePerGas"`
	}
	var history feeHistory
	elems := []rpc.BatchElem{
		{Method: "eth_getBlockByNumber", Args: []any{"latest", false}, Result: &newest},
		{Method: "eth_feeHistory", Args: []any{hexutil.Uint64(feeBlocks), "latest", []int{50}}, Result: &history},
	}
	if err := n.batch(ctx, elems); err != nil {
		return gasPrices{}, err
	}
	if err := elems[0].Error; err != nil {
		return gasPrices{}, err
	}
	if newest == nil {
		return gasPrices{}, fmt.Errorf("%s: no latest block", n.name)
	}
	if err := elems[1].Error; newest.Base == nil || notOffered(err) {
		return gasPrice(ctx, n)
	} else if err != nil {
		return gasPrices{}, err
	}
	return history.prices(n)
}

// gasPrice is gasPrices on a chain without a base fee, by what one node advises.
func gasPrice(ctx context.Context, n *node) (gasPrices, error) {
	var price *hexutil.Big
	if err := n.call(ctx, &price, "eth_gasPrice"); err != nil {
		return gasPrices{}, err
	}
	if price == nil {
		return gasPrices{}, fmt.Errorf("%s: eth_gasPrice: no answer", n.name)
	}
	return gasPrices{base: new(uint256.Int), tip: wireWord(price), legacy: true}, nil
}

// feeHistory is one node's answer about the last blocks.
type feeHistory struct {
	Base    []*hexutil.Big   `json:"baseFeePerGas"`
	Rewards [][]*hexutil.Big `json:"reward"`
}

// prices is the next block's base fee, and the median over the last blocks of each block's median
// tip.
func (h feeHistory) prices(n *node) (gasPrices, error) {
	if len(h.Base) == 0 || h.Base[len(h.Base)-1] == nil {
		return gasPrices{}, fmt.Errorf("%s: eth_feeHistory: no base fee", n.name)
	}
	m := gasPrices{base: wireWord(h.Base[len(h.Base)-1]), tip: new(uint256.Int)}
	var tips []*uint256.Int
	for _, block := range h.Rewards {
		if len(block) == 1 && block[0] != nil {
			tips = append(tips, wireWord(block[0]))
		}
	}
	if len(tips) > 0 {
		m.tip = median(tips)
	}
	return m, nil
}

// Fees are the chain's present prices, for people.
type Fees struct {
	Legacy      bool         // no base fee: payments are signed with a gas price (type 0) instead of with two fees (type 2)
	Price       chain.Amount // wei per gas that a payment would cost now
	OverCeiling bool         // no payment can be signed now
}

// Fees returns what the chain asks for now, as Sign would see it.
func (c *Chain) Fees(ctx context.Context) (Fees, error) {
	c = c.current()
	now, err := c.gasPrices(ctx)
	if err != nil {
		return Fees{}, err
	}
	price, over := new(uint256.Int).AddOverflow(now.base, higher(now.tip, c.minTip))
	if over {
		return Fees{}, fmt.Errorf("%w: the base fee is %s", chain.ErrAmount, now.base.Dec())
	}
	_, err = now.first(c.minTip, c.maxFee.Load())
	return Fees{Legacy: now.legacy, Price: chain.AmountOf(price), OverCeiling: err != nil}, nil
}
