package chain_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
)

func TestUsualInterval(t *testing.T) {
	const day = 24 * time.Hour
	second := func(height uint64) time.Duration { return time.Duration(height) * time.Second }
	for name, c := range map[string]struct {
		first, newest uint64
		at            func(height uint64) time.Duration
		want          time.Duration
	}{
		"even":         {1, 1000, second, time.Second},
		"two blocks":   {1, 2, second, time.Second},
		"seven blocks": {1, 8, second, time.Second},
		"the newest count": {1, 300, func(height uint64) time.Duration {
			return second(height) + second(min(height, 200))
		}, time.Second},
		"an outage among many blocks": {1, 1000, func(height uint64) time.Duration {
			if height >= 990 {
				return second(height) + day
			}
			return second(height)
		}, time.Second},
		"an outage a few blocks ago, on a young chain": {1, 6, func(height uint64) time.Duration {
			if height >= 3 {
				return second(height) + day
			}
			return second(height)
		}, time.Second},
	} {
		got, err := chain.UsualInterval(c.first, c.newest, func(height uint64) (time.Time, error) {
			require.GreaterOrEqual(t, height, c.first, name)
			require.LessOrEqual(t, height, c.newest, name)
			return time.Unix(1_700_000_000, 0).Add(c.at(height)), nil
		})
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}

	_, err := chain.UsualInterval(1, 1, nil)
	require.ErrorIs(t, err, chain.ErrNotFound)
	gone := errors.New("gone")
	_, err = chain.UsualInterval(1, 9, func(uint64) (time.Time, error) { return time.Time{}, gone })
	require.ErrorIs(t, err, gone)
}
