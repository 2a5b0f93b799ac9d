package daemon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/policy"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/signer/cause"
)

// Proofs contains a signer's own verifications through its own nodes: the causes of payments, and
// which of its signatures are in blocks.
type Proofs struct {
	Checker  *cause.Checker
	Ledgers  map[chain.ID]signer.Ledger
	networks atomic.Pointer[[]policy.Network]
	accounts atomic.Pointer[[]cause.Account]
	paths    atomic.Pointer[map[accountPath]bool]
	chains   map[chain.ID]config.Adapter
	policy   atomic.Pointer[config.Policy]
	keys     config.PublicKeys

	unprovable atomic.Pointer[map[chain.ID]string]
	log        logrus.FieldLogger
	closers    []func()
}

// NewProofs connects to nothing yet. Its nodes, tokens, fees and depths are those of the signer's
// own configuration.
func NewProofs(cfg config.Config, keys config.PublicKeys, guard *signguard.Guard, log logrus.FieldLogger) (*Proofs, error) {
	p := &Proofs{Ledgers: map[chain.ID]signer.Ledger{}, chains: map[chain.ID]config.Adapter{}, keys: keys, log: log}
	if err := p.Take(cfg); err != nil {
		return nil, err
	}
	readers := map[chain.ID]cause.Reader{}
	for _, c := range cfg.Chains() {
		c, err := c.WithKeys(keys)
		if err != nil {
			p.Close()
			return nil, err
		}
		adapter, err := c.Open(watched{guard, &p.accounts}, log)
		if err != nil {
			p.Close()
			return nil, fmt.Errorf("chain %s: %w", c.ID, err)
		}
		p.closers = append(p.closers, adapter.Close)
		p.chains[c.ID] = adapter
		ledger, ok := adapter.(signer.Ledger)
		if !ok {
			p.Close()
			return nil, fmt.Errorf("chain %s: its adapter cannot decode our transactions", c.ID)
		}
		readers[c.ID], p.Ledgers[c.ID] = adapter, ledger
	}
	p.Checker = cause.New(cause.Parts{
		Chains: readers, Accounts: *p.accounts.Load(), Bindings: guard, Coin: guard, Networks: func() []policy.Network { return *p.networks.Load() },
	})
	return p, nil
}

// Take takes tokens, fees, depths, nodes and which accounts pay from a configuration.
func (p *Proofs) Take(cfg config.Config) error {
	accounts, err := accountsOf(cfg, p.keys)
	if err != nil {
		return err
	}
	hashes, err := cfg.Policy()
	if err != nil {
		return err
	}
	p.policy.Store(&hashes)
	paths := map[accountPath]bool{}
	for _, n := range cfg.Networks {
		for _, a := range cfg.OwnAccounts(n) {
			paths[accountPath{a.Chain, a.KeyPath}] = true
		}
	}
	p.paths.Store(&paths)
	networks := cfg.NetworkRecords()
	p.networks.Store(&networks)
	p.accounts.Store(&accounts)
	if p.Checker != nil {
		p.Checker.Take(accounts)
	}
	for _, c := range cfg.Chains() {
		if nodes := chain.CapabilitiesOf(p.chains[c.ID]).NodeList; nodes != nil {
			if err := nodes.SetNodes(c.Nodes); err != nil {
				return fmt.Errorf("chain %s: %w", c.ID, err)
			}
		}
	}
	return nil
}

// accountPath is the derivation path of an account's key.
type accountPath struct {
	chain chain.ID
	path  string
}

// Known reports whether the configuration has an account at a path.
func (p *Proofs) Known(id chain.ID, path string) bool {
	return (*p.paths.Load())[accountPath{id, path}]
}

// Source returns the source chain of a configured network.
func (p *Proofs) Source(network string) (chain.ID, bool) {
	for _, n := range *p.networks.Load() {
		if n.Name == network {
			return n.Source, true
		}
	}
	return "", false
}

// openingsEvery is the interval at which the signer reads the balances of newly given addresses:
// full nodes keep the state of 128 blocks.
const openingsEvery = time.Second

// provableEvery is the interval at which the signer checks whether balances can be proven.
const provableEvery = time.Minute

