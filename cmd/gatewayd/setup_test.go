package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/status"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// TestMain makes the test binary also the program: the tests start and kill it as `gatewayd` in
// PATH.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gatewayd": main, exchangeCommand: exchangeProcessMain, burstChain: chainMain, chainNode: chainNodeMain})
}

// rig is a running development environment whose chains the test controls.
type rig struct {
	*dev.Env
	t     *testing.T
	mu    sync.Mutex // of making users: the faucet's nonces and the staked accounts are given out one by one
	users uint32
}

// quickOptions make ten blocks a second on both chains, and sweep only on the test's request: tests
// count the pool's transactions.
func quickOptions(dir string) dev.Options {
	return dev.Options{
		Dir: dir, Listen: "127.0.0.1:0", ExchangeListen: "127.0.0.1:0",
		Period: 100 * time.Millisecond, Interval: 100 * time.Millisecond, Poll: 30 * time.Millisecond, Sweep: "0 0 29 2 *",
	}
}

// newRig runs an environment until the test ends. adjust may change its options.
func newRig(t *testing.T, adjust ...func(*dev.Options)) *rig {
	t.Helper()
	o := quickOptions(t.TempDir())
	for _, f := range adjust {
		f(&o)
	}
	d, err := dev.Open(t.Context(), o, testStreams(t).stderr, os.Getenv)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1) // room for the one answer, so that Run ends even without a reader
	go func() { ended <- d.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	require.NoError(t, d.Ready(t.Context()))
	return &rig{Env: d, t: t}
}

func testStreams(t *testing.T) streams {
	return streams{stdin: strings.NewReader(""), stdout: io.Discard, stderr: t.Output(), getenv: func(string) string { return "" }}
}

func (r *rig) token(t *testing.T, symbol string) dev.Token {
	t.Helper()
	k, err := r.Info.Token(symbol)
	require.NoError(t, err)
	return k
}

// newUser makes a user with coins on the source chain and nothing on the exchange chain.
func (r *rig) newUser(t *testing.T, symbol string) *testUser {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	require.Less(t, r.users, uint32(dev.Users), "staked accounts")
	u, err := newTestUser(t.Context(), r.Info, r.token(t, symbol), r.users, t.Output())
	require.NoError(t, err)
	t.Cleanup(u.Close)
	r.users++
	return u
}

// newCustomer makes a user who has deposited fifty times the minimum and received it.
func (r *rig) newCustomer(t *testing.T, symbol string) *testUser {
	t.Helper()
	u := r.newUser(t, symbol)
	u.mustDeposit(t, u.Times(50))
	require.NoError(t, u.Collect(t.Context(), u.Times(50)))
	return u
}

// mustDeposit deposits and waits until it is credited.
func (u *testUser) mustDeposit(t *testing.T, amount chain.Amount) dev.PublicRecord {
	t.Helper()
	hash, err := u.Deposit(t.Context(), amount)
	require.NoError(t, err)
	return u.mustAwait(t, "/deposit-records", hash, "TOT_CONFIRMED")
}

func (u *testUser) mustAwait(t *testing.T, path, hash, state string) dev.PublicRecord {
	t.Helper()
	r, err := u.Await(t.Context(), path, hash, state)
	require.NoError(t, err)
	return r
}

// spendable is the user's balance on the exchange chain after receiving everything that waits.
func (u *testUser) spendable(t *testing.T) chain.Amount {
	t.Helper()
	require.NoError(t, u.Vite.ReceiveAll(t.Context()))
	token, err := core.ParseTokenID(u.Token.Token)
	require.NoError(t, err)
	have, err := u.Vite.Balance(t.Context(), token)
	require.NoError(t, err)
	return have
}

// requirePaid requires that a payee on the source chain has exactly an amount.
func (u *testUser) requirePaid(t *testing.T, payee string, want chain.Amount) {
	t.Helper()
	got, err := u.Eth.Balance(t.Context(), u.Token.Asset, common.HexToAddress(payee))
	require.NoError(t, err)
	require.Equal(t, want.String(), got.String(), "what %s has of %s", payee, u.Token.Symbol)
}

// waitFor polls until done is true.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // seconds, on a machine that has nothing else to do
	defer cancel()
	require.NoError(t, dev.Poll(ctx, func() (bool, error) { return done(), nil }), what)
}

// command runs the program as an operator does, on the environment's configuration.
func (r *rig) command(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	w := testStreams(t)
	w.stdout = &out
	err := run(t.Context(), append(args, "-c", r.Info.Config), w)
	return out.String(), err
}

// mustCommand runs a command again when it finds the database locked, which happens on a busy
// machine.
func (r *rig) mustCommand(t *testing.T, args ...string) (out string) {
	t.Helper()
	var err error
	waitFor(t, "gatewayd "+strings.Join(args, " "), func() bool {
		out, err = r.command(t, args...)
		return err == nil || !strings.Contains(err.Error(), "the database is locked")
	})
	require.NoError(t, err, "gatewayd %s", strings.Join(args, " "))
	return out
}

