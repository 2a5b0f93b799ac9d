package exchange

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holiman/uint256"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// chainCases are about the embedded exchange chain taking signed blocks.
func chainCases() []bench.Case {
	verify, one := bench.Side{Name: "bare verify", Part: bench.Loop(accepted, verifyBlock)}, submit(1, durable, onDisk)
	return []bench.Case{
		{
			Name: "block-accept", Unit: "block",
			About: "a block is hashed, verified, applied and logged, without waiting for a disk; yardstick: its signature verified",
			Ours:  submit(1, accepted, inMemory), Yardsticks: []bench.Side{verify},
			Goals: []bench.Goal{{Of: bench.CPU, Budget: 1.25, Limit: 1.1}},
		},
		{
			Name: "block-accept-batched", Unit: "block",
			About: "the same from 64 callers at a time, whose signatures are checked together; yardstick: each signature verified",
			Ours:  submit(64, accepted, inMemory), Yardsticks: []bench.Side{verify},
			Goals: []bench.Goal{{Of: bench.CPU, Budget: 0.75, Limit: 0.7}},
		},
		{
			Name: "intake-grouped", Unit: "block",
			About: "64 callers share the disk; yardstick: one caller, each block durable before the next",
			Ours:  submit(64, accepted, onDisk), Yardsticks: []bench.Side{{Name: "one caller", Part: one}},
			Goals: []bench.Goal{{Of: bench.Wall, Budget: 5, Limit: 7, AtLeast: true}},
		},
		{
			Name: "intake-single", Unit: "block",
			About: "one caller, each block durable before the next; yardstick: 4 KiB overwritten and synced",
			Ours:  one, Yardsticks: []bench.Side{{Name: "overwrite and fdatasync", Part: bench.Loop(durable, overwrite)}},
			Goals: []bench.Goal{{Of: bench.Wall, Budget: 0.6, Limit: 0.8, AtLeast: true}},
		},
	}
}

// How many blocks are taken: with others, and one after the other from a disk.
const (
	accepted = 20_000
	durable  = 3000
)

// Signer is an account that knows the end of its own chain.
type Signer struct {
	key      core.PrivateKey
	address  core.Address
	height   uint64
	previous core.Hash
}

// NewSigner makes the signer of that number, with nothing on its chain yet.
func NewSigner(number int) (*Signer, error) {
	var seed [core.SeedSize]byte
	binary.BigEndian.PutUint64(seed[:], uint64(number)+1)
	key, err := core.NewPrivateKey(seed[:])
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	return &Signer{key: key, address: key.Address()}, nil
}

// next signs a block as the account's next.
func (s *Signer) next(b *core.AccountBlock) *core.AccountBlock {
	b.Address, b.Height, b.PreviousHash = s.address, s.height+1, s.previous
	b.SignWith(s.key)
	s.height, s.previous = b.Height, b.Hash
	return b
}

// Transfer signs a send of the smallest unit to itself.
func (s *Signer) Transfer() *core.AccountBlock {
	return s.next(&core.AccountBlock{BlockType: core.SendCall, ToAddress: s.address, TokenID: core.VITE, Amount: *uint256.NewInt(1)})
}

// Find reads the end of the account's chain.
func (s *Signer) Find(n *node.Node) error {
	return n.Read(func(v *node.View) {
		if head := v.AccountHead(s.address); head != nil {
			s.height, s.previous = head.Height, head.Hash
		}
	})
}

// Endow gives an account VITE and the most quota that there is: after a whole window it pays for perWindow transfers.
func (s *Signer) Endow(g *ledger.Genesis) {
	const fullStake = 2_500_000
	g.Accounts = append(g.Accounts, ledger.GenesisAccount{Address: s.address, Balances: map[core.TokenID]uint256.Int{core.VITE: whole(1e9)}})
	g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: s.address, Beneficiary: s.address, Amount: whole(fullStake)})
}

const perWindow = core.MaxStakeQuota * core.QuotaWindow / core.QuotaPerUT

