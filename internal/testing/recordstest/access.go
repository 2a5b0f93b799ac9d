package recordstest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/records"
	"gatewayd/records/access"
)

// testAccess: the users of the console, and the lifetime of sessions.
func testAccess(t *testing.T, url string) {
	r := newRig(t, url)
	anna := access.User{Name: "anna", Role: access.Operator, Password: "$argon2id$…", TOTP: "ABC"}
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return access.Put(tx, access.User{Name: "Anna!", Role: access.Viewer}) }), access.ErrName)
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return access.Put(tx, access.User{Name: "anna", Role: "owner"}) }), access.ErrRole)
	r.Do(func(tx *records.Tx) error { return access.Put(tx, anna) })
	r.Do(func(tx *records.Tx) error { return access.Put(tx, access.User{Name: "bert", Role: access.Viewer}) })
	r.See(func(tx *records.Tx) error {
		list, err := access.Users(tx)
		require.NoError(t, err)
		require.Len(t, list, 2)
		got, err := access.UserOf(tx, "anna")
		require.NoError(t, err)
		require.Equal(t, []any{anna.Role, anna.Password, anna.TOTP}, []any{got.Role, got.Password, got.TOTP})
		_, err = access.UserOf(tx, "carl")
		require.ErrorIs(t, err, records.ErrNotFound)
		return nil
	})

	r.Do(func(tx *records.Tx) error { return access.UseCode(tx, "anna", 7) })
	for _, step := range []uint64{7, 6} {
		require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return access.UseCode(tx, "anna", step) }), access.ErrUsed)
	}

	signIn := func(token string) {
		r.Do(func(tx *records.Tx) error { return access.SignIn(tx, "anna", token, "csrf of "+token) })
	}
	session := func(token string) (s access.Session, due bool, err error) {
		r.See(func(tx *records.Tx) error { s, due, err = access.SessionOf(tx, token); return nil })
		return s, due, err
	}
	signIn("one")
	s, due, err := session("one")
	require.NoError(t, err)
	require.Equal(t, []any{"anna", access.Operator, "csrf of one", false}, []any{s.User.Name, s.User.Role, s.CSRF, due})
	_, _, err = session("another")
	require.ErrorIs(t, err, records.ErrNotFound)

	r.Pass(access.Idle - time.Second)
	_, due, err = session("one")
	require.NoError(t, err)
	require.True(t, due)
	r.Do(func(tx *records.Tx) error { return access.Touch(tx, "one") })
	r.Pass(access.Idle - time.Second)
	_, _, err = session("one")
	require.NoError(t, err, "it was used")
	r.Pass(2 * time.Second)
	_, _, err = session("one")
	require.ErrorIs(t, err, records.ErrNotFound, "nobody used it")

	signIn("two")
	for range access.Longest / access.Idle * 2 {
		r.Pass(access.Idle / 2)
		r.Do(func(tx *records.Tx) error { return access.Touch(tx, "two") })
	}
	_, _, err = session("two")
	require.ErrorIs(t, err, records.ErrNotFound, "however often it is used")

	signIn("three")
	r.Do(func(tx *records.Tx) error { return access.SignOut(tx, "three") })
	_, _, err = session("three")
	require.ErrorIs(t, err, records.ErrNotFound)
	signIn("four")
	r.Do(func(tx *records.Tx) error { return access.Put(tx, anna) })
	_, _, err = session("four")
	require.ErrorIs(t, err, records.ErrNotFound, "who gets another password is signed out")
	r.Do(func(tx *records.Tx) error { return access.UseCode(tx, "anna", 1) })
	testPasskeys(r)
	signIn("five")
	r.Do(func(tx *records.Tx) error { return access.Remove(tx, "anna") })
	_, _, err = session("five")
	require.ErrorIs(t, err, records.ErrNotFound)
	require.ErrorIs(t, r.Try(func(tx *records.Tx) error { return access.Remove(tx, "anna") }), records.ErrNotFound)
	r.See(func(tx *records.Tx) error {
		lines, err := tx.History("console", "anna")
		require.NoError(t, err)
		require.Equal(t, []string{"set", "removed"}, []string{lines[0].Event, lines[len(lines)-1].Event})
		left, err := access.Passkeys(tx, "anna")
		require.Empty(t, left, "they go with the user")
		return err
	})
}

// testPasskeys: bounded, each of one user, and counted upwards.
func testPasskeys(r *Rig) {
	add := func(id, user, label string) error {
		return r.Try(func(tx *records.Tx) error {
			return access.AddPasskey(tx, access.Passkey{ID: id, User: user, Label: label, Key: "passkey:" + id, Count: 3})
		})
	}
	require.NoError(r.T, add("k1", "anna", " laptop "))
	require.ErrorIs(r.T, add("k1", "bert", "the same"), records.ErrConflict)
	for _, label := range []string{"", " ", "\x00", strings.Repeat("x", 65)} {
		require.ErrorIs(r.T, add("k2", "anna", label), access.ErrLabel)
	}
	for i := range access.MaxPasskeys - 1 {
		require.NoError(r.T, add(fmt.Sprint("more", i), "anna", "another"))
	}
	require.ErrorIs(r.T, add("k2", "anna", "one too many"), access.ErrMany)
	use := func(id string, count uint32) error {
		return r.Try(func(tx *records.Tx) error { return access.UsePasskey(tx, id, count) })
	}
	require.NoError(r.T, use("k1", 4))
	for _, count := range []uint32{4, 3, 0} {
		require.ErrorIs(r.T, use("k1", count), access.ErrUsed)
	}
	require.ErrorIs(r.T, use("nobody's", 9), access.ErrUsed)
	r.See(func(tx *records.Tx) error {
		p, err := access.PasskeyOf(tx, "k1")
		require.Equal(r.T, []any{"anna", "laptop", "passkey:k1", uint32(4), r.Now()}, []any{p.User, p.Label, p.Key, p.Count, p.Used.UTC()})
		return err
	})
	remove := func(user, id string) error {
		return r.Try(func(tx *records.Tx) error { return access.RemovePasskey(tx, user, id, "") })
	}
	require.ErrorIs(r.T, remove("bert", "k1"), records.ErrNotFound)
	require.NoError(r.T, remove("anna", "k1"))
	require.ErrorIs(r.T, remove("anna", "k1"), records.ErrNotFound)
	require.NoError(r.T, add("k1", "bert", "bert's now"))
	r.Do(func(tx *records.Tx) error {
		return access.AddPasskey(tx, access.Passkey{ID: "k3", User: "bert", Label: "does not count", Key: "passkey:k3"})
	})
	for range 2 {
		require.NoError(r.T, use("k3", 0))
	}
}
