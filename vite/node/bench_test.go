package node

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

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

// perSnapshot is how many transfers the quota of one snapshot block pays for.
const perSnapshot = core.MaxStakeQuota / core.QuotaPerUT

// submitAll submits in order, with a snapshot block where quota needs one.
func submitAll(b *testing.B, l *testChain, list []*core.AccountBlock) {
	for i, block := range list {
		if i%perSnapshot == 0 {
			l.snapshot()
		}
		if err := l.Submit(context.Background(), block); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerify(b *testing.B) {
	l := setup(b)
	block := l.sends(l.rich, 1)[0]
	for b.Loop() {
		if !core.Verify(block.PublicKey, block.Hash[:], block.Signature) {
			b.Fatal("does not verify")
		}
	}
}

func BenchmarkSubmitInMemory(b *testing.B) {
	config, users := benchConfig(b, "", 1)
	l := open(b, config)
	list := l.sends(users[0], b.N)
	b.ResetTimer()
	submitAll(b, l, list)
}

func BenchmarkSubmitDurable(b *testing.B) {
	config, users := benchConfig(b, b.TempDir(), 1)
	l := open(b, config)
	list := l.sends(users[0], b.N)
	b.ResetTimer()
	submitAll(b, l, list)
}

// BenchmarkSubmitDurable64 has 64 callers share the disk.
func BenchmarkSubmitDurable64(b *testing.B) {
	const callers = 64
	config, users := benchConfig(b, b.TempDir(), callers)
	l := open(b, config)
	lists := make([][]*core.AccountBlock, callers)
	for i, u := range users {
		lists[i] = l.sends(u, b.N/callers+1)
	}
	for range core.QuotaWindow {
		l.snapshot()
	}
	b.ResetTimer()
	var wg sync.WaitGroup
	for _, list := range lists {
		wg.Go(func() {
			for i, block := range list {
				if i%perSnapshot == perSnapshot-1 {
					l.snapshot()
				}
				if err := l.Submit(context.Background(), block); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkDisk is the yardstick: a write of a block's size and an fsync.
func BenchmarkDisk(b *testing.B) {
	file, err := os.Create(filepath.Join(b.TempDir(), "file"))
	require.NoError(b, err)
	defer file.Close()
	data := make([]byte, 400)
	for b.Loop() {
		_, err := file.Write(data)
		if err == nil {
			err = file.Sync()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReplay(b *testing.B) {
	dir := b.TempDir()
	config, users := benchConfig(b, dir, 1)
	l := open(b, config)
	submitAll(b, l, l.sends(users[0], 5000))
	require.NoError(b, l.Close())
	for b.Loop() {
		n, err := New(config)
		require.NoError(b, err)
		require.NoError(b, n.Close())
	}
}
