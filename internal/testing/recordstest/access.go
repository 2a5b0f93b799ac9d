package recordstest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// testAccess: the users of the console, and the lifetime of sessions.
func testAccess(t *testing.T, url string) {
	r := newRig(t, url)
	anna := records.User{Name: "anna", Role: records.Operator, Password: "$argon2id$…", TOTP: "ABC"}
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error {
		return records.PutUser(tx, records.User{Name: "Anna!", Role: records.Viewer})
	}), records.ErrUserName)
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return records.PutUser(tx, records.User{Name: "anna", Role: "owner"}) }), records.ErrRole)
	r.Do(func(tx *records.Tx) error { return records.PutUser(tx, anna) })
	r.Do(func(tx *records.Tx) error {
		return records.PutUser(tx, records.User{Name: "bert", Role: records.Viewer})
	})
	r.See(func(tx *records.Tx) error {
		list, err := records.Users(tx)
		require.NoError(t, err)
		require.Len(t, list, 2)
		got, err := records.UserOf(tx, "anna")
		require.NoError(t, err)
		require.Equal(t, []any{anna.Role, anna.Password, anna.TOTP}, []any{got.Role, got.Password, got.TOTP})
		_, err = records.UserOf(tx, "carl")
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})

	r.Do(func(tx *records.Tx) error { return records.UseCode(tx, "anna", 7) })
	for _, step := range []uint64{7, 6} {
		require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return records.UseCode(tx, "anna", step) }), records.ErrUsed)
	}

	signIn := func(token string) {
		r.Do(func(tx *records.Tx) error { return records.SignIn(tx, "anna", token, "csrf of "+token) })
	}
	session := func(token string) (s records.UserSession, due bool, err error) {
		r.See(func(tx *records.Tx) error { s, due, err = records.UserSessionOf(tx, token); return nil })
		return s, due, err
	}
	signIn("one")
	s, due, err := session("one")
	require.NoError(t, err)
	require.Equal(t, []any{"anna", records.Operator, "csrf of one", false}, []any{s.User.Name, s.User.Role, s.CSRF, due})
	_, _, err = session("another")
	require.ErrorIs(t, err, records.ErrNotFound)

	r.Pass(records.SessionIdle - time.Second)
	_, due, err = session("one")
	require.NoError(t, err)
	require.True(t, due)
	r.Do(func(tx *records.Tx) error { return records.TouchSession(tx, "one") })
	r.Pass(records.SessionIdle - time.Second)
	_, _, err = session("one")
	require.NoError(t, err, "it was used")
	r.Pass(2 * time.Second)
	_, _, err = session("one")
	require.ErrorIs(t, err, records.ErrNotFound, "nobody used it")

	signIn("two")
	for range records.Longest / records.SessionIdle * 2 {
		r.Pass(records.SessionIdle / 2)
		r.Do(func(tx *records.Tx) error { return records.TouchSession(tx, "two") })
	}
	_, _, err = session("two")
	require.ErrorIs(t, err, records.ErrNotFound, "however often it is used")

	signIn("three")
	r.Do(func(tx *records.Tx) error { return records.SignOut(tx, "three") })
	_, _, err = session("three")
	require.ErrorIs(t, err, records.ErrNotFound)
	signIn("four")
	r.Do(func(tx *records.Tx) error { return records.PutUser(tx, anna) })
	_, _, err = session("four")
	require.ErrorIs(t, err, records.ErrNotFound, "who gets another password is signed out")
	r.Do(func(tx *records.Tx) error { return records.UseCode(tx, "anna", 1) })
	testPasskeys(r)
	testChallenges(r)
	signIn("five")
	r.Do(func(tx *records.Tx) error { return records.RemoveUser(tx, "anna") })
	_, _, err = session("five")
	require.ErrorIs(t, err, records.ErrNotFound)
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return records.RemoveUser(tx, "anna") }), records.ErrNotFound)
	r.See(func(tx *records.Tx) error {
		lines, err := tx.History("console", "anna")
		require.NoError(t, err)
		require.Equal(t, []string{"set", "removed"}, []string{lines[0].Event, lines[len(lines)-1].Event})
		left, err := records.Passkeys(tx, "anna")
		require.Empty(t, left, "they go with the user")
		return err
	})
}