// Run settles the bindings that were given without a block and begins to watch the chains, which
// waits for their nodes. Then it reads the opening balances of deposit addresses, and checks that
// balances can be proven.
func (p *Proofs) Run(ctx context.Context, settle func(context.Context) error) error {
	var checked time.Time
	began, told := false, false
	for {
		err := settle(ctx)
		if !began {
			begin := p.Checker.Begin(ctx)
			began = begin == nil
			err = errors.Join(err, begin)
		}
		if began {
			if time.Since(checked) >= provableEvery {
				p.checkProvable(ctx)
				checked = time.Now()
			}
			err = errors.Join(err, p.Checker.ReadOpenings(ctx))
		}
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !told {
			p.log.WithError(err).Warn("waiting for the signer's own nodes")
		}
		told = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(openingsEvery):
		}
	}
}

func (p *Proofs) checkProvable(ctx context.Context) {
	faults := map[chain.ID]string{}
	for _, a := range *p.accounts.Load() {
		if _, checked := faults[a.Chain]; checked || a.Kind != cause.Hot {
			continue
		}
		faults[a.Chain] = ""
		if err := p.Checker.Provable(ctx, a.Chain, a.Address); err != nil {
			faults[a.Chain] = chain.PlainError(err)
		}
	}
	maps.DeleteFunc(faults, func(_ chain.ID, why string) bool { return why == "" })
	p.unprovable.Store(&faults)
}

// Unprovable returns the chains on which the signer cannot prove what an account holds, and why.
func (p *Proofs) Unprovable() map[chain.ID]string {
	if faults := p.unprovable.Load(); faults != nil {
		return *faults
	}
	return nil
}

// Close ends the connections to the nodes.
func (p *Proofs) Close() {
	for _, c := range p.closers {
		c()
	}
}

// accountsOf derives the configured accounts of every network. Accounts that pay on the source
// chain, or did, distinguish users by labels.
func accountsOf(cfg config.Config, keys config.PublicKeys) (list []cause.Account, err error) {
	kinds := map[records.AccountKind]cause.Kind{records.KindHot: cause.Hot, records.KindGas: cause.Gas, records.KindGateway: cause.Gateway}
	for _, n := range cfg.Networks {
		for _, a := range cfg.OwnAccounts(n) {
			on, _ := cfg.Chain(a.Chain)
			address, err := on.Account(keys, a.KeyPath)
			if err != nil {
				return nil, fmt.Errorf("deriving %s: %w", a.KeyPath, err)
			}
			list = append(list, cause.Account{
				Chain: a.Chain, Address: address, Network: n.Name, Kind: kinds[a.Kind], Shared: a.Kind == records.KindHot, Retired: a.Retired,
			})
		}
	}
	return list, nil
}

// watched is the accounts that blocks are searched for: those of the configuration, and the deposit
// addresses that were given out.
type watched struct {
	guard    *signguard.Guard
	accounts *atomic.Pointer[[]cause.Account]
}

// Accounts are those that every block is searched for.
func (w watched) Accounts(_ context.Context, id chain.ID) (list []string, err error) {
	for _, a := range *w.accounts.Load() {
		if a.Chain == id {
			list = append(list, a.Address)
		}
	}
	return list, nil
}

// Owned returns which of the candidates are ours.
func (w watched) Owned(ctx context.Context, id chain.ID, candidates []string) (map[string]bool, error) {
	owned, err := w.guard.Owned(ctx, id, candidates)
	if err != nil {
		return nil, err
	}
	for _, a := range *w.accounts.Load() {
		if a.Chain == id && slices.Contains(candidates, a.Address) {
			owned[a.Address] = true
		}
	}
	return owned, nil
}

// Coins returns which of the outpoints the sign-guard has signed for as the coin of a slot. The
// signer needs to recognize no others.
func (w watched) Coins(ctx context.Context, id chain.ID, outpoints []string) (map[string]chain.Coin, error) {
	return w.guard.Coins(ctx, id, outpoints)
}

// HeldCoins is for those that prepare transactions: a signer only checks them.
func (w watched) HeldCoins(context.Context, chain.ID, string) ([]chain.HeldCoin, error) {
	return nil, errOnlyChecks
}

// CoinsAt is as HeldCoins.
func (w watched) CoinsAt(context.Context, chain.ID, uint64) ([]chain.Coin, error) {
	return nil, errOnlyChecks
}

// CoinTxs is as HeldCoins.
func (w watched) CoinTxs(context.Context, chain.ID, []string) (map[string][]byte, error) {
	return nil, errOnlyChecks
}

var errOnlyChecks = errors.New("a signer prepares no transactions")
