package apikey

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/core"
)

// Everything about keys holds on both engines.
func TestKeysOnSQLite(t *testing.T) {
	testKeys(t, func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "keys.db") })
}

func TestKeysOnPostgres(t *testing.T) {
	server := recordstest.Postgres(t)
	testKeys(t, server.Database)
}

func testKeys(t *testing.T, database func(testing.TB) string) {
	for name, test := range map[string]func(*testing.T, string){
		"life": keyLife, "seal": keySeal, "rows": keyRowsDoNotMix, "calls": keyCalls, "race": keyRace, "known": keyKnown, "newer": keyNewer, "orders": keyOrders, "plans": keyPlans, "sign in": keySignIn,
	} {
		t.Run(name, func(t *testing.T) { test(t, database(t)) })
	}
}

type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func keyOf(text string) core.PrivateKey {
	seed := sha256.Sum256([]byte(text))
	k, err := core.NewPrivateKey(seed[:])
	if err != nil {
		panic(err)
	}
	return k
}

var testSecret = bytes.Repeat([]byte{7}, SecretSize)

func openKeys(t testing.TB, url string, now func() time.Time) *Store {
	t.Helper()
	keys, err := Open(t.Context(), Config{URL: url, Secret: testSecret, Now: now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, keys.Close()) })
	return keys
}

func hmacOf(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

func testClock() *clock { return &clock{now: time.UnixMilli(1614571200000)} }

func keyLife(t *testing.T, url string) {
	c := testClock()
	k := openKeys(t, url, c.Now)
	owner, agent := keyOf("owner").Address(), keyOf("agent").Address()
	first, secret, err := k.Issue(t.Context(), "main", owner, agent)
	require.NoError(t, err)
	require.Regexp(t, "^[0-9A-F]{32}$", first.Key)
	require.Regexp(t, "^[0-9A-F]{32}$", secret)
	_, _, err = k.Issue(t.Context(), "main", owner, agent)
	require.ErrorIs(t, err, ErrExists)
	_, _, err = k.Issue(t.Context(), "test", owner, agent)
	require.NoError(t, err, "another network, another key")

	found, again, err := k.Find(t.Context(), "main", first.Key)
	require.NoError(t, err)
	require.Equal(t, first, found)
	require.Equal(t, secret, again)
	for _, wild := range []string{"", "\x00", "\xc4-", strings.Repeat("\xff", keyDigits), first.Key + " "} { // PostgreSQL takes no such texts
		_, _, err = k.Find(t.Context(), "main", wild)
		require.ErrorIs(t, err, ErrUnknown)
	}
	_, _, err = k.Find(t.Context(), "test", first.Key)
	require.ErrorIs(t, err, ErrUnknown)

	require.NoError(t, k.SetLimit(t.Context(), first.Key, 25))
	require.Error(t, k.SetLimit(t.Context(), first.Key, -1))
	found, err = k.OfOwner(t.Context(), "main", owner)
	require.NoError(t, err)
	require.Equal(t, 25, found.Limit)

	c.pass(time.Minute)
	require.NoError(t, k.Revoke(t.Context(), first.Key))
	require.ErrorIs(t, k.Revoke(t.Context(), first.Key), ErrUnknown)
	require.ErrorIs(t, k.SetLimit(t.Context(), first.Key, 1), ErrUnknown)
	_, err = k.OfOwner(t.Context(), "main", owner)
	require.ErrorIs(t, err, ErrUnknown)
	second, _, err := k.Issue(t.Context(), "main", owner, agent)
	require.NoError(t, err)
	require.NotEqual(t, first.Key, second.Key)
	list, err := k.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list, 3)
	require.Equal(t, second, list[0])
	var raw []string
	require.NoError(t, k.db.Select(&raw, `SELECT secret FROM api_keys`))
	require.NotContains(t, strings.ToUpper(strings.Join(raw, " ")), secret, "no secret is stored as it is")
}

func keySeal(t *testing.T, url string) {
	openKeys(t, url, testClock().Now)
	openKeys(t, url, testClock().Now)
	_, err := Open(t.Context(), Config{URL: url, Secret: bytes.Repeat([]byte{8}, SecretSize)})
	require.ErrorIs(t, err, ErrWrongSeal)
	_, err = Open(t.Context(), Config{URL: url, Secret: []byte("short")})
	require.ErrorContains(t, err, "instead of 32")
}

// Who can write to the database cannot make one account's secret sign for another.
func keyRowsDoNotMix(t *testing.T, url string) {
	k := openKeys(t, url, testClock().Now)
	first, _, err := k.Issue(t.Context(), "main", keyOf("a").Address(), keyOf("b").Address())
	require.NoError(t, err)
	second, _, err := k.Issue(t.Context(), "main", keyOf("c").Address(), keyOf("d").Address())
	require.NoError(t, err)
	_, err = k.db.Exec(k.db.Rebind(`UPDATE api_keys SET secret = (SELECT secret FROM api_keys WHERE api_key = ?) WHERE api_key = ?`), second.Key, first.Key)
	require.NoError(t, err)
	_, _, err = k.Find(t.Context(), "main", first.Key)
	require.ErrorContains(t, err, "opening the secret")
	for _, broken := range []string{"", "00", "zz"} {
		_, err = k.db.Exec(k.db.Rebind(`UPDATE api_keys SET secret = ? WHERE api_key = ?`), broken, second.Key)
		require.NoError(t, err)
		_, _, err = k.Find(t.Context(), "main", second.Key)
		require.Error(t, err)
	}
	_, err = k.db.Exec(k.db.Rebind(`UPDATE api_keys SET owner = 'x' WHERE api_key = ?`), second.Key)
	require.NoError(t, err)
	_, err = k.List(t.Context())
	require.ErrorContains(t, err, "owner")
}

