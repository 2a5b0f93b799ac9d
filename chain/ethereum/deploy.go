package ethereum

import (
	"context"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// ErrNoDeployer is a chain on which nothing can be deployed at a fixed address.
var ErrNoDeployer = errors.New("the contract that deploys others (CREATE2) is not on the chain")

// Deployment is the transaction that creates the batch contract, from any account that has coin.
type Deployment struct {
	Payouts
	Done bool         // it is there already
	Gas  uint64       // limit for the transaction
	Cost chain.Amount // of that gas at the present price, in wei
}

// Deployment returns what deploys the batch contract now, by a majority of the nodes.
// ErrNoDeployer; ErrOtherContract.
func (c *Chain) Deployment(ctx context.Context) (d Deployment, err error) {
	c = c.current()
	if d.Payouts, err = PayoutsContract(); err != nil {
		return d, err
	}
	head, err := c.Head(ctx)
	if err != nil {
		return d, err
	}
	err = c.CheckPayouts(ctx, head.Latest.Height)
	if err == nil {
		d.Done = true
		return d, nil
	}
	if !errors.Is(err, ErrNoContract) {
		return d, err
	}
	code, err := c.codeHash(ctx, common.HexToAddress(Deployer), head.Latest.Height)
	if err != nil {
		return d, fmt.Errorf("reading the code of %s: %w", Deployer, err)
	}
	if code != crypto.Keccak256Hash(params.DeterministicFactoryCode) {
		return d, fmt.Errorf("%w: it must be at %s", ErrNoDeployer, Deployer)
	}
	if d.Gas, err = c.deploymentGas(ctx, d); err != nil {
		return d, err
	}
	now, err := c.Fees(ctx)
	if err != nil {
		return d, err
	}
	d.Cost, err = now.Price.Mul(d.Gas)
	return d, err
}

// codeHash returns the hash of the code of an address after a block, by a majority of the nodes.
func (c *Chain) codeHash(ctx context.Context, of common.Address, height uint64) (common.Hash, error) {
	question := func(ctx context.Context, n *node) (common.Hash, error) {
		var code *hexutil.Bytes
		if err := n.call(ctx, &code, "eth_getCode", of, hexutil.EncodeUint64(height)); err != nil {
			return common.Hash{}, err
		}
		if code == nil {
			return common.Hash{}, fmt.Errorf("%s: eth_getCode: no answer", n.name)
		}
		return crypto.Keccak256Hash(*code), nil
	}
	key := func(h common.Hash) common.Hash { return h }
	answers := quorum.Ask(ctx, c.nodes, question, quorum.Same[*node](c.majority(), key))
	hash, found := quorum.Agreed(answers, c.majority(), key)
	if !found {
		_, faults := quorum.Good(answers)
		return hash, unavailable(append(faults, errors.New("no majority of the nodes agrees on the code")))
	}
	return hash, nil
}

// deploymentGas is the nodes' median estimate with a margin.
func (c *Chain) deploymentGas(ctx context.Context, d Deployment) (uint64, error) {
	question := func(ctx context.Context, n *node) (*uint256.Int, error) {
		var gas hexutil.Uint64
		call := map[string]any{"to": Deployer, "input": hexutil.Bytes(d.Input)}
		if err := n.call(ctx, &gas, "eth_estimateGas", call, "latest"); err != nil {
			return nil, err
		}
		return uint256.NewInt(uint64(gas)), nil
	}
	gas, err := c.middle(ctx, question)
	if err != nil {
		return 0, fmt.Errorf("estimating the deployment: %w", err)
	}
	return withMargin(min(gas.Uint64(), maxGasBound)), nil
}

// Deploy builds the transaction of a deployment for an account, unsigned, at its next nonce.
// ErrNotNow: transactions of the account are under way. ErrFeeCeiling: above the chain's.
func (c *Chain) Deploy(ctx context.Context, account string, d Deployment) (*types.Transaction, error) {
	c = c.current()
	head, err := c.AccountHead(ctx, account)
	if err != nil {
		return nil, err
	}
	if !head.Settled {
		return nil, fmt.Errorf("%w: transactions of %s are not final yet", chain.ErrNotNow, account)
	}
	now, err := c.gasPrices(ctx)
	if err != nil {
		return nil, err
	}
	offer, err := now.first(c.minTip, c.maxFee.Load())
	if err != nil {
		return nil, err
	}
	msg := message{to: common.HexToAddress(d.Deployer), value: new(uint256.Int), data: d.Input}
	return types.NewTx(c.unsigned(head.Next, msg, d.Gas, offer)), nil
}

// Succeeded reports whether a transaction is in a block, by the first node that shows its receipt,
// and whether it succeeded there.
func (c *Chain) Succeeded(ctx context.Context, hash string) (mined, ok bool) {
	c = c.current()
	for _, n := range c.nodes {
		var receipt *struct {
			Status hexutil.Uint64 `json:"status"`
		}
		if err := n.call(ctx, &receipt, "eth_getTransactionReceipt", hash); err == nil && receipt != nil {
			return true, receipt.Status == 1
		}
	}
	return false, false
}
