package exchange

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/holiman/uint256"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// chainCases are about the embedded exchange chain taking signed blocks.
func chainCases() []bench.Case {
	return []bench.Case{
		{
			Name: "block-accept", Group: bench.Exchange, Unit: "block",
			About:      "a block is hashed, verified, applied and logged, without waiting for a disk; yardstick: its signature verified",
			Ours:       func(ctx context.Context, r *bench.Run) (bench.Figure, error) { return acceptFrom(ctx, r, 1) },
			Yardsticks: []bench.Yardstick{{Name: "bare verify", Part: verifyBlocks}},
			Goals:      []bench.Goal{{Of: bench.CPU, Budget: 1.25, Limit: 1.1}},
		},
		{
			Name: "block-accept-batched", Group: bench.Exchange, Unit: "block",
			About:      "the same from 64 callers at a time, whose signatures are checked together; yardstick: each signature verified",
			Ours:       func(ctx context.Context, r *bench.Run) (bench.Figure, error) { return acceptFrom(ctx, r, 64) },
			Yardsticks: []bench.Yardstick{{Name: "bare verify", Part: verifyBlocks}},
			Goals:      []bench.Goal{{Of: bench.CPU, Budget: 0.7, Limit: 0.6}},
		},
		{
			Name: "intake-grouped", Group: bench.Exchange, Unit: "block",
			About: "64 callers share the disk; yardstick: one caller, each block durable before the next",
			Ours: func(ctx context.Context, r *bench.Run) (bench.Figure, error) {
				return submitDurably(ctx, r, 64, 20_000)
			},
			Yardsticks: []bench.Yardstick{{Name: "one caller", Part: oneCaller}},
			Goals:      []bench.Goal{{Of: bench.Wall, Budget: 5, Limit: 7, AtLeast: true}},
		},
		{
			Name: "intake-single", Group: bench.Exchange, Unit: "block",
			About:      "one caller, each block durable before the next; yardstick: 4 KiB overwritten and synced",
			Ours:       oneCaller,
			Yardsticks: []bench.Yardstick{{Name: "overwrite and fdatasync", Part: overwrite}},
			Goals:      []bench.Goal{{Of: bench.Wall, Budget: 0.6, Limit: 0.8, AtLeast: true}},
		},
	}
}

// oneCaller is the plainest way to durable blocks.
func oneCaller(ctx context.Context, r *bench.Run) (bench.Figure, error) {
	return submitDurably(ctx, r, 1, 3000)
}

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

func newSigners(n int) ([]*Signer, error) {
	signers := make([]*Signer, n)
	for i := range signers {
		var err error
		if signers[i], err = NewSigner(i); err != nil {
			return nil, err
		}
	}
	return signers, nil
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
	err := n.Read(func(v *node.View) {
		if head := v.AccountHead(s.address); head != nil {
			s.height, s.previous = head.Height, head.Hash
		}
	})
	if err != nil {
		return fmt.Errorf("reading the end of an account: %w", err)
	}
	return nil
}

// Quota: a stake of fullStake gives an account the most there is, which after a whole window pays for perWindow transfers.
const (
	fullStake = 2_500_000
	perWindow = core.MaxStakeQuota * core.QuotaWindow / core.QuotaPerUT
)

// viteUnits is so many VITE in their smallest unit.
func viteUnits(n uint64) uint256.Int {
	return *new(uint256.Int).Mul(uint256.NewInt(n), uint256.NewInt(1e18))
}

