package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/seed"
	"gatewayd/records/signguard"
	"gatewayd/watcher"
)

// simUsers deposit and withdraw in turn.
const simUsers = 100

// simRig is the real watcher on the real store and sign-guard, on disk, between two ledgers in memory.
type simRig struct {
	source, exchange *simChain
	network          records.Network
	store            *countingStore
	guard            *countingGuard
	parts            watcher.Parts
	dir              string
	sent             int // deposits and withdrawals so far, which give each its user
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

// countingGuard counts what the sign-guard commits.
type countingGuard struct {
	*signguard.Guard
	commits atomic.Int64
}

// Allow counts.
func (g *countingGuard) Allow(ctx context.Context, id chain.ID, wanted ...signguard.Signature) error {
	g.commits.Add(1)
	return g.Guard.Allow(ctx, id, wanted...)
}

func simNetwork() records.Network {
	policy := records.Policy{
		Decimals: 6, AssetDecimals: 6, MinDeposit: chain.NewAmount(10), MinWithdraw: chain.NewAmount(10),
		// One block decides a transfer, so that what waits is only what the chains' own final points keep open.
		DepositConfirmations: records.Depth{Count: 1}, WithdrawConfirmations: records.Depth{Count: 1},
		Fee: records.Fee{Kind: "flat", Amount: chain.NewAmount(30)},
	}
	return records.Network{
		Name: "eth", Source: "eth", Exchange: "vite", Hot: "0xhot", Shared: "0xshared", Gas: "0xgas", Gateway: "vite_gateway",
		Tokens: []records.Token{{TokenID: storeToken, Symbol: "USD", Decimals: 6, AssetDecimals: 6, Asset: "0xusd", Policy: policy}},
	}
}

// simSaved is what a folder with a filled store says of its ledgers.
type simSaved struct{ Source, Exchange simState }

// simPast makes a folder whose store has so many past payments and whose chains are there.
func simPast(ctx context.Context, e simEngine, dir string, payments int) error {
	if err := e.create(ctx, dir); err != nil {
		return err
	}
	n := simNetwork()
	end, err := seed.Fill(ctx, e.url(dir), seed.Plan{Network: n, Payments: payments, At: time.Now().Add(-time.Hour * 24 * 365)})
	if err != nil {
		return err
	}
	source, exchange := newSimChain(n.Source, false, end.Source), newSimChain(n.Exchange, true, end.Exchange)
	store, err := records.Open(ctx, records.Config{URL: e.url(dir)})
	if err != nil {
		return err
	}
	err = store.Update(ctx, func(tx *records.Tx) error {
		return errors.Join(source.stand(tx, n.Hot, ""), exchange.stand(tx, n.Gateway, end.LastSent), simBind(tx, n))
	})
	if err = errors.Join(err, store.Close()); err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "chains.json"), simSaved{source.simState, exchange.simState})
}

// simBind makes the users.
func simBind(tx *records.Tx, n records.Network) error {
	for i := range simUsers {
		_, err := tx.BindAddress(n.Name, n.Source, simOwner(i), func(index uint32) (string, string, error) {
			return simAddress(i), fmt.Sprintf("user/%d", index), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func simOwner(i int) string   { return fmt.Sprintf("vite_user_%d", i%simUsers) }
func simAddress(i int) string { return fmt.Sprintf("0xuser%d", i%simUsers) }

// openSimRig goes on where a folder stands.
func openSimRig(ctx context.Context, e simEngine, dir string) (*simRig, error) {
	var saved simSaved
	if err := readJSON(filepath.Join(dir, "chains.json"), &saved); err != nil {
		return nil, err
	}
	n := simNetwork()
	s := &simRig{
		network: n, dir: dir,
		source:   &simChain{id: n.Source, simState: saved.Source},
		exchange: &simChain{id: n.Exchange, linked: true, simState: saved.Exchange},
	}
	return s, s.openStores(ctx, e, map[chain.ID]chain.Chain{n.Source: s.source, n.Exchange: s.exchange})
}

// openStores opens records and sign-guard of the rig's folder for a watcher of these chains.
func (s *simRig) openStores(ctx context.Context, e simEngine, chains map[chain.ID]chain.Chain) error {
	store, err := records.Open(ctx, records.Config{URL: e.url(s.dir)})
	if err != nil {
		return err
	}
	guard, err := signguard.Open(filepath.Join(s.dir, "guard.db"))
	if err != nil {
		return errors.Join(err, store.Close())
	}
	quiet := logrus.New()
	quiet.SetOutput(io.Discard)
	s.store, s.guard = &countingStore{Store: store}, &countingGuard{Guard: guard}
	s.parts = watcher.Parts{Store: s.store, Chains: chains, Networks: []records.Network{s.network}, Guard: s.guard, Log: quiet}
	return nil
}

// save closes the rig so that its folder can be copied and opened again.
func (s *simRig) save() error {
	return errors.Join(s.close(), writeJSON(filepath.Join(s.dir, "chains.json"), simSaved{s.source.simState, s.exchange.simState}))
}

func (s *simRig) close() error { return errors.Join(s.store.Close(), s.guard.Close()) }

// deposits are transfers of users, in turn, to their addresses.
func (s *simRig) deposits(n int) []chain.Transfer {
	list := make([]chain.Transfer, n)
	for i := range list {
		s.sent++
		list[i] = s.source.transfer("0xsender", simAddress(s.sent), s.network.Tokens[0].Asset, chain.NewAmount(1000), chain.Memo{Type: -1})
	}
	return list
}

// withdrawals are orders of users, in turn, to the gateway.
func (s *simRig) withdrawals(n int) []chain.Transfer {
	list := make([]chain.Transfer, n)
	for i := range list {
		s.sent++
		memo := chain.Memo{Raw: []byte{0x0b, 0xc3}, Address: fmt.Sprintf("0xpayee%d", s.sent%simUsers)}
		list[i] = s.exchange.transfer(simOwner(s.sent), s.network.Gateway, chain.Asset(storeToken), chain.NewAmount(1030), memo)
	}
	return list
}

// commits is how many durable commits there were, of the store and of the sign-guard.
func (s *simRig) commits() int64 { return s.store.commits.Load() + s.guard.commits.Load() }

func writeJSON(file string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o600)
}

func readJSON(file string, v any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}
