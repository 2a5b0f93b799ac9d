package records

import (
	"fmt"
	"testing"

	"gatewayd/chain"

	"github.com/stretchr/testify/require"
)

// What a restore has passed over costs a new user a few questions at the signer, however much it
// is.
func TestFirstFreeIndex(t *testing.T) {
	for _, c := range []struct {
		name             string
		from, given, got int64 // all from `from` on are given, so many of them
		most             int   // questions
	}{
		{"none given", 5, 0, 5, 1},
		{"a few given", 5, singleSteps, 5 + singleSteps, singleSteps + 1},
		{"a restore of a day", 0, 20_000, 0, 40},
		{"as many as there may be", 7, 1_000_000, 0, 40},
		{"none left", maxIndex - 2, 3, -1, 3},
		{"one left at the end", maxIndex - 40, 40, maxIndex, 60},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			got, address, _, err := firstFree(c.from, func(i uint32) (string, string, error) {
				asked++
				if int64(i) < c.from+c.given {
					return "", "", chain.ErrTaken
				}
				return fmt.Sprint("0x", i), "", nil
			})
			require.LessOrEqual(t, asked, c.most)
			if c.got < 0 {
				require.ErrorIs(t, err, ErrFull)
				return
			}
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint("0x", got), address)
			require.GreaterOrEqual(t, got, c.from+c.given)
			if c.got > 0 {
				require.Equal(t, c.got, got)
			}
		})
	}
}
