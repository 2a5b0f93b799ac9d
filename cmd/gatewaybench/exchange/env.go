package exchange

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/daemon"
	"gatewayd/devnet"
	"gatewayd/exchangeapi"
	"gatewayd/exchangeapi/apikey"
	apiclient "gatewayd/exchangeapi/client"
	"gatewayd/exchangeapi/index"
	"gatewayd/httpserver"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
	"gatewayd/wallet"

	"github.com/holiman/uint256"
)

// Cases are all of this package, in the order in which they are shown.
func Cases() []bench.Case {
	return append([]bench.Case{orderCase(), getCase()}, wsCases()...)
}

// env is an exchange with everything in front of it that a trading client meets: chain, JSON-RPC, index, API and keys. It has one market, and traders who
// have all they need for it.
type env struct {
	chain   *daemon.Embedded
	owner   *Signer
	traders []*trader
	agents  daemon.Delegation

	link  *client.Client
	index *index.Index
	keys  *apikey.Store
	api   *exchangeapi.Server

	stop, unfollow context.CancelFunc // ends all; ends following
	followed       chan error         // of following, once
	running        *errgroup.Group
}

type trader struct {
	*Signer
	agent core.Address
	api   apiclient.Client
}

// symbol is the market's; both tokens have 18 decimals, prices 4 and quantities 2.
const symbol = "GOLD-000_VITE"

var gold = core.TokenID([]byte("gold......"))

// openEnv opens everything in a directory and runs it; a new chain gets its market. Close ends it.
func openEnv(ctx context.Context, dir string, traders int) (*env, error) {
	s := &env{}
	ctx, s.stop = context.WithCancel(ctx)
	s.running, ctx = errgroup.WithContext(ctx)
	err := s.openChain(ctx, dir, traders)
	if err == nil {
		err = s.openAPI(ctx, dir)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *env) openChain(ctx context.Context, dir string, traders int) (err error) {
	keys, err := wallet.FromMnemonic(devnet.Mnemonic)
	if err != nil {
		return err
	}
	s.agents = daemon.DelegationOf(keys, "main")
	if s.owner, err = NewSigner(0); err != nil {
		return err
	}
	for i := range traders {
		t := &trader{}
		if t.Signer, err = NewSigner(i + 1); err == nil {
			t.agent, err = s.agents.Agent(ctx, t.address)
		}
		if err != nil {
			return err
		}
		s.traders = append(s.traders, t)
	}
	if s.chain, err = daemon.NewEmbedded(node.Config{Dir: filepath.Join(dir, "chain"), Genesis: s.genesis(), SnapshotInterval: -1}); err != nil {
		return err
	}
	s.running.Go(func() error { return s.chain.Run(ctx) })
	err = s.owner.Find(s.chain.Node)
	for _, t := range s.traders {
		err = errors.Join(err, t.Find(s.chain.Node))
	}
	if err != nil || s.owner.height > 1 {
		return err
	}
	return s.found(ctx)
}

func (s *env) genesis() ledger.Genesis {
	g := ledger.Genesis{ExchangeOwner: s.owner.address, Tokens: []ledger.TokenInfo{
		{ID: gold, Name: "Gold", Symbol: "GOLD", Decimals: 18, Owner: s.owner.address, TotalSupply: whole(1e12)},
	}}
	s.owner.Endow(&g)
	for _, t := range s.traders {
		t.Endow(&g)
		g.Accounts[len(g.Accounts)-1].Balances[gold] = whole(1e9)
		g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: t.address, Beneficiary: t.agent, Amount: g.Stakes[0].Amount})
	}
	return g
}

// found makes the market, pays the traders' funds in and lets their delegation addresses trade.
func (s *env) found(ctx context.Context) error {
	owner := s.owner.address
	err := errors.Join(
		fillWindow(s.chain.Node),
		s.call(ctx, s.owner, dex.FundDexAdmin, uint8(55), owner, owner, owner, false, owner, owner),
		s.call(ctx, s.owner, dex.FundNotifyTime, time.Now().Unix()),
		s.call(ctx, s.owner, dex.FundTradeAdmin, uint8(2), core.VITE, core.VITE, false, core.VITE, uint8(dex.QuoteVITE), uint8(0), 0, uint8(0), 0),
		s.deposit(ctx, s.owner, core.VITE),
		s.call(ctx, s.owner, dex.FundOpenMarket, gold, core.VITE),
	)
	for _, t := range s.traders {
		err = errors.Join(err,
			s.deposit(ctx, t.Signer, core.VITE), s.deposit(ctx, t.Signer, gold),
			s.send(ctx, t.Signer, &core.AccountBlock{ToAddress: t.agent, Amount: *uint256.NewInt(1)}),
			s.call(ctx, t.Signer, dex.FundConfigAgents, uint8(1), t.agent, []core.TokenID{gold}, []core.TokenID{core.VITE}),
		)
	}
	if err = errors.Join(err, fillWindow(s.chain.Node)); err != nil {
		return fmt.Errorf("opening the exchange: %w", err)
	}
	return nil
}

