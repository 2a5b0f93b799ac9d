package chain_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestOnce(t *testing.T) {
	asked, fault := 0, error(nil)
	ask := func(context.Context) (int, error) {
		asked++
		return asked, fault
	}
	once := func(ctx context.Context, question string) int {
		n, err := chain.Once(ctx, question, ask)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, 1, once(t.Context(), "price"))
	require.Equal(t, 2, once(t.Context(), "price"), "without a group each call asks")
	group := chain.InGroup(t.Context())
	fault = errors.New("no answer")
	_, err := chain.Once(group, "price", ask)
	require.ErrorIs(t, err, fault)
	fault = nil
	require.Equal(t, 4, once(group, "price"), "an error is not kept")
	require.Equal(t, 4, once(group, "price"))
	require.Equal(t, 5, once(group, "another"))
	require.Equal(t, 6, once(chain.InGroup(group), "price"), "a new group asks again")
}
