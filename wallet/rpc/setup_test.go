package rpc

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/holiman/uint256"
	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	viteledger "gatewayd/vite/ledger"
	"gatewayd/vite/node"
	viterpc "gatewayd/vite/rpc"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// testMnemonic is the public test mnemonic; alice and bob are its accounts 0 and 1.
const (
	testMnemonic = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
	alice        = "vite_75e6d2a1006018c1c4adc3418e899ca47487720f96e1d4572e"
	bob          = "vite_9010ff594b2aa3b14f2b7f0e9ef7eaba6f13fafedeac49d8e7"
	carol        = "vite_b57b8fed8c3608546aa9c1825bdd6cb0b953133ddf10cd47d2" // account 2, without a block

	password = "a password that stands in no log" // distinctive: every log line is searched for it
)

// rig is a wallet behind its server on all three transports, before an exchange chain of its own.
type rig struct {
	t      *testing.T
	root   string
	wallet *wallet.Manager
	server *Server
	chain  *chain
	calls  calls
	stop   func()
}

func walletConfig(root string) wallet.Config {
	return wallet.Config{Dir: filepath.Join(root, "wallet"), AutoLock: -1, Cost: keystore.LightCost()}
}

// start runs a wallet with no store.
func start(t *testing.T, change func(*wallet.Config)) *rig {
	r := &rig{t: t, root: t.TempDir(), chain: startChain(t)}
	cfg := walletConfig(r.root)
	if change != nil {
		change(&cfg)
	}
	r.serve(cfg, r.chain)
	return r
}

// serve begins a process; the one before, if any, is stopped.
func (r *rig) serve(cfg wallet.Config, l ledger) {
	if r.stop != nil {
		r.stop()
	}
	var err error
	r.wallet, err = wallet.NewManager(cfg)
	require.NoError(r.t, err)
	r.server, err = New(Config{
		IPC: filepath.Join(r.root, "w.ipc"), HTTP: "127.0.0.1:0", WS: "127.0.0.1:0", JWTSecretFile: filepath.Join(r.root, "jwt.hex"),
	}, Parts{Wallet: r.wallet, Ledger: l, Log: seen.logger(), Called: r.calls.called})
	require.NoError(r.t, err)
	require.NoError(r.t, r.server.Listen())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2) // one of each Run
	go func() { ended <- r.server.Run(ctx) }()
	go func() { ended <- r.wallet.Run(ctx) }()
	stopped := false
	r.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			require.NoError(r.t, <-ended)
			require.NoError(r.t, <-ended)
		}
	}
	r.t.Cleanup(r.stop)
}

// recover makes alice's store, locked.
func (r *rig) recover() {
	_, err := r.wallet.Recover(r.t.Context(), testMnemonic, password)
	require.NoError(r.t, err)
	seen.secret(password, testMnemonic)
}

// transports are the three ways to the server, each a function from request text to answer text.
func (r *rig) transports() map[string]func(string) string {
	return map[string]func(string) string{"http": r.overHTTP, "ws": r.overWS, "ipc": r.overIPC}
}

func (r *rig) bearer() http.Header {
	return http.Header{"Authorization": {"Bearer " + token(r.server.secret, map[string]any{"iat": time.Now().Unix()})}}
}

func token(secret []byte, claims map[string]any) string {
	payload, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	return signToken(secret, `{"alg":"HS256","typ":"JWT"}`, string(payload))
}

func signToken(secret []byte, header, payload string) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(payload))
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (r *rig) overHTTP(text string) string {
	status, answer := r.post(text, r.bearer())
	if status != http.StatusOK {
		return fmt.Sprintf("HTTP %d", status)
	}
	return answer
}

func (r *rig) post(text string, header http.Header) (status int, answer string) {
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, "http://"+r.server.HTTPAddr(), bytes.NewBufferString(text))
	require.NoError(r.t, err)
	req.Header = header
	req.Header.Set("Content-Type", "application/json")
	if host := header.Get("Host"); host != "" {
		req.Host = host
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	return resp.StatusCode, string(raw)
}

// closed is the answer of a transport that closes the connection.
const closed = "closed"

