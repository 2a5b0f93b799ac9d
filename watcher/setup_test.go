package watcher

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/records/signguard"
	"gatewayd/signer"
)

const (
	finality = 4 // blocks on top that make a block final, on both ledgers

	usd     = "tti_usd" // 2 decimals, an ERC-20 of 4 decimals on the source chain, own address per user
	coin    = "tti_coin"
	usdEth  = chain.Asset("usd")
	fee     = 30  // of a withdrawal
	minimum = 100 // of a deposit, and of a withdrawal's net amount
	maximum = 50_000
	stock   = 1_000_000 // of every asset in every paying account, in gateway units
)

// rig is a whole gateway on two ledgers in memory and a real SQLite file.
type rig struct {
	t     *testing.T
	eth   *chaintest.Chain
	vite  *chaintest.Chain
	path  string // of the records
	store *records.Store
	guard *signguard.Guard
	net   records.Network
	asset chain.Asset // of usd on the source chain
	parts Parts
	w     *Watcher
	now   time.Time
	users int
}

func setup(t *testing.T) *rig {
	t.Helper()
	return setupAt(t, finality, finality)
}

// setupAt is setup with other depths of finality: blocks on top on the source chain and on the
// exchange chain.
func setupAt(t *testing.T, source, exchange uint64) *rig {
	t.Helper()
	eth := chaintest.New(chaintest.Config{ID: "eth", Finality: source})
	vite := chaintest.New(chaintest.Config{ID: "vite", Finality: exchange, Linked: true})
	n := network(eth, vite)
	fundAccounts(eth, vite, n)
	return setupOn(t, eth, vite, n, eth)
}

