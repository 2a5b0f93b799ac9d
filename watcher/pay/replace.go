package pay

import (
	"context"
	"errors"

	"gatewayd/chain"
	"gatewayd/records"
)

// A stuck transaction is replaced by one with the same number, payment and payee, and higher fees
// (E4). It is prepared, signed and stored like a first attempt (sign.go), with the attempts before
// it; this is when. The fees are raised by the ledger's adapter: chain/ethereum/fee.go, replace.

// mayReplace reports whether an attempt is ReplaceAfter blocks old, and whether it may need a
// replacement was not asked since the newest block.
func (p *payer) mayReplace(newest records.Attempt, cur records.Cursor) bool {
	return cur.Height >= newest.Head+p.deps.ReplaceAfter && p.same[newest.Hash] != cur.Height
}

// checkUnderpriced is chain.ErrNoReplacement unless the attempt waits in a node's pool for too low
// a fee: what no node has, because it was refused or cannot be paid, is sent again as it is.
func (p *payer) checkUnderpriced(ctx context.Context, at chain.Slot, newest chain.Attempt) error {
	low, err := p.chain.Underpriced(ctx, at, newest)
	if err == nil && !low {
		err = chain.ErrNoReplacement
	}
	return err
}

// keepsAttempt reports whether an attempt stays the newest: no replacement would help, or none can
// be paid.
func keepsAttempt(err error) bool {
	return errors.Is(err, chain.ErrNoReplacement) || errors.Is(err, chain.ErrFeeCeiling) || errors.Is(err, errNoCoin)
}
