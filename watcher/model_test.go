package watcher

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/records/signguard"
)

// claim is what is due for one transfer to us once that transfer is final.
type claim struct {
	source     *chaintest.Chain // where the transfer is
	hash       string
	ledger     *chaintest.Chain // where it is owed
	payee      string
	asset      chain.Asset
	amount     uint64
	chargedFee uint64 // of a refund: the fee of the payout that failed
	final      bool   // seen final once
	reward     uint64 // of a block: nothing is due when a re-org takes it, and not before this height is final
}

// model is two ledgers, lying nodes and a daemon that dies. All of it follows from one seed.
type model struct {
	t         *testing.T
	rng       *rand.Rand
	eth, vite *chaintest.Chain
	path      string
	inner     *records.Store
	store     *crashStore
	pool      int         // paying accounts on each chain
	asset     chain.Asset // of usd on the source chain
	stock     uint64      // of it at the begin
	coins     bool        // that is a ledger of coins
	stuck     bool        // the script has a payout that is stuck
	chains    map[chain.ID]*crashChain
	fuse      *fuse
	parts     Parts
	w         *Watcher
	apart     map[chain.ID]*Watcher // of a process for each chain; nil: one process does everything
	died      chain.ID              // whose process died last; empty: none
	claims    []*claim
	deposits  []string // addresses bound so far
	owners    []string
	closed    bool   // no more new users
	restored  bool   // an older database gives the numbers of payments anew
	deposited uint64 // usd sent to deposit addresses
	serial    int
	now       time.Time
}

// newModel is a model at rest. Its files lie in memory where the machine has such a place: a commit
// then costs no disk.
func newModel(t *testing.T, seed uint64, census map[string]int) *model {
	t.Helper()
	return newPoolModel(t, seed, census, 1)
}

// newPoolModel is a model with as many paying accounts on each chain.
func newPoolModel(t *testing.T, seed uint64, census map[string]int, accounts int) *model {
	t.Helper()
	m := newLedgers(t, seed, census, chaintest.Config{ID: "eth"})
	m.pool, m.asset, m.stock = accounts, usdEth, stock*100
	n := withPool(m.eth, m.vite, network(m.eth, m.vite), accounts)
	fundAccounts(m.eth, m.vite, n)
	m.begin(n, func(c *crashChain) chain.Chain { return sweptChain{c} })
	return m
}

// newLedgers is a model with only its ledgers.
func newLedgers(t *testing.T, seed uint64, census map[string]int, source chaintest.Config) *model {
	t.Helper()
	batch := []int{0, 2, 50}[seed%3] // payouts that may share a transaction
	source.Finality, source.Batch = finality, batch
	return &model{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		eth:  chaintest.New(source),
		vite: chaintest.New(chaintest.Config{ID: "vite", Finality: finality, Linked: true, Batch: batch}),
		fuse: &fuse{left: neverCrashes, census: census},
	}
}

// begin opens the records and the sign-guard of a network, and starts its daemon. source is the
// source chain as the daemon sees it.
func (m *model) begin(n records.Network, source func(*crashChain) chain.Chain) {
	t := m.t
	t.Helper()
	n.Tokens[0].Cold, n.Tokens[0].HotMin, n.Tokens[0].HotMax = m.eth.Address("cold"), units(m.stock*60/100), units(m.stock*80/100)
	n.Funders = append(n.Funders, n.Tokens[0].Cold)
	dir := memoryDir(t)
	m.path = filepath.Join(dir, "records.db")
	m.store = &crashStore{fuse: m.fuse}
	m.open()
	g, err := signguard.Open(filepath.Join(dir, "guard.db"))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, g.Close())
		require.NoError(t, m.inner.Close())
	})
	require.NoError(t, m.inner.Update(t.Context(), func(tx *records.Tx) error {
		if err := ensureAccounts(tx, n); err != nil {
			return err
		}
		return ensurePool(tx, n)
	}))

	m.chains = map[chain.ID]*crashChain{}
	m.parts = Parts{
		Store: m.store, Chains: map[chain.ID]chain.Chain{}, Networks: []records.Network{n},
		Signer: newCrashSigner(m.fuse, g, m.eth, m.vite), Log: quiet(), Now: func() time.Time { return m.now },
	}
	for _, c := range []*chaintest.Chain{m.eth, m.vite} {
		m.chains[c.ID()] = &crashChain{Chain: c, Batcher: c, fuse: m.fuse, store: m.inner, sent: map[string]bool{}}
		m.parts.Chains[c.ID()] = m.chains[c.ID()]
	}
	m.parts.Chains[m.eth.ID()] = source(m.chains[m.eth.ID()])
	m.eth.Mine(finality + 1)
	m.vite.Mine(finality + 1)
	m.restart(neverCrashes, "")
	require.NoError(t, m.w.Step(t.Context()))
}

// memoryDir is a directory of this test in /dev/shm, or on disk where there is none.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "gatewayd-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (m *model) open() {
	m.t.Helper()
	s, err := records.Open(m.t.Context(), records.Config{URL: "sqlite:" + m.path, Now: func() time.Time { return m.now }})
	require.NoError(m.t, err)
	m.inner, m.store.Transactor = s, s
	m.eth.SetAccounts(records.NewWatch(s))
	for _, c := range m.chains {
		c.store = s
	}
}

// reopen closes the database and opens it again, as a new process does.
func (m *model) reopen() {
	m.t.Helper()
	require.NoError(m.t, m.inner.Close())
	m.open()
}

// neverCrashes is the number of steps of a life that no crash ends.
const neverCrashes = -1

