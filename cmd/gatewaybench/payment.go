package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"gatewayd/dev/demo"
)

// otherProgram names another build of gatewayd in the environment. The payment case measures it in
// turn with this one.
const otherProgram = "GATEWAYD_OTHER"

// Depths of production.
const (
	productionFinality      = 64
	productionConfirmations = 180
)

// paymentCase measures a payment's cost for the complete daemon: real keys, SQLite, both chains
// over HTTP, blocks that become final at the depths of production. It includes the daemon's work
// while it waits, but not the chains' own work.
func paymentCase() Case {
	c := Case{
		Name: "payment", Unit: "payment", Ours: payDeep,
		About: "deposits and withdrawals through a complete daemon at 180 and 64 confirmations; yardstick: the build that " + otherProgram + " names",
		Goals: []Goal{{Of: CPU, Budget: 1.5 * float64(time.Millisecond), Limit: 0.5 * float64(time.Millisecond), Absolute: true}},
	}
	if os.Getenv(otherProgram) != "" {
		c.Yardsticks = []Side{{Name: "other", Part: payOther}}
		c.Goals = append(c.Goals, Goal{Of: CPU, Budget: 0.5, Limit: 0.25})
	}
	return c
}

func deep() demo.CustodyOptions {
	return demo.CustodyOptions{Inside: true, Finality: productionFinality, Confirmations: productionConfirmations}
}

func payDeep(ctx context.Context, r *Run) (Figure, error) { return payBy(ctx, r, deep()) }

func payOther(ctx context.Context, r *Run) (Figure, error) {
	o := deep()
	o.Program = os.Getenv(otherProgram)
	if _, err := os.Stat(o.Program); err != nil {
		return Figure{}, fmt.Errorf("%w: %w", ErrSkip, err)
	}
	return pay(ctx, r, o)
}
