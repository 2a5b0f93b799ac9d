package spend

import (
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
)

// Builder drafts transactions of one network.
type Builder struct {
	Network *network.Network
	Limits  Limits
}

// Funds are the coins that a slot's transaction may spend, and the address of its change.
type Funds struct {
	Anchor Coin
	Others []Coin      // at present unspent, and spent by no other slot
	Change network.Own // on the internal branch
	Parts  int         // outputs into which the change of a payment is divided at most; below 2: one
	Height uint64      // of the newest block
}

// Earlier is an attempt of the slot that nodes may have.
type Earlier struct {
	Draft
	Children int64 // fees of our own transactions that spend its outputs
}

// Pay drafts a payment or a batch: the anchor first, then as few coins as suffice, those in blocks
// before the others. The outputs are the payees in their order, then the change, unless it would be
// dust. With earlier attempts the draft replaces each of them (BIP-125). It then spends the coins
// of the newest one that are still in others, and adds none that is in no block.
//
// Errors: Unpayable is of one payment. chain.ErrNotNow: the coins do not suffice.
// chain.ErrFeeCeiling and ErrTooLarge: as they are.
func (b Builder) Pay(f Funds, pay chain.Payment, rate Rate, earlier ...Earlier) (Draft, error) {
	pays, err := members(pay)
	if err != nil {
		return Draft{}, err
	}
	outputs, err := payees(b.Network, pays)
	if err != nil {
		return Draft{}, err
	}
	if len(outputs) == 0 {
		return Draft{}, fmt.Errorf("purpose: a %s has no payee", pay.Purpose)
	}
	r := b.request(f, rate, earlier)
	r.outputs, r.pay, r.parts = outputs, pay, f.Parts
	if len(earlier) > 0 {
		newest := earlier[len(earlier)-1]
		for _, c := range f.Others {
			if coinAt(newest.Coins, c.Outpoint) != nil {
				r.must = append(r.must, c)
			}
		}
		r.may = inBlocks(r.may)
	}
	return b.draft(r)
}

// Cancel drafts a transaction that spends the anchor to ourselves, and replaces all earlier
// attempts.
func (b Builder) Cancel(f Funds, rate Rate, earlier ...Earlier) (Draft, error) {
	r := b.request(f, rate, earlier)
	r.pay.Purpose = chain.Cancel
	r.may = inBlocks(r.may)
	return b.draft(r)
}

// Child drafts a transaction that spends the anchor and a coin that a parent in no block makes, to
// ourselves. Its fee brings both to the rate. Further coins in blocks are added if it needs them.
func (b Builder) Child(f Funds, source Coin, parent Draft, rate Rate, earlier ...Earlier) (Draft, error) {
	if parent.Tx().TxHash() != source.Outpoint.Hash {
		return Draft{}, fmt.Errorf("coin %s: not an output of the parent", source.Outpoint)
	}
	r := b.request(f, rate, earlier)
	r.pay.Purpose, r.pay.Source, r.parent = chain.Merge, source.Outpoint.String(), parent
	r.must, r.may = append(r.must, source), inBlocks(r.may)
	tx := parent.Tx()
	r.most = func(size int64) int64 { return b.Limits.most(b.Network, size, true, tx) }
	return b.draft(r)
}

// Leave drafts a transaction that spends the anchor to ourselves: that of a merge whose source is
// gone, or in a block and then among the others.
func (b Builder) Leave(f Funds, source string, rate Rate, earlier ...Earlier) (Draft, error) {
	r := b.request(f, rate, earlier)
	for _, c := range r.may {
		if c.Outpoint.String() == source {
			r.must = append(r.must, c)
		}
	}
	r.pay.Purpose, r.pay.Source, r.may = chain.Merge, source, inBlocks(r.may)
	return b.draft(r)
}

const (
	// maxMerged bounds the coins that a merge spends, and mergeLeaves is the number of the largest
	// that it leaves to payments.
	maxMerged, mergeLeaves = 100, 20
	// manyCoins is the number of coins beyond which they are merged.
	manyCoins = 60
)

// Crowded reports whether there are so many free coins in blocks, worth their input at a cheap
// rate, that they are to be merged.
func (b Builder) Crowded(coins []Coin, rate Rate) bool {
	r, many := request{rate: rate}, 0
	for _, c := range inBlocks(coins) {
		if r.worth(c) {
			many++
		}
	}
	return many > manyCoins && rate <= b.Limits.Cheap
}

// Merge drafts one coin of many: the anchor and the smallest of the others that are in blocks and
// worth their input. The largest stay, and half of the value, for payments meanwhile. Above the
// cheap rate it is chain.ErrFeeCeiling.
func (b Builder) Merge(f Funds, rate Rate, earlier ...Earlier) (Draft, error) {
	if rate > b.Limits.Cheap {
		return Draft{}, fmt.Errorf("%w: %d satoshi per 1,000 vbytes are over the %d of merges", chain.ErrFeeCeiling, rate, b.Limits.Cheap)
	}
	r := b.request(f, rate, earlier)
	small := inBlocks(r.may)
	small = small[min(mergeLeaves, len(small)):]
	left := total(r.may) / 2
	for _, c := range slices.Backward(small) { // from the smallest
		if left -= c.Amount; left >= 0 && len(r.must) < min(maxMerged, b.Limits.MaxCoins) && r.worth(c) {
			r.must = append(r.must, c)
		}
	}
	r.pay.Purpose, r.may = chain.Merge, nil
	return b.draft(r)
}

