package dev

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/wallet"
)

// Holdings is a gateway's balances by the chains' own answers: by "source ASSET" of all its
// accounts there, by "exchange TOKEN" with pending receives. It is computed without the daemon's
// records.
type Holdings map[string]*big.Int

func (h Holdings) Add(what string, amount *big.Int) {
	if h[what] == nil {
		h[what] = new(big.Int)
	}
	h[what].Add(h[what], amount)
}

func (h Holdings) Sub(what string, amount *big.Int) { h.Add(what, new(big.Int).Neg(amount)) }

func (h Holdings) Equal(other Holdings) bool {
	return maps.EqualFunc(h, other, func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
}

func (h Holdings) String() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(h)) {
		parts = append(parts, fmt.Sprintf("%s of %s", h[what], what))
	}
	return strings.Join(parts, ", ")
}

// ReadHoldings asks only the two chains for the balances of a gateway's accounts on them.
func ReadHoldings(ctx context.Context, info Info, source *ethclient.Client, ours map[common.Address]bool, home core.Address) (Holdings, error) {
	h := Holdings{}
	eth := &EthUser{Client: source}
	for address := range ours {
		for _, k := range info.Tokens {
			have, err := eth.Balance(ctx, k.Asset, address)
			if err != nil {
				return nil, err
			}
			h.Add("source "+k.Asset, have)
		}
	}
	return h, exchangeHoldings(ctx, info, home, h)
}

// exchangeHoldings adds what an account has of the gateway's tokens, received and not.
func exchangeHoldings(ctx context.Context, info Info, account core.Address, h Holdings) error {
	node, err := client.Dial(ctx, info.Exchange, client.Options{})
	if err != nil {
		return err
	}
	defer node.Close()
	has, err := node.AccountInfo(ctx, account)
	if err != nil {
		return err
	}
	for _, k := range info.Tokens {
		have := has.Balances[MustToken(k.Token)].Amount
		h.Add("exchange "+k.Token, have.ToBig())
	}
	for page := 0; ; page++ {
		waiting, err := node.UnreceivedBlocks(ctx, account, page, client.MaxPage)
		if err != nil {
			return err
		}
		for _, s := range waiting {
			if !s.Amount.IsZero() {
				h.Add("exchange "+s.TokenID.String(), s.Amount.ToBig())
			}
		}
		if len(waiting) < client.MaxPage {
			return nil
		}
	}
}

// FeesOf returns the fees of accounts' transactions, by the receipts of all blocks.
func FeesOf(ctx context.Context, node *ethclient.Client, ours map[common.Address]bool) (*big.Int, error) {
	sum := new(big.Int)
	head, err := node.BlockNumber(ctx)
	if err != nil {
		return nil, err
	}
	id, err := node.ChainID(ctx)
	if err != nil {
		return nil, err
	}
	signer := types.LatestSignerForChainID(id)
	for n := range head + 1 {
		block, err := node.BlockByNumber(ctx, new(big.Int).SetUint64(n))
		if err != nil {
			return nil, err
		}
		for _, tx := range block.Transactions() {
			if from, err := types.Sender(signer, tx); err != nil || !ours[from] {
				continue
			}
			receipt, err := node.TransactionReceipt(ctx, tx.Hash())
			if err != nil {
				return nil, err
			}
			sum.Add(sum, new(big.Int).Mul(receipt.EffectiveGasPrice, new(big.Int).SetUint64(receipt.GasUsed)))
		}
	}
	return sum, nil
}

// SendByHand signs with one of the gateway's keys and sends, as a thief or a colleague would.
func SendByHand(ctx context.Context, node *ethclient.Client, keys *wallet.Keys, path string, to common.Address, amount *big.Int) (hash common.Hash, err error) {
	from, err := keys.Address(path)
	if err != nil {
		return hash, err
	}
	nonce, err := node.PendingNonceAt(ctx, common.HexToAddress(from))
	if err != nil {
		return hash, err
	}
	id, err := node.ChainID(ctx)
	if err != nil {
		return hash, err
	}
	signer := types.LatestSignerForChainID(id)
	tx := types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: nonce, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(1e11), Gas: 21_000, To: &to, Value: amount})
	_, signature, err := keys.Sign(ctx, path, signer.Hash(tx).Bytes())
	if err != nil {
		return hash, err
	}
	if tx, err = tx.WithSignature(signer, signature); err != nil {
		return hash, err
	}
	return tx.Hash(), node.SendTransaction(ctx, tx)
}
