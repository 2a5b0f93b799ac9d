package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/operator"
	"gatewayd/records"
)

var update = flag.Bool("update", false, "write testdata/screens")

// checkScreen compares a screen with its file in testdata/screens; -update writes it.
func checkScreen(t *testing.T, name, screen string) {
	t.Helper()
	file := filepath.Join("testdata/screens", name+".txt")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(screen), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), screen)
	require.NotRegexp(t, `(?m) $`, screen, "no space ends a line")
	if strings.HasPrefix(name, "record_") {
		require.NotContains(t, screen, "\n\n", "no line is empty")
	}
}

// screenStore is a database with one record in each state that its screens show, and the
// configuration that names it.
type screenStore struct {
	*recordstest.Rig
	config string
}

// Addresses and tokens of the example's configuration.
const (
	screenToken = "tti_687d8a93915393b219212c73"
	screenUser  = "vite_07393524bd4094d876bd73ab760ba8e8b6b2b7254008f8a4b3"
	screenPayee = "0x52908400098527886E0F7030069857D2E4169EE7"
)

func newScreenStore(t *testing.T) screenStore {
	t.Helper()
	s := screenStore{recordstest.NewRig(t), filepath.Join(t.TempDir(), "config.yaml")}
	example, err := os.ReadFile("../../config.example.yaml")
	require.NoError(t, err)
	text := strings.Replace(string(example), "sqlite:data/gatewayd.db", s.URL, 1)
	require.NoError(t, os.WriteFile(s.config, []byte(text), 0o600))
	return s
}

// hashOf is a transaction's hash that a reader recognizes.
func hashOf(digit string) string { return "0x" + strings.Repeat(digit, 64) }

// receive stores a transfer of thousandths of a coin.
func (s screenStore) receive(d records.Direction, thousandths uint64, hash string) (t records.Transfer) {
	s.T.Helper()
	id := recordstest.Source
	if d == records.Withdrawal {
		id = recordstest.Exchange
	}
	in := s.Incoming(d, thousandths*1e15, s.Mine(id, ""))
	in.Tx, in.Ref, in.Token, in.Owner, in.Payee = hash, hash+":val", screenToken, screenUser, screenUser
	in.From, in.To = "0x0b2128da640718D96484EB736ee7E650B56254ff", "0x1635da715c04238d73cbEa35A201dF072BA23E3F"
	if d == records.Withdrawal {
		in.Asset, in.From, in.To, in.Payee = screenToken, screenUser, recordstest.Gateway, screenPayee
		in.Fee, in.Net = chain.NewAmount(1e15), chain.NewAmount((thousandths-1)*1e15)
		in.Memo = chain.Memo{}
	}
	s.Do(func(tx *records.Tx) (err error) { t, _, err = tx.Transfers().See(in); return err })
	return t
}

// decide makes a transfer's block final, and the transfer what it became.
func (s screenStore) decide(t records.Transfer, state records.TransferState, reason records.Reason) {
	s.T.Helper()
	s.Pass(2 * time.Minute)
	s.Finalize(t.Chain)
	s.Do(func(tx *records.Tx) error { return tx.Transfers().Move(t.ID, records.Seen, state, reason) })
}

// queue queues the credit of a transfer.
func (s screenStore) queue(t records.Transfer) (payment uint64) {
	s.T.Helper()
	p := recordstest.CreditOf(t)
	if t.Direction == records.Deposit {
		p.Asset = screenToken
	}
	s.Do(func(tx *records.Tx) (err error) { payment, err = tx.Payments().Queue(p); return err })
	return payment
}

// pay pays a payment with one transaction.
func (s screenStore) pay(payment uint64, hash string) {
	s.T.Helper()
	slot := s.Bind(payment)
	s.Pass(time.Second)
	s.Do(func(tx *records.Tx) error {
		return tx.Slots().AddAttempt(slot, records.Attempt{Attempt: chain.Attempt{Hash: hash, Raw: []byte(hash), FeeCap: chain.NewAmount(9)}, Kind: records.AttemptPay})
	})
	s.Pass(12 * time.Second)
	s.Settle(slot, hash)
}

