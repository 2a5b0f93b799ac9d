package ethereum

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/holiman/uint256"

	"gatewayd/chain"
)

// fees are a transaction's offers per gas, in wei. Without a base fee there is one gas price, which
// is both.
type fees struct {
	tip, cap *uint256.Int
	legacy   bool // of a transaction with a gas price
}

// gasPrices are the chain's present prices. On a chain without a base fee, base is zero and tip is
// the gas price.
type gasPrices struct {
	base, tip *uint256.Int
	legacy    bool
}

// key is equal for nodes that see the same prices.
func (m gasPrices) key() (key struct {
	base, tip uint256.Int
	legacy    bool
}) {
	key.base, key.tip, key.legacy = *m.base, *m.tip, m.legacy
	return key
}

// suggest is the offer that suits the prices: the tip most others paid, at least the floor, and
// room for the base fee to double; or the gas price.
func (m gasPrices) suggest(floor *uint256.Int) fees {
	tip := higher(m.tip, floor)
	if m.legacy {
		return fees{tip, tip, true}
	}
	ceiling, over := new(uint256.Int).MulOverflow(m.base, uint256.NewInt(2))
	if !over {
		ceiling, over = new(uint256.Int).AddOverflow(ceiling, tip)
	}
	if over {
		ceiling = new(uint256.Int).SetAllOne()
	}
	return fees{tip: tip, cap: ceiling}
}

// first prices a first attempt: the suggestion, reduced to the ceiling as long as a block would
// still take it now with the least tip. A gas price is not reduced: it is unknown whether a lower
// one would suffice.
func (m gasPrices) first(floor, ceiling *uint256.Int) (fees, error) {
	offer := m.suggest(floor)
	if !offer.cap.Gt(ceiling) {
		return offer, nil
	}
	if m.legacy {
		return fees{}, fmt.Errorf("%w: the gas price is %s wei, the ceiling %s", chain.ErrFeeCeiling, offer.cap.Dec(), ceiling.Dec())
	}
	least, over := new(uint256.Int).AddOverflow(m.base, floor)
	if over || least.Gt(ceiling) {
		return fees{}, fmt.Errorf("%w: the base fee is %s wei per gas, the ceiling %s", chain.ErrFeeCeiling, m.base.Dec(), ceiling.Dec())
	}
	return fees{tip: lower(offer.tip, ceiling), cap: ceiling}, nil
}

// replace prices a replacement so that every client takes it: both fees an eighth higher (the
// clients want a tenth), or what is suggested now if that is more. Under the ceiling it never stays
// below what is needed to replace. Either kind of transaction replaces the other: clients compare a
// gas price with both fees.
func (m gasPrices) replace(prev fees, floor, ceiling *uint256.Int) (fees, error) {
	needed := fees{tip: raised(prev.tip), cap: raised(prev.cap)}
	if needed.cap.Gt(ceiling) {
		return fees{}, fmt.Errorf("%w: a replacement needs %s wei per gas, the ceiling is %s", chain.ErrFeeCeiling, needed.cap.Dec(), ceiling.Dec())
	}
	wanted := m.suggest(floor)
	offer := fees{cap: lower(higher(needed.cap, wanted.cap), ceiling)}
	if m.legacy {
		return fees{offer.cap, offer.cap, true}, nil
	}
	offer.tip = lower(higher(needed.tip, wanted.tip), offer.cap)
	return offer, nil
}

// raised is ceil(n x 9/8) and at least one more than n.
func raised(n *uint256.Int) *uint256.Int {
	step := new(uint256.Int).AddUint64(n, 7)
	step.Rsh(step, 3)
	if step.IsZero() {
		step.SetOne()
	}
	sum, over := new(uint256.Int).AddOverflow(n, step)
	if over {
		return new(uint256.Int).SetAllOne()
	}
	return sum
}

func higher(a, b *uint256.Int) *uint256.Int {
	if a.Lt(b) {
		return b
	}
	return a
}

func lower(a, b *uint256.Int) *uint256.Int {
	if a.Gt(b) {
		return b
	}
	return a
}

// ceiling is the most that may be offered per gas: the chain's own, or what the payment allows for
// all its gas, if that is less. A sweep empties its account, so its fees must also fit into what
// that holds (nil for other payments): nodes refuse what cannot be paid in full.
func (c *Chain) ceiling(msg message, gas uint64, holds *uint256.Int) (*uint256.Int, error) {
	most := c.maxFee.Load()
	if !msg.asked.MaxFee.IsZero() {
		most = lower(most, perGas(msg.asked.MaxFee.Uint256(), gas))
	}
	if holds == nil {
		return most, nil
	}
	least := msg.least()
	left, short := new(uint256.Int).SubOverflow(holds, least)
	if short {
		return nil, fmt.Errorf("%w: the account holds %s wei, %s are to be swept at least", chain.ErrNotNow, holds.Dec(), least.Dec())
	}
	return lower(most, perGas(left, gas)), nil
}

// least is the minimum native coin that a sweep must bring: half of the requested amount, so that
// fees never exceed the proceeds.
func (m message) least() *uint256.Int {
	return new(uint256.Int).Sub(m.value, new(uint256.Int).Rsh(m.value, 1))
}

// brings is a sweep's native coin less its maximum fee, at most the requested amount. Under the
// ceiling it is never below least.
func (m message) brings(holds *uint256.Int, gas uint64, offer fees) *uint256.Int {
	fee := new(uint256.Int).Mul(offer.cap, uint256.NewInt(gas))
	return lower(m.value, new(uint256.Int).Sub(holds, fee))
}

// sweeps returns the native coin of the account that a sweep empties, nil for other payments. Only
// a sweep to an account of ours may bring less than it asks for, so none goes elsewhere.
func (c *Chain) sweeps(ctx context.Context, msg message) (*uint256.Int, error) {
	if msg.asked.Purpose != chain.Sweep {
		return nil, nil
	}
	if c.addresses == nil {
		return nil, errors.New("our addresses are not configured")
	}
	to := common.HexToAddress(msg.asked.To)
	ours, err := c.oursOf(ctx, map[common.Address]bool{to: true})
	if err != nil {
		return nil, fmt.Errorf("asking whether %s is ours: %w", to, err)
	}
	if !ours[to] {
		return nil, fmt.Errorf("%w: a sweep to %s, which is not ours", chain.ErrAddress, to)
	}
	balance, err := c.Balance(ctx, msg.from.Hex(), chain.Native)
	if err != nil {
		return nil, err
	}
	return balance.Uint256(), nil
}

// perGas divides a sum by the gas.
func perGas(sum *uint256.Int, gas uint64) *uint256.Int {
	return new(uint256.Int).Div(sum, uint256.NewInt(gas))
}
