package exchange

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/exchangeapi"
	"gatewayd/exchangeapi/apikey"
	"gatewayd/exchangeapi/index"
	"gatewayd/httpserver"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
	"gatewayd/vite/rpc"
	"gatewayd/wallet"
)

// apiEnv is an exchange with everything in front of it that a trading client meets: JSON-RPC of the node, index, exchange API, keys.
type apiEnv struct {
	*nodeEnv
	*delegated
	api     *exchangeapi.Server
	index   *index.Index
	store   *apikey.Store
	link    *client.Client
	rpc     *rpc.Server
	clients []*apiClient
	http    *http.Client
	stop    context.CancelFunc
	running *errgroup.Group
	unindex context.CancelFunc // ends following
	indexer chan error         // of following, once
}

// apiClient is a trader with an API key.
type apiClient struct {
	key, secret string
	stamp       int64 // of the newest request: the server refuses two that are alike
}

// benchMnemonic is everybody's.
const benchMnemonic = "test test test test test test test test test test test junk"

// delegated are delegation addresses, derived at each signature as the daemon does.
type delegated struct {
	keys   *wallet.Keys
	paths  map[core.Address]string
	agents []core.Address // of the traders, in order
}

// newDelegated has one for each of the traders.
func newDelegated(traders int) (*delegated, error) {
	keys, err := wallet.FromMnemonic(benchMnemonic)
	if err != nil {
		return nil, err
	}
	owners, err := newSigners(traders + 1)
	if err != nil {
		return nil, err
	}
	d := &delegated{keys: keys, paths: map[core.Address]string{}}
	for i, s := range owners[1:] {
		d.paths[s.address] = fmt.Sprintf("m/44'/666666'/1'/2'/3'/4'/%d'", i)
		agent, err := d.Agent(s.address)
		if err != nil {
			return nil, err
		}
		d.agents = append(d.agents, agent)
	}
	return d, nil
}

// Agent is the account's delegation address.
func (d *delegated) Agent(owner core.Address) (core.Address, error) {
	text, err := d.keys.Address(d.paths[owner])
	if err != nil {
		return core.Address{}, err
	}
	return core.ParseAddress(text)
}

// SignAgent signs with its key.
func (d *delegated) SignAgent(ctx context.Context, owner core.Address, digest []byte) (public, signature []byte, err error) {
	return d.keys.Sign(ctx, d.paths[owner], digest)
}

// openAPIEnv opens everything in a directory and runs it; the chain and the index may be there already. Close ends it.
func openAPIEnv(ctx context.Context, dir string, traders int) (*apiEnv, error) {
	ctx, stop := context.WithCancel(ctx)
	s := &apiEnv{stop: stop, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: traders}}}
	s.running, ctx = errgroup.WithContext(ctx)
	if err := s.open(ctx, dir, traders); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *apiEnv) open(ctx context.Context, dir string, traders int) (err error) {
	if s.delegated, err = newDelegated(traders); err != nil {
		return err
	}
	s.nodeEnv, err = openNodeEnv(ctx, nodeEnvConfig{dir: filepath.Join(dir, "chain"), traders: traders, staked: s.agents})
	if err != nil {
		return err
	}
	if err := s.serveNode(ctx); err != nil {
		return err
	}
	if err := s.openIndex(ctx, dir); err != nil {
		return err
	}
	s.store, err = apikey.Open(ctx, apikey.Config{
		URL: "sqlite:" + filepath.Join(dir, "keys.db"), Secret: make([]byte, apikey.SecretSize),
	})
	if err != nil {
		return err
	}
	return s.serveAPI(ctx)
}

// enrol makes every trader a client of the API and waits until each may place orders.
func (s *apiEnv) enrol(ctx context.Context) error {
	for i, trader := range s.traders {
		if err := s.join(ctx, trader, s.agents[i]); err != nil {
			return fmt.Errorf("making trader %d a client: %w", i, err)
		}
	}
	return s.ready(ctx)
}

// serveNode runs the chain and its JSON-RPC, reached over WebSocket from inside the process as the daemon reaches its own.
func (s *apiEnv) serveNode(ctx context.Context) (err error) {
	if s.rpc, err = rpc.New(s.node, rpc.Config{WS: "127.0.0.1:0"}); err != nil {
		return err
	}
	if err := s.rpc.Listen(); err != nil {
		return err
	}
	s.running.Go(func() error { return s.rpc.Run(ctx) })
	s.running.Go(func() error { return s.node.Run(ctx) })
	s.link, err = client.Dial(ctx, "ws://"+s.rpc.WSAddr(), client.Options{Dial: s.rpc.Dial})
	return err
}

