package node

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
)

// crashDir makes the test binary the child of TestKill.
const crashDir = "GATEWAYD_NODE_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		fmt.Fprintln(os.Stderr, crashChild(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const crashUsers = 4

func crashConfig(dir string) (Config, []user, error) {
	config := Config{Dir: dir, SnapshotInterval: 5 * time.Millisecond, StateEvery: 20_000}
	config.retention = ledger.Retention{Depth: 20, Changes: 20_000, Snapshots: 4, Blocks: 50}
	var users []user
	for i := range crashUsers {
		key, err := core.NewPrivateKey(append(make([]byte, core.SeedSize-1), byte(i+1)))
		if err != nil {
			return config, nil, err
		}
		u := user{key, key.Address()}
		users = append(users, u)
		config.Genesis.Accounts = append(config.Genesis.Accounts, ledger.GenesisAccount{Address: u.addr, Balances: map[core.TokenID]uint256.Int{
			core.VITE: *vite(1_000_000), coin: whole(1_000_000), dex.VX: *vite(1_000_000),
		}})
		config.Genesis.Stakes = append(config.Genesis.Stakes, ledger.GenesisStake{Staker: u.addr, Beneficiary: u.addr, Amount: *vite(2_500_000)})
	}
	config.Genesis.ExchangeOwner = users[0].addr
	config.Genesis.Tokens = []ledger.TokenInfo{
		{ID: coin, Name: "Test", Symbol: "COIN", Decimals: 8, Owner: users[0].addr, TotalSupply: whole(crashUsers * 1_000_000)},
		{ID: dex.VX, Name: "ViteX Coin", Symbol: "VX", Decimals: 18, Owner: users[0].addr, TotalSupply: *vite(crashUsers * 1_000_000)},
	}
	return config, users, nil
}

// crashSetup opens a market that mines, in which each user has half of what he owns.
func crashSetup(t *testing.T, config Config, users []user) {
	config.SnapshotInterval = -1
	n, err := New(config)
	require.NoError(t, err)
	l := &testChain{n, t, users[0], users[1], users[2]}
	l.openMarkets()
	l.allowMining(coin, core.VITE)
	l.endow(*vite(500_000))
	for _, u := range users {
		l.deposit(u, core.VITE, *vite(400_000))
		l.deposit(u, coin, whole(500_000))
	}
	l.snapshot()
	require.NoError(t, n.Close())
}

// crashChild submits blocks for ever and prints the hash of each that was acknowledged.
func crashChild(dir string) error {
	config, users, err := crashConfig(dir)
	if err != nil {
		return err
	}
	n, err := New(config)
	if err != nil {
		return err
	}
	var out sync.Mutex
	g, ctx := errgroup.WithContext(context.Background())
	g.Go(func() error { return n.Run(ctx) })
	g.Go(func() error { return printHeads(n, &out) })
	for i, u := range users {
		g.Go(func() error {
			for {
				h, err := crashStep(ctx, n, u, users[(i+1)%len(users)])
				if errors.Is(err, ledger.ErrQuota) {
					continue // until the next snapshot block
				}
				if err != nil {
					return err
				}
				out.Lock()
				_, err = fmt.Fprintln(os.Stdout, h)
				out.Unlock()
				if err != nil {
					return err
				}
			}
		})
	}
	return g.Wait()
}

// printHeads prints forever the new blocks of dexTrade, which no client submits.
func printHeads(n *Node, out *sync.Mutex) error {
	for last := (core.Hash{}); ; {
		var head *Block
		n.Read(func(v *View) { head = v.AccountHead(core.DexTradeContract) })
		if head.Hash == last {
			<-time.After(100 * time.Microsecond)
			continue
		}
		last = head.Hash
		if err := n.Flush(); err != nil {
			return err
		}
		out.Lock()
		_, err := fmt.Fprintln(os.Stdout, head.Hash)
		out.Unlock()
		if err != nil {
			return err
		}
	}
}

// crashStep receives if something waits, else calls the exchange or sends.
func crashStep(ctx context.Context, n *Node, u, to user) (core.Hash, error) {
	b := &core.AccountBlock{Address: u.addr}
	n.Read(func(v *View) {
		head := v.AccountHead(u.addr)
		b.Height, b.PreviousHash = head.Height+1, head.Hash
		if list := v.Unreceived(u.addr, 0, 1); len(list) > 0 && b.Height%2 == 0 && b.Height%12 != 0 {
			b.BlockType, b.SendBlockHash = core.Receive, list[0].Hash
			return
		}
		if data, err := crashCall(v, u, b.Height); b.Height%3 == 0 && err == nil {
			b.BlockType, b.ToAddress, b.TokenID, b.Data = core.SendCall, core.DexFundContract, core.VITE, data
			return
		}
		b.BlockType, b.ToAddress, b.TokenID, b.Amount = core.SendCall, to.addr, core.VITE, *uint256.NewInt(1)
	})
	b.SignWith(u.key)
	return b.Hash, n.Submit(ctx, b)
}

// crashCall buys or sells about as much as it did the time before, so that most orders meet. Now
// and then half a day passes.
func crashCall(v *View, u user, height uint64) ([]byte, error) {
	if height%12 == 0 && v.Exchange().Roles().Timer == u.addr {
		return dex.FundNotifyTime.Pack(v.Exchange().Time() + dex.PeriodTime/2)
	}
	sell := (height/3+uint64(u.addr[0]))%2 == 0
	return dex.FundPlaceOrder.Pack(coin, core.VITE, sell, uint8(dex.Limit), "10", whole(10+height%7))
}

// TestKill kills a submitting process repeatedly. After each restart every acknowledged or durable
// block exists, and the exchange's books are consistent.
func TestKill(t *testing.T) {
	binary, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	config, users, err := crashConfig(dir)
	require.NoError(t, err)
	crashSetup(t, config, users)
	acknowledged := map[core.Hash]bool{}
	for round := range 20 {
		crashRound(t, binary, dir, 3+round*round/2, acknowledged)
		n, err := New(config)
		require.NoError(t, err, "round %d", round)
		n.Read(func(v *View) {
			for h := range acknowledged {
				require.NotNil(t, v.BlockByHash(h), "round %d lost block %s", round, h)
			}
		})
		checkBooks(t, n.state, uint256.Int{})
		checkExchange(t, n.state)
		if round == 19 {
			require.NoError(t, n.Tick())
			checkExchange(t, n.state)
			require.Greater(t, n.state.Accounts[core.DexTradeContract].Head().Height, uint64(200), "orders matched")
			require.False(t, n.state.Exchange.Mining.Mined.IsZero(), "VX was mined")
		}
		require.NoError(t, n.Close())
	}
	require.Greater(t, len(acknowledged), 1000)
}

// crashRound kills the child after it has acknowledged n blocks. Lines that it had written before
// it died count too.
func crashRound(t *testing.T, binary, dir string, n int, acknowledged map[core.Hash]bool) {
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for i := 0; lines.Scan(); i++ {
		h, err := core.ParseHash(lines.Text())
		require.NoError(t, err)
		acknowledged[h] = true
		if i == n {
			require.NoError(t, cmd.Process.Kill())
		}
	}
	require.ErrorContains(t, cmd.Wait(), "killed")
}
