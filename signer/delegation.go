// Delegation addresses of the exchange API may sign orders of their account, cancellations of such
// orders on the exchange's contract, and receives, without which a new address cannot begin. They
// may sign no transfer and no other call.

package signer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/blake2b"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// levels is the number of path levels of 31 bits that identify an account: together more entropy
// than an address has against collisions.
const levels = 5

// DelegationPath returns the derivation path of an account's delegation address on a network of the
// exchange API. It follows from the wallet and the account alone, so no list of them can be lost,
// and each network has its own.
func DelegationPath(network string, owner core.Address) string {
	sum := blake2b.Sum256([]byte("delegation " + network + " " + owner.String()))
	path := "m/44'/666666'"
	for i := range levels {
		path += fmt.Sprintf("/%d'", binary.BigEndian.Uint32(sum[4*i:])&(1<<31-1))
	}
	return path
}

// DelegationDigest returns the hash of a block that the delegation address of an account may sign,
// rebuilt from the block's fields. Any other block is an error that names the forbidden field.
func DelegationDigest(block []byte, agent, owner core.Address) ([]byte, error) {
	b, err := core.DecodeBlock(block)
	if err != nil {
		return nil, fmt.Errorf("decoding the block: %w", err)
	}
	if b.Address != agent {
		return nil, fmt.Errorf("account: %s, not the delegation address %s", b.Address, agent)
	}
	switch b.BlockType {
	case core.Receive:
		err = receives(b)
	case core.SendCall:
		err = orders(b, owner)
	default:
		err = fmt.Errorf("type: %d, where %d or %d is signed", b.BlockType, core.SendCall, core.Receive)
	}
	if err != nil {
		return nil, err
	}
	hash := rebuilt(b).ComputeHash()
	if hash != b.ComputeHash() {
		return nil, errors.New("the block has more in it than an order or a receive")
	}
	return hash[:], nil
}

// rebuilt is the block with the fields that orders and receives have.
func rebuilt(b *core.AccountBlock) *core.AccountBlock {
	return &core.AccountBlock{
		BlockType: b.BlockType, Address: b.Address, Height: b.Height, PreviousHash: b.PreviousHash,
		ToAddress: b.ToAddress, TokenID: b.TokenID, SendBlockHash: b.SendBlockHash, Data: b.Data,
	}
}

func receives(b *core.AccountBlock) error {
	switch {
	case b.SendBlockHash.IsZero():
		return errors.New("source: must not be the zero hash")
	case len(b.Data) > 0:
		return errors.New("data: a receive has none")
	}
	return nil
}

func orders(b *core.AccountBlock, owner core.Address) error {
	switch {
	case b.ToAddress != core.DexFundContract:
		return fmt.Errorf("to: %s, not the exchange's contract", b.ToAddress)
	case b.TokenID != core.VITE:
		return fmt.Errorf("token: %s, not %s", b.TokenID, core.VITE)
	case !b.Amount.IsZero():
		return fmt.Errorf("amount: %s, where nothing is transferred", b.Amount.Dec())
	case !b.Fee.IsZero():
		return fmt.Errorf("fee: %s, where none is paid", b.Fee.Dec())
	case !b.SendBlockHash.IsZero():
		return errors.New("source: a call has none")
	}
	return orderOf(b.Data, owner)
}

// orderOf reads the call, and writes it again: what does not come out as it went in is none.
func orderOf(data []byte, owner core.Address) error {
	for _, m := range []struct {
		core.Method
		owner int // the argument that names the account
	}{{dex.FundPlaceAgentOrder, 0}, {dex.FundCancelBySendHash, 1}} {
		if !m.Matches(data) {
			continue
		}
		values, err := m.Unpack(data)
		if err != nil {
			return fmt.Errorf("data: %w", err)
		}
		if again, err := m.Pack(values...); err != nil || !slices.Equal(again, data) {
			return errors.New("data: not written as a call is")
		}
		if of, ok := values[m.owner].(core.Address); !ok || of != owner {
			return fmt.Errorf("data: an order of %v, not of %s", values[m.owner], owner)
		}
		return nil
	}
	return errors.New("data: neither an order nor a cancellation")
}
