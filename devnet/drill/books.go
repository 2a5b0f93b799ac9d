package drill

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"gatewayd/chain/ethereum"
	"gatewayd/devnet"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/wallet"
)

// BridgeHoldings is what a gateway has by the chains' own answers: by "source ASSET" of all its accounts there, by "exchange TOKEN" with what
// waits to be received. It is reckoned without the daemon's records.
type BridgeHoldings map[string]*big.Int

func (h BridgeHoldings) Add(what string, amount *big.Int) {
	if h[what] == nil {
		h[what] = new(big.Int)
	}
	h[what].Add(h[what], amount)
}

func (h BridgeHoldings) Sub(what string, amount *big.Int) { h.Add(what, new(big.Int).Neg(amount)) }

func (h BridgeHoldings) Equal(other BridgeHoldings) bool {
	return maps.EqualFunc(h, other, func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
}

func (h BridgeHoldings) String() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(h)) {
		parts = append(parts, fmt.Sprintf("%s of %s", h[what], what))
	}
	return strings.Join(parts, ", ")
}

// openBooks notes what the gateway begins with.
func (w *drillEnv) openBooks(ctx context.Context) (err error) {
	w.due, err = w.holdings(ctx)
	return err
}

// moves notes that the gateway is due more of one thing, or less.
func (w *drillEnv) moves(what string, amount *big.Int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due.Add(what, amount)
}

// learns adds an address that a user was told, with what lies there: anvil has coins for some of everybody's keys.
func (w *drillEnv) learns(ctx context.Context, address string) error {
	if ours, err := w.accounts(); err != nil || ours[common.HexToAddress(address)] {
		return err
	}
	have, err := w.anvil.Client().BalanceAt(ctx, common.HexToAddress(address), nil)
	if err == nil {
		w.ours[address] = true
		w.moves("source native", have)
	}
	return err
}

// accounts are the gateway's addresses on the source chain: its own, and those that users were told.
func (w *drillEnv) accounts() (map[common.Address]bool, error) {
	gas, err := w.keys.Address(wallet.SourcePaths(ethereum.CoinType).Gas())
	ours := map[common.Address]bool{common.HexToAddress(w.hot): true, common.HexToAddress(gas): true}
	for address := range w.ours {
		ours[common.HexToAddress(address)] = true
	}
	return ours, err
}

func (w *drillEnv) holdings(ctx context.Context) (BridgeHoldings, error) {
	ours, err := w.accounts()
	if err != nil {
		return nil, err
	}
	return Holdings(ctx, w.info, w.anvil.Client(), ours, w.home)
}

// Holdings asks both chains, and nobody else, for what a gateway's accounts have on the source chain and on the exchange chain.
func Holdings(ctx context.Context, info devnet.Info, source *ethclient.Client, ours map[common.Address]bool, home core.Address) (BridgeHoldings, error) {
	h := BridgeHoldings{}
	eth := &devnet.EthUser{Client: source}
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
func exchangeHoldings(ctx context.Context, info devnet.Info, account core.Address, h BridgeHoldings) error {
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
		have := has.Balances[devnet.MustToken(k.Token)].Amount
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

// FeesOf is what accounts have paid for their transactions, by the receipts of all blocks.
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

// expected is what the gateway must have now: what it was due, less the fees of its transactions.
func (w *drillEnv) expected(ctx context.Context) (BridgeHoldings, error) {
	ours, err := w.accounts()
	if err != nil {
		return nil, err
	}
	fees, err := FeesOf(ctx, w.anvil.Client(), ours)
	if err != nil {
		return nil, err
	}
	h := BridgeHoldings{}
	for what, amount := range w.due {
		h.Add(what, amount)
	}
	h.Sub("source native", fees)
	return h, nil
}

// count holds both chains against what users sent, and then the daemon's own books against the chains.
func (w *drillEnv) count(ctx context.Context) error {
	for _, u := range slices.Concat(w.users, w.rich) {
		var wrong error
		err := devnet.Within(ctx, drillPatience, "exact balances", func() (bool, error) { wrong = u.exact(ctx); return wrong == nil, w.alive() })
		if err != nil {
			return errors.Join(err, wrong)
		}
	}
	var have, want BridgeHoldings
	err := devnet.Within(ctx, drillPatience, "exact books", func() (_ bool, err error) {
		if want, err = w.expected(ctx); err != nil {
			return false, err
		}
		have, err = w.holdings(ctx)
		return want.Equal(have), err
	})
	for _, what := range slices.Sorted(maps.Keys(want)) {
		w.log.Note("%-60s has %s, must have %s", what, have[what], want[what])
	}
	if err != nil {
		return err
	}
	return w.orders(ctx, "audit")
}
