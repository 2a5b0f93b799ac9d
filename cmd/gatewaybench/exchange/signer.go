package exchange

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/holiman/uint256"
	"golang.org/x/sync/errgroup"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
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

// Endow gives an account VITE and the most quota that there is.
func (s *Signer) Endow(g *ledger.Genesis) {
	const fullStake = 2_500_000
	g.Accounts = append(g.Accounts, ledger.GenesisAccount{Address: s.address, Balances: map[core.TokenID]uint256.Int{core.VITE: whole(1e9)}})
	g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: s.address, Beneficiary: s.address, Amount: whole(fullStake)})
}

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
