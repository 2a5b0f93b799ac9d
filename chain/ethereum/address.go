package ethereum

import (
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"gatewayd/chain"
)

// lastPrecompile is the end of the range that EVM chains keep for built-in contracts (P256VERIFY of EIP-7951 stands at 0x100).
const lastPrecompile = 0x1ff

// CheckAddress answers the EIP-55 form of an address that can be paid. ErrAddress: not 0x and 40 hex digits, a wrong checksum, the zero
// address, a built-in contract, or one of the bridged token contracts. ErrLabel: not empty and not printable UTF-8 of up to 64 bytes.
func (c *Chain) CheckAddress(addr, label string) (string, error) {
	to, err := parseAddress(addr)
	if err != nil {
		return "", err
	}
	if isReserved(to) {
		return "", fmt.Errorf("%w: %s belongs to nobody", chain.ErrAddress, to)
	}
	if c.isToken(to) {
		return "", fmt.Errorf("%w: %s is the token's own contract", chain.ErrAddress, to)
	}
	if fault := labelFault([]byte(label)); fault != "" {
		return "", fmt.Errorf("%w: %s", chain.ErrLabel, fault)
	}
	return to.Hex(), nil
}

// parseAddress reads 0x and 40 hex digits. Digits in both cases carry a checksum, which must be right (EIP-55).
func parseAddress(text string) (common.Address, error) {
	if len(text) != 2+2*common.AddressLength || text[:2] != "0x" || !common.IsHexAddress(text) {
		return common.Address{}, fmt.Errorf("%w: 0x and 40 hex digits wanted", chain.ErrAddress)
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

// CanonicalAddress answers the EIP-55 form of an address, which is how senders are told of. ErrAddress: it is none, or its checksum is wrong.
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
