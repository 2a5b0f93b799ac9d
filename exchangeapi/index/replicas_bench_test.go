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
// chain alone and of idle replicas is subtracted from pushes; requests run while no index polls.
// The budget is 50 ms for the 99th percentile, and 1.15 times the CPU of a single replica.
func BenchmarkBudgetReplicas(b *testing.B) {
	orders, requests := 100, 2000
	if testing.Short() {
		orders, requests = 20, 200
	}
	r := newRig(b)
	m := replicaMeter{r: r, server: recordstest.OwnPostgres(b, "")}
	var push, request, idle [mostReplicas + 1][]float64 // by number of replicas
	for round := range b.N {
		alone := 0.0
		for i := range mostReplicas + 1 {
			n := i
			if round%2 == 1 && i > 0 {
				n = mostReplicas + 1 - i
			}
			perOrder, perRequest, rest := m.round(n, orders, requests)
			if n == 0 {
				alone = perOrder
				continue
			}
			push[n] = append(push[n], (perOrder-alone)/float64(n))
			request[n] = append(request[n], perRequest)
			idle[n] = append(idle[n], rest*1000/float64(n))
		}
	}
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

func middle(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

type replicaMeter struct {
	r      *rig
	server *recordstest.Server
	late   []time.Duration
}

// round returns the nanoseconds of CPU of an order with its pushes by n replicas, and of a request.
// idle is the share of a core that all replicas use without work.
func (m *replicaMeter) round(n, orders, requests int) (perOrder, perRequest, idle float64) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var replicas []*Index
	var pushed []*Subscription
	url := m.server.Database(m.r.t)
	for range n {
		x := m.r.open(url)
		running.Go(func() { _ = x.Run(ctx) })
		require.Eventually(m.r.t, func() bool { return x.Ready() == nil }, time.Minute, time.Millisecond)
		replicas, pushed = append(replicas, x), append(pushed, x.Subscribe(1000))
	}
	m.r.snapshot()
	if n > 0 {
		cpu, wall := m.measure(func() { <-time.After(3 * time.Second) })
		idle = float64(cpu) / float64(wall)
	}
	var last core.Hash
	cpu, wall := m.measure(func() {
		for i := range orders {
			if i%20 == 19 {
				m.r.snapshot() // quota
			}
			last = m.order(pushed)
		}
	})
	perOrder = (float64(cpu) - idle*float64(wall)) / float64(orders)
	stop()
	running.Wait()
	for i := range 100 * n { // connections, statements and pages of the server
		m.r.find(replicas[i%n], m.r.alice, last)
	}
	cpu, _ = m.measure(func() {
		for i := range requests * min(n, 1) {
			m.r.find(replicas[i%n], m.r.alice, last)
		}
	})
	perRequest = float64(cpu) / float64(requests)
	for _, x := range replicas {
		require.NoError(m.r.t, x.Close())
	}
	return perOrder, perRequest, idle
}

// measure returns the time that work takes, of the processors and by the clock.
func (m *replicaMeter) measure(work func()) (cpu, wall time.Duration) {
	begun, before := time.Now(), m.cpu()
	work()
	return m.cpu() - before, time.Since(begun)
}

// order places an order and waits until all replicas have pushed it.
func (m *replicaMeter) order(pushed []*Subscription) core.Hash {
	hash := m.r.order(m.r.alice, dex.Sell, "15", coins(20))
	id := hash.String()
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
	return hash
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
