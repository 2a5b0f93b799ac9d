package main

import (
	"errors"
	"fmt"
	"math"

	"gatewayd/chain/vite/core"
)

// burstPromise is the rule of promisedCredits and promisedPayouts in words.
const burstPromise = "  deposits     n/100 snapshot blocks (at least 5), and as many as the quota of the gateway's account makes them wait\n" +
	"  withdrawals  n/16 source blocks, because 16 payouts may be without a block at a time, and n/80 more (at least 10)\n"

// What n deposits or withdrawals that are final at once may take to leave: 2,000 of them 20 snapshot blocks and 150 source blocks.
const (
	creditsPerBlock, leastCreditBlocks = 100, 5
	payoutsInPool                      = 16 // the daemon's bound of transactions of one account that are in no block
	payoutsPerBlock, leastPayoutBlocks = 80, 10
)

// promisedCredits is in how many snapshot blocks after the last of n deposits was final all of them are credited. quota is what the gateway's
// account has at that time, and each snapshot block gives it some more.
func promisedCredits(n, quota, eachBlock uint64) uint64 {
	return max(ceil(n, creditsPerBlock), leastCreditBlocks) + quotaBlocks(n, quota, eachBlock)
}

// quotaBlocks is how many snapshot blocks n credits have to wait for quota.
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

// creditQuota is what a transfer costs with the 16 bytes that name its payment.
func creditQuota() uint64 {
	cost, err := core.RequiredQuota(core.SendCall, core.Address{}, make([]byte, 16), core.MinQuotaMultiplier)
	if err != nil {
		panic(err) // it is the same for every transfer, and small
	}
	return cost
}

// promisedPayouts is in how many source blocks after the last of n withdrawals was final all of them are paid.
func promisedPayouts(n uint64) uint64 {
	return ceil(n, payoutsInPool) + max(ceil(n, payoutsPerBlock), leastPayoutBlocks)
}

func ceil(n, d uint64) uint64 { return (n + d - 1) / d }

// burstResult is what a burst came to, in heights of the two chains.
type burstResult struct {
	Count       int       `json:"count"`
	Deposits    legResult `json:"deposits"`    // sent in source blocks, paid in snapshot blocks
	Withdrawals legResult `json:"withdrawals"` // sent in snapshot blocks, paid in source blocks
	// QuotaBlocks is how many of the deposits' promised blocks are for quota.
	QuotaBlocks uint64 `json:"quotaBlocks"`
}

// errPromise says that payments left later than promised.
var errPromise = errors.New("later than promised")

// kept is nil if everything left within the promise.
func (r burstResult) kept() error {
	return errors.Join(r.Deposits.kept("deposits", "snapshot blocks"), r.Withdrawals.kept("withdrawals", "source blocks"))
}

func (l legResult) kept(what, unit string) error {
	if l.Took <= l.Promised {
		return nil
	}
	return fmt.Errorf("%w: the last of the %s was paid %d %s after it was final, %d are promised", errPromise, what, l.Took, unit, l.Promised)
}

func (r burstResult) text() string {
	return fmt.Sprintf("   %d deposits     %s\n   %d withdrawals  %s",
		r.Count, r.Deposits.text("source block", "snapshot block"), r.Count, r.Withdrawals.text("snapshot block", "source block"))
}

func (l legResult) text(here, there string) string {
	return fmt.Sprintf("the last in %s %d, final with %d when %s %d was the newest; paid in %d to %d, %d later (%d are promised); final with %d",
		here, l.Sent, l.Final, there, l.Begin, l.FirstPaid, l.LastPaid, l.Took, l.Promised, l.Settled)
}
