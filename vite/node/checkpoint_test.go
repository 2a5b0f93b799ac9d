package node

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

// TestOlderStateFile: a state file from before there was mining is not read; the log gives the same
// state, with what is mined, locked and shared out, and so does a state file of today.
func TestOlderStateFile(t *testing.T) {
	config := Config{Dir: t.TempDir(), Genesis: exchangeGenesis(t), SnapshotInterval: -1, StateEvery: 1}
	l := miningMarket(t, config)
	l.openShares()
	l.nextDay()
	l.deposit(l.poor, core.VITE, *vite(ledger.SvipStake))
	l.fund(l.poor, dex.FundStakeForPrincipal, l.rich.addr)
	l.order(l.rich, dex.Sell, "9", 20)
	l.snapshot()
	want := l.digest()
	require.NoError(t, l.Close())

	same := open(t, config)
	require.Equal(t, want, same.digest())
	require.NoError(t, same.Close())

	names, err := filepath.Glob(filepath.Join(config.Dir, statePrefix+"*"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		body := data[:len(data)-4]
		body[len(stateMagic)] = stateFormat - 1
		require.NoError(t, os.WriteFile(name, binary.BigEndian.AppendUint32(body, store.Checksum(body)), 0o600))
	}
	rebuilt := open(t, config)
	require.Equal(t, want, rebuilt.digest())
	checkExchange(t, rebuilt.state)
}
