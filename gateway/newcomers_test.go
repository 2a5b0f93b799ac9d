package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// TestNoTransactionWaitsForTheSigner: the records can be written while the signer gives an address
// or a label.
func TestNoTransactionWaitsForTheSigner(t *testing.T) {
	written := 0
	var r *rig
	write := func(ctx context.Context) error {
		return r.Store.Update(ctx, func(*records.Tx) error { written++; return nil })
	}
	r = setup(t, func(_ *Config, p *Parts) {
		route := &p.Routes[0]
		derive := route.Derive
		route.Derive = func(ctx context.Context, owner string, index uint32) (string, string, error) {
			if err := write(ctx); err != nil {
				return "", "", err
			}
			return derive(ctx, owner, index)
		}
		route.GiveLabel = func(ctx context.Context, _, _ string) error { return write(ctx) }
	})
	require.Zero(t, r.get(at(eth, "/deposit-info", "tokenId", token, "walletAddress", alice)).Code)
	require.Equal(t, 1, written)
	require.Zero(t, r.get(at(eth, "/deposit-info", "tokenId", labelled, "walletAddress", alice)).Code)
	require.Equal(t, 2, written)
}

// TestNewUsersAtOnce: new users who come at once get addresses of their own, without gaps, and one
// who comes many times gets one.
func TestNewUsersAtOnce(t *testing.T) {
	const n = 16
	var mu sync.Mutex
	given := map[uint32]bool{}
	r := setup(t, func(_ *Config, p *Parts) {
		p.Routes[0].Derive = func(_ context.Context, _ string, index uint32) (string, string, error) {
			mu.Lock()
			defer mu.Unlock()
			if given[index] {
				return "", "", errors.New("given before")
			}
			given[index] = true
			return fmt.Sprintf("0xin%d", index), fmt.Sprintf("m/%d", index), nil
		}
	})
	all := func(owner func(int) string) map[string]bool {
		shown := make([]string, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				served := (*r.server.served.Load())[0]
				b, err := served.bindNewcomer(t.Context(), served.Tokens[0], owner(i))
				if err == nil {
					shown[i] = b.Address
				}
			})
		}
		wg.Wait()
		distinct := map[string]bool{}
		for _, address := range shown {
			distinct[address] = true
		}
		require.NotContains(t, distinct, "")
		return distinct
	}
	require.Len(t, all(func(i int) string { return fmt.Sprint("vite_", i) }), n)
	require.Len(t, given, n)
	require.Len(t, all(func(int) string { return "vite_many" }), 1)
	require.Len(t, given, n+1, "no address is given in vain")
}