// whole is so many tokens of 18 decimals in their smallest unit.
func whole(n uint64) uint256.Int {
	return *new(uint256.Int).Mul(uint256.NewInt(n), uint256.NewInt(1e18))
}

// fillWindow makes as many snapshot blocks as quota gathers over.
func fillWindow(n *node.Node) error {
	return bench.Repeat(core.QuotaWindow, func() error {
		_, err := n.Snapshot()
		return err
	})
}

// signed is a chain in a directory and the signed blocks that it is to take: of each caller a list, n in all.
func signed(dir string, callers, n int) (_ *node.Node, lists [][]*core.AccountBlock, err error) {
	each := (n + callers - 1) / callers
	of := (each + perWindow - 1) / perWindow // accounts of each caller
	config := node.Config{Dir: dir, SnapshotInterval: -1}
	signers := make([]*Signer, callers*of)
	for i := range signers {
		if signers[i], err = NewSigner(i); err != nil {
			return nil, nil, err
		}
		signers[i].Endow(&config.Genesis)
	}
	chain, err := node.New(config)
	if err != nil {
		return nil, nil, err
	}
	err = fillWindow(chain)
	for _, s := range signers {
		err = errors.Join(err, s.Find(chain))
	}
	if err != nil {
		return nil, nil, errors.Join(err, chain.Close())
	}
	lists = make([][]*core.AccountBlock, callers)
	for i := range lists {
		for j := range each {
			lists[i] = append(lists[i], signers[i*of+j%of].Transfer())
		}
	}
	return chain, lists, nil
}

// Where a chain keeps its log.
func onDisk(r *bench.Run) (string, error) { return filepath.Join(r.Dir, "chain"), nil }

// inMemory is a folder whose files need no disk; "" keeps the log in the process.
func inMemory(*bench.Run) (string, error) {
	const shm = "/dev/shm"
	var s unix.Statfs_t
	if err := unix.Statfs(shm, &s); err != nil || s.Bavail*uint64(s.Bsize) < 1<<30 {
		return "", nil //nolint:nilerr // there is no such folder, or no room in it
	}
	return os.MkdirTemp(shm, "gatewayd-bench-")
}

// submit has callers submit blocks to a chain, n in all, each block taken before the caller's next.
func submit(callers, n int, where func(*bench.Run) (string, error)) bench.Part {
	return func(ctx context.Context, r *bench.Run) (bench.Figure, error) {
		dir, err := where(r)
		if err != nil {
			return bench.Figure{}, err
		}
		defer os.RemoveAll(dir)
		chain, lists, err := signed(dir, callers, r.N(n))
		if err != nil {
			return bench.Figure{}, err
		}
		f, err := r.Measure(callers*len(lists[0]), func() error {
			return share(callers*len(lists[0]), callers, func(caller, i int) error { return chain.Submit(ctx, lists[caller][i/callers]) })
		})
		return f, errors.Join(err, chain.Close())
	}
}

// share has several workers do n things between them.
func share(n, workers int, do func(worker, i int) error) error {
	var g errgroup.Group
	for w := range workers {
		g.Go(func() error {
			for i := w; i < n; i += workers {
				if err := do(w, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func verifyBlock(*bench.Run) (func() error, error) {
	s, err := NewSigner(0)
	if err != nil {
		return nil, err
	}
	b := s.Transfer()
	return func() error {
		if !core.Verify(b.PublicKey, b.Hash[:], b.Signature) {
			return errors.New("a good signature does not verify")
		}
		return nil
	}, nil
}

// overwrite is the floor of every durable write: one page, in place, synced.
func overwrite(r *bench.Run) (func() error, error) {
	file, err := os.Create(filepath.Join(r.Dir, "page"))
	page := make([]byte, 4096)
	return func() error {
		if _, err := file.WriteAt(page, 0); err != nil {
			return err
		}
		return unix.Fdatasync(int(file.Fd()))
	}, err
}
