package watcher

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/budget"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/wallet"
)

// What benchmarks begin with and make, in payments; a hundredth of it with -short.
const (
	benchPast     = 100_000 // GATEWAYD_PAST makes it another number
	benchBlock    = 200
	benchBlocks   = 10
	benchUsers    = 100 // deposit and withdraw in turn
	fewWaiting    = 16
	mostIdle      = 20 // rounds without anything sent, before a side gives up
	benchToken    = "tti_usd"
	benchTokenEth = chain.Asset("0xusd")
)

func scaled(n int) int {
	if testing.Short() {
		return max(1, n/100)
	}
	return n
}

// numbers reads a list of numbers of payments, like 0,100000, which the environment may have
// another one of.
func numbers(b *testing.B, variable string, list ...int) []int {
	b.Helper()
	text, given := os.LookupEnv(variable)
	if !given {
		return list
	}
	list = nil
	for _, n := range strings.Split(text, ",") {
		number, err := strconv.Atoi(n)
		require.NoError(b, err, variable)
		list = append(list, number)
	}
	return list
}

func pastPayments(b *testing.B) []int { return numbers(b, "GATEWAYD_PAST", 0, scaled(benchPast)) }

// BenchmarkBudgetPayments is about what a payment costs, however many wait for a final block (16 to
// 20,000 each way) and however many were ever made: 3 ms of CPU, the same on all sides within 1.2
// times, 200 a second each way by the clock, 0.1 durable commits.
//
// It is the real watcher with its store and sign-guard on disk, from the block in which transfers
// become final to the broadcast of their payouts, and the settling of the payouts that become final
// meanwhile: as many as are sent. Signatures are made with real keys. What a ledger and its client
// cost is not in it.
//
// Each round measures all sides by turns, so that what else the machine does is the same for all;
// what counts are the medians.
func BenchmarkBudgetPayments(b *testing.B) {
	engines := map[string]benchEngine{"sqlite": sqliteFiles{b}}
	if os.Getenv(recordstest.Environment) != "" {
		engines["postgres"] = postgresDatabases{b, recordstest.Postgres(b)}
	}
	for engine, databases := range engines {
		var sides []*side
		for _, past := range pastPayments(b) {
			h := fillHistory(b, databases.fresh(), past)
			for _, waiting := range numbers(b, "GATEWAYD_WAITING", fewWaiting, scaled(1000), scaled(20_000)) {
				s := &side{name: fmt.Sprintf("%s/past=%d/waiting=%d", engine, past, waiting), simRig: openSim(b, h.copy(b, databases))}
				s.letWait(b, waiting)
				sides = append(sides, s)
			}
		}
		b.Run(engine, func(b *testing.B) {
			for range b.N {
				for _, s := range sides {
					s.payments(b)
				}
			}
			b.ReportMetric(0, "ns/op") // of a round it says nothing
		})
		b.Run(engine+"/spread", func(b *testing.B) { // the dearest through the cheapest
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(spread(sides, (*side).deposit), "x/deposit")
			b.ReportMetric(spread(sides, (*side).withdrawal), "x/withdrawal")
			b.ReportMetric(1.2, "budget")
		})
		for _, s := range sides {
			b.Run(s.name, s.report)
		}
	}
}

// side is a history and so many payments that wait, with what payments cost beside them, a round
// each.
type side struct {
	*simRig
	name    string
	in, out []budget.Cost
	durable int64 // commits
}

func (s *side) deposit() float64    { return medianOf(s.in, budget.Cost.PerCPU) }
func (s *side) withdrawal() float64 { return medianOf(s.out, budget.Cost.PerCPU) }

func medianOf(rounds []budget.Cost, of func(budget.Cost) float64) float64 {
	list := make([]float64, len(rounds))
	for i, c := range rounds {
		list[i] = of(c)
	}
	slices.Sort(list)
	n := len(list)
	return (list[(n-1)/2] + list[n/2]) / 2
}

func spread(sides []*side, of func(*side) float64) float64 {
	costs := make([]float64, len(sides))
	for i, s := range sides {
		costs[i] = of(s)
	}
	return slices.Max(costs) / slices.Min(costs)
}

func (s *side) report(b *testing.B) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(s.deposit(), "cpu-ns/deposit")
	b.ReportMetric(s.withdrawal(), "cpu-ns/withdrawal")
	b.ReportMetric(medianOf(s.in, budget.Cost.PerWall), "ns/deposit")
	b.ReportMetric(medianOf(s.out, budget.Cost.PerWall), "ns/withdrawal")
	var all int
	for _, c := range slices.Concat(s.in, s.out) {
		all += c.Units
	}
	b.ReportMetric(float64(s.durable)/float64(all), "commits/payment")
}

