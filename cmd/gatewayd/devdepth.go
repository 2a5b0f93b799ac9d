package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/pflag"
)

// Depths and clocks of a development world that is asked for nothing else. In production an exchange chain is followed to 180 confirmations
// and a source chain to 64 blocks or its own "finalized", which takes minutes: here money should arrive while somebody watches.
const (
	devConfirmations = 2
	devFinality      = 3
	devClock         = time.Second
	devPoll          = 200 * time.Millisecond

	// maxDevDepth is what the chains' own configurations allow.
	maxDevDepth = 100_000
	// minDevClock is about what two chains, the daemon and its users manage on one small machine.
	minDevClock = 10 * time.Millisecond
)

// depths adds the flags that say how deep blocks must be to be final, and how fast both embedded chains make them.
func (o *devOptions) depths(f *pflag.FlagSet) {
	f.Int64Var(&o.confirmations, "confirmations", devConfirmations, "snapshot blocks, its own included, that make a block of the exchange chain final (180 in production)")
	f.Int64Var(&o.finality, "finality", devFinality, "blocks, its own included, that make a block of the source chain final (64 in production)")
	f.DurationVar(&o.period, "period", devClock, "time between blocks of the embedded source chain")
	f.DurationVar(&o.interval, "snapshot-interval", devClock, "time between snapshot blocks of the embedded exchange chain")
}

// withDefaults fills in what the flags do for those who start a world without them.
func (o devOptions) withDefaults() devOptions {
	o.confirmations = cmp.Or(o.confirmations, devConfirmations)
	o.finality = cmp.Or(o.finality, devFinality)
	o.period, o.interval = cmp.Or(o.period, devClock), cmp.Or(o.interval, devClock)
	o.poll = cmp.Or(o.poll, min(devPoll, o.period, o.interval))
	return o
}

// checkDepths names the first flag that cannot be, with its rule.
func (o devOptions) checkDepths() error {
	for _, depth := range []struct {
		flag  string
		value int64
	}{{"--confirmations", o.confirmations}, {"--finality", o.finality}} {
		if depth.value < 1 || depth.value > maxDevDepth {
			return fmt.Errorf("%s %d: from 1 (the newest block is final) to %d blocks are wanted", depth.flag, depth.value, maxDevDepth)
		}
	}
	for _, clock := range []struct {
		flag  string
		value time.Duration
	}{{"--period", o.period}, {"--snapshot-interval", o.interval}} {
		if clock.value < minDevClock {
			return fmt.Errorf("%s %s: at least %s between blocks is wanted", clock.flag, clock.value, minDevClock)
		}
	}
	return nil
}
