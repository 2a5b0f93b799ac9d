package reconcile

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
)

const (
	usd     = "tti_usd" // 2 decimals, a token of 4 decimals on the source chain
	usdEth  = chain.Asset("usd")
	minimum = 100 // of a deposit, and of a withdrawal's net amount
)

// rig is the books of a gateway of one token that nobody has used, beside two ledgers in memory.
type rig struct {
	t     *testing.T
	eth   *chaintest.Chain
	vite  *chaintest.Chain
	store *records.Store
	net   records.Network
	parts Parts
}

func setup(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, eth: chaintest.New(chaintest.Config{ID: "eth"}), vite: chaintest.New(chaintest.Config{ID: "vite", Linked: true})}
	policy := records.Policy{MinDeposit: units(minimum), MinWithdraw: units(minimum), Decimals: 2, AssetDecimals: 4, Fee: records.Fee{Kind: "flat"}}
	r.net = records.Network{
		Name: "main", Source: "eth", Exchange: "vite",
		Hot: r.eth.Address("hot"), Hots: []string{r.eth.Address("hot")},
		Gateway: r.vite.Address("gateway"), Gateways: []string{r.vite.Address("gateway")},
		Tokens: []records.Token{{TokenID: usd, Symbol: "USD", Decimals: 2, Asset: usdEth, AssetDecimals: 4, Policy: policy}},
	}
	r.store = open(t, filepath.Join(t.TempDir(), "records.db"))
	r.update(func(tx *records.Tx) error {
		for _, c := range []*chaintest.Chain{r.eth, r.vite} {
			head, err := c.Head(t.Context())
			if err == nil {
				err = tx.Chains().Start(c.ID(), head.Final)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	r.account("eth", r.net.Hot, records.KindHot)
	r.account("vite", r.net.Gateway, records.KindGateway)
	r.parts = Parts{
		Store: r.store, Chains: map[chain.ID]chain.Chain{"eth": r.eth, "vite": r.vite},
		Networks: func() []records.Network { return []records.Network{r.net} },
		Log:      quiet(), Now: time.Now,
	}
	return r
}

func open(t *testing.T, path string) *records.Store {
	t.Helper()
	store, err := records.Open(t.Context(), records.Config{URL: "sqlite:" + path})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func (r *rig) account(id chain.ID, account string, kind records.AccountKind) {
	r.t.Helper()
	r.update(func(tx *records.Tx) error {
		return tx.Accounts().Ensure(records.Account{Chain: id, Account: account, Kind: kind, Network: r.net.Name, KeyPath: account})
	})
}

// second adds an account to the pool of each chain.
func (r *rig) second() {
	r.t.Helper()
	r.net.Hots = append(r.net.Hots, r.eth.Address("hot/1"))
	r.net.Gateways = append(r.net.Gateways, r.vite.Address("gateway/1"))
	r.account("eth", r.net.Hots[1], records.KindHot)
	r.account("vite", r.net.Gateways[1], records.KindGateway)
}

func (r *rig) update(f func(*records.Tx) error) {
	r.t.Helper()
	require.NoError(r.t, r.store.Update(r.t.Context(), f))
}

func (r *rig) view(f func(*records.Tx) error) {
	r.t.Helper()
	require.NoError(r.t, r.store.View(r.t.Context(), f))
}

func (r *rig) channel(d records.Direction) (c records.Channel) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		c, err = records.ChannelOf(tx, r.net.Name, usd, d)
		return err
	})
	return c
}

// books are looked at as a new process does.
func (r *rig) books() *Books { return NewBooks(r.parts, func() {}) }

func units(n uint64) chain.Amount { return chain.NewAmount(n) }

func quiet() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}
