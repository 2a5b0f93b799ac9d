package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/status"
	"gatewayd/transfers"
)

// read answers a page as its type.
func read[T any](p *page, path string) (got T) {
	p.t.Helper()
	status, text := p.ask(http.MethodGet, path, nil)
	require.Equal(p.t, http.StatusOK, status, text)
	require.NoError(p.t, json.Unmarshal([]byte(text), &got), text)
	return got
}

// TestAttention: a deposit below its minimum is listed with the order that credits it, and a held
// payment with the reason of the payment. Paid records are not listed.
func TestAttention(t *testing.T) {
	r := recordstest.NewRig(t)
	p := newPageOn(t, r.Store)
	p.clock.Store(r.Now().Unix())
	_, paid := r.Owe(records.Deposit, 500)
	r.Pay(paid)
	small := r.Receive(records.Deposit, 3)
	stuck, payment := r.Owe(records.Withdrawal, 500)
	r.Do(func(tx *records.Tx) error {
		if err := tx.Transfers().Move(small.ID, records.Seen, records.Refused, records.ReasonBelowMinimum); err != nil {
			return err
		}
		return tx.Payments().Move(payment, records.Queued, records.HeldPayment, records.HeldLimit)
	})
	p.signIn("viewer")
	got := read[operator.Attention](p, "/attention")
	require.EqualValues(t, 2, got.Total)
	type line struct {
		record   uint64
		cause    records.Reason
		proposed transfers.OrderName
	}
	var lines []line
	for _, one := range got.Records {
		lines = append(lines, line{one.ID, one.Cause, one.Proposed})
		require.Contains(t, one.Orders, one.Proposed)
	}
	require.Equal(t, []line{{stuck.ID, records.HeldLimit, transfers.OrderReject}, {small.ID, records.ReasonBelowMinimum, transfers.OrderRetry}}, lines)
	require.Len(t, read[operator.Attention](p, "/attention?before="+fmt.Sprint(stuck.ID)).Records, 1)

	r.Pass(31 * 24 * time.Hour)
	p.advance(31 * 24 * time.Hour)
	p.signIn("viewer")
	require.EqualValues(t, 1, read[operator.Attention](p, "/attention").Total, "small deposits are listed for a month")
}

// TestNoLimits: a signer without limits is a condition that stops nothing, for as long as it has
// none.
func TestNoLimits(t *testing.T) {
	r := recordstest.NewRig(t)
	p := newPageOn(t, r.Store)
	p.clock.Store(r.Now().Unix())
	p.signIn("viewer")
	found := func() bool {
		return slices.ContainsFunc(read[operator.Attention](p, "/attention").Conditions, func(c status.Condition) bool { return c.Kind == status.NoLimits && !c.Stops })
	}
	report := func(text string) {
		r.Do(func(tx *records.Tx) error {
			return records.NoteReport(tx, operator.LimitsReport, json.RawMessage(text))
		})
	}
	require.False(t, found(), "no daemon has reported its limits")
	report(`{"limits": []}`)
	require.True(t, found())
	report(`{"limits": [{"window": "day", "limit": "1 USDT"}]}`)
	require.False(t, found())
}

// TestProposedOrder: a payment whose transaction differs is to be settled, never to be retried
// first. Where the advice names no order, none is proposed.
func TestProposedOrder(t *testing.T) {
	for reason, want := range map[records.Reason]transfers.OrderName{records.ReasonPayoutDiffers: transfers.OrderSettle, records.ReasonFoundByAudit: ""} {
		t.Run(string(reason), func(t *testing.T) {
			r := recordstest.NewRig(t)
			p := newPageOn(t, r.Store)
			p.clock.Store(r.Now().Unix())
			held, payment := r.Owe(records.Withdrawal, 500)
			r.Do(func(tx *records.Tx) error {
				return tx.Payments().Move(payment, records.Queued, records.HeldPayment, reason)
			})
			p.signIn("viewer")
			listed := read[operator.Attention](p, "/attention").Records[0]
			require.Equal(t, transfers.OrderRetry, listed.Orders[0])
			require.Equal(t, want, listed.Proposed)
			require.Equal(t, want, read[[]operator.RecordDetail](p, fmt.Sprintf("/records/%d", held.ID))[0].Proposed)
		})
	}
}

// TestSeries: counts and sums in steps, and how long payments took.
func TestSeries(t *testing.T) {
	r := recordstest.NewRig(t)
	p := newPageOn(t, r.Store)
	for _, seconds := range []int{4, 30, 10} {
		_, payment := r.Owe(records.Deposit, 100)
		r.Pass(time.Duration(seconds) * time.Second)
		r.Pay(payment)
	}
	r.Owe(records.Deposit, 100)
	p.clock.Store(r.Now().Unix())
	p.signIn("viewer")
	s := read[operator.Series](p, "/series?hours=24")
	require.Equal(t, []any{25, 3600.0, 1}, []any{s.Steps, s.Step, len(s.Flows)})
	var count, amount uint64
	for i := range s.Steps {
		count, amount = count+s.Flows[0].Count[i], amount+s.Flows[0].Amount[i].Uint256().Uint64()
	}
	require.Equal(t, []uint64{4, 400}, []uint64{count, amount})
	var median, longest float64
	for i := range s.Steps {
		for _, l := range s.Latency {
			if l.Median[i] != nil {
				median, longest = max(median, *l.Median[i]), max(longest, *l.Longest[i])
			}
		}
	}
	require.GreaterOrEqual(t, longest, 30.0)
	require.Less(t, median, longest)
	for _, hours := range []string{"1", "168"} {
		require.NotEmpty(t, read[operator.Series](p, "/series?hours="+hours).Flows)
	}
	status, _ := p.ask(http.MethodGet, "/series?hours=2", nil)
	require.Equal(t, http.StatusBadRequest, status)
}

// TestAuditLog: a line names the record that it is about, and the lines of a record and of a person
// are found.
func TestAuditLog(t *testing.T) {
	r := recordstest.NewRig(t)
	p := newPageOn(t, r.Store)
	p.clock.Store(r.Now().Unix())
	r.Owe(records.Deposit, 100)
	owed, _ := r.Owe(records.Deposit, 200)
	p.signIn("viewer")
	lines := func(query string) []operator.AuditLine {
		return read[struct{ Lines []operator.AuditLine }](p, "/history?"+query).Lines
	}
	of := lines("record=" + fmt.Sprint(owed.ID))
	require.NotEmpty(t, of)
	for _, line := range of {
		require.Equal(t, owed.ID, line.About.Record)
		require.Equal(t, "200", line.About.Amount.String())
	}
	mine := lines("actor=operator:viewer")
	require.Equal(t, []string{"operator:viewer", "console"}, []string{mine[0].Actor, mine[0].Subject})
	require.Nil(t, mine[0].About)
	require.Empty(t, lines("actor=operator:anna"))
}
