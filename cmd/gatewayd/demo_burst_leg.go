package main

import (
	"fmt"
	"slices"

	"gatewayd/chain"
)

// burstLeg is one direction: users' transactions on one chain, and the gateway's payments for them on the other.
type burstLeg struct {
	depth, payDepth uint64
	in              []uint64 // height of each user's transaction; 0 while it is in no block
	out             []uint64 // height of the payment for it; 0 while it is in no block
	ready           bool     // all of in are final
	begin           uint64   // the other chain's height at that time
}

func newBurstLeg(n int, depth, payDepth uint64) burstLeg {
	return burstLeg{depth: depth, payDepth: payDepth, in: make([]uint64, n), out: make([]uint64, n)}
}

// final is the block that makes the last of a list of heights final, false while one is in no block.
func final(heights []uint64, depth uint64) (uint64, bool) {
	return slices.Max(heights) + depth - 1, slices.Min(heights) > 0
}

// follow notes the other chain's height when the last transaction has become final. It tells whether that was now.
func (l *burstLeg) follow(here, there uint64) bool {
	height, all := final(l.in, l.depth)
	if l.ready || !all || here < height {
		return false
	}
	l.ready, l.begin = true, there
	return true
}

// paid is how many payments are in a block.
func (l *burstLeg) paid() (n int) {
	for _, height := range l.out {
		if height > 0 {
			n++
		}
	}
	return n
}

// working tells whether payments could leave now and have not.
func (l *burstLeg) working() bool { return l.ready && l.paid() < len(l.out) }

// settled tells whether all payments are final on their chain.
func (l *burstLeg) settled(there uint64) bool {
	height, all := final(l.out, l.payDepth)
	return all && there >= height
}

func (l *burstLeg) result(promised uint64) legResult {
	r := legResult{Sent: slices.Max(l.in), Begin: l.begin, FirstPaid: slices.Min(l.out), LastPaid: slices.Max(l.out), Promised: promised}
	r.Final, _ = final(l.in, l.depth)
	r.Settled, _ = final(l.out, l.payDepth)
	r.Took = r.LastPaid - min(r.Begin, r.LastPaid)
	return r
}

// pay notes a payment. A second one to the same user, or one of another amount, ends the burst.
func (l *burstLeg) pay(i int, height uint64, amount, owed chain.Amount) error {
	switch {
	case amount != owed:
		return fmt.Errorf("%w: %s was sent, %s are owed", errAmount, amount, owed)
	case l.out[i] != 0:
		return fmt.Errorf("%w: sent in block %d and in %d", errAmount, l.out[i], height)
	}
	l.out[i] = height
	return nil
}

// missing are the places of users whose transaction is in no block.
func (l *burstLeg) missing() (places []int) {
	for i, height := range l.in {
		if height == 0 {
			places = append(places, i)
		}
	}
	return places
}

func (l *burstLeg) text(here uint64) string {
	height, all := final(l.in, l.depth)
	switch {
	case !all:
		return fmt.Sprintf("%d without a block", len(l.missing()))
	case here < height:
		return fmt.Sprintf("final in %d blocks", height-here)
	}
	return fmt.Sprintf("final, %d of %d paid", l.paid(), len(l.out))
}

// legResult is one direction. Sent and Final are heights of the users' chain, the others of the one that is paid on.
type legResult struct {
	Sent      uint64 `json:"sent"`      // the last transaction of a user
	Final     uint64 `json:"final"`     // makes it final
	Begin     uint64 `json:"begin"`     // the newest block of the other chain at that time
	FirstPaid uint64 `json:"firstPaid"` // the first payment
	LastPaid  uint64 `json:"lastPaid"`
	Settled   uint64 `json:"settled"` // makes the last payment final
	Took      uint64 `json:"took"`    // blocks from Begin to LastPaid
	Promised  uint64 `json:"promised"`
}
