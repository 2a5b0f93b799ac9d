package demo

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

// Leg is one direction: users' transactions on one chain, and the gateway's payments for them on
// the other.
type Leg struct {
	Depth, payDepth uint64
	In              []uint64 // height of each user's transaction; 0 while it is in no block
	Out             []uint64 // height of the payment for it; 0 while it is in no block
	ready           bool     // all of in are final
	begin           uint64   // the other chain's height at that time
}

func newLeg(n int, depth, payDepth uint64) Leg {
	return Leg{Depth: depth, payDepth: payDepth, In: make([]uint64, n), Out: make([]uint64, n)}
}

// Final is the block that makes the last of a list of heights final, false while one is in no
// block.
func Final(heights []uint64, depth uint64) (uint64, bool) {
	return slices.Max(heights) + depth - 1, slices.Min(heights) > 0
}

// Follow records the other chain's height when the last transaction has become final. It is true
// when that was now.
func (l *Leg) Follow(here, there uint64) bool {
	height, all := Final(l.In, l.Depth)
	if l.ready || !all || here < height {
		return false
	}
	l.ready, l.begin = true, there
	return true
}

// Paid returns the number of payments in blocks.
func (l *Leg) Paid() (n int) {
	for _, height := range l.Out {
		if height > 0 {
			n++
		}
	}
	return n
}

// Working is true while payments could be sent and are not.
func (l *Leg) Working() bool { return l.ready && l.Paid() < len(l.Out) }

// Settled is true when all payments are final on their chain.
func (l *Leg) Settled(there uint64) bool {
	height, all := Final(l.Out, l.payDepth)
	return all && there >= height
}

func (l *Leg) Result(promised uint64) LegResult {
	r := LegResult{Sent: slices.Max(l.In), Begin: l.begin, FirstPaid: slices.Min(l.Out), LastPaid: slices.Max(l.Out), Promised: promised}
	r.Final, _ = Final(l.In, l.Depth)
	r.Settled, _ = Final(l.Out, l.payDepth)
	r.Took = r.LastPaid - min(r.Begin, r.LastPaid)
	return r
}

// Pay notes a payment. A second one to the same user, or one of another amount, ends the burst.
func (l *Leg) Pay(i int, height uint64, amount, owed chain.Amount) error {
	switch {
	case amount != owed:
		return fmt.Errorf("%w: %s was sent, %s are owed", ErrAmount, amount, owed)
	case l.Out[i] != 0:
		return fmt.Errorf("%w: sent in block %d and in %d", ErrAmount, l.Out[i], height)
	}
	l.Out[i] = height
	return nil
}

// missing are the places of users whose transaction is in no block.
func (l *Leg) missing() (places []int) {
	for i, height := range l.In {
		if height == 0 {
			places = append(places, i)
		}
	}
	return places
}

func (l *Leg) text(here uint64) string {
	height, all := Final(l.In, l.Depth)
	switch {
	case !all:
		return fmt.Sprintf("%d without a block", len(l.missing()))
	case here < height:
		return fmt.Sprintf("final in %d blocks", height-here)
	}
	return fmt.Sprintf("final, %d of %d paid", l.Paid(), len(l.Out))
}

// LegResult is one direction. Sent and Final are heights of the users' chain, the others of the one
// that is paid on.
type LegResult struct {
	Sent      uint64 `json:"sent"`      // the last transaction of a user
	Final     uint64 `json:"final"`     // makes it final
	Begin     uint64 `json:"begin"`     // the newest block of the other chain at that time
	FirstPaid uint64 `json:"firstPaid"` // the first payment
	LastPaid  uint64 `json:"lastPaid"`
	Settled   uint64 `json:"settled"` // makes the last payment final
	Took      uint64 `json:"took"`    // blocks from Begin to LastPaid
	Promised  uint64 `json:"promised"`
}

// Promise is the rule of promisedCredits and promisedPayouts in words.
const Promise = "  deposits     n/100 snapshot blocks (at least 5), and as many as the quota of the gateway's account makes them wait\n" +
	"  withdrawals  n/16 source blocks, because 16 payouts may be without a block at a time, and n/80 more (at least 10)\n"

// What n deposits or withdrawals that are final at once may take to leave: 2,000 of them 20
// snapshot blocks and 150 source blocks.
const (
	creditsPerBlock, leastCreditBlocks = 100, 5
	payoutsInPool                      = 16 // the daemon's bound of transactions of one account that are in no block
	payoutsPerBlock, leastPayoutBlocks = 80, 10
)

// promisedCredits returns the number of snapshot blocks after the last of n deposits was final in
// which all of them are credited. quota is the gateway account's quota at that time, and each
// snapshot block adds to it.
func promisedCredits(n, quota, eachBlock uint64) uint64 {
	return max(ceil(n, creditsPerBlock), leastCreditBlocks) + quotaBlocks(n, quota, eachBlock)
}

// quotaBlocks returns the number of snapshot blocks for which n credits wait for quota.
func quotaBlocks(n, quota, eachBlock uint64) uint64 {
	need := n * creditQuota()
	switch {
	case need <= quota:
		return 0
	case eachBlock == 0:
		return math.MaxUint32 // never, by stake
	}
	return ceil(need-quota, eachBlock)
}

// creditQuota is the cost of a transfer with the 16 bytes that name its payment.
func creditQuota() uint64 {
	cost, err := core.RequiredQuota(core.SendCall, core.Address{}, make([]byte, 16), core.MinQuotaMultiplier)
	if err != nil {
		panic(err) // it is the same for every transfer, and small
	}
	return cost
}

// promisedPayouts is in how many source blocks after the last of n withdrawals was final all of
// them are paid.
func promisedPayouts(n uint64) uint64 {
	return ceil(n, payoutsInPool) + max(ceil(n, payoutsPerBlock), leastPayoutBlocks)
}

func ceil(n, d uint64) uint64 { return (n + d - 1) / d }

// Result is the outcome of a burst, in heights of the two chains.
type Result struct {
	Count       int       `json:"count"`
	Deposits    LegResult `json:"deposits"`    // sent in source blocks, paid in snapshot blocks
	Withdrawals LegResult `json:"withdrawals"` // sent in snapshot blocks, paid in source blocks
	// QuotaBlocks is the part of the deposits' promised blocks that is for quota.
	QuotaBlocks uint64 `json:"quotaBlocks"`
}

// ErrPromise means that payments left later than promised.
var ErrPromise = errors.New("later than promised")

// Met is nil if everything left within the promise.
func (r Result) Met() error {
	return errors.Join(r.Deposits.met("deposits", "snapshot blocks"), r.Withdrawals.met("withdrawals", "source blocks"))
}

func (l LegResult) met(what, unit string) error {
	if l.Took <= l.Promised {
		return nil
	}
	return fmt.Errorf("%w: the last of the %s was paid %d %s after it was final, %d are promised", ErrPromise, what, l.Took, unit, l.Promised)
}

func (r Result) Text() string {
	return fmt.Sprintf("   %d deposits     %s\n   %d withdrawals  %s",
		r.Count, r.Deposits.text("source block", "snapshot block"), r.Count, r.Withdrawals.text("snapshot block", "source block"))
}

func (l LegResult) text(here, there string) string {
	return fmt.Sprintf("the last in %s %d, final with %d when %s %d was the newest; paid in %d to %d, %d later (%d are promised); final with %d",
		here, l.Sent, l.Final, there, l.Begin, l.FirstPaid, l.LastPaid, l.Took, l.Promised, l.Settled)
}
