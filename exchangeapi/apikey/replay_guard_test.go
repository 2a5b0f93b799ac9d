package apikey

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
)

// program is a store of keys as one life of the daemon has it.
type program struct {
	*Store
	t     *testing.T
	clock *clock
	key   string
}

// openAfterKill opens the database of those before. It is not closed: a program that is killed does
// not do so.
func openAfterKill(t *testing.T, url string, c *clock) *program {
	k, err := Open(t.Context(), Config{URL: url, Secret: testSecret, Now: c.Now})
	require.NoError(t, err)
	t.Cleanup(func() { k.db.Close() })
	p := &program{k, t, c, ""}
	key, err := k.OfOwner(t.Context(), "main", keyOf("owner").Address())
	if errors.Is(err, ErrUnknown) {
		key, _, err = k.Issue(t.Context(), "main", keyOf("owner").Address(), keyOf("agent").Address())
	}
	require.NoError(t, err)
	p.key = key.Key
	return p
}

// at is a request that was signed so long from now; each has its own text.
func (p *program) at(d time.Duration) Call {
	at := p.clock.Now().Add(d).UnixMilli()
	return Call{p.key, strconv.FormatInt(at, 10), at, 1, Cycle{Limit: 3, Length: time.Minute}}
}

func (p *program) use(c Call) error {
	_, _, err := p.Count(context.Background(), c)
	return err
}

func sqliteURL(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "keys.db") }

// A program that was killed has used what the next one does not know. That refuses all which it may
// have been.
func TestOnceAfterAKill(t *testing.T) {
	url, c := sqliteURL(t), testClock()
	first := openAfterKill(t, url, c)
	used, ahead := first.at(0), first.at(999*time.Millisecond)
	require.NoError(t, first.use(used))
	require.NoError(t, first.use(ahead))
	require.ErrorIs(t, first.use(used), ErrRepeated)

	next := openAfterKill(t, url, c)
	for _, again := range []Call{used, ahead, next.at(time.Millisecond), next.at(-5 * time.Second)} {
		require.ErrorIs(t, next.use(again), ErrForgotten)
	}
	c.pass(2 * time.Second)
	require.NoError(t, next.use(next.at(0)))
	require.ErrorIs(t, next.use(ahead), ErrForgotten, "and for ever")
}

// A program that ended well keeps no client of the next waiting.
func TestOnceAfterAnEnd(t *testing.T) {
	url, c := sqliteURL(t), testClock()
	first := openAfterKill(t, url, c)
	require.NoError(t, first.guard.close(), "nothing was used")
	used := first.at(0)
	require.NoError(t, first.use(used))
	require.NoError(t, first.guard.close())

	next := openAfterKill(t, url, c)
	require.ErrorIs(t, next.use(used), ErrForgotten)
	require.NoError(t, next.use(next.at(time.Millisecond)))
	require.NoError(t, next.use(next.at(2*time.Millisecond)))
	require.ErrorIs(t, next.use(next.at(3*time.Millisecond)), ErrOverrun, "the first program's call counts")
	_, wait, err := next.Count(t.Context(), used)
	require.ErrorIs(t, err, ErrForgotten)
	require.Equal(t, time.Millisecond, wait)
}

// With two programs at a time, one refuses requests that the other has used, and the older program
// cannot continue.
func TestOnceWithARival(t *testing.T) {
	url, c := sqliteURL(t), testClock()
	first := openAfterKill(t, url, c)
	require.NoError(t, first.use(first.at(0)))
	second := openAfterKill(t, url, c)
	require.ErrorIs(t, second.use(first.at(watermarkStep/2)), ErrForgotten, "the first may let it through")
	require.NoError(t, first.use(first.at(watermarkStep/2)))
	require.NoError(t, second.use(second.at(2*time.Second)))
	require.ErrorIs(t, first.use(first.at(3*time.Second)), errTakenOver)
	require.NoError(t, first.guard.close())
	require.NoError(t, second.use(second.at(4*time.Second)))
}

// A database of the program before this one has calls without a mark.
func TestOnceAfterAnOlderProgram(t *testing.T) {
	url, c := sqliteURL(t), testClock()
	k := openAfterKill(t, url, c)
	_, err := k.db.Exec(`INSERT INTO api_cycles (api_key, started, calls) VALUES (?, ?, 2)`, k.key, c.Now().UnixMilli())
	require.NoError(t, err)
	require.ErrorIs(t, k.use(k.at(0)), ErrForgotten)
	c.pass(maxAhead)
	require.NoError(t, k.use(k.at(0)))
	require.ErrorIs(t, k.use(k.at(1)), ErrRepeated)
	require.ErrorIs(t, k.use(k.at(time.Millisecond)), ErrOverrun)
}

// A mark that cannot be moved lets nothing through.
func TestOnceWithoutTheDatabase(t *testing.T) {
	k := openAfterKill(t, sqliteURL(t), testClock())
	require.NoError(t, k.use(k.at(0)))
	_, err := k.db.Exec(`DROP TABLE api_mark`)
	require.NoError(t, err)
	require.NoError(t, k.use(k.at(watermarkStep/2)), "below the mark")
	require.ErrorContains(t, k.use(k.at(time.Second)), "moving the mark")
}

// Whatever happens, no request is let through twice, and one that is new and in time is unless a
// program has just been killed.
func TestOnceAtRandom(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	url, c := sqliteURL(t), testClock()
	k := openAfterKill(t, url, c)
	used, all := map[string]bool{}, []Call{}
	latest, safe := c.Now(), c.Now() // the latest time it has been, and from when on a new request must pass
	for range 4000 {
		switch n := rng.IntN(1000); {
		case n < 3:
			k, safe = openAfterKill(t, url, c), later(safe, latest.Add(maxAhead+watermarkStep))
		case n < 6:
			require.NoError(t, k.Close())
			k, safe = openAfterKill(t, url, c), later(safe, latest.Add(maxAhead))
		case n < 500:
			c.pass(time.Duration(rng.IntN(300)) * time.Millisecond)
		case n < 505:
			c.pass(-time.Duration(rng.IntN(5000)) * time.Millisecond)
			safe = later(safe, latest.Add(maxAhead+watermarkStep))
		}
		latest = later(latest, c.Now())
		r := k.at(time.Duration(rng.IntN(6000)-5000) * time.Millisecond)
		r.Cycle.Limit = 1 << 30
		if len(all) > 0 && rng.IntN(3) == 0 {
			r = all[max(0, len(all)-1-rng.IntN(50))]
		}
		age := c.Now().UnixMilli() - r.At
		if age <= -maxAhead.Milliseconds() || age > maxAge.Milliseconds() {
			continue
		}
		err := k.use(r)
		if err == nil {
			require.False(t, used[r.Text], "twice")
			used[r.Text] = true
			all = append(all, r)
			continue
		}
		require.True(t, used[r.Text] || r.At < safe.UnixMilli(), "refused without a reason: %v", err)
	}
	require.Greater(t, len(used), 1000)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// TestOnceWithClocksApart: a program whose clock is slow takes no request that another one with the
// right time has taken and forgotten.
func TestOnceWithClocksApart(t *testing.T) {
	url := recordstest.Postgres(t).Database(t)
	right, slow := testClock(), testClock()
	slow.pass(-30 * time.Second)
	first, second := openAfterKill(t, url, right), openAfterKill(t, url, slow)
	used := first.at(0)
	require.NoError(t, first.use(used))
	right.pass(10 * time.Second)
	slow.pass(30 * time.Second)
	require.NoError(t, first.use(first.at(0)), "it forgets old requests")
	require.ErrorIs(t, second.use(used), ErrRepeated)
}
