package index

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/internal/budget"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// mostReplicas is the largest number of processes that share an index here.
const mostReplicas = 3

// BenchmarkBudgetReplicas runs one, two and three indexes on one PostgreSQL database, in turn, each
// with a subscriber. It measures the CPU of a push, of a request and of an idle replica, and how
// much later than the leader another one pushes an order. CPU includes the server's. That of the
// chain alone is subtracted from pushes, and that of idle replicas from both.
// The budget is 50 ms for the 99th percentile, and 1.15 times the CPU of a single replica.
func BenchmarkBudgetReplicas(b *testing.B) {
	orders, turns := 100, 6
	if testing.Short() {
		orders, turns = 20, 2
	}
	r := newRig(b)
	m := replicaMeter{r: r, server: recordstest.OwnPostgres(b, "")}
	var push, idle [mostReplicas + 1][]float64 // by number of replicas
	for round := range b.N {
		alone := 0.0
		for i := range mostReplicas + 1 {
			n := i
			if round%2 == 1 && i > 0 {
				n = mostReplicas + 1 - i
			}
			perOrder, rest := m.round(n, orders)
			if n == 0 {
				alone = perOrder
				continue
			}
			push[n] = append(push[n], (perOrder-alone)/float64(n))
			idle[n] = append(idle[n], rest*1000/float64(n))
		}
	}
	request := m.requests(turns * b.N)
	slices.Sort(m.late)
	b.ReportMetric(0, "ns/op") // meaningless for a round
	b.ReportMetric(float64(m.late[len(m.late)*99/100].Microseconds())/1000, "ms/late-p99")
	for n := 1; n <= mostReplicas; n++ {
		b.ReportMetric(middle(push[n])/1000, fmt.Sprintf("µs/push-%d", n))
		b.ReportMetric(middle(request[n])/1000, fmt.Sprintf("µs/request-%d", n))
		b.ReportMetric(middle(idle[n]), fmt.Sprintf("ms/s-idle-%d", n))
	}
	b.ReportMetric(max(middle(push[2]), middle(push[3]))/middle(push[1]), "push-ratio")
	b.ReportMetric(max(middle(request[2]), middle(request[3]))/middle(request[1]), "request-ratio")
}

// middle is the median; of two it is the smaller one, because other work only adds CPU.
func middle(list []float64) float64 {
	slices.Sort(list)
	return list[(len(list)-1)/2]
}

type replicaMeter struct {
	r      *rig
	server *recordstest.Server
	late   []time.Duration
}

// open opens n indexes on a new database and follows the chain with them until end.
func (m *replicaMeter) open(n int) (replicas []*Index, pushed []*Subscription, end func()) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	url := m.server.Database(m.r.t)
	for range n {
		x := m.r.open(url)
		running.Go(func() { _ = x.Run(ctx) })
		require.Eventually(m.r.t, func() bool { return x.Ready() == nil }, time.Minute, time.Millisecond)
		replicas, pushed = append(replicas, x), append(pushed, x.Subscribe(1000))
	}
	return replicas, pushed, func() {
		stop()
		running.Wait()
		for _, x := range replicas {
			require.NoError(m.r.t, x.Close())
		}
	}
}

// round returns the nanoseconds of CPU of an order with its pushes by n replicas. idle is the share
// of a core that all replicas use without work.
func (m *replicaMeter) round(n, orders int) (perOrder, idle float64) {
	_, pushed, end := m.open(n)
	defer end()
	m.r.snapshot()
	if n > 0 {
		cpu, wall := m.measure(func() { <-time.After(3 * time.Second) })
		idle = float64(cpu) / float64(wall)
	}
	cpu, wall := m.measure(func() {
		for i := range orders {
			if i%20 == 19 {
				m.r.snapshot() // quota
			}
			m.order(pushed)
		}
	})
	return (float64(cpu) - idle*float64(wall)) / float64(orders), idle
}

// requests returns the nanoseconds of CPU of a request by number of replicas, of so many turns.
// Turns are short and go forth and back, so other work of the machine concerns all numbers alike.
func (m *replicaMeter) requests(turns int) (perRequest [mostReplicas + 1][]float64) {
	const requests, warm = 4200, 600 // warm: connections, statements and pages of the server
	order := m.r.order(m.r.alice, dex.Sell, "15", coins(20))
	m.r.snapshot()
	var groups [mostReplicas + 1][]*Index
	for n := 1; n <= mostReplicas; n++ {
		replicas, _, end := m.open(n)
		defer end()
		groups[n] = replicas
		m.load(replicas, order, warm)
	}
	cpu, wall := m.measure(func() { <-time.After(3 * time.Second) })
	idle := float64(cpu) / float64(wall)
	for turn := range turns {
		for i := range mostReplicas {
			n := i + 1
			if turn%2 == 1 {
				n = mostReplicas - i
			}
			cpu, wall := m.measure(func() { m.load(groups[n], order, requests) })
			perRequest[n] = append(perRequest[n], (float64(cpu)-idle*float64(wall))/requests)
		}
	}
	return perRequest
}

// load reads an order with as many clients at a time for any number of replicas. One client that
// takes the replicas in turn would measure how sleeping processes wake up (docs/performance.md).
func (m *replicaMeter) load(replicas []*Index, order core.Hash, requests int) {
	const clients = 6 // divided evenly among one, two and three replicas
	var all errgroup.Group
	for i := range clients {
		all.Go(func() error {
			for range requests / clients {
				if o, err := replicas[i%len(replicas)].Order(m.r.t.Context(), m.r.alice.addr, order); err != nil || o == nil {
					return fmt.Errorf("reading an order: %v, %w", o, err)
				}
			}
			return nil
		})
	}
	require.NoError(m.r.t, all.Wait())
}

// measure returns the time that work takes, of the processors and by the clock.
func (m *replicaMeter) measure(work func()) (cpu, wall time.Duration) {
	begun, before := time.Now(), m.cpu()
	work()
	return m.cpu() - before, time.Since(begun)
}

// order places an order and waits until all replicas have pushed it.
func (m *replicaMeter) order(pushed []*Subscription) {
	id := m.r.order(m.r.alice, dex.Sell, "15", coins(20)).String()
	at := make([]time.Time, len(pushed))
	var all sync.WaitGroup
	for i, s := range pushed {
		all.Go(func() {
			for {
				u, err := s.Next(context.Background())
				if err != nil {
					return
				}
				if slices.ContainsFunc(u.Orders, func(o Order) bool { return o.ID == id && o.Status == Open }) {
					at[i] = time.Now()
					return
				}
			}
		})
	}
	all.Wait()
	for i := range at {
		require.False(m.r.t, at[i].IsZero(), "a subscription ended")
		if i > 0 {
			m.late = append(m.late, at[i].Sub(at[0]))
		}
	}
}

// cpu is the CPU time of this process and the server's processes.
func (m *replicaMeter) cpu() time.Duration {
	const userHZ = 100
	sum := budget.CPUTime()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(m.r.t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		var pid, parent, skip int
		var name, state string
		var user, system, ended, endedSystem time.Duration
		_, _ = fmt.Sscanf(string(text), "%d (%s %s %d %d %d %d %d %d %d %d %d %d %d %d %d %d", &pid, &name, &state, &parent,
			&skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &skip, &user, &system, &ended, &endedSystem)
		switch m.server.Pid() {
		case parent:
			sum += (user + system) * time.Second / userHZ
		case pid:
			sum += (user + system + ended + endedSystem) * time.Second / userHZ
		}
	}
	return sum
}
