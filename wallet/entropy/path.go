package entropy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	hardened = uint32(1) << 31

	// maxDepth bounds a path: BIP-32 counts levels in one byte.
	maxDepth = 255
)

// Faults of a derivation path, in the words of the exchange chain's node.
var (
	ErrPath        = errors.New("invalid derivation path")
	ErrNotHardened = errors.New("no public derivation for ed25519")
)

// IndexPath returns the path of the exchange chain's account n.
func IndexPath(n uint32) string { return fmt.Sprintf("m/44'/666666'/%d'", n) }

// EthereumPath returns the path of Ethereum's account n.
func EthereumPath(n uint32) string { return fmt.Sprintf("m/44'/60'/0'/0/%d", n) }

// parseHardened reads the exchange chain's grammar: "m" and one or more levels "/n'", n below 2^31.
// From 2^31 to 2^32-1 the fault is ErrNotHardened, as on the node; any other is ErrPath.
func parseHardened(path string) ([]uint32, error) {
	levels, err := splitPath(path)
	if err != nil || len(levels) == 0 {
		return nil, ErrPath
	}
	out := make([]uint32, len(levels))
	for i, level := range levels {
		digits, marked := strings.CutSuffix(level, "'")
		n, err := parseLevel(digits)
		if err != nil || !marked {
			return nil, ErrPath
		}
		out[i] = n
	}
	for i, n := range out {
		if n >= hardened {
			return nil, ErrNotHardened
		}
		out[i] = n | hardened
	}
	return out, nil
}

// parsePath reads the common grammar of BIP-32: "m" and levels "/n" or "/n'", n below 2^31. Errors
// are ErrPath.
func parsePath(path string) ([]uint32, error) {
	levels, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	out := make([]uint32, len(levels))
	for i, level := range levels {
		digits, marked := strings.CutSuffix(level, "'")
		n, err := parseLevel(digits)
		if err != nil || n >= hardened {
			return nil, ErrPath
		}
		if marked {
			n |= hardened
		}
		out[i] = n
	}
	return out, nil
}

func splitPath(path string) ([]string, error) {
	levels := strings.Split(path, "/")
	if levels[0] != "m" || len(levels) > maxDepth+1 {
		return nil, ErrPath
	}
	return levels[1:], nil
}

// parseLevel reads digits only; strconv alone would take a sign.
func parseLevel(digits string) (uint32, error) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, ErrPath
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0, ErrPath
	}
	return uint32(n), nil
}
