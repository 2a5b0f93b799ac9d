package daemon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/signer"
	"gatewayd/wallet"
)

// depositAddresses assigns the deposit addresses of a network. The signer stores the owner of each
// permanently, and both must derive the same.
type depositAddresses struct {
	network string
	source  config.Chain
	signer  signer.Service

	mu  sync.Mutex
	key wallet.DepositKey // of the newest seed, as far as is known
}

// deriver asks the signer for the public key.
func (d *Daemon) deriver(ctx context.Context, n records.Network) (func(ctx context.Context, owner string, index uint32) (address, path string, err error), error) {
	source, _ := d.Config.Chain(n.Source)
	a := &depositAddresses{network: n.Name, source: source, signer: d.signer}
	_, err := a.renew(ctx)
	return a.derive, err
}

// seedTimeout bounds the wait for a newer seed, because other new users wait for the caller.
const seedTimeout = 2 * time.Second

// derive derives the address of an index. When the signer refuses it, derive reads the public key
// again: there may be a newer seed.
func (a *depositAddresses) derive(ctx context.Context, owner string, index uint32) (address, path string, err error) {
	if address, path, err = a.deriveOnce(ctx, owner, index); !errors.Is(err, signer.ErrRefused) {
		return address, path, err
	}
	within, cancel := context.WithTimeout(ctx, seedTimeout)
	defer cancel()
	if newer, asked := a.renew(within); asked != nil || !newer {
		return "", "", errors.Join(err, asked)
	}
	return a.deriveOnce(ctx, owner, index)
}

// renew reads the public key again. newer is true when it is of another seed.
func (a *depositAddresses) renew(ctx context.Context) (newer bool, err error) {
	told, err := a.signer.DepositKey(ctx, a.source.ID)
	if err != nil {
		return false, fmt.Errorf("asking the signer for the deposit addresses of %s: %w", a.source.ID, err)
	}
	key, err := wallet.ParseDepositKey(told.Public, told.Chain)
	if err != nil {
		return false, err
	}
	key.Seed = told.Seed
	a.mu.Lock()
	defer a.mu.Unlock()
	newer = a.key.Seed != key.Seed
	a.key = key
	return newer, nil
}

func (a *depositAddresses) deriveOnce(ctx context.Context, owner string, index uint32) (address, path string, err error) {
	a.mu.Lock()
	key := a.key
	a.mu.Unlock()
	path = wallet.SeedPath(key.Seed, wallet.SourcePaths(a.source.CoinType).Deposit(index))
	ours, err := a.source.Account(publicKeys{key, index}, path)
	if err != nil {
		return "", "", err
	}
	b := signguard.Binding{Network: a.network, Chain: a.source.ID, Index: index, Address: ours, User: owner}
	if address, err = a.signer.GiveAddress(ctx, b); err != nil {
		return "", "", err
	}
	if address != ours {
		return "", "", fmt.Errorf("the signer derives %s for %s, but its public key is of %s: the address is not used", address, path, ours)
	}
	return address, path, nil
}

// publicKeys derive the one deposit address that is asked for.
type publicKeys struct {
	key   wallet.DepositKey
	index uint32
}

// Address is the deposit address.
func (k publicKeys) Address(string) (string, error) { return k.key.Address(k.index) }

// OwnDeposit reports whether an address is the one of an index, of the first seed or a successor.
func OwnDeposit(keys Keys, cfg config.Config, id chain.ID, index uint32, address string) (bool, error) {
	on, ok := cfg.Chain(id)
	if !ok || !on.Source {
		return false, errNoChain
	}
	for seed := range seedsOf(keys) {
		own, err := on.Account(keys, wallet.SeedPath(seed, wallet.SourcePaths(on.CoinType).Deposit(index)))
		if err != nil || own == address {
			return err == nil, err
		}
	}
	return false, nil
}

func seedsOf(keys Keys) int {
	if ring, ok := keys.(interface{ Seeds() int }); ok {
		return ring.Seeds()
	}
	return 1
}

// takeSuccessors does so where the keys are in this process.
func (d *Daemon) takeSuccessors(next config.Config) error {
	if d.deps.Signer != nil {
		return nil
	}
	return takeSuccessors(d.deps.Keys, next.Wallet)
}

// takeSuccessors has keys take the successors of a configuration, before anything is derived from
// them.
func takeSuccessors(keys Keys, cfg config.Wallet) error {
	if ring, ok := keys.(interface{ TakeSuccessors(config.Wallet) error }); ok {
		return ring.TakeSuccessors(cfg)
	}
	if len(cfg.Successors) > 0 {
		return errors.New("wallet.successors: these keys have none")
	}
	return nil
}
