package wallet

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"gatewayd/wallet/keystore"
)

// SeedPath is a path of the n-th successor's keys; of the first seed, 0, it is the path alone.
func SeedPath(seed int, path string) string {
	if seed == 0 {
		return path
	}
	return fmt.Sprintf("%d:%s", seed, path)
}

// parseSeedPath reads what SeedPath wrote.
func parseSeedPath(text string) (seed int, path string, err error) {
	number, path, ok := strings.Cut(text, ":")
	if !ok {
		return 0, text, nil
	}
	if seed, err = strconv.Atoi(number); err != nil || seed < 1 || SeedPath(seed, path) != text {
		return 0, "", fmt.Errorf("%w: %q", ErrPath, text)
	}
	return seed, path, nil
}

// FirstKeys are those of the first seed, wherever they are.
type FirstKeys interface {
	Address(path string) (string, error)
	DepositKey(p SourcePaths) (DepositKey, error)
	AccountKey(path string) (keystore.ExtendedPublicKey, error)
	Sign(ctx context.Context, path string, digest []byte) (public, signature []byte, err error)
}

// Successor is a later seed. New deposit addresses are derived from the last one; Accounts are the
// paths of paying accounts that are its as well.
type Successor struct {
	Keys     *Keys
	Accounts []string
}

// Ring is a seed with its successors, of which more may come while it is used. It is safe for
// concurrent use.
type Ring struct {
	first FirstKeys
	later atomic.Pointer[[]Successor] // replaced as one value, never modified
}

// NewRing is a seed without successors.
func NewRing(first FirstKeys) *Ring {
	r := &Ring{first: first}
	r.Take(nil)
	return r
}

// Take takes successors for those that it has.
func (r *Ring) Take(list []Successor) { r.later.Store(&list) }

// Seeds returns the number of seeds.
func (r *Ring) Seeds() int { return 1 + len(*r.later.Load()) }

// keys are those of a path, and the path below their seed.
func (r *Ring) keys(text string) (FirstKeys, string, error) {
	seed, path, err := parseSeedPath(text)
	later := *r.later.Load()
	switch {
	case err != nil:
		return nil, "", err
	case seed > len(later):
		return nil, "", fmt.Errorf("%w: %q is of successor %d, and there are %d", ErrPath, text, seed, len(later))
	case seed > 0:
		return later[seed-1].Keys, path, nil
	}
	for _, s := range later {
		for _, own := range s.Accounts {
			if own == path {
				return s.Keys, path, nil
			}
		}
	}
	return r.first, path, nil
}

// Address is that of a path.
func (r *Ring) Address(text string) (string, error) {
	keys, path, err := r.keys(text)
	if err != nil {
		return "", err
	}
	return keys.Address(path)
}

// AccountKey is the public part of an account of Bitcoin or its kin.
func (r *Ring) AccountKey(text string) (keystore.ExtendedPublicKey, error) {
	keys, path, err := r.keys(text)
	if err != nil {
		return keystore.ExtendedPublicKey{}, err
	}
	return keys.AccountKey(path)
}

// Sign signs with the key of a path.
func (r *Ring) Sign(ctx context.Context, text string, digest []byte) (public, signature []byte, err error) {
	keys, path, err := r.keys(text)
	if err != nil {
		return nil, nil, err
	}
	return keys.Sign(ctx, path, digest)
}

// DepositKey is the public part of the newest seed's deposit addresses.
func (r *Ring) DepositKey(p SourcePaths) (DepositKey, error) {
	later := *r.later.Load()
	if len(later) == 0 {
		return r.first.DepositKey(p)
	}
	key, err := later[len(later)-1].Keys.DepositKey(p)
	key.Seed = len(later)
	return key, err
}

// ErrSuccessors means that a used seed would be removed or replaced.
var ErrSuccessors = errors.New("addresses of successors are watched and swept permanently: add new ones at the end, and remove none")
