package main

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/records"
	"gatewayd/watcher"
)

const (
	emptyBlocks = 7200 // a day of a 12-second chain
	fullBlocks  = 720  // a tenth of it
	blockTxs    = 200

	// emptyBudget is the CPU of an empty block, fullBudget the time of a full one that reads a day
	// in three minutes.
	emptyBudget = 400 * time.Microsecond
	fullBudget  = 3 * time.Minute / 7200

	sourceHelper = "node"
)

// sourceCases read a source chain from a node that answers from memory in a separate process: the
// real adapter, watcher and records on disk.
func sourceCases() []Case {
	return []Case{
		{
			Name: "source-empty", Unit: "block", Ours: catchUp(emptyBlocks, 0), Helpers: map[string]Helper{sourceHelper: serveSource},
			About:      "catching up on empty source blocks: read, proven and stored; yardstick: a loop of ethclient's BlockByNumber, which proves and stores nothing",
			Yardsticks: []Side{{Name: "ethclient", Part: readBlocks(emptyBlocks, 0)}},
			Goals: []Goal{
				{Of: CPU, Budget: float64(emptyBudget), Limit: float64(emptyBudget) / 4, Absolute: true},
				{Of: CPU, Budget: 0.5, Limit: 0.2},
			},
		},
		{
			Name: "source-full", Unit: "block", Ours: catchUp(fullBlocks, blockTxs), Helpers: map[string]Helper{sourceHelper: serveSource},
			About:      "catching up on source blocks of 200 transactions; yardstick: a loop of ethclient's BlockByNumber and BlockReceipts",
			Yardsticks: []Side{{Name: "ethclient", Part: readBlocks(fullBlocks, blockTxs)}},
			Goals: []Goal{
				{Of: Wall, Budget: float64(fullBudget), Limit: float64(fullBudget) / 2, Absolute: true},
				{Of: CPU, Budget: 1, Limit: 0.5},
			},
		},
	}
}

// catchUp measures one step of a watcher that is so many blocks behind. Without networks nothing is
// decided or paid.
func catchUp(blocks, txs int) Part {
	return func(ctx context.Context, r *Run) (f Figure, err error) {
		err = withSource(ctx, r, r.N(blocks), txs, func(url string) error {
			store, err := records.Open(ctx, records.Config{URL: "sqlite:" + filepath.Join(r.Dir, "records.db")})
			if err != nil {
				return err
			}
			defer store.Close()
			c, err := ethereum.New(ethereum.Config{ID: "eth", ChainID: 1, Nodes: []string{url}, Traces: "off"}, records.NewWatch(store))
			if err != nil {
				return err
			}
			defer c.Close()
			w, err := behind(ctx, store, c)
			if err != nil {
				return err
			}
			if f, err = r.Measure(r.N(blocks), func() error { return w.Step(ctx) }); err != nil {
				return err
			}
			return reached(ctx, store, uint64(r.N(blocks)))
		})
		return f, err
	}
}

// behind is a watcher whose cursor is at the chain's first block.
func behind(ctx context.Context, store *records.Store, c *ethereum.Chain) (*watcher.Watcher, error) {
	first, err := c.Block(ctx, 0)
	if err != nil {
		return nil, err
	}
	if err := store.Update(ctx, func(tx *records.Tx) error { return tx.Chains().Start(c.ID(), first.Point) }); err != nil {
		return nil, err
	}
	log := logrus.New()
	log.SetOutput(io.Discard)
	return watcher.New(watcher.Config{}, watcher.Parts{Store: store, Chains: map[chain.ID]chain.Chain{c.ID(): c}, Log: log})
}

// reached fails unless the cursor has come to a height.
func reached(ctx context.Context, store *records.Store, height uint64) error {
	return store.View(ctx, func(tx *records.Tx) error {
		at, err := tx.Chains().Cursor("eth")
		if err == nil && at.Height != height {
			err = fmt.Errorf("the cursor is at block %d, not %d", at.Height, height)
		}
		return err
	})
}

// readBlocks measures the usual client, one block after the other.
func readBlocks(blocks, txs int) Part {
	return func(ctx context.Context, r *Run) (f Figure, err error) {
		err = withSource(ctx, r, r.N(blocks), txs, func(url string) error {
			client, err := ethclient.DialContext(ctx, url)
			if err != nil {
				return err
			}
			defer client.Close()
			f, err = r.Measure(r.N(blocks), func() error {
				for height := range r.N(blocks) {
					block, err := client.BlockByNumber(ctx, big.NewInt(int64(height+1)))
					if err == nil && txs > 0 {
						_, err = client.BlockReceipts(ctx, rpc.BlockNumberOrHashWithHash(block.Hash(), false))
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
			return err
		})
		return f, err
	}
}

// withSource runs a node of so many blocks while work lasts.
func withSource(ctx context.Context, r *Run, blocks, txs int, work func(url string) error) error {
	node, err := r.Start(ctx, sourceHelper, fmt.Sprintf("%d %d", blocks, txs))
	if err != nil {
		return err
	}
	url, err := node.Line()
	if err == nil {
		err = work(url)
	}
	if ended := node.End(); err == nil {
		err = ended
	}
	return err
}