// simRig is the real watcher on the real store and sign-guard, on disk, between two ledgers in
// memory.
type simRig struct {
	source, exchange *simChain
	network          records.Network
	store            *countingStore
	signer           *countingSigner
	parts            Parts
	w                *Watcher
	users            int // deposits and withdrawals so far, which give each its user
	depth            int // blocks on top that make a block final
}

// countingStore counts what is committed durably.
type countingStore struct {
	*records.Store
	commits atomic.Int64
}

// Update counts.
func (s *countingStore) Update(ctx context.Context, f func(*records.Tx) error) error {
	s.commits.Add(1)
	return s.Store.Update(ctx, f)
}

// countingSigner counts what its sign-guard commits: once for all that is signed together.
type countingSigner struct {
	*signer.Signer
	commits atomic.Int64
}

// Sign counts.
func (s *countingSigner) Sign(ctx context.Context, id chain.ID, orders ...chain.Order) ([]chain.SignedTx, error) {
	s.commits.Add(1)
	return s.Signer.Sign(ctx, id, orders...)
}

// simNetwork has one token. One block decides a transfer, so that what waits is only what the
// chains' own final points keep open.
func simNetwork() records.Network {
	policy := records.Policy{
		Decimals: 6, AssetDecimals: 6, MinDeposit: units(10), MinWithdraw: units(10),
		DepositConfirmations: records.Depth{Count: 1}, WithdrawConfirmations: records.Depth{Count: 1}, Fee: records.Fee{Kind: "flat", Amount: units(fee)},
	}
	return records.Network{
		Name: "eth", Source: "eth", Exchange: "vite", Hot: "0xhot", Shared: "0xshared", Gas: "0xgas", Gateway: "vite_gateway",
		Tokens: []records.Token{{TokenID: benchToken, Symbol: "USD", Decimals: 6, AssetDecimals: 6, Asset: benchTokenEth, Policy: policy}},
	}
}

// benchEngine makes databases, and copies of one that is closed.
type benchEngine interface {
	fresh() string
	copy(url string) string
}

type sqliteFiles struct{ *testing.B }

func (f sqliteFiles) fresh() string { return "sqlite:" + filepath.Join(f.TempDir(), "records.db") }

func (f sqliteFiles) copy(url string) string {
	to := f.fresh()
	copyDatabase(f.B, strings.TrimPrefix(url, "sqlite:"), strings.TrimPrefix(to, "sqlite:"))
	return to
}

// copyDatabase copies a closed SQLite database's file.
func copyDatabase(b *testing.B, from, to string) {
	b.Helper()
	require.NoFileExists(b, from+"-wal", "it is closed")
	source, err := os.Open(from)
	require.NoError(b, err)
	defer source.Close()
	target, err := os.Create(to)
	require.NoError(b, err)
	_, err = io.Copy(target, source)
	require.NoError(b, errors.Join(err, target.Close()))
}

type postgresDatabases struct {
	*testing.B
	server *recordstest.Server
}

func (d postgresDatabases) fresh() string          { return d.server.Database(d.B) }
func (d postgresDatabases) copy(url string) string { return d.server.Copy(d.B, url) }

// history is the records and the sign-guard of a gateway that has made many payments; they are
// filled once and copied for each side.
type history struct {
	url, guard string
	end        recordstest.End
}

// fillHistory fills a database, and a sign-guard, with so many past payments.
func fillHistory(b *testing.B, url string, past int) history {
	b.Helper()
	n := simNetwork()
	end, err := recordstest.Fill(b.Context(), url, recordstest.Plan{Network: n, Payments: past, At: time.Now().Add(-time.Hour * 24 * 365)})
	require.NoError(b, err)
	h := history{url: url, guard: filepath.Join(b.TempDir(), "guard.db"), end: end}
	store, err := records.Open(b.Context(), records.Config{URL: url})
	require.NoError(b, err)
	guard, err := signguard.Open(h.guard)
	require.NoError(b, err)
	source, exchange := h.chains(b, store, n)
	signedBefore(b, guard, n.Source, n.Hot, 0, source.next[n.Hot])
	signedBefore(b, guard, n.Exchange, n.Gateway, 1, exchange.next[n.Gateway])
	require.NoError(b, errors.Join(store.Update(b.Context(), func(tx *records.Tx) error { return bindUsers(tx, n) }), store.Close(), guard.Close()))
	return h
}