// request is what a draft must do.
type request struct {
	pay     chain.Payment
	outputs []*wire.TxOut // before the change
	must    []Coin        // spent in any case, the anchor first
	may     []Coin        // added one after the other while they are needed
	change  network.Own
	parts   int // of the change at most
	rate    Rate
	parent  Draft                  // whose fee is paid too; empty for none
	most    func(size int64) int64 // with a parent: the highest fee of a size

	// of earlier attempts: the highest fee with children, the highest rate, and the rate by which a
	// replacement must pay more
	beaten       bool
	fee          int64
	beatenRate   Rate
	stepPerBytes Rate
}

func (b Builder) request(f Funds, rate Rate, earlier []Earlier) request {
	r := request{must: []Coin{f.Anchor}, may: slices.Clone(f.Others), change: f.Change, rate: max(rate, b.Limits.Relay), stepPerBytes: b.Limits.Relay}
	r.may = slices.DeleteFunc(without(r.may, r.must), func(c Coin) bool { return !c.spendable(f.Height) })
	slices.SortFunc(r.may, byUse)
	for _, e := range earlier {
		r.beaten = true
		r.fee = max(r.fee, e.Fee+e.Children)
		r.beatenRate = max(r.beatenRate, RateOf(e.Fee, e.Size))
	}
	return r
}

// least is the least fee of a size: the rate's, and more than each attempt that is replaced.
func (r request) least(size int64) int64 {
	fee := r.rate.Fee(size)
	if r.parent.Size > 0 {
		fee = max(fee, min(r.rate.Fee(size+r.parent.Size)-r.parent.Fee, r.most(size)))
	}
	if !r.beaten {
		return fee
	}
	return max(fee, r.fee+r.stepPerBytes.Fee(size), (r.beatenRate + 1).Fee(size))
}

// worth reports whether a coin brings more than its input costs.
func (r request) worth(c Coin) bool { return c.Amount > r.rate.Fee(vbytes(inputWeight(c.Own.Kind))) }

// draft adds coins until they suffice.
func (b Builder) draft(r request) (Draft, error) {
	coins, may := slices.Clone(r.must), without(r.may, r.must)
	for {
		d, missing := b.fill(r, coins)
		if missing <= 0 {
			return d, b.check(r, d)
		}
		next := slices.IndexFunc(may, r.worth)
		switch {
		case next < 0:
			return Draft{}, fmt.Errorf("%w: the coins bring %d satoshi, %d are missing", chain.ErrNotNow, total(coins), missing)
		case len(coins) >= b.Limits.MaxCoins:
			return Draft{}, fmt.Errorf("%w: the largest %d coins bring %d satoshi, %d are missing: small coins must be consolidated first", chain.ErrNotNow, len(coins), total(coins), missing)
		}
		coins, may = append(coins, may[next]), slices.Delete(may, next, next+1)
	}
}

// fill is the draft of coins, or how much they lack.
func (b Builder) fill(r request, coins []Coin) (d Draft, missing int64) {
	left := total(coins)
	for _, out := range r.outputs {
		left -= out.Value
	}
	change := wire.NewTxOut(0, r.change.Script)
	withChange := append(slices.Clone(r.outputs), change)
	size := vbytes(weightOf(coins, withChange))
	least := b.Network.Dust(change.PkScript)
	if change.Value = left - r.least(size); change.Value >= least {
		return b.divide(r, Draft{Coins: coins, Outputs: withChange, Change: &r.change, Parts: 1, Fee: left - change.Value, Size: size}), 0
	}
	if len(r.outputs) == 0 {
		return Draft{}, least - change.Value
	}
	size = vbytes(weightOf(coins, r.outputs))
	return Draft{Coins: coins, Outputs: r.outputs, Fee: left, Size: size}, r.least(size) - left
}

// worthParts is by how much a part of divided change exceeds dust, and the fee of its later input,
// at least.
const worthParts = 20

// divide divides the change into equal outputs, as many as are worth it: further payments need not
// wait for one coin then.
func (b Builder) divide(r request, d Draft) Draft {
	script := r.change.Script
	worth := worthParts * max(b.Network.Dust(script), r.rate.Fee(vbytes(inputWeight(r.change.Kind))))
	all := d.Fee + d.Outputs[len(r.outputs)].Value
	for parts := min(r.parts, maxChange); parts > 1; parts-- {
		outputs := slices.Clone(r.outputs)
		for range parts {
			outputs = append(outputs, wire.NewTxOut(0, script))
		}
		size := vbytes(weightOf(d.Coins, outputs))
		fee := r.least(size)
		part := (all - fee) / int64(parts)
		for _, out := range outputs[len(r.outputs):] {
			out.Value = part
		}
		outputs[len(r.outputs)].Value += all - fee - part*int64(parts)
		divided := Draft{Coins: d.Coins, Outputs: outputs, Change: d.Change, Parts: parts, Fee: fee, Size: size}
		if part >= worth && b.check(r, divided) == nil {
			return divided
		}
	}
	return d
}

// check holds a draft against the limits.
func (b Builder) check(r request, d Draft) error {
	if weight := weightOf(d.Coins, d.Outputs); weight > maxWeight {
		return fmt.Errorf("%w: it weighs %d, and nodes relay %d", ErrTooLarge, weight, maxWeight)
	}
	var parent *wire.MsgTx
	if r.parent.Size > 0 {
		parent = r.parent.Tx()
	}
	return check(d.Fee, b.Limits.of(r.pay).most(b.Network, d.Size, d.Change != nil, parent), r.pay, d.Outputs)
}