// setupOn is a rig on ledgers; source is eth as the gateway sees it.
func setupOn(t *testing.T, eth, vite *chaintest.Chain, n records.Network, source chain.Chain) *rig {
	t.Helper()
	r := &rig{t: t, eth: eth, vite: vite, net: n, asset: n.Tokens[0].Asset, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	dir := t.TempDir()
	r.path = filepath.Join(dir, "records.db")
	store, err := records.Open(t.Context(), records.Config{URL: "sqlite:" + r.path, Now: func() time.Time { return r.now }})
	require.NoError(t, err)
	r.store = store
	t.Cleanup(func() { require.NoError(t, r.store.Close()) })
	r.guard, err = signguard.Open(filepath.Join(dir, "guard.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.guard.Close()) })
	r.update(func(tx *records.Tx) error { return ensureAccounts(tx, r.net) })
	r.eth.SetAccounts(records.NewWatch(r.store))

	r.parts = Parts{
		Store: r.store, Chains: map[chain.ID]chain.Chain{r.eth.ID(): source, "vite": r.vite}, Networks: []records.Network{r.net},
		Signer: signerOf(r.guard, r.eth, r.vite), Log: quiet(), Now: func() time.Time { return r.now },
	}
	r.restart()
	r.step() // both cursors start here
	return r
}

// signerOf is a signer with a sign-guard for ledgers in memory.
func signerOf(g *signguard.Guard, ledgers ...*chaintest.Chain) *signer.Signer {
	return signer.New(signer.Parts{Keys: chaintest.NoKeys{}, Guard: g, Rules: rulesOf(ledgers...)})
}

func rulesOf(ledgers ...*chaintest.Chain) map[chain.ID]chain.Rules {
	rules := map[chain.ID]chain.Rules{}
	for _, c := range ledgers {
		rules[c.ID()] = c.Rules()
	}
	return rules
}

func quiet() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

func network(eth, vite *chaintest.Chain) records.Network {
	policy := records.Policy{
		MinDeposit: units(minimum), MinWithdraw: units(minimum), MaxWithdraw: units(maximum),
		DepositConfirmations: records.Depth{Count: finality, Tag: true}, WithdrawConfirmations: records.Depth{Count: finality, Tag: true},
		Fee: records.Fee{Kind: "flat", Amount: units(fee)},
	}
	token := func(id, symbol string, bindingType int, asset chain.Asset, assetDecimals uint8) records.Token {
		p := policy
		p.Type, p.Decimals, p.AssetDecimals = bindingType, 2, assetDecimals
		return records.Token{TokenID: id, Symbol: symbol, Decimals: 2, Asset: asset, AssetDecimals: assetDecimals, Type: bindingType, Policy: p}
	}
	return records.Network{
		Name: "main", Source: "eth", Exchange: "vite", CoinDecimals: 18,
		Hot: eth.Address("hot"), Shared: eth.Address("shared"), Gas: eth.Address("gas"), Gateway: vite.Address("gateway"),
		Funders: []string{eth.Address("treasury"), vite.Address("treasury")},
		Tokens:  []records.Token{token(usd, "USD", 0, usdEth, 4), token(coin, "COIN", 1, chain.Native, 2)},
	}
}

// fundAccounts fills the paying accounts, and makes all of ours known to their ledgers.
func fundAccounts(eth, vite *chaintest.Chain, n records.Network) {
	eth.Own(n.Hot, n.Shared, n.Gas)
	vite.Own(n.Gateway)
	for _, a := range []string{n.Hot, n.Gas} {
		eth.Endow(a, chain.Native, units(stock*100))
	}
	eth.Endow(n.Hot, usdEth, units(stock*100))
	vite.Endow(n.Gateway, usd, units(stock))
	vite.Endow(n.Gateway, coin, units(stock))
}

func ensureAccounts(tx *records.Tx, n records.Network) error {
	for _, a := range []records.Account{
		{Chain: n.Source, Account: n.Hot, Kind: records.KindHot, KeyPath: "hot"},
		{Chain: n.Source, Account: n.Shared, Kind: records.KindShared, KeyPath: "shared"},
		{Chain: n.Source, Account: n.Gas, Kind: records.KindGas, KeyPath: "gas"},
		{Chain: n.Exchange, Account: n.Gateway, Kind: records.KindGateway, KeyPath: "gateway"},
	} {
		if a.Account == "" { // a ledger of coins has one paying account
			continue
		}
		a.Network = n.Name
		if err := tx.Accounts().Ensure(a); err != nil {
			return err
		}
	}
	return nil
}

func units(n uint64) chain.Amount { return chain.NewAmount(n) }

// restart forgets everything that is only in memory.
func (r *rig) restart() {
	r.t.Helper()
	w, err := New(Config{FetchAhead: 1}, r.parts)
	require.NoError(r.t, err)
	r.w = w
	r.eth.LoseMemory()
}

func (r *rig) step() {
	r.t.Helper()
	require.NoError(r.t, r.w.Step(r.t.Context()))
}

// run lets both ledgers and the gateway work for some blocks.
func (r *rig) run(blocks int) {
	r.t.Helper()
	for range blocks {
		r.eth.Mine(1)
		r.vite.Mine(1)
		r.step()
	}
}

// rest is enough blocks for any transfer to become final, be paid, and for the payment to become
// final.
func (r *rig) rest() { r.t.Helper(); r.run(3*finality + 6) }

func (r *rig) update(f func(*records.Tx) error) {
	r.t.Helper()
	require.NoError(r.t, r.store.Update(r.t.Context(), f))
}

func (r *rig) view(f func(*records.Tx) error) {
	r.t.Helper()
	require.NoError(r.t, r.store.View(r.t.Context(), f))
}

// user is a new owner on the exchange chain with an own deposit address on the source chain.
func (r *rig) user() (owner, address string) {
	r.t.Helper()
	r.users++
	owner = r.vite.Address(fmt.Sprintf("user %d", r.users))
	r.update(func(tx *records.Tx) error {
		b, err := bindAddress(tx, r.eth, owner)
		address = b.Address
		return err
	})
	return owner, address
}

func bindAddress(tx *records.Tx, eth *chaintest.Chain, owner string) (records.Binding, error) {
	b, err := recordstest.BindAddress(tx, "main", eth.ID(), owner, func(i uint32) (string, string, error) {
		path := fmt.Sprintf("deposit/%d", i)
		return eth.Address(path), path, nil
	})
	eth.Own(b.Address)
	return b, err
}

// labelled is a new owner with a label on the shared address.
func (r *rig) labelled() (owner, label string) {
	r.t.Helper()
	r.users++
	owner, label = r.vite.Address(fmt.Sprintf("user %d", r.users)), fmt.Sprint(1000+r.users)
	r.update(func(tx *records.Tx) error {
		_, err := recordstest.BindLabel(tx, "main", "eth", owner, r.net.Shared, func() string { return label })
		return err
	})
	return owner, label
}

// deposit sends usd in the source chain's own units to an address of ours.
func (r *rig) deposit(to string, amount uint64) string {
	return r.eth.Deposit(r.eth.Address("depositor"), to, r.asset, units(amount), chain.Memo{Type: -1})
}

// withdraw sends usd to the gateway with a well-formed order.
func (r *rig) withdraw(owner, payee string, amount uint64) string {
	return r.order(owner, usd, amount, chain.Memo{Type: 0, Address: payee})
}

func (r *rig) order(owner string, token chain.Asset, amount uint64, memo chain.Memo) string {
	return r.vite.Deposit(owner, r.net.Gateway, token, units(amount), memo)
}

// transfer is the one record of a transaction.
func (r *rig) transfer(hash string) (t records.Transfer) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		list, err := tx.Transfers().Where(`WHERE tx = ? ORDER BY id`, hash)
		require.Len(r.t, list, 1)
		t = list[0]
		return err
	})
	return t
}

