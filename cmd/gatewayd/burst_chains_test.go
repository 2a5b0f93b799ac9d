package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// burstChain is a chain's name in PATH (see TestMain): burstchain source FINALITY, burstchain
// program anvil or geth, or burstchain exchange DIR.
const burstChain = "burstchain"

// chainProcess is one of the two chains in a separate process, with a clock set by the test.
type chainProcess struct {
	cmd    *exec.Cmd
	orders io.Writer
	said   *bufio.Scanner
	urls   []string // HTTP, and WebSocket
}

// startChain runs a chain until the test ends. It makes no blocks until it gets a pace.
func startChain(t *testing.T, args ...string) *chainProcess {
	t.Helper()
	p := &chainProcess{cmd: exec.Command(burstChain, args...)}
	p.cmd.Stderr = t.Output()
	orders, err := p.cmd.StdinPipe()
	require.NoError(t, err)
	said, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		require.NoError(t, orders.Close())
		require.NoError(t, p.cmd.Wait())
	})
	p.orders, p.said = orders, bufio.NewScanner(said)
	p.urls = strings.Fields(p.readAnswer(t))
	require.Len(t, p.urls, 2)
	return p
}

// send sends a command to the process and waits for its answer.
func (p *chainProcess) send(t *testing.T, format string, args ...any) {
	t.Helper()
	_, err := fmt.Fprintf(p.orders, format+"\n", args...)
	require.NoError(t, err)
	require.Equal(t, "done", p.readAnswer(t))
}

func (p *chainProcess) readAnswer(t *testing.T) string {
	t.Helper()
	require.True(t, p.said.Scan(), "the chain's process has ended: %v", p.said.Err())
	return p.said.Text()
}

// chainMain is the program. It ends with its standard input, so that it outlives no test.
func chainMain() {
	var err error
	switch kind, arg := os.Args[1], os.Args[2]; kind {
	case "source":
		err = sourceMain(arg)
	case "program":
		err = programMain(ethtest.Kind(arg))
	case "exchange":
		err = exchangeMain(arg)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "a chain has ended:", err)
		os.Exit(1)
	}
}

func sourceMain(finality string) error {
	depth, err := strconv.ParseUint(finality, 10, 64)
	if err != nil {
		return err
	}
	n, err := ethnode.Start(ethnode.Config{FinalityDepth: depth})
	if err != nil {
		return err
	}
	clock := newBurstClock(func() error {
		_, err := n.Mine(1)
		return err
	})
	fmt.Fprintln(os.Stdout, n.URL(), n.WSURL())
	return errors.Join(runCommands(clock, nil), n.Close())
}

// programMain runs another program as the source chain, which makes a block every two seconds at
// any pace: anvil hangs when it is to make a block while it answers other calls (foundry issue
// 10452).
func programMain(kind ethtest.Kind) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n, err := ethtest.Start(ctx, ethtest.Config{Kind: kind, Period: 2 * time.Second})
	if err != nil {
		return err
	}
	clock := newBurstClock(func() error { return nil })
	fmt.Fprintln(os.Stdout, n.URL(), n.URL())
	return errors.Join(runCommands(clock, nil), n.Close())
}

// exchangeMain serves what the public port of a real node serves.
func exchangeMain(dir string) error {
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	if err != nil {
		return err
	}
	genesis, err := dev.Genesis(keys)
	if err != nil {
		return err
	}
	for i := range strangers {
		a := strangerKey(i).Address()
		genesis.Stakes = append(genesis.Stakes, ledger.GenesisStake{Staker: a, Beneficiary: a, Amount: wholeTokens(dev.GatewayStake, 18)})
		genesis.Accounts = append(genesis.Accounts, ledger.GenesisAccount{Address: a})
	}
	e, err := daemon.StartEmbedded(node.Config{Dir: dir, Genesis: genesis, SnapshotInterval: -1}, config.Embedded{Listen: daemon.AnyPort, WS: daemon.AnyPort, Public: true})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.Run(ctx) })
	clock := newBurstClock(func() error {
		_, err := e.Node.Snapshot()
		return err
	})
	fmt.Fprintln(os.Stdout, e.URL(), e.WSURL())
	err = runCommands(clock, func(order string) error { return sendJunk(ctx, e.Node, order) })
	stop()
	return errors.Join(err, g.Wait())
}

