package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"gatewayd/daemon"
	api "gatewayd/exchangeapi/client"
	"gatewayd/internal/testing/recordstest"
)

// partFaults contains a function for each fault, in the order of faultNames. It breaks the part and
// returns the repair. Nil: the part does not have the fault.
type partFaults [3]func() (repair func())

var faultNames = [len(partFaults{})]string{"kill -9", "SIGSTOP", "partition"}

// part is one process, server or link of the installation.
type part struct {
	name   string
	faults partFaults
	spares [len(partFaults{})]bool // another one does its work during this fault
	daemon int                     // its number, or -1
}

var (
	always      = [...]bool{true, true, true}
	never       = [...]bool{false, false, false}
	ifItIsTaken = [...]bool{true, false, true} // its operator promotes the standby, unless it is frozen
)

// parts is the table of what can break, with the processes that have each task now.
func (c *cluster) parts(t *testing.T, rng *rand.Rand) []part {
	t.Helper()
	leader, signer := c.leader(t), c.servingSigner(t)
	require.GreaterOrEqual(t, leader, 0, "a daemon leads")
	other := (leader + 1 + rng.IntN(len(c.daemons)-1)) % len(c.daemons)
	one := fmt.Sprint("daemon ", rng.IntN(len(c.daemons)))
	cut := func(from, to string) func() func() { return func() func() { return severAll(c.between(from, to)) } }
	return []part{
		{"the leader", c.faultsOfDaemon(t, leader), always, leader},
		{"another daemon", c.faultsOfDaemon(t, other), always, other},
		{"the signer", c.faultsOfSigner(t, signer), always, -1},
		{"the waiting signer", c.faultsOfSigner(t, 1-signer), never, -1},
		{"PostgreSQL", c.faultsOfPrimary(t), ifItIsTaken, -1},
		{"the standby of PostgreSQL", c.faultsOfStandby(t), never, -1},
		{"the source node", faultsOfNode(t, c.source, cut("", "source")), never, -1},
		{"the exchange node", faultsOfNode(t, c.exchange, cut("", "exchange")), never, -1},
		{"a daemon's link to the source node", partFaults{2: cut(one, "source")}, never, -1},
		{"a daemon's link to the exchange node", partFaults{2: cut(one, "exchange")}, never, -1},
	}
}

func severAll(list []*link) (join func()) {
	for _, l := range list {
		l.sever()
	}
	return func() {
		for _, l := range list {
			l.join()
		}
	}
}

func (c *cluster) faultsOfDaemon(t *testing.T, n int) partFaults {
	return partFaults{
		func() func() {
			require.NoError(t, c.daemons[n].cmd.Process.Kill())
			require.Error(t, c.daemons[n].cmd.Wait())
			return func() { c.daemons[n] = c.start(t, n) }
		},
		func() func() { return freezeAll(t, c.pids[n]) },
		func() func() { return severAll(c.between(fmt.Sprint("daemon ", n), "postgres")) },
	}
}

func (c *cluster) faultsOfSigner(t *testing.T, n int) partFaults {
	return partFaults{
		func() func() {
			c.signers[n].kill(t)
			return func() { c.signers[n].start(t) }
		},
		func() func() { return freezeAll(t, c.signers[n].cmd.Process.Pid) },
		func() func() { return severAll(c.between(fmt.Sprint("signer ", n), "postgres")) },
	}
}

// blackhole loses what is under way on a link, and what comes, without an acknowledgement.
func (l *link) blackhole(t *testing.T) {
	t.Helper()
	l.sever()
	l.mu.Lock()
	defer l.mu.Unlock()
	drop := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K}
	for _, conn := range l.conns {
		raw, err := conn.(*net.TCPConn).SyscallConn()
		require.NoError(t, err)
		_ = raw.Control(func(fd uintptr) { // fails for a connection that is closed
			_ = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop})
		})
	}
}