// restart is a new life, which ends after so many steps: of the kind given, else of any kind.
func (m *model) restart(left int, only string) {
	m.t.Helper()
	m.fuse.reset(left, only)
	if m.apart != nil {
		m.restartApart()
		return
	}
	w, err := New(Config{FetchAhead: 1}, m.parts)
	require.NoError(m.t, err)
	m.w = w
	m.eth.LoseMemory()
}

// restartApart makes the process again that has died. The other one keeps what it remembers.
func (m *model) restartApart() {
	for id := range m.chains {
		if m.apart[id] != nil && id != m.died {
			continue
		}
		parts := m.parts
		parts.Owns = func(other chain.ID) bool { return other == id }
		w, err := New(Config{FetchAhead: 1}, parts)
		require.NoError(m.t, err)
		m.apart[id] = w
		if id == m.eth.ID() {
			m.eth.LoseMemory()
		}
	}
	m.died = ""
}

// step lets the daemon work until it has nothing to do or dies. Faults of nodes are waited out. It
// tells whether it died.
func (m *model) step() (died bool) {
	m.t.Helper()
	if m.apart == nil {
		m.work(m.w)
		return m.fuse.blown
	}
	for _, id := range slices.Sorted(maps.Keys(m.apart)) {
		if m.work(m.apart[id]); m.fuse.blown {
			m.died = id
			return true
		}
	}
	return false
}

// watchers are those of all processes.
func (m *model) watchers() (list []*Watcher) {
	if m.apart == nil {
		return []*Watcher{m.w}
	}
	for _, id := range slices.Sorted(maps.Keys(m.apart)) {
		list = append(list, m.apart[id])
	}
	return list
}

// work is a step of one process.
func (m *model) work(w *Watcher) {
	_ = w.Step(m.t.Context())
	if m.rng.IntN(6) == 0 {
		_ = w.Treasury().Sweep(m.t.Context())
	}
	if m.rng.IntN(6) == 0 {
		_ = w.Treasury().Cold(m.t.Context())
	}
	if m.pool > 1 && m.rng.IntN(6) == 0 {
		_ = w.Treasury().Level(m.t.Context())
	}
}

func (m *model) name(what string) string {
	m.serial++
	return fmt.Sprintf("%s %d", what, m.serial)
}

func (m *model) deposit(owner, address string, amount uint64) {
	hash := m.eth.Deposit(m.eth.Address("depositor"), address, m.asset, units(amount), chain.Memo{Type: -1})
	m.claims = append(m.claims, &claim{source: m.eth, hash: hash, ledger: m.vite, payee: owner, asset: usd, amount: owed(amount / 100)})
	m.deposited += amount
}

// fund is money of the operators', so that there is too much of it in the hot account again.
func (m *model) fund(amount uint64) {
	n := m.parts.Networks[0]
	m.eth.Deposit(m.eth.Address("treasury"), n.Hot, m.asset, units(amount), chain.Memo{Type: -1})
	m.deposited += amount
}

// owed is what a deposit is worth: nothing below the minimum.
func owed(amount uint64) uint64 {
	if amount < minimum {
		return 0
	}
	return amount
}

// bind makes a new user with an own address. It does not run under the fuse: it is another
// program's work.
func (m *model) bind() (owner, address string) {
	m.t.Helper()
	owner = m.vite.Address(m.name("owner"))
	require.NoError(m.t, m.inner.Update(m.t.Context(), func(tx *records.Tx) error {
		b, err := bindAddress(tx, m.eth, owner)
		address = b.Address
		return err
	}))
	m.owners, m.deposits = append(m.owners, owner), append(m.deposits, address)
	return owner, address
}

// withdraw is one withdrawal of a new user to a new payee.
func (m *model) withdraw(amount uint64) *claim {
	owner, payee := m.vite.Address(m.name("sender")), m.eth.Address(m.name("payee"))
	hash := m.vite.Deposit(owner, m.parts.Networks[0].Gateway, usd, units(amount), chain.Memo{Type: 0, Address: payee})
	c := &claim{source: m.vite, hash: hash, ledger: m.eth, payee: payee, asset: m.asset, amount: (amount - fee) * 100}
	m.claims = append(m.claims, c)
	return c
}

// refused is a withdrawal whose order nobody can follow.
func (m *model) refused(amount uint64) {
	owner := m.vite.Address(m.name("sender"))
	hash := m.vite.Deposit(owner, m.parts.Networks[0].Gateway, usd, units(amount), chain.Memo{Type: 0, Address: "nowhere"})
	m.claims = append(m.claims, &claim{source: m.vite, hash: hash, ledger: m.vite, payee: owner, asset: usd, amount: amount})
}

// bounced is a withdrawal to a payee that no payment reaches: it goes back to its sender in the
// end, less its fee when only the payment itself told.
func (m *model) bounced(amount uint64) {
	owner, payee := m.vite.Address(m.name("sender")), m.eth.Address(m.name("payee"))
	chargedFee := uint64(0)
	if m.eth.Reject(payee, true); m.serial%4 < 2 && !m.coins { // an address that cannot be paid is no secret
		m.eth.RejectUnseen(payee, true)
		chargedFee = fee
	}
	hash := m.vite.Deposit(owner, m.parts.Networks[0].Gateway, usd, units(amount), chain.Memo{Type: 0, Address: payee})
	m.claims = append(m.claims, &claim{source: m.vite, hash: hash, ledger: m.vite, payee: owner, asset: usd, amount: amount - chargedFee, chargedFee: chargedFee})
}
