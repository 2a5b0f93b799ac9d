package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"gatewayd/internal/budget"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// benchConfig has n users with as much quota as stake can give.
func benchConfig(b *testing.B, dir string, n int) (Config, []user) {
	config := Config{Dir: dir, SnapshotInterval: -1}
	users := make([]user, n)
	for i := range users {
		users[i] = newUser(b, uint64(i+1))
		config.Genesis.Accounts = append(config.Genesis.Accounts,
			ledger.GenesisAccount{Address: users[i].addr, Balances: map[core.TokenID]uint256.Int{core.VITE: *vite(1000)}})
		config.Genesis.Stakes = append(config.Genesis.Stakes, ledger.GenesisStake{Staker: users[i].addr, Beneficiary: users[i].addr, Amount: *vite(2_500_000)})
	}
	return config, users
}

// sends makes n signed transfers of u in a row, after its genesis block.
func (l *testChain) sends(u user, n int) []*core.AccountBlock {
	list := make([]*core.AccountBlock, n)
	b := l.transfer(u, u.addr, 1)
	for i := range list {
		b.SignWith(u.key)
		list[i] = b
		next := &core.AccountBlock{
			BlockType: core.SendCall, Height: b.Height + 1, PreviousHash: b.Hash, Address: u.addr, ToAddress: u.addr,
			TokenID: core.VITE, Amount: *uint256.NewInt(1),
		}
		b = next
	}
	return list
}

// perWindow is the number of transfers that the quota of a complete window pays for.
const perWindow = core.MaxStakeQuota * core.QuotaWindow / core.QuotaPerUT

// signedBlocks is a chain in a directory and the signed blocks that it is to take: of each caller a
// list, n in all.
func signedBlocks(b *testing.B, dir string, callers, n int) (l *testChain, lists [][]*core.AccountBlock) {
	each := (n + callers - 1) / callers
	of := (each + perWindow - 1) / perWindow // accounts of each caller
	config, users := benchConfig(b, dir, callers*of)
	l = open(b, config)
	for range core.QuotaWindow {
		l.snapshot()
	}
	lists = make([][]*core.AccountBlock, callers)
	for i := range lists {
		for _, u := range users[i*of : (i+1)*of] {
			lists[i] = append(lists[i], l.sends(u, each/of)...)
		}
	}
	return l, lists
}

// submitting has callers submit n blocks between them, each block taken before the caller's next.
func submitting(b *testing.B, callers, n int, where func(*testing.B) string) func() budget.Cost {
	return func() budget.Cost {
		l, lists := signedBlocks(b, where(b), callers, n)
		cost := budget.Measure(callers*len(lists[0]), func() {
			var g errgroup.Group
			for _, list := range lists {
				g.Go(func() error {
					for _, block := range list {
						if err := l.Submit(context.Background(), block); err != nil {
							return err
						}
					}
					return nil
				})
			}
			require.NoError(b, g.Wait())
		})
		require.NoError(b, l.Close())
		return cost
	}
}

func onDisk(b *testing.B) string { return b.TempDir() }

// inMemory is a folder whose files need no disk; "" keeps the log in the process.
func inMemory(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "gatewayd-bench-")
	if err != nil {
		return "" // there is no such folder
	}
	b.Cleanup(func() { require.NoError(b, os.RemoveAll(dir)) })
	return dir
}

// benchBlocks is the number of blocks; with a disk and one caller, a tenth of them.
func benchBlocks() int {
	if testing.Short() {
		return 640
	}
	return 20_000
}

// BenchmarkBudgetAccept has a block hashed, verified, applied and logged without waiting for a
// disk; the yardstick is its signature verified. The signatures of 64 callers are checked together.
func BenchmarkBudgetAccept(b *testing.B) {
	config, users := benchConfig(b, "", 1)
	block := open(b, config).sends(users[0], 1)[0]
	verify := func() budget.Cost {
		return budget.Measure(benchBlocks(), func() {
			for range benchBlocks() {
				require.True(b, core.Verify(block.PublicKey, block.Hash[:], block.Signature))
			}
		})
	}
	b.Run("single", func(b *testing.B) {
		budget.Compare(b, 1.25, budget.Cost.PerCPU, submitting(b, 1, benchBlocks(), inMemory), verify)
	})
	b.Run("batched", func(b *testing.B) {
		budget.Compare(b, 0.75, budget.Cost.PerCPU, submitting(b, 64, benchBlocks(), inMemory), verify)
	})
}

// BenchmarkBudgetIntake has blocks made durable: by 64 callers, who share the disk, five times as
// many as by one; by one, six for ten pages of 4 KiB that are overwritten and synced.
func BenchmarkBudgetIntake(b *testing.B) {
	single := submitting(b, 1, benchBlocks()/10, onDisk)
	b.Run("grouped", func(b *testing.B) {
		budget.Compare(b, 1./5, budget.Cost.PerWall, submitting(b, 64, benchBlocks(), onDisk), single)
	})
	b.Run("single", func(b *testing.B) {
		budget.Compare(b, 1/0.6, budget.Cost.PerWall, single, func() budget.Cost { return overwrite(b, benchBlocks()/10) })
	})
}

// overwrite is the floor of every durable write: one page, in place, synced.
func overwrite(b *testing.B, n int) budget.Cost {
	file, err := os.Create(filepath.Join(b.TempDir(), "page"))
	require.NoError(b, err)
	defer file.Close()
	page := make([]byte, 4096)
	return budget.Measure(n, func() {
		for range n {
			_, err := file.WriteAt(page, 0)
			require.NoError(b, errors.Join(err, unix.Fdatasync(int(file.Fd()))))
		}
	})
}

func BenchmarkReplay(b *testing.B) {
	dir := b.TempDir()
	config, users := benchConfig(b, dir, 1)
	l := open(b, config)
	for i, block := range l.sends(users[0], 5000) {
		if i%(core.MaxStakeQuota/core.QuotaPerUT) == 0 { // what the quota of one snapshot block pays for
			l.snapshot()
		}
		require.NoError(b, l.Submit(b.Context(), block))
	}
	require.NoError(b, l.Close())
	for b.Loop() {
		n, err := New(config)
		require.NoError(b, err)
		require.NoError(b, n.Close())
	}
}
