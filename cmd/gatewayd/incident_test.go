package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev/ethnode"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/status"
)

// TestIncidentIsWrittenOff: a deposit that was credited and has left its chain asks for an operator
// until he gives it up, once. The balance sheet misses what was paid for it before, and has it as
// written off afterwards.
func TestIncidentIsWrittenOff(t *testing.T) {
	t.Parallel()
	w := prepareFaultyEnv(t, startRichExchange, func(_ *faultyEnv, c *config.Config) {
		c.Networks[0].Tokens[1].Deposits = records.Depth{Count: 1}
		c.Ethereum[0].Finality = "finalized" // what HoldFinality holds
	})
	w.startDaemon(t)
	waitFor(t, "the gateway", func() bool { return w.readHealth(t).code != 0 })
	w.addUser(t)
	stays := w.user.mustDeposit(t, units(w.user.Token, 20_000))
	w.source.HoldFinality(true)
	lost := w.recordDetail(t, w.user.mustDeposit(t, units(w.user.Token, 30_000)).InTxHash).Record
	w.source.StopMining()
	head, err := w.source.Client().BlockNumber(t.Context())
	require.NoError(t, err)
	_, err = w.source.Reorg(int(head-w.height(t, lost.ID))+1, ethnode.Lose)
	require.NoError(t, err)
	w.source.StartMining()

	needs := func() string { return w.mustCommand(t, "records", "list", "--needs-operator") }
	waitFor(t, "the incident", func() bool { return findLine(needs(), "incident", lost.InTx) != "" })
	w.source.HoldFinality(false)
	waitFor(t, "what is not covered", func() bool { s, ok := w.auditRow(t, "USDT"); return !ok && s.Uncovered == units(w.user.Token, 30_000) })

	out, ok := w.runCommand(t, "records", "write-off", recordName(lost))
	require.False(t, ok)
	require.Contains(t, out, "--why is required")
	other := recordName(w.recordDetail(t, stays.InTxHash).Record)
	out, ok = w.runCommand(t, "records", "write-off", other, "--why", "a test")
	require.False(t, ok)
	require.Contains(t, out, "record "+other+" is on its chain, so nothing is lost")

	require.Contains(t, w.mustCommand(t, "records", "write-off", recordName(lost), "--why", "ticket 4711"), "is written off")
	require.Contains(t, needs(), "No records match.")
	shown := w.mustCommand(t, "records", "show", recordName(lost))
	require.Regexp(t, `(?m)^  LOST     30 USDT-000, written off$`, shown)
	require.Contains(t, shown, "ordered write-off: ticket 4711")
	s, _ := w.auditRow(t, "USDT")
	require.Equal(t, []chain.Amount{units(w.user.Token, 30_000), {}}, []chain.Amount{s.WrittenOff, s.Uncovered})
	out, _ = w.runCommand(t, "audit")
	require.Regexp(t, `written off +30 USDT-000\n`, out)
	require.NotContains(t, out, "NOT COVERED")

	out, ok = w.runCommand(t, "records", "write-off", recordName(lost), "--why", "again")
	require.False(t, ok)
	require.Contains(t, out, "it was written off before")
}