// faultsOfPrimary promotes the standby, unless the primary is only frozen. One that is cut off
// continues to run: without its synchronous standby it commits nothing.
func (c *cluster) faultsOfPrimary(t *testing.T) partFaults {
	server := c.postgres[c.primary]
	return partFaults{
		func() func() {
			killServer(t, server)
			c.failOver(t)
			return func() { c.addStandby(t) }
		},
		func() func() { return freezeAll(t, server.Pid()) },
		func() func() {
			links := c.between("", fmt.Sprint("postgres ", c.primary))
			for _, l := range links {
				l.blackhole(t)
			}
			c.failOver(t)
			return func() {
				killServer(t, server)
				for _, l := range links {
					l.join()
				}
				c.addStandby(t)
			}
		},
	}
}

// faultsOfStandby let commits wait. It has no link.
func (c *cluster) faultsOfStandby(t *testing.T) partFaults {
	server := c.postgres[1-c.primary]
	return partFaults{
		func() func() {
			killServer(t, server)
			return func() { require.NoError(t, server.Start()) }
		},
		func() func() { return freezeAll(t, server.Pid()) },
	}
}

// killServer kills all processes of a PostgreSQL server.
func killServer(t *testing.T, s *recordstest.Server) {
	t.Helper()
	for _, pid := range children(t, s.Pid()) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
	s.Stop(syscall.SIGKILL)
}

func faultsOfNode(t *testing.T, v *daemonProcess, cut func() func()) partFaults {
	return partFaults{
		func() func() {
			v.kill(t)
			return func() { v.start(t) }
		},
		func() func() { return freezeAll(t, v.cmd.Process.Pid) },
		cut,
	}
}

// maxTakeover only fails a test of a system that hangs: the promise is measured and printed.
const maxTakeover = time.Minute

// clusterLoad contains the traders and WebSocket clients that run during the rounds.
type clusterLoad struct {
	*errgroup.Group
	ctx       context.Context
	accepted  *acceptedBlocks
	checked   int // of the accepted blocks
	exchange  *exchangeProcess
	listeners []*bookClient
}

// startTraders lets traders place and cancel orders, and WebSocket clients keep books.
func (c *cluster) startTraders(t *testing.T, seed uint64) (l *clusterLoad, stopTrading, stop func()) {
	t.Helper()
	l = &clusterLoad{accepted: &acceptedBlocks{refused: map[string]int{}, faulty: true}, exchange: &exchangeProcess{dir: c.dir}}
	listening, hangUp := context.WithCancel(context.Background())
	t.Cleanup(hangUp)
	trading, end := context.WithCancel(listening)
	l.Group, l.ctx = errgroup.WithContext(listening)
	var traders errgroup.Group
	for _, one := range newTraders(l.exchange, l.accepted, c.keys, seed)[:len(c.keys)] {
		one.pause = 250 * time.Millisecond
		traders.Go(func() error { return one.trade(trading) })
	}
	l.Go(traders.Wait)
	l.Go(func() error {
		for listening.Err() == nil {
			_ = sendExchangeTime(listening, c.node) // the node may be away
			select {
			case <-time.After(time.Second):
			case <-listening.Done():
			}
		}
		return nil
	})
	for range 2 {
		b := &bookClient{}
		l.listeners = append(l.listeners, b)
		l.Go(func() error { return b.run(listening, c.front[1]) })
	}
	return l, func() { end(); require.NoError(t, traders.Wait()) }, func() { hangUp(); require.NoError(t, l.Wait()) }
}