// listRecords runs `records list --json` with more filters.
func (r *rig) listRecords(t *testing.T, filters ...string) (rows []operator.RecordRow) {
	t.Helper()
	out := r.mustCommand(t, append([]string{"records", "list", "--json"}, filters...)...)
	require.NoError(t, json.Unmarshal([]byte(out), &rows), out)
	return rows
}

// recordDetail returns the `records show` output of the only record with a hash.
func (r *rig) recordDetail(t *testing.T, hash string) operator.RecordDetail {
	t.Helper()
	var details []operator.RecordDetail
	out := r.mustCommand(t, "records", "show", "--json", hash)
	require.NoError(t, json.Unmarshal([]byte(out), &details), out)
	require.Len(t, details, 1)
	return details[0]
}

// paymentOf is a record's payment of one purpose.
func paymentOf(t *testing.T, s operator.RecordDetail, purpose chain.Purpose) operator.PaymentRow {
	t.Helper()
	p := findPayment(s, purpose)
	require.NotEmpty(t, p.State, "%s of record %d", purpose, s.Record.ID)
	return p
}

// findPayment is the same where it may not be queued yet: then it has no state.
func findPayment(s operator.RecordDetail, purpose chain.Purpose) (p operator.PaymentRow) {
	if i := slices.IndexFunc(s.Payments, func(p operator.PaymentRow) bool { return p.Purpose == string(purpose) }); i >= 0 {
		p = s.Payments[i]
	}
	return p
}

// waitUntilSettled waits until no payment is in progress or blocked, as by a briefly silent node on
// a busy machine. It requires that books and chains agree and that every account may sign.
func (r *rig) waitUntilSettled(t *testing.T) {
	t.Helper()
	waitFor(t, "nothing under way", func() bool { return len(underWay(t, r.Daemon.Store, r.Daemon.Config)) == 0 })
	waitFor(t, "nothing that stops money", func() bool {
		return !slices.ContainsFunc(r.conditions(t), func(c status.Condition) bool { return c.Stops })
	})
	out, err := r.command(t, "audit")
	require.NoError(t, err, out)
	require.Contains(t, out, " 0 differences")
	require.Empty(t, stoppedAccounts(t, r.Daemon.Store, r.Daemon.Config))
}

// conditions returns the present conditions.
func (r *rig) conditions(t *testing.T) []status.Condition {
	t.Helper()
	report, err := (&operator.Session{Config: r.Daemon.Config, Store: r.Daemon.Store}).Conditions(t.Context())
	require.NoError(t, err)
	return report.Conditions
}

// underWay lists what the books still have to do.
func underWay(t *testing.T, store *records.Store, cfg config.Config) (list []string) {
	t.Helper()
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
		for _, n := range cfg.Networks {
			for _, k := range n.Tokens {
				totals, err := books.TotalsOf(tx, n.Name, k.Token)
				if err != nil {
					return err
				}
				for _, s := range totals.Transfers {
					if s.State == records.Seen || s.State == records.Orphaned {
						list = append(list, fmt.Sprintf("%d %s of %s %s", s.Count, s.Direction, k.Symbol, s.State))
					}
				}
				for _, p := range totals.Payments {
					if p.State == records.Queued || p.State == records.Bound {
						list = append(list, fmt.Sprintf("%d %s of %s %s", p.Count, p.Purpose, k.Symbol, p.State))
					}
				}
			}
		}
		return nil
	}))
	return list
}

// stoppedAccounts lists the accounts that are stopped.
func stoppedAccounts(t *testing.T, store *records.Store, cfg config.Config) (list []records.Account) {
	t.Helper()
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
		for _, id := range []chain.ID{cfg.Networks[0].Source, cfg.Networks[0].Exchange} {
			accounts, err := tx.Accounts().List(id)
			if err != nil {
				return err
			}
			for _, a := range accounts {
				if a.State == records.AccountHalted || a.State == records.AccountRecovering {
					list = append(list, a)
				}
			}
		}
		return nil
	}))
	return list
}

// block is an account block by the text of its hash.
func (u *testUser) block(t *testing.T, hash string) *client.AccountBlock {
	t.Helper()
	h, err := core.ParseHash(hash)
	require.NoError(t, err)
	b, err := u.Vite.Node.AccountBlockByHash(t.Context(), h)
	require.NoError(t, err)
	require.NotNil(t, b, hash)
	return b
}

// recordName is a record's id as commands take it.
func recordName(row operator.RecordRow) string { return strconv.FormatUint(row.ID, 10) }

// testUser is a user of the bridge whose failures fail the test.
type testUser struct{ *dev.BridgeUser }

func newTestUser(ctx context.Context, info dev.Info, token dev.Token, n uint32, out io.Writer) (*testUser, error) {
	u, err := dev.NewBridgeUser(ctx, info, token, n, out)
	return &testUser{u}, err
}