// chains are the ledgers where the past ended.
func (h history) chains(b *testing.B, store *records.Store, n records.Network) (source, exchange *simChain) {
	b.Helper()
	source, exchange = newSimChain(n.Source, false, h.end.Source), newSimChain(n.Exchange, true, h.end.Exchange)
	require.NoError(b, store.View(b.Context(), func(tx *records.Tx) error {
		return errors.Join(source.stand(tx, n.Hot, ""), exchange.stand(tx, n.Gateway, h.end.LastSent))
	}))
	return source, exchange
}

// copy copies both.
func (h history) copy(b *testing.B, databases benchEngine) history {
	b.Helper()
	guard := filepath.Join(b.TempDir(), "guard.db")
	copyDatabase(b, h.guard, guard)
	return history{url: databases.copy(h.url), guard: guard, end: h.end}
}

// openSim goes on after the past, where its chains then are.
func openSim(b *testing.B, h history) *simRig {
	b.Helper()
	n := simNetwork()
	store, err := records.Open(b.Context(), records.Config{URL: h.url})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	guard, err := signguard.Open(h.guard)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, guard.Close()) })
	s := &simRig{network: n}
	s.source, s.exchange = h.chains(b, store, n)
	rules := map[chain.ID]chain.Rules{n.Source: simRules{n.Source}, n.Exchange: simRules{n.Exchange}}
	keys, err := wallet.FromMnemonic(simMnemonic)
	require.NoError(b, err)
	s.store, s.signer = &countingStore{Store: store}, &countingSigner{Signer: signer.New(signer.Parts{Keys: simKeys{keys}, Guard: guard, Rules: rules})}
	s.parts = Parts{
		Store: s.store, Chains: map[chain.ID]chain.Chain{n.Source: s.source, n.Exchange: s.exchange}, Networks: []records.Network{n}, Signer: s.signer, Log: quiet(),
	}
	s.w, err = New(Config{}, s.parts)
	require.NoError(b, err)
	return s
}

// signedBefore has the sign-guard know signatures at all numbers of an account below next, as that
// of a gateway does that has paid for long.
func signedBefore(b *testing.B, guard *signguard.Guard, id chain.ID, account string, branch, next uint64) {
	b.Helper()
	for number := uint64(1); number < next; {
		var leaves []signguard.Authorization
		var list []signguard.Signature
		for ; number < next && len(list) < signer.MaxOrders; number++ {
			cause := fmt.Sprintf("transfer|%s|past %d", id, number)
			leaves = append(leaves, signguard.Authorization{Key: cause, Digest: cause, Chain: id, Account: account, PaymentID: number, Payee: cause, At: time.Unix(0, 0)})
			list = append(list, signguard.Signature{Slot: chain.Slot{Account: account, Branch: branch, Nonce: number}, Digest: cause, PaymentID: number})
		}
		_, err := guard.Authorize(b.Context(), leaves)
		require.NoError(b, err)
		require.NoError(b, guard.Allow(b.Context(), id, list...))
	}
}

