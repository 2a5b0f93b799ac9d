//go:build pkcs11

package devices

import (
	"encoding/asn1"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/pkcs11"
	"github.com/stretchr/testify/require"

	"gatewayd/wallet/hsm"
)

// PIN is every token's. PINVariable has it in the environment.
const (
	PIN         = "fourteen-words"
	PINVariable = "GATEWAYD_TEST_PIN"
)

// softHSM is a module with an empty token of its own. It can be loaded once in a process.
var softHSM = sync.OnceValues(func() (string, error) {
	_, file, _, _ := runtime.Caller(0)
	script := filepath.Join(filepath.Dir(file), "../../../scripts/softhsm.sh")
	out, err := exec.Command(script).Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	dir, err := os.MkdirTemp("", "gatewayd-softhsm-")
	if err != nil {
		return "", err
	}
	conf := filepath.Join(dir, "softhsm2.conf")
	if err := os.WriteFile(conf, []byte("directories.tokendir = "+dir+"\nlog.level = ERROR\n"), 0o600); err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), os.Setenv("SOFTHSM2_CONF", conf)
})

// Token is the configuration of a new token that has one key pair, called "hot", on a curve
// ("secp256k1", "prime256v1"), for a derivation path.
func Token(t *testing.T, label, curve, path string) hsm.Config {
	t.Helper()
	library, err := softHSM()
	require.NoError(t, err)
	if library == "" {
		t.Skip("SoftHSM2 is not installed: scripts/softhsm.sh says how")
	}
	m := pkcs11.New(library)
	require.NotNil(t, m)
	if err := m.Initialize(); err != nil {
		require.ErrorIs(t, err, pkcs11.Error(pkcs11.CKR_CRYPTOKI_ALREADY_INITIALIZED))
	}
	slots, err := m.GetSlotList(false)
	require.NoError(t, err)
	empty := slots[len(slots)-1]
	require.NoError(t, m.InitToken(empty, "officer", label))
	slots, err = m.GetSlotList(true)
	require.NoError(t, err)
	for _, slot := range slots {
		if info, err := m.GetTokenInfo(slot); err != nil || info.Label != label {
			continue
		}
		session, err := m.OpenSession(slot, pkcs11.CKF_SERIAL_SESSION|pkcs11.CKF_RW_SESSION)
		require.NoError(t, err)
		require.NoError(t, m.Login(session, pkcs11.CKU_SO, "officer"))
		require.NoError(t, m.InitPIN(session, PIN))
		require.NoError(t, m.Logout(session))
		require.NoError(t, m.Login(session, pkcs11.CKU_USER, PIN))
		generate(t, m, session, "hot", curve)
		require.NoError(t, m.Logout(session))
		require.NoError(t, m.CloseSession(session))
	}
	t.Setenv(PINVariable, PIN)
	return hsm.Config{Module: library, Token: label, PINEnv: PINVariable, Keys: map[string]string{path: "hot"}}
}

// generate makes a key pair that can sign and never leaves the token.
func generate(t *testing.T, m *pkcs11.Ctx, session pkcs11.SessionHandle, label, curve string) {
	t.Helper()
	oid := map[string]asn1.ObjectIdentifier{"secp256k1": {1, 3, 132, 0, 10}, "prime256v1": {1, 2, 840, 10045, 3, 1, 7}}[curve]
	named, err := asn1.Marshal(oid)
	require.NoError(t, err)
	_, _, err = m.GenerateKeyPair(session, []*pkcs11.Mechanism{pkcs11.NewMechanism(pkcs11.CKM_EC_KEY_PAIR_GEN, nil)},
		[]*pkcs11.Attribute{
			pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true), pkcs11.NewAttribute(pkcs11.CKA_LABEL, label), pkcs11.NewAttribute(pkcs11.CKA_EC_PARAMS, named),
		},
		[]*pkcs11.Attribute{
			pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true), pkcs11.NewAttribute(pkcs11.CKA_LABEL, label), pkcs11.NewAttribute(pkcs11.CKA_SIGN, true),
			pkcs11.NewAttribute(pkcs11.CKA_SENSITIVE, true), pkcs11.NewAttribute(pkcs11.CKA_EXTRACTABLE, false),
		})
	require.NoError(t, err)
}
