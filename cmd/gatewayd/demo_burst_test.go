package main

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/dev"
	"gatewayd/dev/demo"
)

// TestDemoBurst lets a few users do it on the usual clock, and reads the result as programs do.
// Blocks come by the clock, so a busy machine may be later than promised; the command reports that.
// TestBurst checks the promise itself.
func TestDemoBurst(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.Period, o.Interval = time.Second, time.Second })
	demoBurst(t, r, 7)
}

// TestDemoBurstOfManyAccounts counts what every account of the gateway pays.
func TestDemoBurstOfManyAccounts(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *dev.Options) { o.Period, o.Interval, o.Accounts = time.Second, time.Second, 3 })
	r.waitUntilLevelled(t)
	demoBurst(t, r, 24)
	paid := r.payersOf(t)
	for id, accounts := range paid {
		require.Greater(t, len(accounts), 1, "%s: %v", id, paid)
	}
}

// demoBurst runs the demo and checks its result.
func demoBurst(t *testing.T, r *rig, count int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var out bytes.Buffer
	o := demo.BurstOptions{Info: filepath.Join(filepath.Dir(r.Info.Config), "dev.json"), Count: count, JSON: true}
	late := demo.RunBurst(ctx, o, &out)
	if late != nil {
		require.ErrorIs(t, late, demo.ErrPromise, out.String())
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var last struct {
		Event string
		Data  demo.Result
	}
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	require.Equal(t, "result", last.Event)
	require.Equal(t, count, last.Data.Count)
	kept := true
	for _, leg := range []demo.LegResult{last.Data.Deposits, last.Data.Withdrawals} {
		require.LessOrEqual(t, leg.FirstPaid, leg.LastPaid)
		kept = kept && leg.Took <= leg.Promised
	}
	require.Equal(t, kept, late == nil)
	require.Equal(t, last.Data.Deposits.Sent+2, last.Data.Deposits.Final, "three blocks deep")
	require.Equal(t, last.Data.Withdrawals.Sent+1, last.Data.Withdrawals.Final, "two blocks deep")
	r.waitUntilSettled(t)
}
