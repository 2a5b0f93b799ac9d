package main

import (
	"strconv"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/watcher/recovery"
)

// transfer reads the row of a record.
func (r *rig) transfer(t *testing.T, row operator.RecordRow) (found records.Transfer) {
	t.Helper()
	require.NoError(t, r.Daemon.Store.View(t.Context(), func(tx *records.Tx) (err error) {
		found, err = tx.Transfers().Get(row.ID)
		return err
	}))
	return found
}

// halted waits until the daemon has stopped following a chain.
func (r *rig) halted(t *testing.T, id chain.ID) (cur records.Cursor) {
	t.Helper()
	waitFor(t, "the halt of "+string(id), func() bool {
		require.NoError(t, r.Daemon.Store.View(t.Context(), func(tx *records.Tx) (err error) {
			cur, err = tx.Chains().Cursor(id)
			return err
		}))
		return cur.Halted
	})
	return cur
}

// forked checks that the operators' surfaces show the fork and each record that was lost by it.
func (r *rig) forked(t *testing.T, id chain.ID, lost ...operator.RecordRow) {
	t.Helper()
	cur := r.halted(t, id)
	out, err := r.command(t, "chain", "resume", string(id))
	require.ErrorIs(t, err, recovery.ErrForked)
	require.Regexp(t, `(?m)^Common block   \d+ \S+$`, out)
	require.Contains(t, out, "Our final      "+strconv.FormatUint(cur.Final.Height, 10)+" "+cur.Final.Hash)
	require.Regexp(t, `(?m)^Nodes' final\s+\d+ \S+`, out)
	require.Regexp(t, `(?m)^Lost records   \d+: `, out)
	for _, row := range lost {
		number := `\b` + recordName(row) + `\b`
		require.Regexp(t, `(?m)^Lost records .*`+number, out)
		require.Regexp(t, `lost with their blocks.*`+number, cur.Why, "the reason of the halt names it")
		require.Contains(t, r.recordDetail(t, row.InTx).Record.Incident, "left the chain")
		require.Contains(t, r.mustCommand(t, "records", "show", row.InTx), "INCIDENT")
		require.Contains(t, r.needingOperator(t), row.InTx)
	}
}

// TestForkedSource replaces final blocks of the embedded source chain under a running daemon. When
// the old blocks return, the order to resume is executed; before that, it shows the fork.
func TestForkedSource(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.newCustomer(t, "ETH")
	deposit := r.recordDetail(t, u.mustDeposit(t, u.Times(3)).InTxHash).Record
	second := r.recordDetail(t, u.mustDeposit(t, u.Times(4)).InTxHash).Record
	_, err := r.command(t, "chain", "resume", "eth")
	require.ErrorContains(t, err, "not halted")
	r.Source.StopMining()
	head, err := r.Source.Client().BlockByNumber(t.Context(), nil)
	require.NoError(t, err)
	_, err = r.Source.Reorg(int(head.NumberU64()-r.transfer(t, deposit).Height)+1, ethnode.Lose)
	require.NoError(t, err)
	r.Source.StartMining()
	r.forked(t, "eth", deposit, second)
	r.forked(t, "eth", deposit, second) // as often as it is asked

	require.NoError(t, r.Source.Fork(common.HexToHash(head.Hash().Hex()), true))
	waitFor(t, "the nodes' final block", func() bool {
		_, err := r.command(t, "chain", "resume", "eth")
		return err == nil
	})
	require.Empty(t, r.recordDetail(t, deposit.InTx).Record.Incident)
	require.Empty(t, r.needingOperator(t))
	u.mustDeposit(t, u.Times(5))
}

// TestForkedAnvil is the same on a real node, whose old blocks are gone permanently.
func TestForkedAnvil(t *testing.T) {
	t.Parallel()
	n := startAnvil(t, 0)
	require.NoError(t, n.SetMining(true))
	r := newRig(t, func(o *dev.Options) { o.Source = n.URL() })
	stop := mineOn(t, n)
	u := r.newCustomer(t, "ETH")
	deposit := r.recordDetail(t, u.mustDeposit(t, u.Times(3)).InTxHash).Record
	stop()
	head, err := n.Client().BlockNumber(t.Context())
	require.NoError(t, err)
	require.NoError(t, n.Reorg(head-r.transfer(t, deposit).Height+1))
	mineOn(t, n)
	r.forked(t, "eth", deposit)
}

// TestForkedExchange takes final snapshot blocks back under a running daemon.
func TestForkedExchange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	u := r.newCustomer(t, "ETH")
	_, sent := u.withdrawToPayee(t, u.Times(5))
	u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
	withdrawal := r.recordDetail(t, sent).Record
	require.NoError(t, r.Exchange.Node.Rollback(r.transfer(t, withdrawal).Height-1))
	r.forked(t, "vite", withdrawal)
}
