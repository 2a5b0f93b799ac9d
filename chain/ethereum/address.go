package ethereum

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// lastPrecompile is the end of the range that EVM chains reserve for built-in contracts (P256VERIFY
// of EIP-7951 has 0x100).
const lastPrecompile = 0x1ff

// CheckAddress returns the EIP-55 form of an address that can be paid. ErrAddress: not 0x and 40
// hex digits, a wrong checksum, the zero address, a built-in contract, one of the bridged token
// contracts, or the contract of batches. ErrLabel: not empty and not printable UTF-8 of up to 64
// bytes.
func (c *SigningRules) CheckAddress(addr, label string) (string, error) {
	to, err := parseAddress(addr)
	if err != nil {
		return "", err
	}
	if isReserved(to) {
		return "", fmt.Errorf("%w: %s has no owner", chain.ErrAddress, to)
	}
	if c.isToken(to) {
		return "", fmt.Errorf("%w: %s is the token's own contract", chain.ErrAddress, to)
	}
	if to == c.payouts {
		return "", fmt.Errorf("%w: %s is the contract of batches", chain.ErrAddress, to)
	}
	if fault := labelFault([]byte(label)); fault != "" {
		return "", fmt.Errorf("%w: %s", chain.ErrLabel, fault)
	}
	return to.Hex(), nil
}

// parseAddress reads 0x and 40 hex digits. Digits in both cases carry a checksum, which must be
// right (EIP-55).
func parseAddress(text string) (common.Address, error) {
	if len(text) != 2+2*common.AddressLength || text[:2] != "0x" || !common.IsHexAddress(text) {
		return common.Address{}, fmt.Errorf("%w: must be 0x and 40 hex digits", chain.ErrAddress)
	}
	address, digits := common.HexToAddress(text), text[2:]
	if digits == strings.ToLower(digits) || digits == strings.ToUpper(digits) {
		return address, nil
	}
	if address.Hex() != text {
		return common.Address{}, fmt.Errorf("%w: the checksum of capital letters is wrong", chain.ErrAddress)
	}
	return address, nil
}

// CanonicalAddress returns the EIP-55 form of an address, as in reports of senders. ErrAddress: it
// is none, or its checksum is wrong.
func CanonicalAddress(text string) (string, error) {
	address, err := parseAddress(text)
	if err != nil {
		return "", err
	}
	return address.Hex(), nil
}

// isReserved is true for 0x0 to 0x1ff.
func isReserved(a common.Address) bool {
	n := a.Big()
	return n.IsUint64() && n.Uint64() <= lastPrecompile
}

// party is one node's view of an address.
type party struct {
	contract bool
	sent     uint64
}

// Party reports whether an address has code and how many transactions it has sent, as of the nodes'
// latest blocks. It returns the maximum of the answers, which only makes a caller more careful. An
// account that delegates (EIP-7702) still has its owner's key and is no contract.
func (c *Chain) Party(ctx context.Context, address string) (contract bool, sent uint64, err error) {
	c = c.current()
	a, err := parseAddress(address)
	if err != nil {
		return false, 0, fmt.Errorf("reading %q: %w", address, err)
	}
	question := func(ctx context.Context, n *node) (party, error) { return partyAt(ctx, n, a) }
	same := quorum.Same[*node](c.majority(), func(p party) party { return p })
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, question, same))
	if len(good) == 0 {
		return false, 0, fmt.Errorf("reading %s: %w", address, unavailable(faults))
	}
	for _, g := range good {
		contract, sent = contract || g.Value.contract, max(sent, g.Value.sent)
	}
	return contract, sent, nil
}

func partyAt(ctx context.Context, n *node, a common.Address) (party, error) {
	var code hexutil.Bytes
	var sent hexutil.Uint64
	elems := []rpc.BatchElem{
		{Method: "eth_getCode", Args: []any{a, "latest"}, Result: &code},
		{Method: "eth_getTransactionCount", Args: []any{a, "latest"}, Result: &sent},
	}
	if err := n.batch(ctx, elems); err != nil {
		return party{}, err
	}
	if err := errors.Join(elems[0].Error, elems[1].Error); err != nil {
		return party{}, err
	}
	return party{contract: len(code) > 0 && !bytes.HasPrefix(code, types.DelegationPrefix), sent: uint64(sent)}, nil
}