// payments is what a transfer caused, without receives.
func (r *rig) payments(hash string) (list []records.Payment) {
	r.t.Helper()
	t := r.transfer(hash)
	r.view(func(tx *records.Tx) error {
		all, err := tx.Payments().Of(t.ID)
		for _, p := range all {
			if p.Purpose != chain.Receive {
				list = append(list, p)
			}
		}
		return err
	})
	return list
}

// payment is the only payment that a transfer caused.
func (r *rig) payment(hash string) records.Payment {
	r.t.Helper()
	list := r.payments(hash)
	require.Len(r.t, list, 1)
	return list[0]
}

func (r *rig) account(id chain.ID, account string) (a records.Account) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		a, err = tx.Accounts().Get(id, account)
		return err
	})
	return a
}

func (r *rig) cursor(id chain.ID) (c records.Cursor) {
	r.t.Helper()
	r.view(func(tx *records.Tx) (err error) {
		c, err = tx.Chains().Cursor(id)
		return err
	})
	return c
}

func (r *rig) requireState(hash string, state records.TransferState, reason records.Reason) {
	r.t.Helper()
	t := r.transfer(hash)
	require.Equal(r.t, state, t.State)
	require.Equal(r.t, reason, t.Reason)
}

// requireHolding is what an account has on its ledger.
func (r *rig) requireHolding(c *chaintest.Chain, account string, asset chain.Asset, want uint64) {
	r.t.Helper()
	require.Equal(r.t, units(want), c.Holding(account, asset), "%s of %s", asset, account)
}

// requireSound checks what must hold whenever everything has come to rest.
func (r *rig) requireSound() {
	r.t.Helper()
	for _, c := range []*chaintest.Chain{r.eth, r.vite} {
		for id, n := range c.Paid() {
			require.Equal(r.t, 1, n, "payment %d on %s", id, c.ID())
		}
	}
	r.requireCoin()
	r.view(func(tx *records.Tx) error {
		breaches, _, err := books.Breaches(tx, 0)
		require.NoError(r.t, err)
		require.Empty(r.t, breaches)
		return tx.VerifyHistory()
	})
}

func (r *rig) lieEverywhere(l chaintest.Lie) {
	r.eth.Lie(l)
	r.vite.Lie(l)
}
