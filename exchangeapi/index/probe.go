package index

import (
	"context"
	"errors"
	"fmt"

	"gatewayd/chain/vite/core"
)

// probeBlocks is how many of the newest blocks of each contract a probe reads.
const probeBlocks = 20

// Probe asks a node all that an index asks: the newest blocks of both contracts with their events and calls, a token, an account's funds. It tells what the
// node does not answer, and stores nothing. A chain without an exchange has nothing to read and passes.
func Probe(ctx context.Context, n Node) error {
	for _, c := range []contract{fund, trade} {
		err := probe(ctx, &reader{n, c, probeBlocks})
		if errors.Is(err, errMoved) {
			err = probe(ctx, &reader{n, c, probeBlocks})
		}
		if err != nil {
			return err
		}
	}
	if _, err := n.TokenInfo(ctx, core.VITE); err != nil {
		return fmt.Errorf("reading a token: %w", err)
	}
	if _, err := n.Funds(ctx, core.Address{}); err != nil {
		return fmt.Errorf("reading an account's funds: %w", err)
	}
	return nil
}

func probe(ctx context.Context, r *reader) error {
	top, err := r.LatestAccountBlock(ctx, r.address())
	if err != nil {
		return fmt.Errorf("reading the newest block of dex %s: %w", r.contract, err)
	}
	if top == nil {
		return nil
	}
	var from cursor
	if top.Height > probeBlocks {
		below, err := r.AccountBlockByHeight(ctx, r.address(), top.Height-probeBlocks)
		if err != nil {
			return fmt.Errorf("reading block %d of dex %s: %w", top.Height-probeBlocks, r.contract, err)
		}
		if below == nil {
			return errMoved
		}
		from = cursor{below.Height, below.Hash}
	}
	_, err = r.next(ctx, from, top.Height)
	return err
}