// TestHeldIncidentIsGivenUp: a deposit that has left its chain before its credit was paid needs an
// operator until one command gives it up. No payment is made, nothing is lost.
func TestHeldIncidentIsGivenUp(t *testing.T) {
	t.Parallel()
	w := prepareFaultyEnv(t, startRichExchange, func(_ *faultyEnv, c *config.Config) {
		c.Networks[0].Tokens[1].Deposits = records.Depth{Count: 1}
		c.Ethereum[0].Finality = "finalized" // what HoldFinality holds
	})
	w.startDaemon(t)
	waitFor(t, "the gateway", func() bool { return w.readHealth(t).code != 0 })
	w.addUser(t)
	w.mustCommand(t, "channel", "set", "eth", w.user.Token.Symbol, "deposit", "MAINTAIN", "--why", "a test")
	before := w.user.spendable(t)
	w.source.HoldFinality(true)
	hash, err := w.user.Deposit(t.Context(), units(w.user.Token, 30_000))
	require.NoError(t, err)
	waitFor(t, "the decision", func() bool { return len(w.listRecords(t, "--hash", hash, "--state", "final")) == 1 })
	lost := w.recordDetail(t, hash).Record
	w.source.StopMining()
	head, err := w.source.Client().BlockNumber(t.Context())
	require.NoError(t, err)
	_, err = w.source.Reorg(int(head-w.height(t, lost.ID))+1, ethnode.Lose)
	require.NoError(t, err)
	w.source.StartMining()
	needs := func() string { return w.mustCommand(t, "records", "list", "--needs-operator") }
	waitFor(t, "the incident", func() bool { return findLine(needs(), "incident", lost.InTx) != "" })
	waitFor(t, "the credit's hold", func() bool {
		return strings.Contains(w.mustCommand(t, "records", "show", recordName(lost)), "held a decided transfer left the chain")
	})
	w.source.HoldFinality(false)

	// What an operator finds: it cannot be refunded, and to retry it pays nothing.
	shown := w.mustCommand(t, "records", "show", recordName(lost))
	require.Regexp(t, "(?m)^  next .*`gatewayd records write-off "+recordName(lost)+" ", shown)
	out, ok := w.runCommand(t, "records", "refund", recordName(lost), "--why", "a test")
	require.False(t, ok)
	require.Contains(t, out, "is not of the line")
	w.mustCommand(t, "records", "retry", recordName(lost))
	require.NotEmpty(t, findLine(needs(), "incident", lost.InTx))

	require.Contains(t, w.mustCommand(t, "records", "write-off", recordName(lost), "--why", "ticket 4711"), "is written off")
	require.Contains(t, needs(), "No records match.")
	shown = w.mustCommand(t, "records", "show", recordName(lost))
	require.Contains(t, shown, "ordered write-off: ticket 4711")
	require.NotContains(t, shown, "LOST")
	require.Equal(t, "orphaned", w.recordDetail(t, hash).Record.State)
	out, ok = w.runCommand(t, "records", "write-off", recordName(lost), "--why", "again")
	require.False(t, ok)
	require.Contains(t, out, "nothing was paid for it")
	for _, direction := range []string{"deposit", "withdrawal"} {
		w.mustCommand(t, "channel", "set", "eth", w.user.Token.Symbol, direction, "OPEN", "--clear", "--why", "a test")
	}
	waitFor(t, "a balance sheet without a loss", func() bool {
		s, _ := w.auditRow(t, "USDT")
		return s.Symbol != "" && s.WrittenOff.IsZero() && s.Uncovered.IsZero()
	})
	require.Equal(t, before, w.user.spendable(t))
}

// height is the block of a record.
func (w *faultyEnv) height(t *testing.T, id uint64) (height uint64) {
	t.Helper()
	store, err := records.OpenExisting(t.Context(), w.cfg.Database)
	require.NoError(t, err)
	defer store.Close()
	require.NoError(t, store.View(t.Context(), func(tx *records.Tx) error {
		found, err := tx.Transfers().Get(id)
		height = found.Height
		return err
	}))
	return height
}

// TestForgottenRefundIsRecognised: an operator ordered a refund to another address than the
// sender's, and the order was lost with the records. The refund is reported with its possible
// record, and one command settles it.
func TestForgottenRefundIsRecognised(t *testing.T) {
	t.Parallel()
	w := newFaultyEnv(t, nil)
	w.user.withdrawToPayee(t, units(w.user.Token, 5000)) // the hot account's past begins
	_, err := w.user.Eth.Pay(t.Context(), "native", common.HexToAddress(w.hot(t)), ether(3), nil)
	require.NoError(t, err)
	var stray operator.RecordRow
	waitFor(t, "the stray deposit", func() bool {
		var rows []operator.RecordRow
		require.NoError(t, json.Unmarshal([]byte(w.mustCommand(t, "records", "list", "--needs-operator", "--json")), &rows))
		if len(rows) > 0 {
			stray = rows[0]
		}
		return len(rows) == 1
	})
	w.steal(t, ether(3)) // to goodPayee
	w.waitForCondition(t, status.AccountStopped)
	hot := w.hot(t)
	var shown string
	waitFor(t, "what it may be", func() bool {
		shown, _ = w.runCommand(t, "account", "show", "eth", hot)
		return strings.Contains(shown, "matches a refund of record "+recordName(stray)+" to this address")
	})
	require.NotContains(t, shown, "matches no record")
	hash := regexp.MustCompile(`gatewayd records settle \d+ (0x[0-9a-f]{64})`).FindStringSubmatch(shown)
	require.Len(t, hash, 2)
	w.mustCommand(t, "records", "settle", recordName(stray), hash[1])
	waitFor(t, "the account goes on", func() bool {
		_, ok := w.runCommand(t, "account", "resume", "eth", hot)
		return ok
	})
	require.Regexp(t, `(?m)^  hash     `+hash[1]+`$`, w.mustCommand(t, "records", "show", recordName(stray)))
	require.Contains(t, w.mustCommand(t, "records", "list", "--needs-operator"), "No records match.")
	w.waitUntilWell(t)
}