// send signs a block of VITE unless it names another token, and lets the contracts do what then waits for them.
func (s *env) send(ctx context.Context, from *Signer, b *core.AccountBlock) error {
	b.BlockType = core.SendCall
	if b.TokenID == (core.TokenID{}) {
		b.TokenID = core.VITE
	}
	if err := s.chain.Node.Submit(ctx, from.next(b)); err != nil {
		return err
	}
	_, err := s.chain.Node.Snapshot()
	return err
}

func (s *env) call(ctx context.Context, from *Signer, m core.Method, args ...any) error {
	data, err := m.Pack(args...)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Name(), err)
	}
	return s.send(ctx, from, &core.AccountBlock{ToAddress: core.DexFundContract, Data: data})
}

func (s *env) deposit(ctx context.Context, from *Signer, token core.TokenID) error {
	data, err := dex.FundDeposit.Pack()
	if err != nil {
		return err
	}
	return s.send(ctx, from, &core.AccountBlock{ToAddress: core.DexFundContract, TokenID: token, Amount: whole(5e8), Data: data})
}

// openAPI opens what stands before the chain, which is reached as the daemon reaches its own.
func (s *env) openAPI(ctx context.Context, dir string) (err error) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	if s.link, err = client.Dial(ctx, s.chain.WSURL(), client.Options{Dial: s.chain.Dial}); err != nil {
		return err
	}
	s.index, err = index.New(ctx, index.Config{
		URL: "sqlite:" + indexFile(dir), Precisions: map[string]index.Precision{symbol: {Price: 4, Quantity: 2}},
	}, s.link, log)
	if err != nil {
		return err
	}
	following, unfollow := context.WithCancel(ctx)
	s.unfollow, s.followed = unfollow, make(chan error, 1)
	go func() { s.followed <- s.index.Run(following) }()
	if s.keys, err = apikey.Open(ctx, apikey.Config{URL: "sqlite:" + filepath.Join(dir, "keys.db"), Secret: make([]byte, apikey.SecretSize)}); err != nil {
		return err
	}
	s.api, err = exchangeapi.New(exchangeapi.Config{
		Config: httpserver.Config{Listen: daemon.AnyPort, RatePerSecond: 1e6, Burst: 1e6}, CallLimit: 1 << 30, CallCycle: time.Hour,
	}, exchangeapi.Parts{Keys: s.keys, Log: log, Networks: []exchangeapi.Network{{Name: s.agents.Network, Index: s.index, Node: s.link, Agents: s.agents}}})
	if err != nil {
		return err
	}
	s.running.Go(func() error { return s.api.Run(ctx) })
	return errors.Join(s.api.Ready(ctx), s.caughtUp(ctx))
}

func indexFile(dir string) string { return filepath.Join(dir, "index.db") }

// caughtUp waits until the index knows all there is.
func (s *env) caughtUp(ctx context.Context) error {
	return devnet.Within(ctx, time.Minute, "the index to catch up", func() (bool, error) { return s.index.Reached() && s.index.Ready() == nil, nil })
}

// enrol gives every trader an API key and waits until each may place orders.
func (s *env) enrol(ctx context.Context) error {
	transport := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: len(s.traders)}}
	for _, t := range s.traders {
		key, secret, err := s.keys.Issue(ctx, s.agents.Network, t.address, t.agent)
		if err != nil {
			return err
		}
		t.api = apiclient.Client{Base: "http://" + s.api.Addr(), Key: key.Key, Secret: secret, HTTP: transport}
		err = devnet.Within(ctx, time.Minute, "the permission of a trader", func() (bool, error) {
			granted, err := s.index.Granted(ctx, t.address, t.agent, symbol)
			return granted && err == nil, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Close ends everything that runs, in reverse order of opening.
func (s *env) Close() (err error) {
	if s.followed != nil {
		s.unfollow()
		err = <-s.followed
	}
	s.stop()
	err = errors.Join(err, s.running.Wait())
	if s.keys != nil {
		err = errors.Join(err, s.keys.Close())
	}
	if s.index != nil {
		err = errors.Join(err, s.index.Close())
	}
	if s.link != nil {
		s.link.Close()
	}
	return err
}
