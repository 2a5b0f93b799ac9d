package dev

import (
	"context"
	"io"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/vite"
	"gatewayd/daemon"
	"gatewayd/internal/budget"
	"gatewayd/records"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/watcher"
)

const snapshotsADay = 86_400

// BenchmarkBudgetCatchUp measures a daemon that was away for a day. An embedded exchange chain in
// this process has made 86,400 snapshot blocks, every twentieth with a send. The real watcher and
// the real adapter read them, prove them and store them on disk. The blocks contain nothing for us,
// like nearly all blocks of a chain. A day may take 5 minutes, a block 0.1 durable commits.
func BenchmarkBudgetCatchUp(b *testing.B) {
	blocks := snapshotsADay
	if testing.Short() {
		blocks /= 100
	}
	url := exchangeDay(b, blocks)
	var total budget.Cost
	var commits int64
	for range b.N {
		cost, n := catchUp(b, url)
		total.Add(cost)
		commits += n
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(total.PerCPU(), "cpu-ns/block")
	b.ReportMetric(total.PerWall()*snapshotsADay/1e9, "s/day")
	b.ReportMetric(300, "s/budget")
	b.ReportMetric(float64(commits)/float64(total.Units), "commits/block")
	b.ReportMetric(0.1, "commits/budget")
}

// exchangeDay returns the address of an embedded exchange chain whose clock advanced by a second
// for each snapshot block.
func exchangeDay(b *testing.B, blocks int) (url string) {
	var seed [core.SeedSize]byte
	key, err := core.NewPrivateKey(seed[:])
	require.NoError(b, err)
	tokens := func(n uint64) uint256.Int { return *new(uint256.Int).Mul(uint256.NewInt(n), uint256.NewInt(1e18)) }
	now, sender := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), key.Address()
	l, err := daemon.NewEmbedded(node.Config{Dir: b.TempDir(), SnapshotInterval: -1, Now: func() time.Time { return now }, Genesis: ledger.Genesis{
		Time:     now,
		Accounts: []ledger.GenesisAccount{{Address: sender, Balances: map[core.TokenID]uint256.Int{core.VITE: tokens(1e9)}}},
		Stakes:   []ledger.GenesisStake{{Staker: sender, Beneficiary: sender, Amount: tokens(2_500_000)}},
	}})
	require.NoError(b, err)
	var height uint64
	var previous core.Hash
	require.NoError(b, l.Node.Read(func(v *node.View) { height, previous = v.AccountHead(sender).Height, v.AccountHead(sender).Hash }))
	for i := range blocks {
		now = now.Add(time.Second)
		if i > 100 && i%20 == 0 { // there is quota by then
			next := &core.AccountBlock{
				BlockType: core.SendCall, Address: sender, ToAddress: sender, TokenID: core.VITE, Amount: *uint256.NewInt(1), Height: height + 1, PreviousHash: previous,
			}
			next.SignWith(key)
			require.NoError(b, l.Node.Submit(b.Context(), next))
			height, previous = next.Height, next.Hash
		}
		_, err := l.Node.Snapshot()
		require.NoError(b, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	b.Cleanup(func() {
		stop()
		require.NoError(b, <-done)
	})
	return l.WSURL()
}

// catchUp starts a new store at the chain's first block and takes one step, which reads all there
// is. Without networks nothing is signed.
func catchUp(b *testing.B, url string) (cost budget.Cost, commits int64) {
	store, err := records.Open(b.Context(), records.Config{URL: "sqlite:" + filepath.Join(b.TempDir(), "records.db")})
	require.NoError(b, err)
	defer store.Close()
	c, err := vite.New(vite.Config{ID: "vite", Nodes: []string{url}, Confirmations: 180}, noAccounts{})
	require.NoError(b, err)
	defer c.Close()
	first, err := c.Block(b.Context(), 1)
	require.NoError(b, err)
	require.NoError(b, store.Update(b.Context(), func(tx *records.Tx) error { return tx.Chains().Start(c.ID(), first.Point) }))
	quiet, counted := logrus.New(), &countingStore{Store: store}
	quiet.SetOutput(io.Discard)
	w, err := watcher.New(watcher.Config{}, watcher.Parts{Store: counted, Chains: map[chain.ID]chain.Chain{c.ID(): c}, Log: quiet})
	require.NoError(b, err)
	head, err := c.Head(b.Context())
	require.NoError(b, err)
	cost = budget.Measure(int(head.Latest.Height), func() { require.NoError(b, w.Step(b.Context())) })
	require.NoError(b, store.View(b.Context(), func(tx *records.Tx) error {
		at, err := tx.Chains().Cursor(c.ID())
		require.Equal(b, head.Latest, at.Point)
		return err
	}))
	return cost, counted.commits.Load()
}

// noAccounts is a set of accounts without any.
type noAccounts struct{}

func (noAccounts) Owned(context.Context, chain.ID, []string) (map[string]bool, error) {
	return nil, nil
}

// Accounts makes nobodys the owner of nothing on the exchange chain, too.
func (noAccounts) Accounts(context.Context, chain.ID) ([]string, error) { return nil, nil }

// countingStore counts what is committed durably.
type countingStore struct {
	*records.Store
	commits atomic.Int64
}

// Update counts.
func (s *countingStore) Update(ctx context.Context, f func(*records.Tx) error) error {
	s.commits.Add(1)
	return s.Store.Update(ctx, f)
}
