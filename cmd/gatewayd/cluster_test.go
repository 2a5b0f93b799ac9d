package main

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/dev/ethnode"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/vite/node"
	"gatewayd/wallet"
)

// clusterBlocks is the time between blocks of both chains.
const clusterBlocks = 500 * time.Millisecond

// cluster is an installation on this machine: three daemons of all roles behind HAProxy, two
// signers on one sign-guard, PostgreSQL with a synchronous standby, and a process for each chain.
// Daemons and signers reach databases and chains over links that can be cut.
type cluster struct {
	*pair
	daemons  []*replica
	signers  [2]*signerProcess
	source   *daemonProcess // the node of the source chain
	exchange *daemonProcess // the node of the exchange chain
	postgres [2]*recordstest.Server
	primary  int // of them
	links    []clusterLink

	records, index, apiKeys, guard string // databases on the primary at the beginning
	chain                          node.Config
	before                         exchangeBooks // of the chain
	front                          [2]string     // gateway and exchange behind HAProxy
	node                           string        // of the exchange chain, over WebSocket
	keys                           [][2]string   // of the traders
}

// clusterLink leads from a daemon or a signer to a server or a node.
type clusterLink struct {
	*link
	from, to string
}

// chainNode is the program of a chain's node in PATH (see TestMain): its blocks outlive it.
// chainnode source DIR ADDRESS, or chainnode exchange DIR ADDRESS WEBSOCKET-ADDRESS.
const chainNode = "chainnode"

func chainNodeMain() {
	fmt.Fprintln(os.Stderr, "a node has ended:", runChainNode(os.Args[1:]))
	os.Exit(1)
}

func runChainNode(args []string) error {
	if args[0] == "source" {
		n, err := ethnode.Start(ethnode.Config{Dir: args[1], Listen: args[2], Period: clusterBlocks})
		if err != nil {
			return err
		}
		return n.Run(context.Background())
	}
	cfg, err := clusterChain(args[1])
	if err != nil {
		return err
	}
	e, err := daemon.StartEmbedded(cfg, config.Embedded{Listen: args[2], WS: args[3]})
	if err != nil {
		return err
	}
	return e.Run(context.Background())
}

// clusterChain is an exchange chain with the accounts of the gateway and of the exchange.
func clusterChain(dir string) (node.Config, error) {
	keys, err := wallet.FromMnemonic(dev.Mnemonic)
	if err != nil {
		return node.Config{}, err
	}
	bridge, err := dev.Genesis(keys)
	if err != nil {
		return node.Config{}, err
	}
	cfg, err := exchangeChainConfig(dir)
	g := &cfg.Genesis
	g.PoWDifficulty = bridge.PoWDifficulty
	g.Tokens = append(g.Tokens, bridge.Tokens...)
	g.Accounts = append(g.Accounts, bridge.Accounts...)
	g.Stakes = append(g.Stakes, bridge.Stakes...)
	cfg.SnapshotInterval = clusterBlocks
	return cfg, err
}