// TestScreens compares what the program prints for a store that is the same each time.
func TestScreens(t *testing.T) {
	s := newScreenStore(t)
	funding := s.receive(records.Funding, 18_000, hashOf("1"))
	s.decide(funding, records.Final, "")
	paid := s.receive(records.Deposit, 1_500, hashOf("2"))
	s.decide(paid, records.Final, "")
	s.pay(s.queue(paid), strings.Repeat("a", 64))
	small := s.receive(records.Deposit, 5, hashOf("3"))
	s.decide(small, records.Refused, records.ReasonBelowMinimum)
	wrong := s.receive(records.Deposit, 250, hashOf("4"))
	s.decide(wrong, records.Held, records.ReasonWrongType)
	held := s.receive(records.Withdrawal, 12_000, strings.Repeat("5", 64))
	s.decide(held, records.Final, "")
	approval := s.queue(held)
	s.Do(func(tx *records.Tx) error {
		return tx.Payments().Move(approval, records.Queued, records.HeldPayment, records.HeldApproval)
	})
	waiting := s.receive(records.Withdrawal, 700, strings.Repeat("6", 64))
	s.decide(waiting, records.Final, "")
	s.queue(waiting)
	s.receive(records.Deposit, 80, hashOf("7"))
	s.Pass(45 * time.Second)

	show := func(t records.Transfer) []string { return []string{"records", "show", fmt.Sprint(t.ID)} }
	for name, args := range map[string][]string{
		"help":                 {"help"},
		"help_group":           {"records"},
		"help_command":         {"help", "channel", "set"},
		"unknown_command":      {"recrods", "list"},
		"unknown_flag":         {"records", "list", "--direcion", "deposit"},
		"records_list":         {"records", "list"},
		"records_attention":    {"records", "list", "--needs-operator"},
		"record_funding":       show(funding),
		"record_done":          show(paid),
		"record_below_minimum": show(small),
		"record_held":          show(wrong),
		"record_approval":      show(held),
		"record_pending":       show(waiting),
		"channels":             {"channel", "list"},
		"history":              {"history", "list", "--all", "--limit", "4"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w := streams{stdout: &out, stderr: &out, now: s.Now}
			if !strings.HasPrefix(name, "help") && !strings.HasPrefix(name, "unknown") {
				args = append(args, "-c", s.config)
			}
			if err := run(t.Context(), args, w); err != nil {
				w.printError(err)
			}
			checkScreen(t, name, out.String())
		})
	}
}

// TestBalancesScreen: a node that does not answer leaves its line, and an account that pays no user
// has nothing pending.
func TestBalancesScreen(t *testing.T) {
	cfg, err := config.Load("../../config.example.yaml")
	require.NoError(t, err)
	n := cfg.Networks[0]
	has := func(text string) *chain.Amount { a := mustAmount(text); return &a }
	list := []operator.Balance{
		{Network: n.Name, Chain: n.Source, Kind: records.KindHot, Account: screenPayee, Asset: chain.Native, Amount: has("10000250000000000000000"), Pending: mustAmount("12000000000000000")},
		{Network: n.Name, Chain: n.Source, Kind: records.KindHot, Account: screenPayee, Asset: n.Tokens[1].Asset, Amount: has("961000000"), Pending: mustAmount("0")},
		{Network: n.Name, Chain: n.Source, Kind: records.KindGas, Account: screenPayee, Asset: chain.Native, Fault: "no connection"},
		{Network: n.Name, Chain: n.Exchange, Kind: records.KindGateway, Account: screenUser, Retired: true, Asset: screenToken, Amount: has("1"), Pending: mustAmount("0")},
	}
	var out bytes.Buffer
	require.NoError(t, printBalances(streams{stdout: &out}, format{}, cfg, list))
	checkScreen(t, "balances", out.String())
	out.Reset()
	require.NoError(t, printBalances(streams{stdout: &out, width: 90}, format{}, cfg, list))
	checkScreen(t, "balances_terminal", out.String())
}
