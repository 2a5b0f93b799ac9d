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
	"gatewayd/wallet/keystore"
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
	key, err := depositKeyOf(ctx, a.signer, a.source.ID)
	if err != nil {
		return false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	newer = a.key.Seed != key.Seed
	a.key = key
	return newer, nil
}

// depositKeyOf asks a signer for the public key of a chain's deposit addresses.
func depositKeyOf(ctx context.Context, s signer.Service, id chain.ID) (key wallet.DepositKey, err error) {
	answer, err := s.DepositKey(ctx, id)
	if err != nil {
		return key, fmt.Errorf("asking the signer for the deposit addresses of %s: %w", id, err)
	}
	key, err = wallet.ParseDepositKey(answer.Public, answer.Chain)
	key.Seed = answer.Seed
	return key, err
}

// withAccount returns the chain with the public key of its account, of the keys here or of the
// signer in another process. The key of another account than the chain's is an error: it would
// derive other addresses than the signer does.
func (d *Daemon) withAccount(ctx context.Context, c config.Chain) (config.Chain, error) {
	switch {
	case d.deps.Signer == nil:
		return c.WithKeys(d.deps.Keys)
	case c.Coins == "":
		return c, nil
	}
	key, err := depositKeyOf(ctx, d.deps.Signer, c.ID)
	if err != nil {
		return c, err
	}
	public, path := publicKeys{key: key}, c.Coins.Pool()
	ours, err := c.Account(public, path)
	if err != nil {
		return c, err
	}
	signers, err := d.deps.Signer.Accounts(ctx, c.ID, path)
	if err != nil {
		return c, fmt.Errorf("asking the signer for %s: %w", path, err)
	}
	if key.Seed != 0 || signers[0] != ours {
		return c, fmt.Errorf("chain %s: the signer's public key is not that of %s: it derives %s at %s, and the signer %s", c.ID, c.Coins, ours, path, signers[0])
	}
	return c.WithKeys(public)
}

func (a *depositAddresses) deriveOnce(ctx context.Context, owner string, index uint32) (address, path string, err error) {
	a.mu.Lock()
	key := a.key
	a.mu.Unlock()
	path = wallet.SeedPath(key.Seed, a.source.DepositPath(index))
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

// AccountKey is that of the deposit addresses, on a ledger of coins that of all addresses.
func (k publicKeys) AccountKey(string) (keystore.ExtendedPublicKey, error) {
	return k.key.AccountKey(), nil
}

// OwnDeposit reports whether an address is the one of an index, of the first seed or a successor.
// Those of a ledger of coins are of the first seed.
func OwnDeposit(keys Keys, cfg config.Config, id chain.ID, index uint32, address string) (bool, error) {
	on, ok := cfg.Chain(id)
	if !ok || !on.Source {
		return false, errNoChain
	}
	seeds := seedsOf(keys)
	if on.Coins != "" {
		seeds = 1
	}
	for seed := range seeds {
		own, err := on.Account(keys, wallet.SeedPath(seed, on.DepositPath(index)))
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