// chainOf opens a chain whose signers have VITE and a window of quota. It makes no snapshot blocks by itself.
func chainOf(dir string, signers []*Signer) (*node.Node, error) {
	config := node.Config{Dir: dir, SnapshotInterval: -1}
	for _, s := range signers {
		config.Genesis.Accounts = append(config.Genesis.Accounts,
			ledger.GenesisAccount{Address: s.address, Balances: map[core.TokenID]uint256.Int{core.VITE: viteUnits(1000)}})
		config.Genesis.Stakes = append(config.Genesis.Stakes, ledger.GenesisStake{Staker: s.address, Beneficiary: s.address, Amount: viteUnits(fullStake)})
	}
	n, err := node.New(config)
	if err != nil {
		return nil, err
	}
	if err := fillWindow(n); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	for _, s := range signers {
		if err := s.Find(n); err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	return n, nil
}

func fillWindow(n *node.Node) error {
	for range core.QuotaWindow {
		if _, err := n.Snapshot(); err != nil {
			return err
		}
	}
	return nil
}

// prepared is a chain and the signed blocks that it is to take: of each caller a list, n in all.
func prepared(dir string, callers, n int) (*node.Node, [][]*core.AccountBlock, error) {
	each := (n + callers - 1) / callers
	of := (each + perWindow - 1) / perWindow // accounts of each caller
	signers, err := newSigners(callers * of)
	if err != nil {
		return nil, nil, err
	}
	chain, err := chainOf(dir, signers)
	if err != nil {
		return nil, nil, err
	}
	lists := make([][]*core.AccountBlock, callers)
	for i := range lists {
		for j := range each {
			lists[i] = append(lists[i], signers[i*of+j%of].Transfer())
		}
	}
	return chain, lists, nil
}

// memoryDir is a directory whose files need no disk, "" where there is none.
func memoryDir() (string, error) {
	const shm = "/dev/shm"
	var s syscall.Statfs_t
	if err := syscall.Statfs(shm, &s); err != nil || s.Bavail*uint64(s.Bsize) < 4<<30 {
		return "", nil //nolint:nilerr // then the chain keeps its log in memory itself
	}
	dir, err := os.MkdirTemp(shm, "gatewayd-bench-")
	if err != nil {
		return "", fmt.Errorf("making a directory in memory: %w", err)
	}
	return dir, nil
}

const accepted = 20_000

// acceptFrom has callers submit to a chain whose log is a file in memory.
func acceptFrom(ctx context.Context, r *bench.Run, callers int) (bench.Figure, error) {
	dir, err := memoryDir()
	if err != nil {
		return bench.Figure{}, err
	}
	if dir != "" {
		defer func() { _ = os.RemoveAll(dir) }() // of memory
	}
	return submitFrom(ctx, r, dir, callers, accepted)
}

func submitAll(ctx context.Context, n *node.Node, list []*core.AccountBlock) error {
	for _, b := range list {
		if err := n.Submit(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

func verifyBlocks(_ context.Context, r *bench.Run) (bench.Figure, error) {
	s, err := NewSigner(0)
	if err != nil {
		return bench.Figure{}, err
	}
	list := make([]*core.AccountBlock, r.N(accepted))
	for i := range list {
		list[i] = s.Transfer()
	}
	return r.Measure(len(list), func() error {
		for _, b := range list {
			if !core.Verify(b.PublicKey, b.Hash[:], b.Signature) {
				return errVerify
			}
		}
		return nil
	})
}

// submitDurably has callers submit to a chain on disk, each block durable before the caller's next.
func submitDurably(ctx context.Context, r *bench.Run, callers, n int) (bench.Figure, error) {
	return submitFrom(ctx, r, filepath.Join(r.Dir, "chain"), callers, n)
}

func submitFrom(ctx context.Context, r *bench.Run, dir string, callers, n int) (bench.Figure, error) {
	chain, lists, err := prepared(dir, callers, r.N(n))
	if err != nil {
		return bench.Figure{}, err
	}
	f, err := r.Measure(len(lists)*len(lists[0]), func() error {
		return share(callers, callers, func(_, i int) error { return submitAll(ctx, chain, lists[i]) })
	})
	return f, errors.Join(err, chain.Close())
}

// overwrite is the floor of every durable write: one page, in place, synced.
func overwrite(_ context.Context, r *bench.Run) (bench.Figure, error) {
	file, err := os.Create(filepath.Join(r.Dir, "page"))
	if err != nil {
		return bench.Figure{}, fmt.Errorf("making a file: %w", err)
	}
	defer file.Close()
	page := make([]byte, 4096)
	write := func() error {
		if _, err := file.WriteAt(page, 0); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		return syncData(file)
	}
	if err := write(); err != nil {
		return bench.Figure{}, err
	}
	n := r.N(3000)
	return r.Measure(n, func() error {
		for range n {
			if err := write(); err != nil {
				return err
			}
		}
		return nil
	})
}

// signatureCases compare the exchange chain's signature with the standard library's, which signs another hash.
func signatureCases() []bench.Case {
	return []bench.Case{{
		Name: "signature", Group: bench.Exchange, Unit: "signature",
		About: "an Ed25519-BLAKE2b signature is verified; yardstick: crypto/ed25519",
		Ours:  verifyOurs, Yardsticks: []bench.Yardstick{{Name: "standard library", Part: verifyStandard}},
		Goals:  []bench.Goal{{Of: bench.CPU, Budget: 1.1, Limit: 1}},
		Scales: []float64{1},
	}}
}

var errVerify = errors.New("a good signature does not verify")

func verifyOurs(_ context.Context, r *bench.Run) (bench.Figure, error) {
	key, err := core.NewPrivateKey(make([]byte, core.SeedSize))
	if err != nil {
		return bench.Figure{}, err
	}
	message, public := make([]byte, 32), key.Public()
	signature := key.Sign(message)
	n := r.N(10_000)
	return r.Measure(n, func() error {
		for range n {
			if !core.Verify(public[:], message, signature) {
				return errVerify
			}
		}
		return nil
	})
}

func verifyStandard(_ context.Context, r *bench.Run) (bench.Figure, error) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	message := make([]byte, 32)
	public, signature := key.Public().(ed25519.PublicKey), ed25519.Sign(key, message)
	n := r.N(10_000)
	return r.Measure(n, func() error {
		for range n {
			if !ed25519.Verify(public, message, signature) {
				return errVerify
			}
		}
		return nil
	})
}
