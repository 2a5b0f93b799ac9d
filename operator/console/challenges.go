package console

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"gatewayd/records"
)

// challengeLasts is the time to touch a passkey.
const challengeLasts = 5 * time.Minute

// challenge issues a challenge for a user's passkey; for no user, to sign in. The answer may come
// to another process.
func (c *Console) challenge(ctx context.Context, g Gateway, user string) ([]byte, error) {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return raw, g.Session.Store.Update(ctx, func(tx *records.Tx) error {
		return records.AddChallenge(tx, string(raw), user, challengeLasts)
	})
}

// redeem uses a challenge of a user up.
func (c *Console) redeem(ctx context.Context, g Gateway, raw []byte, user string) error {
	err := g.Session.Store.Update(ctx, func(tx *records.Tx) error { return records.UseChallenge(tx, string(raw), user) })
	if errors.Is(err, records.ErrNotFound) {
		return errChallenge
	}
	return err
}
