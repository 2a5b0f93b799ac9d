package operator

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/records"
)

// deployPatience bounds the wait for the deployment, pollDeployed the time between two looks.
const (
	deployPatience = 10 * time.Minute
	pollDeployed   = time.Second
)

// BatchDeployment deploys the contract of batches on one chain (docs/adr/029).
type BatchDeployment struct {
	ethereum.Deployment
	ID chain.ID

	config config.Config
	chain  *ethereum.Chain
}

// OpenBatchDeployment asks the nodes of a configured EVM chain what deploys the contract there.
// Close it when done.
func OpenBatchDeployment(ctx context.Context, cfg config.Config, name string) (*BatchDeployment, error) {
	id, err := ChainOf(cfg, name)
	if err != nil {
		return nil, err
	}
	c, _ := cfg.Chain(id)
	settings, ok := c.Settings.(ethereum.Config)
	if !ok {
		return nil, Usagef("chain %s has no batches: must be a chain of section ethereum", id)
	}
	adapter, err := ethereum.New(settings, nil)
	if err != nil {
		return nil, err
	}
	d := &BatchDeployment{ID: id, config: cfg, chain: adapter}
	switch d.Deployment, err = adapter.Deployment(ctx); {
	case errors.Is(err, ethereum.ErrNoDeployer):
		err = plainly(err, "chain %s lacks the contract %s, which deploys others at fixed addresses. Deploy it first with the signed transaction of "+
			"https://github.com/Arachnid/deterministic-deployment-proxy: fund its sender and send it to a node. "+
			"If the chain refuses that transaction, batches are not possible there", id, ethereum.Deployer)
	case errors.Is(err, ethereum.ErrOtherContract):
		err = plainly(err, "chain %s: %s. Do not set batch for this chain, and report it", id, err)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// Close ends the connections to the nodes.
func (d *BatchDeployment) Close() { d.chain.Close() }

// Send deploys the contract from the account of a key, which must not be the gateway's, and waits
// until a majority of the nodes shows its code. sent is called with the transaction's hash.
func (d *BatchDeployment) Send(ctx context.Context, key *ecdsa.PrivateKey, sent func(hash string)) error {
	from := crypto.PubkeyToAddress(key.PublicKey).Hex()
	if err := d.checkStranger(ctx, from); err != nil {
		return err
	}
	has, err := d.chain.Balance(ctx, from, chain.Native)
	if err != nil {
		return err
	}
	tx, err := d.chain.Deploy(ctx, from, d.Deployment)
	if err != nil {
		return err
	}
	c, _ := d.config.Chain(d.ID)
	signed, err := types.SignTx(tx, types.LatestSignerForChainID(chain.NewAmount(c.ChainID).Uint256().ToBig()), key)
	if err != nil {
		return fmt.Errorf("signing the deployment: %w", err)
	}
	if has.Uint256().ToBig().Cmp(signed.Cost()) < 0 {
		return plainly(chain.ErrNotNow, "%s holds %s, the deployment may take %s: send it coin first", from,
			d.config.AssetAmount(d.ID, chain.Native, has), d.config.AssetAmount(d.ID, chain.Native, chain.MustAmount(signed.Cost().String())))
	}
	raw, err := signed.MarshalBinary()
	if err != nil {
		return fmt.Errorf("encoding the deployment: %w", err)
	}
	hash := signed.Hash().Hex()
	if err := d.chain.Broadcast(ctx, []chain.Attempt{{Hash: hash, Raw: raw}})[0]; err != nil {
		return err
	}
	sent(hash)
	return d.await(ctx, hash)
}

// checkStranger refuses accounts of the gateway: they stop at a transaction that the records do not
// know.
func (d *BatchDeployment) checkStranger(ctx context.Context, from string) error {
	store, err := records.OpenExisting(ctx, d.config.Database)
	if errors.Is(err, records.ErrNotFound) {
		return plainly(err, "there is no database yet, which has the gateway's accounts: start `gatewayd run` once, or send the transaction with a wallet")
	}
	if err != nil {
		return fmt.Errorf("opening the database: %w", err)
	}
	defer store.Close()
	return store.View(ctx, func(tx *records.Tx) error {
		for _, c := range d.config.Chains() {
			switch _, err := tx.Accounts().Get(c.ID, from); {
			case err == nil:
				return Usagef("%s is an account of the gateway, which would stop at an unknown transaction: use the key of another account", from)
			case !errors.Is(err, records.ErrNotFound):
				return err
			}
		}
		return nil
	})
}

// await waits for the contract's code.
func (d *BatchDeployment) await(ctx context.Context, hash string) error {
	ctx, cancel := context.WithTimeout(ctx, deployPatience)
	defer cancel()
	for tick := time.NewTicker(pollDeployed); ; {
		head, err := d.chain.Head(ctx)
		if err == nil {
			err = d.chain.CheckPayouts(ctx, head.Latest.Height)
		}
		if err == nil || errors.Is(err, ethereum.ErrOtherContract) {
			return err
		}
		if mined, ok := d.chain.Succeeded(ctx, hash); mined && !ok {
			return fmt.Errorf("transaction %s failed: nothing was deployed", hash)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("transaction %s is sent, and its contract not seen: repeat the command later (%w)", hash, err)
		case <-tick.C:
		}
	}
}
