package dev

import (
	"context"
	"crypto/ecdsa"
	"fmt"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/sirupsen/logrus"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/exchangeapi/client"
	"gatewayd/vite/core"
)

// The users' accounts on the exchange chain, among those with a stake.
const (
	demoIndex     = Users - 3
	makerIndex    = Users - 4
	newcomerIndex = Users - 5 // has no API key: a person gets one on the page of API keys
)

// DemoOptions select the additions to the demo user.
type DemoOptions struct {
	Market bool // a market maker
}

// DemoUsers are the demo user and the market maker. Start it once the environment is ready; until
// then its handlers make who asks wait.
type DemoUsers struct {
	o       DemoOptions
	log     *logrus.Logger
	info    Info
	ready   chan struct{} // closed when info is known
	source  *ecdsa.PrivateKey
	paying  sync.Mutex // of the demo user's account on the source chain
	coins   *CoinUser  // of --bitcoin; nil before its first payment
	watched watch

	opened  chan struct{} // closed when session is known
	session session
}

func NewDemoUsers(o DemoOptions, log *logrus.Logger) *DemoUsers {
	return &DemoUsers{o: o, log: log, ready: make(chan struct{}), opened: make(chan struct{}), source: sourceKey(demoUser), watched: watch{now: time.Now}}
}

// Names that the users' keys of the source chain are made of.
const (
	demoUser    = "demo user"
	marketMaker = "market maker"
)

// sourceKey is a public key pair of the source chain.
func sourceKey(name string) *ecdsa.PrivateKey {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("gatewayd development: " + name)))
	if err != nil {
		panic(err) // the hash of a constant is below the curve's order
	}
	return key
}

// Run lets both users act in an environment until ctx ends. Failures are logged and retried: the
// environment continues without them.
func (u *DemoUsers) Run(ctx context.Context, info Info) error {
	u.info = info
	close(u.ready)
	g, ctx := errgroup.WithContext(ctx)
	if info.API != "" {
		g.Go(func() error {
			u.retry(ctx, "preparing the demo user's API key", func() error { return u.openSession(ctx) })
			return nil
		})
	}
	if u.o.Market && info.API != "" {
		g.Go(func() error { return u.makeMarkets(ctx, sourceKey(marketMaker)) })
	}
	return g.Wait()
}

// retryTime is the pause before a failed act is tried again.
const retryTime = 5 * time.Second

// retry repeats an act until it succeeds or ctx ends.
func (u *DemoUsers) retry(ctx context.Context, what string, act func() error) {
	for {
		err := act()
		if err == nil || ctx.Err() != nil {
			return
		}
		u.log.WithError(err).Warn(what)
		select {
		case <-ctx.Done():
			return
		case <-time.After(retryTime):
		}
	}
}

// The initial funds of both on the source chain, in whole coins or tokens.
const (
	coinGift  = 100
	tokenGift = 100_000
)

// demoGifts are the funds of both. The environment sends them before it is ready: later the faucet
// may have other users, and two senders would use one nonce.
func demoGifts(tokens []Token) []gift {
	var all []gift
	for _, key := range []*ecdsa.PrivateKey{sourceKey(demoUser), sourceKey(marketMaker)} {
		to := crypto.PubkeyToAddress(key.PublicKey)
		all = append(all, gift{nativeAsset, to, Whole(coinGift, 18).Uint256().ToBig()})
		for _, t := range tokens {
			if t.Asset != nativeAsset {
				all = append(all, gift{t.Asset, to, Whole(tokenGift, t.Decimals).Uint256().ToBig()})
			}
		}
	}
	return all
}

const nativeAsset = string(chain.Native)

// trader is the n-th staked account as a trader.
func (u *DemoUsers) trader(ctx context.Context, name string, n uint32) (*Trader, error) {
	key, err := u.info.UserKey(n)
	if err != nil {
		return nil, err
	}
	user, err := NewViteUser(ctx, u.info.Exchange, key)
	if err != nil {
		return nil, err
	}
	note := func(format string, args ...any) { u.log.Debugf(format, args...) }
	return &Trader{ViteUser: user, Name: name, API: &client.Client{Base: u.info.API}, Note: note}, nil
}

// session contains a page's data for trading as the demo user.
type session struct {
	Address string `json:"address"`
	Key     string `json:"key"`
	Secret  string `json:"secret"`
}

// tradedVITE is the demo user's balance on the exchange for buying.
const tradedVITE = 200_000

// openSession gets the demo user an API key that can trade in every market against VITE.
func (u *DemoUsers) openSession(ctx context.Context) error {
	t, err := u.trader(ctx, "the demo user", demoIndex)
	if err != nil {
		return err
	}
	defer t.Node.Close()
	if err := t.Apply(ctx); err != nil {
		return err
	}
	if err := t.Equip(ctx); err != nil {
		return err
	}
	for _, k := range u.info.Tokens {
		if err := awaitMarket(ctx, t, k); err != nil {
			return err
		}
		if err := t.ConfigAgent(ctx, GrantPair, k.ID(), core.VITE); err != nil {
			return err
		}
	}
	if err := stock(ctx, t, core.VITE, "VITE", tradedVITE, 18); err != nil {
		return err
	}
	if err := t.HasQuota(ctx); err != nil {
		return err
	}
	u.session = session{Address: t.Account(), Key: t.API.Key, Secret: t.API.Secret}
	close(u.opened)
	return nil
}

// awaitMarket waits until the API knows a token's market against VITE.
func awaitMarket(ctx context.Context, t *Trader, k Token) error {
	return Within(ctx, Soon, "the market of "+k.Symbol, func() (bool, error) {
		_, err := marketOf(ctx, t, k)
		return err == nil, nil
	})
}

// marketOf finds a token's market against VITE among the API's.
func marketOf(ctx context.Context, t *Trader, k Token) (client.MarketItem, error) {
	all, err := t.API.Markets(ctx, client.Page{})
	for _, m := range all {
		if m.TradeToken == k.Token && m.QuoteToken == core.VITE.String() {
			return m, nil
		}
	}
	return client.MarketItem{}, fmt.Errorf("the API does not know the market of %s: %w", k.Symbol, err)
}

// stock deposits tokens on the exchange unless half of them are there.
func stock(ctx context.Context, t *Trader, token core.TokenID, symbol string, tokens uint64, decimals uint8) error {
	have, err := t.API.Balance(ctx, t.Account())
	if err != nil {
		return err
	}
	if b := have[symbol]; b.Available.Add(b.Locked).IntPart() >= int64(tokens/2) {
		return nil
	}
	return t.ToExchange(ctx, token, tokens, decimals)
}