func (s *apiEnv) openIndex(ctx context.Context, dir string) (err error) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	s.index, err = index.New(ctx, index.Config{
		URL: "sqlite:" + filepath.Join(dir, "index.db"), Precisions: map[string]index.Precision{envSymbol: {Price: 4, Quantity: 2}},
	}, s.link, log)
	if err != nil {
		return err
	}
	s.follow(ctx)
	return nil
}

// follow lets the index follow the chain until unfollow.
func (s *apiEnv) follow(ctx context.Context) {
	ctx, s.unindex = context.WithCancel(ctx)
	s.indexer = make(chan error, 1)
	go func() { s.indexer <- s.index.Run(ctx) }()
}

func (s *apiEnv) unfollow() error {
	if s.unindex == nil {
		return nil
	}
	s.unindex()
	s.unindex = nil
	return <-s.indexer
}

func (s *apiEnv) serveAPI(ctx context.Context) (err error) {
	log := logrus.New()
	log.SetOutput(io.Discard)
	s.api, err = exchangeapi.New(exchangeapi.Config{
		Config:    httpserver.Config{Listen: "127.0.0.1:0", RatePerSecond: 1e6, Burst: 1e6},
		CallLimit: 1 << 30, CallCycle: time.Hour,
	}, exchangeapi.Parts{
		Keys: s.store, Log: log,
		Networks: []exchangeapi.Network{{Name: "main", Index: s.index, Node: s.link, Agents: s.delegated}},
	})
	if err != nil {
		return err
	}
	s.running.Go(func() error { return s.api.Run(ctx) })
	return s.api.Ready(ctx)
}

// join gives a trader an API key, its delegation address something to receive, and that the market.
func (s *apiEnv) join(ctx context.Context, trader *Signer, agent core.Address) error {
	key, secret, err := s.store.Issue(ctx, "main", trader.address, agent)
	if err != nil {
		return err
	}
	s.clients = append(s.clients, &apiClient{key: key.Key, secret: secret})
	return errors.Join(
		s.send(ctx, trader, agent),
		s.call(ctx, trader, dex.FundConfigAgents, uint8(1), agent, []core.TokenID{s.gold}, []core.TokenID{core.VITE}),
	)
}

// ready waits until every delegation address may trade, and then fills the quota window of all.
func (s *apiEnv) ready(ctx context.Context) error {
	if err := fillWindow(s.node); err != nil {
		return err
	}
	for i, agent := range s.agents {
		err := until(ctx, func() (bool, error) {
			granted, err := s.index.Granted(ctx, s.traders[i].address, agent, envSymbol)
			return granted, allow(err, index.ErrUnknownMarket)
		})
		if err != nil {
			return fmt.Errorf("waiting for the permission of trader %d: %w", i, err)
		}
	}
	return nil
}

// allow is nil for an error that is expected.
func allow(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// until asks until the answer is yes, which must not take longer than a minute.
func until(ctx context.Context, ask func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if yes, err := ask(); yes || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// get reads an answer of the exchange API.
func (s *apiEnv) get(ctx context.Context, path string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.api.Addr()+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	reply, err := s.http.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if err := json.NewDecoder(reply.Body).Decode(into); err != nil {
		return fmt.Errorf("reading the answer to %s: %w", path, err)
	}
	return nil
}

// order places the n-th order over REST for one of the clients.
func (s *apiEnv) order(ctx context.Context, of *apiClient, n int) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.api.Addr()+"/api/v2/order", strings.NewReader(of.form(n)))
	if err != nil {
		return fmt.Errorf("making a request: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	reply, err := s.http.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	var answer struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&answer); err != nil {
		return fmt.Errorf("reading the answer to order %d: %w", n, err)
	}
	if answer.Code != 0 {
		return fmt.Errorf("order %d: %d %s", n, answer.Code, answer.Msg)
	}
	return nil
}

// form is the signed request of the n-th order.
func (c *apiClient) form(n int) string {
	sell, price, quantity := envOrder(n)
	side := "0"
	if sell {
		side = "1"
	}
	c.stamp = max(c.stamp+1, time.Now().UnixMilli())
	values := url.Values{
		"symbol": {envSymbol}, "amount": {fmt.Sprintf("%d.%02d", quantity, n%100)}, "price": {price}, "side": {side},
		"key": {c.key}, "timestamp": {strconv.FormatInt(c.stamp, 10)},
	}
	values.Set("signature", authentication(c.secret, values.Encode()))
	return values.Encode()
}

// authentication is a request's signature.
func authentication(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// Close ends everything that runs, in reverse order of opening.
func (s *apiEnv) Close() error {
	err := s.unfollow()
	s.http.CloseIdleConnections()
	s.stop()
	err = errors.Join(err, s.running.Wait())
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	if s.index != nil {
		err = errors.Join(err, s.index.Close())
	}
	if s.link != nil {
		s.link.Close()
	}
	if s.nodeEnv != nil {
		err = errors.Join(err, s.node.Close())
	}
	return err
}