func keyCalls(t *testing.T, url string) {
	c := testClock()
	k := openKeys(t, url, c.Now)
	key, _, err := k.Issue(t.Context(), "main", keyOf("a").Address(), keyOf("b").Address())
	require.NoError(t, err)
	two := Cycle{Limit: 2, Length: time.Minute}
	used := Usage{}
	once := func(text string) (wait time.Duration, err error) {
		used, wait, err = k.Count(t.Context(), Call{key.Key, text, c.Now().UnixMilli(), 1, two})
		return wait, err
	}
	_, err = once("a")
	require.NoError(t, err)
	_, err = once("a")
	require.ErrorIs(t, err, ErrRepeated, "and counts for nothing")
	c.pass(10 * time.Second)
	_, err = once("b")
	require.NoError(t, err)
	wait, err := once("c")
	require.ErrorIs(t, err, ErrOverrun)
	require.Equal(t, 50*time.Second, wait)
	require.Equal(t, Usage{2, 2, 50 * time.Second}, used)
	c.pass(50*time.Second - time.Millisecond)
	_, err = once("c")
	require.ErrorIs(t, err, ErrOverrun)
	c.pass(10 * time.Second)
	for _, text := range []string{"c", "a"} {
		_, err = once(text)
		require.NoError(t, err, "a new cycle, and what is old is forgotten")
	}
	_, _, err = k.Count(t.Context(), Call{key.Key, "dear", c.Now().UnixMilli(), 2, Cycle{3, time.Minute}})
	require.ErrorIs(t, err, ErrOverrun, "two are used, and it costs two")
	seen, _, err := k.Count(t.Context(), Call{key.Key, "dear", c.Now().UnixMilli(), 2, Cycle{4, time.Minute}})
	require.NoError(t, err)
	require.Equal(t, Usage{4, 4, time.Minute}, seen)
	require.NoError(t, k.UseOnce(t.Context(), "proof", time.Second))
	require.ErrorIs(t, k.UseOnce(t.Context(), "proof", time.Second), ErrRepeated)
}

// Two programs on one database: one request passes once, and no more calls than the limit.
func keyRace(t *testing.T, url string) {
	c := testClock()
	stores := []*Store{openKeys(t, url, c.Now), openKeys(t, url, c.Now)}
	key, _, err := stores[0].Issue(t.Context(), "main", keyOf("a").Address(), keyOf("b").Address())
	require.NoError(t, err)
	var mu sync.Mutex
	passed := map[string]int{}
	var wg sync.WaitGroup
	for i := range 40 {
		text := string(rune('a' + i/2))
		wg.Go(func() {
			_, _, err := stores[i%2].Count(t.Context(), Call{key.Key, text, c.Now().UnixMilli(), 1, Cycle{Limit: 12, Length: time.Hour}})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				passed[text]++
			}
		})
	}
	wg.Wait()
	require.Len(t, passed, 12)
	for text, n := range passed {
		require.Equal(t, 1, n, text)
	}
}

// What another program changes takes effect a little later; what this one does, at once.
func keyKnown(t *testing.T, url string) {
	c := testClock()
	k, beside := openKeys(t, url, c.Now), openKeys(t, url, c.Now)
	key, _, err := k.Issue(t.Context(), "main", keyOf("a").Address(), keyOf("b").Address())
	require.NoError(t, err)
	find := func() (Key, error) {
		found, _, err := k.Find(t.Context(), "main", key.Key)
		return found, err
	}
	_, err = find()
	require.NoError(t, err)
	_, _, err = k.Find(t.Context(), "test", key.Key)
	require.ErrorIs(t, err, ErrUnknown, "known on the other network only")
	require.NoError(t, k.SetLimit(t.Context(), key.Key, 7))
	found, err := find()
	require.NoError(t, err)
	require.Equal(t, 7, found.Limit)

	require.NoError(t, beside.Revoke(t.Context(), key.Key))
	c.pass(keyCacheTTL - time.Millisecond)
	_, err = find()
	require.NoError(t, err)
	c.pass(time.Millisecond)
	_, err = find()
	require.ErrorIs(t, err, ErrUnknown)

	key, _, err = k.Issue(t.Context(), "main", keyOf("a").Address(), keyOf("b").Address())
	require.NoError(t, err)
	_, err = find()
	require.NoError(t, err)
	require.NoError(t, k.Revoke(t.Context(), key.Key))
	_, err = find()
	require.ErrorIs(t, err, ErrUnknown)
}

func keyNewer(t *testing.T, url string) {
	k := openKeys(t, url, testClock().Now)
	_, err := k.db.Exec(k.db.Rebind(`INSERT INTO exchange_keys_version (version_id, is_applied) VALUES (?, ?)`), 999, true)
	require.NoError(t, err)
	_, err = Open(t.Context(), Config{URL: url, Secret: testSecret})
	require.ErrorIs(t, err, ErrNewer)
}

func TestKeysURL(t *testing.T) {
	for _, url := range []string{"", "mysql://x", "sqlite:", "sqlite:file:x", "sqlite::memory:", "sqlite:a?b", "postgres://%zz:secret@host/", "/plain"} {
		_, err := Open(t.Context(), Config{URL: url, Secret: testSecret})
		require.Error(t, err, url)
		require.NotContains(t, err.Error(), "secret@", url)
	}
	_, err := Open(t.Context(), Config{URL: "sqlite:" + t.TempDir(), Secret: testSecret})
	require.Error(t, err)
}
