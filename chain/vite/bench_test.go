package vite

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/chaintest"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// BenchmarkCatchUp reads 20,000 snapshot blocks, a deposit in each tenth, from one node and from
// three: the adapter's share of catching up after an absence.
func BenchmarkCatchUp(b *testing.B) {
	const blocks = 20_000
	l := newLedger(b)
	l.rest(b)
	for i := range blocks {
		if i%10 == 0 {
			l.deposit(b, l.inbox, 1, "")
		}
		l.mine(b, 1)
	}
	for name, nodes := range map[string][]string{"WebSocket": {l.ws}, "HTTP": {l.url}, "three": {l.ws, l.url, l.ipc}} {
		b.Run(name, func(b *testing.B) {
			read := uint64(0)
			for b.Loop() {
				c := l.open(b, nodes...)
				for from := uint64(1); from <= l.height(); {
					list, err := c.Blocks(b.Context(), from, from+client.MaxChunks)
					require.NoError(b, err)
					from += uint64(len(list))
					read += uint64(len(list))
				}
			}
			b.ReportMetric(float64(read)/b.Elapsed().Seconds(), "blocks/s")
		})
	}
}

// BenchmarkBusyBlocks reads snapshot blocks of 200 sends each that do not concern us, and of 200
// sends of nothing to us.
func BenchmarkBusyBlocks(b *testing.B) {
	for name, pay := range map[string]func(l *ledger) core.Address{
		"others": func(*ledger) core.Address { return keyOf(b, "someone").Address() },
		"ours":   func(l *ledger) core.Address { return l.inbox },
	} {
		l := newLedger(b)
		to := pay(l)
		for range 20 {
			l.rest(b)
			for range 200 {
				l.deposit(b, to, 0, "")
			}
		}
		l.mine(b, 1)
		b.Run(name, func(b *testing.B) {
			c := l.open(b)
			for b.Loop() {
				for from := uint64(1); from <= l.height(); {
					list, err := c.Blocks(b.Context(), from, from+client.MaxChunks)
					require.NoError(b, err)
					from += uint64(len(list))
				}
			}
			b.ReportMetric(float64(4000*b.N)/b.Elapsed().Seconds(), "sends/s")
		})
	}
}

// BenchmarkSignRow signs 256 slots of one account in a row, none of which the node has yet.
func BenchmarkSignRow(b *testing.B) {
	l := newLedger(b)
	l.rest(b)
	c, payee := l.open(b), l.newUser(b)
	for b.Loop() {
		slot := l.slotOf(l.payer, payerPath)
		for i := range uint64(256) {
			a, err := chaintest.Sign(b.Context(), c, l.keys, slot, l.credit(i+1, payee, 5), nil)
			require.NoError(b, err)
			slot.Nonce, slot.Prev = slot.Nonce+1, a.Hash
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(256*b.N), "us/slot")
}
