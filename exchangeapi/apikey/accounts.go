package apikey

import (
	"context"
	"errors"

	"gatewayd/vite/core"
)

// Errors of SignIn in addition to ErrUnknown and ErrRepeated. Test with errors.Is.
var (
	ErrTimestamp = errors.New("the timestamp is not in its window")
	ErrSignature = errors.New("the signature is not the key's")
)

// Accounts are the accounts of a network that have keys.
type Accounts struct {
	*Store
	Network string
}

// SignIn returns whose key it is that has signed "key=<key>&timestamp=<Unix milliseconds>":
// ErrUnknown, ErrTimestamp, ErrSignature, ErrRepeated.
func (a Accounts) SignIn(ctx context.Context, key, timestamp, signature string) (core.Address, error) {
	found, secret, err := a.Find(ctx, a.Network, key)
	if err != nil {
		return core.Address{}, err
	}
	if _, ok := SignedAt(timestamp, a.now()); !ok {
		return core.Address{}, ErrTimestamp
	}
	signed, ok := Request{Query: map[string]string{"key": key, "timestamp": timestamp}}.Verify(secret, signature)
	if !ok {
		return core.Address{}, ErrSignature
	}
	return found.Owner, a.UseOnce(ctx, "pushes "+signed, sharedRetention)
}

// IsActive reports whether a key has not ended.
func (a Accounts) IsActive(ctx context.Context, key string) (bool, error) {
	_, _, err := a.Find(ctx, a.Network, key)
	if errors.Is(err, ErrUnknown) {
		return false, nil
	}
	return err == nil, err
}