// testPasskeys: bounded, each of one user, and counted upwards.
func testPasskeys(r *Rig) {
	add := func(id, user, label string) error {
		return r.Try(func(tx *records.Tx) error {
			return records.AddPasskey(tx, records.Passkey{ID: id, User: user, Label: label, Key: "passkey:" + id, Count: 3})
		})
	}
	require.NoError(r.T, add("k1", "anna", " laptop "))
	require.ErrorIs(r.T, add("k1", "bert", "the same"), records.ErrConflict)
	for _, label := range []string{"", " ", "\x00", strings.Repeat("x", 65)} {
		require.ErrorIs(r.T, add("k2", "anna", label), records.ErrPasskeyLabel)
	}
	for i := range records.MaxPasskeys - 1 {
		require.NoError(r.T, add(fmt.Sprint("more", i), "anna", "another"))
	}
	require.ErrorIs(r.T, add("k2", "anna", "one too many"), records.ErrMany)
	use := func(id string, count uint32) error {
		return r.Try(func(tx *records.Tx) error { return records.UsePasskey(tx, id, count) })
	}
	require.NoError(r.T, use("k1", 4))
	for _, count := range []uint32{4, 3, 0} {
		require.ErrorIs(r.T, use("k1", count), records.ErrUsed)
	}
	require.ErrorIs(r.T, use("nobody's", 9), records.ErrUsed)
	r.See(func(tx *records.Tx) error {
		p, err := records.PasskeyOf(tx, "k1")
		require.Equal(r.T, []any{"anna", "laptop", "passkey:k1", uint32(4), r.Now()}, []any{p.User, p.Label, p.Key, p.Count, p.Used.UTC()})
		return err
	})
	remove := func(user, id string) error {
		return r.Try(func(tx *records.Tx) error { return records.RemovePasskey(tx, user, id, "") })
	}
	require.ErrorIs(r.T, remove("bert", "k1"), records.ErrNotFound)
	require.NoError(r.T, remove("anna", "k1"))
	require.ErrorIs(r.T, remove("anna", "k1"), records.ErrNotFound)
	require.NoError(r.T, add("k1", "bert", "bert's now"))
	r.Do(func(tx *records.Tx) error {
		return records.AddPasskey(tx, records.Passkey{ID: "k3", User: "bert", Label: "does not count", Key: "passkey:k3"})
	})
	for range 2 {
		require.NoError(r.T, use("k3", 0))
	}
}

// testChallenges: each once, for its user and in time; those that end first make room.
func testChallenges(r *Rig) {
	add := func(challenge, user string) error {
		return r.Try(func(tx *records.Tx) error { return records.AddChallenge(tx, challenge, user, time.Minute) })
	}
	use := func(challenge, user string) error {
		return r.Try(func(tx *records.Tx) error { return records.UseChallenge(tx, challenge, user) })
	}
	require.NoError(r.T, add("\x00\xff", "anna"))
	require.ErrorIs(r.T, use("\x00\xff", "bert"), records.ErrNotFound)
	require.NoError(r.T, use("\x00\xff", "anna"))
	require.ErrorIs(r.T, use("\x00\xff", "anna"), records.ErrNotFound, "once")
	require.NoError(r.T, add("late", ""))
	r.Pass(time.Minute)
	require.ErrorIs(r.T, use("late", ""), records.ErrNotFound)
	require.NoError(r.T, add("first", ""))
	r.Pass(time.Millisecond)
	r.Do(func(tx *records.Tx) error {
		for i := range 1000 {
			if err := records.AddChallenge(tx, fmt.Sprint(i), "", time.Minute); err != nil {
				return err
			}
		}
		return nil
	})
	require.ErrorIs(r.T, use("first", ""), records.ErrNotFound, "a thousand came after it")
	require.NoError(r.T, use("999", ""))
}
