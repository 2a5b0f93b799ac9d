package rpc

import (
	"context"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gethnode "github.com/ethereum/go-ethereum/node"
	gethrpc "github.com/ethereum/go-ethereum/rpc"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// TestEngineStyleClients: go-ethereum's own token works on both transports that want one.
func TestEngineStyleClients(t *testing.T) {
	r := start(t, nil)
	auth := gethrpc.WithHTTPAuth(gethnode.NewJWTAuth([32]byte(r.server.secret)))
	for _, target := range []string{"http://" + r.server.HTTPAddr(), "ws://" + r.server.WSAddr()} {
		c, err := gethrpc.DialOptions(t.Context(), target, auth)
		require.NoError(t, err)
		defer c.Close()
		var dir string
		require.NoError(t, c.CallContext(t.Context(), &dir, "wallet_getDataDir"))
		require.Equal(t, r.wallet.Dir(), dir)
	}
}

func TestTokens(t *testing.T) {
	secret, now := make([]byte, 32), time.Unix(1_000_000, 0)
	hs256 := `{"alg":"HS256"}`
	good := signToken(secret, hs256, `{"iat":1000000}`)
	parts := strings.Split(good, ".")
	for token, want := range map[string]string{
		good: "",
		signToken(secret, hs256, `{"iat":999940,"exp":1000001}`):       "",
		signToken(secret, hs256, `{"iat":1000060}`):                    "",
		signToken(secret, hs256, `{"iat":999939}`):                     "last minute",
		signToken(secret, hs256, `{"iat":1000061}`):                    "last minute",
		signToken(secret, hs256, `{"iat":1000000,"exp":1000000}`):      "expired",
		signToken(secret, hs256, `{"iat":1000000,"exp":"x"}`):          "invalid",
		signToken(secret, hs256, `{}`):                                 "without issued-at",
		signToken(secret, hs256, `{"iat":1e6}`):                        "without issued-at",
		signToken(secret, hs256, `no JSON`):                            "invalid",
		signToken(secret, `{"alg":"none"}`, `{"iat":1000000}`):         "invalid",
		signToken(secret, `{"alg":"HS512"}`, `{"iat":1000000}`):        "invalid",
		signToken(make([]byte, 31), hs256, `{"iat":1000000}`):          "", // a zero more or less is the same key of HMAC
		signToken([]byte("other"), hs256, `{"iat":1000000}`):           "invalid",
		parts[0] + "." + parts[1] + ".":                                "invalid",
		parts[0] + "." + parts[1]:                                      "invalid",
		good + ".x":                                                    "invalid",
		"":                                                             "invalid",
		signToken(secret, hs256, strings.Repeat(" ", maxToken)+"{}"):   "invalid",
		parts[0] + "." + parts[1] + "." + strings.ToUpper(parts[2]):    "invalid",
		strings.Replace(good, parts[1], parts[1][:len(parts[1])-1], 1): "invalid",
	} {
		err := checkToken(secret, token, now)
		if want == "" {
			require.NoError(t, err, token)
			continue
		}
		require.ErrorContains(t, err, want, token)
	}
}

func TestWhoIsKeptOut(t *testing.T) {
	r := start(t, nil)
	request := `{"jsonrpc":"2.0","id":1,"method":"wallet_getDataDir"}`
	with := func(name, value string) http.Header {
		h := r.bearer()
		h.Set(name, value)
		return h
	}
	for _, c := range []struct {
		header http.Header
		status int
		answer string
	}{
		{http.Header{}, 401, "missing token"},
		{http.Header{"Authorization": {"Basic eDp5"}}, 401, "missing token"},
		{http.Header{"Authorization": {"Bearer a.b.c"}}, 401, "invalid token"},
		{with("Origin", "http://localhost"), 403, "web pages are not served"},
		{with("Host", "evil.example"), 403, "invalid host specified"},
		{with("Host", "10.0.0.1:8645"), 403, "invalid host specified"},
		{with("Host", "localhost:8645"), 200, r.wallet.Dir()},
		{with("Host", "[::1]:8645"), 200, r.wallet.Dir()},
		{r.bearer(), 200, r.wallet.Dir()},
	} {
		status, answer := r.post(request, c.header)
		require.Equal(t, c.status, status, c.header)
		require.Contains(t, answer, c.answer)
		_, resp, err := websocket.DefaultDialer.DialContext(t.Context(), "ws://"+r.server.WSAddr(), c.header)
		if c.status == 200 {
			require.NoError(t, err, c.header)
			continue
		}
		require.Error(t, err)
		require.Equal(t, c.status, resp.StatusCode, c.header)
	}
}

func TestSecretFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jwt.hex")
	made, err := loadSecret(path)
	require.NoError(t, err)
	require.Len(t, made, secretSize)
	again, err := loadSecret(path)
	require.NoError(t, err)
	require.Equal(t, made, again)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	writeFile(t, path, []byte("0x"+hex.EncodeToString(made)+"\r\n"))
	again, err = loadSecret(path)
	require.NoError(t, err)
	require.Equal(t, made, again)
	for _, content := range []string{"", "0x", hex.EncodeToString(made[1:]), hex.EncodeToString(made) + "00", strings.Repeat("z", 64)} {
		writeFile(t, path, []byte(content))
		_, err = loadSecret(path)
		require.ErrorContains(t, err, "must hold 32 bytes")
	}
	require.NoError(t, os.Chmod(path, 0o640))
	_, err = loadSecret(path)
	require.ErrorContains(t, err, "chmod 600")
	_, err = loadSecret(filepath.Join(path, "below"))
	require.Error(t, err)
}

func TestConfigCheck(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, ""},
		{Config{IPC: "x"}, ""},
		{Config{HTTP: "127.0.0.1:1", WS: "[::1]:2", JWTSecretFile: "x"}, ""},
		{Config{HTTP: "0.0.0.0:1", JWTSecretFile: "x"}, "not an address of this machine alone"},
		{Config{WS: "192.168.0.1:1", JWTSecretFile: "x"}, "not an address of this machine alone"},
		{Config{HTTP: "localhost:1", JWTSecretFile: "x"}, "not an address of this machine alone"},
		{Config{HTTP: ":1", JWTSecretFile: "x"}, "not an address of this machine alone"},
		{Config{HTTP: "127.0.0.1:1"}, "jwt_secret_file"},
		{Config{HTTP: "127.0.0.1:1", WS: "127.0.0.1:1", JWTSecretFile: "x"}, "must not share"},
	} {
		_, err := New(c.cfg, Parts{Log: quiet()})
		if c.want == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.want)
	}
}

func TestSocket(t *testing.T) {
	r := start(t, nil)
	path := r.server.cfg.IPC
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.ModeSocket|0o600, info.Mode())

	listen := func(path string) error {
		s, err := New(Config{IPC: path}, Parts{Wallet: r.wallet, Log: quiet()})
		require.NoError(t, err)
		if err := s.Listen(); err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return s.Run(ctx)
	}
	require.ErrorContains(t, listen(path), "is in use")
	file := filepath.Join(r.root, "file")
	writeFile(t, file, []byte("precious"))
	require.ErrorContains(t, listen(file), "no socket")
	fresh := filepath.Join(r.root, "deep", "s.ipc")
	require.NoError(t, listen(fresh))
	require.NoFileExists(t, fresh, "gone with its server")
	left, err := os.ReadDir(filepath.Dir(fresh))
	require.NoError(t, err)
	require.Empty(t, left)
}