// TestRounds breaks a random part of a whole installation in each round, and repairs it, while
// users bridge, traders trade and WebSocket clients keep books. In the end nothing is paid twice or
// lost, by both chains alone; every order that was acknowledged is there; and every client has the
// book of the chain. GATEWAYD_ROUNDS is the number of rounds, GATEWAYD_SEED chooses them, and
// GATEWAYD_FAULT="kill -9" or "the leader" selects some.
func TestRounds(t *testing.T) {
	rounds, seed := numberFrom(t, "GATEWAYD_ROUNDS", 6), seedOf(t)
	t.Setenv("GATEWAYD_SEED", strconv.FormatUint(seed, 10)) // for the users, too
	c := newCluster(t)
	v, clients, stopUsers := c.startUsersFor(t, 3, time.Duration(5+rounds)*time.Minute)
	load, stopTraders, stop := c.startTraders(t, seed)
	c.waitForWork(t, -1)

	rng := rand.New(rand.NewPCG(seed, 0))
	var deck [][2]int
	took, counts := map[string][]time.Duration{}, map[string]int{}
	for round := range rounds {
		table := c.parts(t, rng)
		if len(deck) == 0 {
			deck = shuffled(table, rng)
		}
		p, fault := table[deck[0][0]], deck[0][1]
		deck = deck[1:]
		name := p.named(fault)
		counts[name]++
		longer := time.Duration(2000+rng.IntN(4000)) * time.Millisecond
		if !p.spares[fault] && rng.IntN(4) == 0 {
			longer += daemon.LeaseTTL
		}
		t.Logf("round %d: %s", round+1, name)

		begun := time.Now()
		repair := p.faults[fault]()
		if p.spares[fault] {
			c.waitForWork(t, p.daemon)
			after := time.Since(begun)
			took[p.name] = append(took[p.name], after)
			t.Logf("round %d: taken over after %s", round+1, after.Round(10*time.Millisecond))
			require.Less(t, after, maxTakeover)
		}
		select {
		case <-time.After(longer):
		case <-load.ctx.Done():
		}
		repair()
		repaired := time.Now()
		c.waitForWork(t, -1)
		load.check(t)
		t.Logf("round %d: whole %s after the repair", round+1, time.Since(repaired).Round(10*time.Millisecond))
	}

	stopTraders()
	stopUsers()
	checkBooks(t, v, clients)
	load.exchange.waitForOrders(t.Context(), t, load.accepted)
	load.waitForBooks(t)
	stop()
	for _, d := range c.daemons {
		require.NoError(t, d.cmd.Process.Signal(syscall.SIGTERM))
		require.NoError(t, d.cmd.Wait())
	}
	w := &listener{trades: pushedTrades(load.listeners)}
	load.accepted.log(t, rounds, w)
	c.exchange.kill(t)
	built := checkExchange(t, c.chain, c.now(t, c.index), load.accepted, w, c.before)
	for _, b := range load.listeners {
		b.check(t, built)
	}
	for name, n := range counts {
		t.Logf("%d x %s", n, name)
	}
	for name, list := range took {
		slices.Sort(list)
		t.Logf("%d take-overs of %s: median %s, longest %s", len(list), name, list[len(list)/2].Round(10*time.Millisecond), list[len(list)-1].Round(10*time.Millisecond))
	}
}

// named is one of its faults.
func (p part) named(fault int) string { return faultNames[fault] + " of " + p.name }

// shuffled is every fault of every part, in random order.
func shuffled(table []part, rng *rand.Rand) (deck [][2]int) {
	for i, p := range table {
		for j, fault := range p.faults {
			if fault != nil && strings.Contains(p.named(j), os.Getenv("GATEWAYD_FAULT")) {
				deck = append(deck, [2]int{i, j})
			}
		}
	}
	rng.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

// check requires that all accepted blocks are on the chain, waits for another order, and reports
// what a trader or a WebSocket client has found wrong.
func (l *clusterLoad) check(t *testing.T) {
	t.Helper()
	orders, accepted := l.accepted.count()
	l.exchange.requireBlocks(t, exchangeURLs{Node: l.nodeURL(t)}, l.accepted.since(l.checked)[:accepted-l.checked])
	l.checked = accepted
	waitFor(t, "another order", func() bool {
		now, _ := l.accepted.count()
		return now > orders || l.ctx.Err() != nil
	})
	if l.ctx.Err() != nil {
		require.NoError(t, errors.Join(l.Wait(), errors.New("a client ended early")))
	}
}

func (l *clusterLoad) nodeURL(t *testing.T) string {
	t.Helper()
	info, err := l.exchange.urls()
	require.NoError(t, err)
	return info.Node
}

// waitForBooks waits until every client has the books that REST shows.
func (l *clusterLoad) waitForBooks(t *testing.T) {
	t.Helper()
	info, err := l.exchange.urls()
	require.NoError(t, err)
	rest := &api.Client{Base: info.API, HTTP: newHTTPClient()}
	defer rest.HTTP.CloseIdleConnections()
	for _, symbol := range exchangeMarkets {
		for _, b := range l.listeners {
			waitFor(t, "the book of "+symbol, func() bool {
				d, err := rest.Depth(t.Context(), symbol, 0, nil)
				return err == nil && maps.Equal(levelsOf(d.Asks, d.Bids), b.book(symbol))
			})
		}
	}
}