// runCommands carries out commands, one a line, until there are no more: "pace DURATION" between
// blocks, 0 for none, and what else the chain knows.
func runCommands(clock *burstClock, other func(order string) error) error {
	defer clock.set(0)
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		verb, arg, _ := strings.Cut(orders.Text(), " ")
		pace, err := time.ParseDuration(arg)
		if verb != "pace" {
			err = other(orders.Text())
		} else if err == nil {
			clock.set(pace)
		}
		if err = errors.Join(err, clock.failure()); err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, "done")
	}
	return errors.Join(orders.Err(), clock.failure())
}

// burstClock makes blocks at an adjustable pace. A slow pace slows down with the load of the
// machine, like the programs on it, so that a daemon's work per block does not depend on the load.
type burstClock struct {
	block func() error
	paces chan time.Duration // without room: set returns when the clock goes by the new pace
	err   chan error         // room for the one that ends it
}

func newBurstClock(block func() error) *burstClock {
	c := &burstClock{block: block, paces: make(chan time.Duration), err: make(chan error, 1)}
	go c.run()
	return c
}

func (c *burstClock) set(pace time.Duration) { c.paces <- pace }

func (c *burstClock) failure() error {
	select {
	case err := <-c.err:
		return err
	default:
		return nil
	}
}

func (c *burstClock) run() {
	pace := time.Duration(0)
	due := time.NewTimer(time.Hour)
	for {
		select {
		case pace = <-c.paces:
		case <-due.C:
			if err := c.block(); err != nil {
				c.err <- fmt.Errorf("making a block: %w", err)
				pace = 0
			}
		}
		due.Reset(interval(pace))
	}
}

// interval is the time to the next block: pace on an idle machine, and for ever without one.
func interval(pace time.Duration) time.Duration {
	switch {
	case pace == 0:
		return time.Hour
	case pace < sourceSlow:
		return pace
	}
	return time.Duration(float64(pace) * min(slowness(), maxSlowness))
}

// maxSlowness bounds how long a test takes on an overloaded machine.
const maxSlowness = 4

// slowness returns the slowdown of a thread's work relative to an idle machine. Its pieces are so
// short that the fastest of them is not interrupted; together they take a hundredth of a second.
func slowness() float64 {
	const pieces = 150
	quickest, begin := time.Hour, time.Now()
	for range pieces {
		piece := time.Now()
		hashOnce()
		quickest = min(quickest, time.Since(piece))
	}
	return max(1, float64(time.Since(begin))/float64(pieces*quickest))
}

// hashOnce takes less than a tenth of a millisecond.
func hashOnce() {
	var sum [32]byte
	for range 1000 {
		sum = sha256.Sum256(sum[:])
	}
}

// strangers have all quota there is and send the gateway what it never asked for.
const strangers = 30

func strangerKey(i int) core.PrivateKey {
	seed := make([]byte, core.SeedSize)
	seed[0], seed[1] = 99, byte(i)
	key, err := core.NewPrivateKey(seed)
	if err != nil {
		panic(err)
	}
	return key
}

// sendJunk carries out "junk COUNT ADDRESS": COUNT sends of nothing to an address, from all
// strangers at once.
func sendJunk(ctx context.Context, n *node.Node, order string) error {
	var count int
	var text string
	if _, err := fmt.Sscanf(order, "junk %d %s", &count, &text); err != nil {
		return fmt.Errorf("order %q: %w", order, err)
	}
	to, err := core.ParseAddress(text)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	for i := range strangers {
		share := count / strangers
		if i < count%strangers {
			share++
		}
		g.Go(func() error { return sendNothing(ctx, n, strangerKey(i), to, share) })
	}
	return g.Wait()
}

func sendNothing(ctx context.Context, n *node.Node, key core.PrivateKey, to core.Address, count int) error {
	b := core.AccountBlock{BlockType: core.SendCall, Address: key.Address(), ToAddress: to, TokenID: core.VITE}
	n.Read(func(v *node.View) {
		head := v.AccountHead(b.Address)
		b.Height, b.Hash = head.Height, head.Hash
	})
	for range count {
		next := b
		next.Height, next.PreviousHash = b.Height+1, b.Hash
		next.SignWith(key)
		if err := n.Submit(ctx, &next); err != nil {
			return fmt.Errorf("a send of nothing: %w", err)
		}
		b = next
	}
	return nil
}