// newCluster starts everything.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{}
	c.startPostgres(t)
	exchangeAPI := config.Exchange{Keys: c.apiKeys, SecretFile: filepath.Join(t.TempDir(), "secret"), Index: exchangeIndexConfig(c.index, nil)}
	var err error
	c.chain, err = clusterChain(t.TempDir())
	require.NoError(t, err)
	c.keys, c.before = fillExchange(t, c.chain, exchangeAPI), readExchangeBooks(t, c.chain)
	http, ws, source := freeAddress(t), freeAddress(t), freeAddress(t)
	c.exchange = &daemonProcess{dir: t.TempDir(), program: chainNode, args: []string{"exchange", filepath.Dir(c.chain.Dir), http, ws}}
	c.source = &daemonProcess{dir: t.TempDir(), program: chainNode}
	c.source.args = []string{"source", filepath.Join(c.source.dir, "chain"), source}
	for _, v := range []*daemonProcess{c.source, c.exchange} {
		v.start(t)
		t.Cleanup(func() { _, _ = v.cmd.Process.Kill(), v.cmd.Wait() })
	}
	waitFor(t, "the nodes", func() bool {
		user, err := dev.NewEthUser(t.Context(), "http://"+source, ethnode.FaucetKey())
		if err != nil {
			return false
		}
		user.Client.Close()
		operator, err := dev.NewOperator(t.Context(), "ws://"+ws)
		if err != nil {
			return false
		}
		operator.Node.Close()
		return true
	})
	c.node = "ws://" + ws
	c.pair = newReplicas(t, 3, c.records, "http://"+source, "http://"+http)
	direct := c.info(0)
	c.signers[0] = splitSigner(t, &c.configs[0])
	c.signers[1] = c.signers[0].shareGuard(t, c.over(t, "signer 0", c.guard), c.over(t, "signer 1", c.guard), &c.configs[0])
	for n := range c.configs {
		from := fmt.Sprint("daemon ", n)
		d, api := &c.configs[n], exchangeAPI
		d.Wallet = c.configs[0].Wallet
		d.Ethereum, d.Vite = slices.Clone(d.Ethereum), slices.Clone(d.Vite)
		d.Ethereum[0].Nodes = []string{"http://" + c.link(t, from, "source", source)}
		d.Vite[0].Nodes = []string{"http://" + c.link(t, from, "exchange", http)}
		d.Database.URL, api.Index.URL, api.Keys = c.over(t, from, d.Database.URL), c.over(t, from, api.Index.URL), c.over(t, from, api.Keys)
		api.Node, api.Listen = "ws://"+c.link(t, from, "exchange", ws), freeAddress(t)
		api.RatePerSecond, api.Burst, api.CallLimit = 10_000, 10_000, 1<<30
		d.Gateway.RatePerSecond, d.Gateway.Burst = 10_000, 10_000
		d.Exchange = &api
		writeReplica(t, *d)
	}
	for i, s := range c.signers {
		s.start(t)
		s.waitForLog(t, [...]string{signerAnswers, signerWaits}[i], 1)
	}
	for n := range c.configs {
		c.daemons = append(c.daemons, c.start(t, n))
		c.waitForReady(t, n, true)
	}
	c.describe(t, direct)
	return c
}

// startPostgres starts the server with its databases, then its standby.
func (c *cluster) startPostgres(t *testing.T) {
	t.Helper()
	first := recordstest.OwnPostgres(t, "")
	c.postgres[0] = first
	c.records, c.index, c.apiKeys, c.guard = first.Database(t), first.Empty(t), first.Empty(t), first.Empty(t)
	t.Cleanup(func() { // the databases are dropped at the end
		first.Stop(syscall.SIGQUIT)
		first.StartWithoutStandby(t)
	})
	c.postgres[1] = first.Standby(t)
}

// describe starts HAProxy, and writes for the users where it and the nodes are.
func (c *cluster) describe(t *testing.T, info dev.Info) {
	t.Helper()
	c.front = c.startBalancer(t)
	info.Gateway = c.front[0] + c.configs[0].Networks[0].Path
	text, err := yaml.Marshal(c.configs[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, "config.yaml"), text, 0o600))
	require.NoError(t, info.Write(filepath.Join(c.dir, "dev.json")))
	require.NoError(t, exchangeURLs{c.node, c.front[1]}.write(c.dir))
}

// link opens one and returns its address.
func (c *cluster) link(t *testing.T, from, to, target string) string {
	t.Helper()
	l, at := startLink(t, target)
	c.links = append(c.links, clusterLink{l, from, to})
	return at
}

// over is the URL of a database over links to both servers: the primary is used.
func (c *cluster) over(t *testing.T, from, database string) string {
	t.Helper()
	return withHosts(t, database, c.link(t, from, "postgres 0", c.postgres[0].Addr(t)), c.link(t, from, "postgres 1", c.postgres[1].Addr(t)))
}

