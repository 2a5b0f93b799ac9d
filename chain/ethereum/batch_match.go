package ethereum

import (
	"slices"
	"strings"

	"github.com/holiman/uint256"

	"gatewayd/chain"
)

// ownBatch is a batch of ours in a block.
type ownBatch struct {
	batchCall
	members  []chain.Outcome
	done     bool         // the contract reports what it did
	paid     chain.Amount // native coin that payees got
	returned *movement    // native coin that the contract gave back, as long as it was not met in a trace or log
}

// batch reads a transaction of ours that called the batch contract successfully; nil for others.
func (s *searcher) batch(t *transaction) *ownBatch {
	if !t.ok || !s.ours[t.from] || t.to == nil || *t.to != s.chain.payouts {
		return nil
	}
	call, ok := readBatchCall(t.input)
	sum, fits := call.sum()
	if !ok || !fits || call.token == nil && !sum.Eq(t.value) { // not as we make it
		return nil
	}
	b := &ownBatch{batchCall: call, members: slices.Repeat([]chain.Outcome{chain.MemberDiffers}, len(call.pays))}
	var paid *uint256.Int
	if paid, b.done = paidLog(t.logs, *t.to, t.from); !b.done {
		return b
	}
	if call.token != nil {
		b.tokenOutcomes(t, paid)
	} else {
		b.coinOutcomes(t, paid)
	}
	return b
}

// coinOutcomes reads what the contract reports: a payment that it did not make has moved nothing,
// and its coin went back with the return.
func (b *ownBatch) coinOutcomes(t *transaction, paid *uint256.Int) {
	left := *t.value
	for i, p := range b.pays {
		b.members[i] = chain.MemberVoid
		if bit(paid, i) {
			b.members[i] = chain.MemberPaid
			left.Sub(&left, &p.amount)
		}
	}
	b.paid = chain.AmountOf(new(uint256.Int).Sub(t.value, &left))
	if !left.IsZero() {
		b.returned = &movement{*t.to, t.from, left}
	}
}

// tokenOutcomes holds what the contract reports against the token's events, of which each counts
// once. A payment without its event is void only if all events of transfers from the account belong
// to other payments; and only if balances prove that it moved nothing (proveVoid).
func (b *ownBatch) tokenOutcomes(t *transaction, paid *uint256.Int) {
	moved := make(map[movement]int)
	loose := 0
	for _, l := range t.logs {
		if m, ok := readTransferLog(l.Topics, l.Data); ok && l.Address == *b.token && m.from == t.from {
			moved[m]++
			loose++
		}
	}
	for i, p := range b.pays {
		p.from = t.from
		if bit(paid, i) && moved[p] > 0 {
			moved[p]--
			loose--
			b.members[i] = chain.MemberPaid
		}
	}
	for i := range b.members {
		if b.members[i] != chain.MemberPaid && loose == 0 {
			b.members[i] = chain.MemberVoid
		}
	}
}

// report writes the batch into the report of its transaction.
func (b *ownBatch) report(t *transaction, e *chain.OwnTx) {
	e.OK, e.Members = b.done, b.members
	if b.done && b.token == nil {
		e.To, e.Value = "", b.paid
		if !b.paid.IsZero() {
			e.To = t.to.Hex()
		}
	}
}

// isReturn reports whether a movement is the batch's own return of coin, once: it comes from
// ourselves and is no transfer.
func (b *ownBatch) isReturn(m movement) bool {
	if b == nil || b.returned == nil || m != *b.returned {
		return false
	}
	b.returned = nil
	return true
}

// isReturnCall is isReturn for a movement in a trace: the contract's own calls are those without
// others above them.
func (b *ownBatch) isReturnCall(m internal) bool {
	return !strings.Contains(m.path, ".") && b.isReturn(m.movement)
}

// proveVoid leaves a token batch's void payments void only if the balances prove that they moved
// nothing; otherwise people decide.
func proveVoid(e *chain.OwnTx, t *transaction, unmoved func(silentCall) bool) {
	if !slices.Contains(e.Members, chain.MemberVoid) {
		return
	}
	call, ok := readBatchCall(t.input)
	if !ok || call.token == nil || unmoved(silentCall{t.from, *call.token}) {
		return
	}
	for i, m := range e.Members {
		if m == chain.MemberVoid {
			e.Members[i] = chain.MemberDiffers
		}
	}
}

// approved reports whether a call of approve wrote the token's event; true for other calls.
func (t *transaction) approved() bool {
	spender, ok := readApproveCall(t.input)
	if !ok || t.to == nil {
		return true
	}
	return slices.ContainsFunc(t.logs, func(l wireLog) bool {
		return l.Address == *t.to && isApprovalLog(l, t.from, spender)
	})
}
