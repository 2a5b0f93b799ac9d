package console

import (
	"encoding/base32"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPasswords(t *testing.T) {
	const password = "correct horse battery"
	kept, err := HashPassword(password)
	require.NoError(t, err)
	again, err := HashPassword(password)
	require.NoError(t, err)
	require.NotEqual(t, kept, again, "each has a salt of its own")
	require.NotContains(t, kept, "horse")
	for given, want := range map[string]bool{password: true, password + " ": false, "": false, strings.Repeat("x", MaxPassword+1): false} {
		fits, err := passwordFits(kept, given)
		require.NoError(t, err)
		require.Equal(t, want, fits, given)
	}
	for _, wrong := range []string{"short", strings.Repeat("x", MaxPassword+1)} {
		_, err := HashPassword(wrong)
		require.ErrorIs(t, err, ErrPassword)
	}
	for _, broken := range []string{"", "$argon2id$", "$bcrypt$v=19$m=1,t=1,p=1$AA$AA", "$argon2id$v=19$m=999999999,t=1,p=1$AA$AA", "$argon2id$v=19$m=64,t=1,p=1$!$AA"} {
		_, err := passwordFits(broken, password)
		require.Error(t, err, broken)
	}
	fits, err := passwordFits(nobody, password)
	require.NoError(t, err)
	require.False(t, fits)
}

// The vectors of RFC 6238, Appendix B, for SHA-1, by their last six digits.
func TestCodes(t *testing.T) {
	secret := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte("12345678901234567890"))
	for at, want := range map[int64]string{59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"} {
		got, err := CodeAt(secret, time.Unix(at, 0))
		require.NoError(t, err)
		require.Equal(t, want, got)
		step, ok := stepOf(secret, want, time.Unix(at, 0))
		require.True(t, ok)
		require.EqualValues(t, at/30, step)
		for _, off := range []int64{-30, 30} { // a clock may be off by a period
			_, ok = stepOf(secret, want, time.Unix(at+off, 0))
			require.True(t, ok)
		}
		_, ok = stepOf(secret, want, time.Unix(at+90, 0))
		require.False(t, ok)
	}
	for _, wrong := range []string{"", "28708", "2870820", "abcdef"} {
		_, ok := stepOf(secret, wrong, time.Unix(59, 0))
		require.False(t, ok)
	}
	_, ok := stepOf("", "287082", time.Unix(59, 0))
	require.False(t, ok, "no secret, no code")
	fresh, err := NewSecret()
	require.NoError(t, err)
	require.Equal(t, "otpauth://totp/gatewayd:anna?issuer=gatewayd&secret="+fresh, SecretURI("anna", fresh))
}