// now is the URL of a database on the primary of now, for the test itself.
func (c *cluster) now(t *testing.T, database string) string {
	t.Helper()
	return withHosts(t, database, c.postgres[c.primary].Addr(t))
}

func withHosts(t *testing.T, database string, hosts ...string) string {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	u.Host = strings.Join(hosts, ",")
	if len(hosts) > 1 {
		u.RawQuery += "&target_session_attrs=read-write"
	}
	return u.String()
}

// between returns the links whose ends begin with these names.
func (c *cluster) between(from, to string) (list []*link) {
	for _, l := range c.links {
		if strings.HasPrefix(l.from, from) && strings.HasPrefix(l.to, to) {
			list = append(list, l.link)
		}
	}
	return list
}

// query reads rows of one text column from a database, nothing while it does not answer.
func (c *cluster) query(t *testing.T, database, statement string) (list []string) {
	t.Helper()
	db, err := sql.Open("pgx", c.now(t, database))
	require.NoError(t, err)
	defer db.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if rows.Scan(&text) != nil {
			return nil
		}
		list = append(list, text)
	}
	if rows.Err() != nil {
		return nil
	}
	return list
}

// leader is the daemon that has the leases, -1 while one of them is free.
func (c *cluster) leader(t *testing.T) int {
	t.Helper()
	found := -1
	for _, holder := range c.query(t, c.records, "SELECT CASE WHEN expires_at > EXTRACT(EPOCH FROM clock_timestamp()) * 1000 THEN holder ELSE '' END FROM leases ORDER BY role = 'daemon'") {
		found = slices.IndexFunc(c.pids, func(pid int) bool { return strings.Contains(holder, fmt.Sprintf("/%d/", pid)) })
		if found < 0 {
			return -1
		}
	}
	return found
}

// servingSigner is the signer that has taken the sign-guard last.
func (c *cluster) servingSigner(t *testing.T) int {
	t.Helper()
	holder := strings.Join(c.query(t, c.guard, "SELECT holder FROM identity"), "")
	for i, s := range c.signers {
		if strings.HasSuffix(holder, fmt.Sprintf("/%d", s.cmd.Process.Pid)) {
			return i
		}
	}
	require.Fail(t, "no signer has the sign-guard", holder)
	return -1
}

// signed is the number of commits of the sign-guard, empty while it does not answer.
func (c *cluster) signed(t *testing.T) string {
	t.Helper()
	return strings.Join(c.query(t, c.guard, "SELECT commits FROM identity"), "")
}

// waitForWork waits until every daemon but one is ready, one of them leads, HAProxy serves, and the
// gateway signs. lost is the number of the daemon that is broken, or -1.
func (c *cluster) waitForWork(t *testing.T, lost int) {
	t.Helper()
	signed := c.signed(t)
	waitFor(t, "the gateway to work", func() bool {
		leader := c.leader(t)
		if leader < 0 || leader == lost {
			return false
		}
		for n := range c.configs {
			for _, url := range c.urls(n) {
				if n != lost && !isReady(url) {
					return false
				}
			}
		}
		now := c.signed(t)
		signed = cmp.Or(signed, now)
		return now != signed && now != "" && isReady(c.front[0]) && isReady(c.front[1])
	})
}

// failOver makes the standby the primary.
func (c *cluster) failOver(t *testing.T) {
	t.Helper()
	c.primary = 1 - c.primary
	c.postgres[c.primary].Promote(t)
}

// addStandby makes a standby in the place of the primary that is gone.
func (c *cluster) addStandby(t *testing.T) {
	t.Helper()
	gone := 1 - c.primary
	c.postgres[gone] = c.postgres[c.primary].Standby(t)
	for _, l := range c.between("", fmt.Sprint("postgres ", gone)) {
		l.to(c.postgres[gone].Addr(t))
	}
}
