package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/store"
)

const stepPayers = 5*ledger.PaymentsPerBlock + 50

func stepPayer(i int) core.Address { return core.Address{byte(i), byte(i >> 8), 1} }

// chainBeforePayout advances a chain to the end of a day with many payers. With a folder it is
// reopened, so that no data is only in memory; then a state file is written only after every bytes.
func chainBeforePayout(t *testing.T, dir string, every int64) *testChain {
	config := Config{Dir: dir, Genesis: exchangeGenesis(t), StateEvery: 1}
	l := miningMarket(t, config)
	l.nextDay()
	book := l.state.Exchange.Mining.Book(dex.QuoteVITE)
	for i := range stepPayers {
		l.state.AddCredit(book, stepPayer(i), *vite(uint64(i + 1)))
	}
	l.stateSize = 0 // the state file is due, however little the log has grown
	l.snapshot()
	if dir == "" {
		return l
	}
	require.NoError(t, l.Close())
	config.SnapshotInterval, config.StateEvery = -1, every
	return open(t, config)
}

// startNextDay sets the clock to the next day.
func (l *testChain) startNextDay() {
	l.t.Helper()
	l.do(l.rich, l.call(l.rich, core.DexFundContract, dex.FundNotifyTime, l.state.Exchange.Clock+dex.PeriodTime))
}

// paid returns each payer's amount, and how many have one.
func (l *testChain) paid() (amounts [stepPayers]string, count int) {
	for i := range amounts {
		if amounts[i] = l.vx(user{addr: stepPayer(i)}); amounts[i] != "0" {
			count++
		}
	}
	return amounts, count
}

// TestADayIsPaidInSteps: no step pays more than a block of payments, users' blocks and snapshot
// blocks come between steps. Whatever is stopped and started meanwhile, every payer gets the same
// amount once.
func TestADayIsPaidInSteps(t *testing.T) {
	atOnce := chainBeforePayout(t, "", 0)
	atOnce.startNextDay()
	require.NoError(t, atOnce.state.Replay([]byte{ledger.OlderStep}))
	want, count := atOnce.paid()
	require.Equal(t, stepPayers, count)

	for name, every := range map[string]int64{"from state files": 1, "from the log": 1 << 40} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := chainBeforePayout(t, dir, every)
			l.startNextDay()
			for steps := 1; ; steps++ {
				more, err := l.tick()
				require.NoError(t, err)
				_, count := l.paid()
				require.Equal(t, min(steps*ledger.PaymentsPerBlock, stepPayers), count)
				if !more {
					break
				}
				l.do(l.poor, l.transfer(l.poor, l.staked.addr, 1))
				if every == 1 {
					l.snapshot()
					steps++
				}
				checkExchange(t, l.state)
				config := l.config
				require.NoError(t, l.Close())
				l = open(t, config)
			}
			got, _ := l.paid()
			require.Equal(t, want, got)
			require.Equal(t, atOnce.mining().Mined, l.mining().Mined)
			require.Empty(t, l.state.Exchange.Mining.Payouts)
			checkExchange(t, l.state)
		})
	}
}

// TestSnapshotsGoOnWhilePaying: a snapshot block pays no more than a step, and wakes the producer
// for the rest.
func TestSnapshotsGoOnWhilePaying(t *testing.T) {
	l := chainBeforePayout(t, "", 0)
	l.startNextDay()
	for steps := 1; len(l.state.Pending) > 0; steps++ {
		l.snapshot()
		_, count := l.paid()
		require.Equal(t, min(steps*ledger.PaymentsPerBlock, stepPayers), count)
		select {
		case <-l.woken:
		default:
			require.Equal(t, stepPayers, count, "more to do, and nobody woken")
		}
	}
	checkExchange(t, l.state)
}

// TestUsersWaitForNoPayments: an order that comes while a day is paid needs two steps, as its two
// contracts take their turns.
func TestUsersWaitForNoPayments(t *testing.T) {
	l := chainBeforePayout(t, "", 0)
	l.startNextDay()
	_, err := l.tick()
	require.NoError(t, err)
	order := l.do(l.poor, l.call(l.poor, core.DexFundContract, dex.FundPlaceOrder, coin, core.VITE, false, uint8(dex.Limit), "10", whole(20)))
	for range 2 {
		more, err := l.tick()
		require.NoError(t, err)
		require.True(t, more)
	}
	require.NotNil(t, l.openOrder(order))
}

// TestLogsOfBigSteps: a log whose steps are of an older version leads to where it led then.
func TestLogsOfBigSteps(t *testing.T) {
	older := map[byte]byte{ledger.RecordStep: ledger.OlderStep, ledger.RecordSnapshot: ledger.OlderSnapshot, ledger.RecordEmpty: ledger.OlderEmpty}
	config := Config{Dir: t.TempDir(), Genesis: exchangeGenesis(t), SnapshotInterval: -1}
	l := miningMarket(t, config)
	l.order(l.staked, dex.Sell, "10", 30)
	l.nextDay()
	l.snapshot()
	want := l.state.Latest().Hash
	require.NoError(t, l.Close())

	again := ledger.NewState(l.genesis, l.rules)
	var seen []byte
	log, err := store.OpenLog(l.logPath(), l.rules.Digest, func() {}, store.Place{}, func(record []byte) error {
		if kind, stepped := older[record[0]]; stepped {
			record[0] = kind
			seen = append(seen, kind)
		}
		return again.Replay(record)
	})
	require.NoError(t, err)
	require.NoError(t, log.Close())
	require.Equal(t, want, again.Latest().Hash)
	for _, kind := range older {
		require.Contains(t, seen, kind)
	}
	paying := chainBeforePayout(t, "", 0)
	paying.startNextDay()
	require.NoError(t, paying.state.Replay([]byte{ledger.OlderStep}))
	_, count := paying.paid()
	require.Equal(t, stepPayers, count)
}