func (r *rig) overWS(text string) string {
	conn, resp, err := websocket.DefaultDialer.DialContext(r.t.Context(), "ws://"+r.server.WSAddr(), r.bearer())
	require.NoError(r.t, err)
	resp.Body.Close()
	defer conn.Close()
	_ = conn.WriteMessage(websocket.TextMessage, []byte(text)) // too long a message may be cut off
	require.NoError(r.t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	_, answer, err := conn.ReadMessage()
	if err != nil {
		return closed
	}
	return string(answer)
}

func (r *rig) overIPC(text string) string {
	conn, err := net.Dial("unix", r.server.cfg.IPC)
	require.NoError(r.t, err)
	defer conn.Close()
	_, _ = io.WriteString(conn, text)
	require.NoError(r.t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
	var answer json.RawMessage
	if json.NewDecoder(conn).Decode(&answer) != nil {
		return closed
	}
	return string(answer)
}

// answer is a JSON-RPC answer.
type answer struct {
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// String is the result, or code and text of the error.
func (a answer) String() string {
	if a.Error != nil {
		return fmt.Sprintf("%d %s", a.Error.Code, a.Error.Message)
	}
	return string(a.Result)
}

// call sends one request and lets the error be searched for secrets.
func call(t testing.TB, send func(string) string, method string, params ...any) answer {
	if params == nil {
		params = []any{}
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "wallet_" + method, "params": params})
	require.NoError(t, err)
	return parse(t, send(string(text)))
}

func parse(t testing.TB, text string) (a answer) {
	require.NoError(t, json.Unmarshal([]byte(text), &a), text)
	if a.Error != nil {
		seen.note(a.Error.Message)
	}
	return a
}

// chain is an exchange chain whose snapshot blocks come by hand, reached over its own JSON-RPC.
type chain struct {
	*client.Client
	node *node.Node
	url  string
}

func startChain(t *testing.T) *chain {
	clock := time.Unix(1795238719, 0)
	n, err := node.New(node.Config{Genesis: genesis(t), SnapshotInterval: -1, Now: func() time.Time { return clock }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, n.Close()) })
	s, err := viterpc.New(n, viterpc.Config{HTTP: "127.0.0.1:0"})
	require.NoError(t, err)
	require.NoError(t, s.Listen())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-ended) })
	c, err := client.Dial(t.Context(), "http://"+s.HTTPAddr(), client.Options{})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	all := &chain{Client: c, node: n, url: "http://" + s.HTTPAddr()}
	for range 80 { // quota comes with snapshot blocks
		all.snapshot(t)
	}
	return all
}

func (c *chain) snapshot(t *testing.T) {
	_, err := c.node.Snapshot()
	require.NoError(t, err)
}

func genesis(t *testing.T) viteledger.Genesis {
	a, b := parseAddress(t, alice), parseAddress(t, bob)
	vite := func(n uint64) uint256.Int { return *new(uint256.Int).Mul(uint256.NewInt(n), uint256.NewInt(1e18)) }
	return viteledger.Genesis{
		Tokens: []viteledger.TokenInfo{{
			ID: core.VITE, Name: "Vite Token", Symbol: "VITE", Decimals: 18, ReIssuable: true, Owner: a,
			TotalSupply: vite(1e9), MaxSupply: *new(uint256.Int).SetAllOne(),
		}},
		Accounts: []viteledger.GenesisAccount{
			{Address: a, Balances: map[core.TokenID]uint256.Int{core.VITE: vite(1e9 - 1e6 - 2e5)}},
			{Address: b, Balances: map[core.TokenID]uint256.Int{core.VITE: vite(1e6)}},
		},
		Stakes: []viteledger.GenesisStake{{Staker: a, Beneficiary: a, Amount: vite(1e5)}, {Staker: a, Beneficiary: b, Amount: vite(1e5)}},
	}
}

func parseAddress(t testing.TB, s string) core.Address {
	a, err := core.ParseAddress(s)
	require.NoError(t, err)
	return a
}

// The chain is a ledger.

func (c *chain) Tip(ctx context.Context, a core.Address) (uint64, core.Hash, bool, error) {
	b, err := c.LatestAccountBlock(ctx, a)
	if err != nil || b == nil {
		return 0, core.Hash{}, false, refused(err)
	}
	return b.Height, b.Hash, true, nil
}

func (c *chain) HasToken(ctx context.Context, id core.TokenID) (bool, error) {
	info, err := c.TokenInfo(ctx, id)
	return info != nil, refused(err)
}

func (c *chain) Submit(ctx context.Context, b *core.AccountBlock) error {
	return refused(c.SendRawTransaction(ctx, b))
}

func refused(err error) error {
	var no *client.Error
	if errors.As(err, &no) {
		return &Refusal{Code: no.Code, Message: no.Message}
	}
	return err
}

func writeFile(t testing.TB, path string, content []byte) {
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

func quiet() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}