func bindUsers(tx *records.Tx, n records.Network) error {
	for i := range benchUsers {
		_, err := recordstest.BindAddress(tx, n.Name, n.Source, benchOwner(i), func(index uint32) (string, string, error) {
			return benchAddress(i), fmt.Sprintf("user/%d", index), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func benchOwner(i int) string   { return fmt.Sprintf("vite_user_%d", i%benchUsers) }
func benchAddress(i int) string { return fmt.Sprintf("0xuser%d", i%benchUsers) }

// mine makes a block of each ledger, of users who deposit to their addresses and who withdraw, in
// turn.
func (s *simRig) mine(deposits, withdrawals int) {
	in, out := make([]chain.Transfer, deposits), make([]chain.Transfer, withdrawals)
	for i := range in {
		s.users++
		in[i] = s.source.transfer("0xsender", benchAddress(s.users), benchTokenEth, units(1000), chain.Memo{Type: -1})
	}
	for i := range out {
		s.users++
		memo := chain.Memo{Raw: []byte{0x0b, 0xc3}, Address: fmt.Sprintf("0xpayee%d", s.users%benchUsers)}
		out[i] = s.exchange.transfer(benchOwner(s.users), s.network.Gateway, benchToken, units(1000+fee), memo)
	}
	s.source.mine(in...)
	s.exchange.mine(out...)
}

// finalize makes blocks final that are deep enough; steady: only as long as no more payments become
// final than were sent, so that every side settles as many as it makes, however many wait.
func (s *simRig) finalize(steady bool) {
	s.source.finalize(uint64(s.depth), steady)
	s.exchange.finalize(uint64(s.depth), steady)
}

// letWait makes payments in both directions until as many wait as are wanted: a block of deposits,
// a block of withdrawals, and so on. Fewer than a block of them wait in a block of their own.
func (s *simRig) letWait(b *testing.B, waiting int) {
	block := scaled(benchBlock)
	s.depth = max(1, 2*waiting/block)
	s.source.tail, s.exchange.tail = 0, 0
	if waiting == fewWaiting {
		s.source.tail, s.exchange.tail = waiting, waiting
	}
	for i := range s.depth {
		s.mine(block*(1-i%2), block*(i%2))
		s.finalize(false)
		require.NoError(b, s.w.Step(b.Context()))
	}
	for before := -1; s.sent() > before; { // until nothing more is sent
		before = s.sent()
		s.mine(0, 0)
		s.finalize(false)
		require.NoError(b, s.w.Step(b.Context()))
	}
}

func (s *simRig) sent() int { return s.source.sentSoFar() + s.exchange.sentSoFar() }

// commits is how many durable commits there were, of the store and of the sign-guard.
func (s *simRig) commits() int64 { return s.store.commits.Load() + s.signer.commits.Load() }

// payments measures deposits first, then withdrawals.
func (s *side) payments(b *testing.B) {
	n, before := scaled(benchBlock), s.commits()
	s.source.settleAsSent()
	s.exchange.settleAsSent()
	s.in = append(s.in, s.oneWay(b, n, 0))
	s.out = append(s.out, s.oneWay(b, 0, n))
	s.durable += s.commits() - before
}

// oneWay is what payments one way cost, from the first block to the last broadcast. A withdrawal is
// received, too.
func (s *simRig) oneWay(b *testing.B, deposits, withdrawals int) budget.Cost {
	before, want := s.sent(), (deposits+2*withdrawals)*benchBlocks
	return budget.Measure((deposits+withdrawals)*benchBlocks, func() {
		for i, idle := 0, 0; s.sent()-before < want; i++ {
			at := s.sent()
			if i < benchBlocks {
				s.mine(deposits, withdrawals)
			} else {
				s.mine(0, 0)
			}
			s.finalize(true)
			require.NoError(b, s.w.Step(b.Context()))
			if idle++; s.sent() > at {
				idle = 0
			}
			require.LessOrEqual(b, idle, mostIdle, "rounds without anything sent: %d of %d were", s.sent()-before, want)
		}
	})
}

// The idle daemon's clocks go ten times as fast as a day's.
const (
	idleHaste   = 10
	idleSeconds = 150
	sweepEvery  = 600 // seconds
)

// BenchmarkBudgetIdle is about a daemon that has nothing to do but to follow its chains, a block a
// second on the exchange chain and one in twelve seconds on the source chain: 2 % of a core. A look
// for sweeps, which comes every ten minutes, is measured by itself and added.
func BenchmarkBudgetIdle(b *testing.B) {
	for _, past := range pastPayments(b) {
		b.Run(fmt.Sprintf("past=%d", past), func(b *testing.B) {
			s := openSim(b, fillHistory(b, sqliteFiles{b}.fresh(), past))
			s.depth = 2
			w, err := New(Config{
				Poll: time.Second / idleHaste, Reconcile: 30 * time.Second / idleHaste, QuoteEvery: time.Minute / idleHaste, Sweep: "0 0 1 1 *",
			}, s.parts)
			require.NoError(b, err)
			sweep := budget.Measure(sweepEvery, func() { require.NoError(b, w.Treasury().Sweep(b.Context())) })
			ctx, stop := context.WithCancel(b.Context())
			done := make(chan error, 1)
			go func() { done <- w.Run(ctx) }()
			s.pass(2 * idleHaste) // what a start does once
			heads := s.exchange.headsSoFar()
			idle := budget.Measure(1, func() { s.pass(scaled(idleSeconds) * b.N) })
			idle.Units = max(1, s.exchange.headsSoFar()-heads) // of which a daemon that cannot keep up has fewer
			stop()
			require.NoError(b, <-done)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(idle.PerCPU()+sweep.PerCPU(), "cpu-ns/second")
			b.ReportMetric(20e6, "budget")
		})
	}
}

// pass makes the ledgers' blocks of so many seconds in time.
func (s *simRig) pass(seconds int) {
	tick := time.NewTicker(time.Second / idleHaste)
	defer tick.Stop()
	for i := range seconds {
		<-tick.C
		s.exchange.mine()
		if i%12 == 0 {
			s.source.mine()
		}
		s.finalize(false)
	}
}
