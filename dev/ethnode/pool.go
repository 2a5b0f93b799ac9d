package ethnode

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/consensus/misc/eip1559"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
)

// Drop removes a transaction from the pool, as happens in a node that restarts or is short of
// memory. Later transactions of the same sender stay and wait until the gap closes. It reports
// whether the transaction was there.
func (n *Node) Drop(hash common.Hash) (bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.backend.TxPool().Sync(); err != nil {
		return false, fmt.Errorf("waiting for the pool: %w", err)
	}
	if !n.backend.TxPool().Has(hash) {
		return false, nil
	}
	return true, n.dropFromPool(map[common.Hash]bool{hash: true})
}

// DropAll makes the pool forget everything.
func (n *Node) DropAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.backend.TxPool().Clear()
}

// Pending returns the hashes of the transactions that wait in the pool, ready or not.
func (n *Node) Pending() []common.Hash {
	var all []common.Hash
	ready, queued := n.backend.TxPool().Content()
	for _, accounts := range []map[common.Address][]*types.Transaction{ready, queued} {
		for _, txs := range accounts {
			for _, tx := range txs {
				all = append(all, tx.Hash())
			}
		}
	}
	slices.SortFunc(all, common.Hash.Cmp)
	return all
}

// dropFromPool empties the pool and gives back what was not to be forgotten: it has no way to
// remove one transaction. What the pool no longer takes, for want of coins that a re-organisation
// took, is forgotten with the rest.
func (n *Node) dropFromPool(lost map[common.Hash]bool) error {
	pool := n.backend.TxPool()
	if err := pool.Sync(); err != nil {
		return fmt.Errorf("waiting for the pool: %w", err)
	}
	var kept []*types.Transaction
	ready, queued := pool.Content()
	for _, accounts := range []map[common.Address][]*types.Transaction{ready, queued} {
		for _, txs := range accounts {
			kept = append(kept, txs...)
		}
	}
	kept = slices.DeleteFunc(kept, func(tx *types.Transaction) bool { return lost[tx.Hash()] })
	pool.Clear()
	pool.Add(kept, true)
	return nil
}

// promote waits until all accepted transactions are executable in the pool. go-ethereum's pool
// queues a transaction that follows an executable one and arrives during the import of a block,
// until the one before it is mined. It is therefore submitted again.
func (n *Node) promote() error {
	pool := n.backend.TxPool()
	if err := pool.Sync(); err != nil {
		return fmt.Errorf("waiting for the pool: %w", err)
	}
	_, queued := pool.Content()
	for account, txs := range queued {
		if txs[0].Nonce() == pool.PoolNonce(account) {
			return n.dropFromPool(nil)
		}
	}
	return nil
}

// SetMinTip makes blocks leave out transactions whose tip per gas is lower. They stay in the pool:
// stuck, not refused.
func (n *Node) SetMinTip(wei *big.Int) error {
	if wei == nil || wei.Sign() < 0 {
		return errors.New("the lowest tip must not be negative")
	}
	return n.backend.Miner().SetGasTip(new(big.Int).Set(wei))
}

// BaseFee returns the next block's price per gas, in wei; on a chain without a base fee, that of
// the first block with one.
func (n *Node) BaseFee() *big.Int {
	return eip1559.CalcBaseFee(n.backend.BlockChain().Config(), n.head())
}

// SetBaseFee brings the base fee of the next block to target or just beyond, in the only way there
// is: by full blocks when it has to rise (one for each eighth) and by empty ones when it has to
// fall. The pool's transactions are in none of them. Returns an error if the protocol cannot reach
// target within a thousand blocks; 7 wei is its floor.
func (n *Node) SetBaseFee(target *big.Int) error {
	if n.config.Legacy {
		return errors.New("a chain without a base fee from the beginning fills no blocks")
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	direction := target.Cmp(n.BaseFee())
	for range 1000 {
		if target.Cmp(n.BaseFee()) != direction {
			return nil
		}
		if err := n.moveBaseFee(direction > 0); err != nil {
			return err
		}
	}
	return fmt.Errorf("the base fee is %s wei after a thousand blocks", n.BaseFee())
}

// moveBaseFee makes a full or an empty block.
func (n *Node) moveBaseFee(up bool) error {
	var inside content
	if up {
		txs, err := n.fillers()
		if err != nil {
			return err
		}
		inside.txs = txs
	}
	_, err := n.mineOne(inside)
	return err
}

// fillers are transactions that use up a block's gas.
func (n *Node) fillers() ([]*types.Transaction, error) {
	key := burnerKey()
	state, err := n.backend.BlockChain().State()
	if err != nil {
		return nil, fmt.Errorf("reading the state: %w", err)
	}
	nonce := state.GetNonce(crypto.PubkeyToAddress(key.PublicKey))
	sink := gasSink()
	var txs []*types.Transaction
	for left := n.head().GasLimit - n.head().GasLimit/512; left > params.TxGas*2; {
		gas := min(left, params.MaxTxGas)
		tx, err := types.SignNewTx(key, n.signer(), &types.DynamicFeeTx{
			ChainID: n.backend.BlockChain().Config().ChainID, Nonce: nonce + uint64(len(txs)),
			GasTipCap: big.NewInt(1), GasFeeCap: new(big.Int).Mul(n.BaseFee(), big.NewInt(2)), Gas: gas, To: &sink,
		})
		if err != nil {
			return nil, fmt.Errorf("signing a filler: %w", err)
		}
		txs = append(txs, tx)
		left -= gas
	}
	return txs, nil
}
