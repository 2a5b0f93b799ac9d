package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

const (
	// pageCoins bounds the coins of one batch.
	pageCoins = 1_000
	// scanTimeout bounds the search for the coins of an address of others.
	scanTimeout = 10 * time.Minute
)

// HoldingsAt returns what the coins at addresses were worth after the block at a final height, in
// the order of the addresses. Those of ours are in the records. Each counts if a majority of the
// nodes shows it as unspent now, or if a block above the height spends it. Coins at an address of
// others are those that a majority finds now and that were there at the height: what has left it
// since does not count. chain.ErrUnavailable: no majority shows one or the other.
func (c *Chain) HoldingsAt(ctx context.Context, height uint64, asset chain.Asset, addresses []string) ([]chain.Amount, error) {
	c = c.current()
	sums, err := c.holdingsAt(ctx, height, asset, addresses)
	if err != nil {
		return nil, fmt.Errorf("the coins of %d addresses at block %d: %w", len(addresses), height, err)
	}
	return sums, nil
}

func (c *Chain) holdingsAt(ctx context.Context, height uint64, asset chain.Asset, addresses []string) ([]chain.Amount, error) {
	if err := onlyCoin(asset); err != nil {
		return nil, err
	}
	if c.accounts == nil {
		return nil, errors.New("our accounts are not known")
	}
	ours, err := c.accounts.Owned(ctx, c.config.ID, addresses)
	if err != nil {
		return nil, err
	}
	coins, err := c.accounts.CoinsAt(ctx, c.config.ID, height)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int, len(addresses))
	sums := make([]chain.Amount, len(addresses))
	for i, a := range addresses {
		if at[a] = i; !ours[a] {
			if sums[i], err = c.others(ctx, height, a); err != nil {
				return nil, err
			}
		}
	}
	coins = slices.DeleteFunc(coins, func(coin chain.Coin) bool { return !ours[coin.Address] || addresses[at[coin.Address]] != coin.Address })
	held, err := c.heldAt(ctx, height, coins)
	for _, coin := range held {
		if i := at[coin.Address]; err == nil {
			sums[i], err = sums[i].Add(coin.Amount)
		}
	}
	return sums, err
}

// heldAt returns the coins that were unspent after a final block.
func (c *Chain) heldAt(ctx context.Context, height uint64, coins []chain.Coin) ([]chain.Coin, error) {
	if len(coins) == 0 {
		return nil, nil
	}
	question := func(ctx context.Context, n *node) (string, error) { return c.unspent(ctx, n, coins) }
	answers := quorum.Ask(ctx, c.nodes, question, quorum.Same[*node](c.majority(), func(marks string) string { return marks }))
	good, faults := quorum.Good(answers)
	if len(good) < c.majority() {
		return nil, unavailable(faults)
	}
	var held, gone []chain.Coin
	undecided := map[string]bool{}
	for i, coin := range coins {
		there := 0
		for _, a := range good {
			if a.Value[i] == isUnspent {
				there++
			}
		}
		if there >= c.majority() {
			held = append(held, coin)
			continue
		}
		gone = append(gone, coin)
		undecided[coin.Out] = len(good)-there < c.majority()
	}
	if len(gone) == 0 {
		return held, nil
	}
	spent, err := c.spentAbove(ctx, height)
	for _, coin := range gone {
		switch {
		case err != nil:
			return nil, err
		case spent[coin.Out]:
			held = append(held, coin)
		case undecided[coin.Out]:
			return nil, unavailable(append(faults, fmt.Errorf("coin %s: no majority of the nodes agrees", coin.Out)))
		}
	}
	return held, nil
}

const isUnspent, isSpent = '1', '0'

// unspent asks a node which coins no block spends. The answer has a mark for each.
func (c *Chain) unspent(ctx context.Context, n *node, coins []chain.Coin) (string, error) {
	marks := make([]byte, 0, len(coins))
	for page := range slices.Chunk(coins, pageCoins) {
		params := make([][]any, len(page))
		for i, coin := range page {
			hash, index, _ := strings.Cut(coin.Out, ":")
			params[i] = []any{hash, json.Number(index), false}
		}
		outs, err := batch[*txOut](ctx, n, "gettxout", params, false)
		if err != nil {
			return "", err
		}
		for i, out := range outs {
			mark := byte(isSpent)
			if out != nil {
				if err := c.same(page[i], *out); err != nil {
					return "", n.RecordWrong("coin", fmt.Errorf("%s: coin %s: %w", n.name, page[i].Out, err))
				}
				mark = isUnspent
			}
			marks = append(marks, mark)
		}
	}
	return string(marks), nil
}

// txOut is an unspent output as a node shows it.
type txOut struct {
	Value  json.Number `json:"value"`
	Script struct {
		Hex string `json:"hex"`
	} `json:"scriptPubKey"`
}

// same holds what a node shows of a coin against the records.
func (c *Chain) same(coin chain.Coin, out txOut) error {
	own, err := c.network.Parse(coin.Address)
	if err != nil {
		return err
	}
	amount, err := satoshi(out.Value)
	if err != nil {
		return err
	}
	if script, err := hex.DecodeString(out.Script.Hex); err != nil || amount != coin.Amount || !bytes.Equal(script, own.Script) {
		return fmt.Errorf("it is %s satoshi of %s, not as shown: %s of script %s", coin.Amount, coin.Address, amount, printable(out.Script.Hex))
	}
	return nil
}

// satoshi converts coins with at most 8 decimals, which is exact.
func satoshi(coins json.Number) (chain.Amount, error) {
	value, err := coins.Float64()
	if err != nil || value < 0 || value*btcutil.SatoshiPerBitcoin > maxCoins {
		return chain.Amount{}, fmt.Errorf("it shows %s coins", printable(coins.String()))
	}
	amount, err := btcutil.NewAmount(value)
	return chain.NewAmount(uint64(amount)), err
}

// spentAbove are the coins that the blocks above a height spend, up to the top.
func (c *Chain) spentAbove(ctx context.Context, height uint64) (map[string]bool, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return nil, err
	}
	spent := map[string]bool{}
	if head.Latest.Height <= height {
		return spent, nil
	}
	hashes, err := c.hashes(ctx, height+1, head.Latest.Height)
	if err != nil {
		return nil, err
	}
	for i, hash := range hashes {
		b, err := c.readBlock(ctx, height+1+uint64(i), hash)
		if err != nil {
			return nil, err
		}
		for _, tx := range b.txs {
			for _, in := range tx.MsgTx().TxIn {
				spent[in.PreviousOutPoint.String()] = true
			}
		}
	}
	return spent, nil
}

// others returns what a majority finds at an address that is not ours. Each node searches all that
// is unspent.
func (c *Chain) others(ctx context.Context, height uint64, address string) (chain.Amount, error) {
	a, err := c.network.Parse(address)
	if err != nil {
		return chain.Amount{}, err
	}
	question := func(ctx context.Context, n *node) (chain.Amount, error) { return n.search(ctx, height, a.Script) }
	itself := func(sum chain.Amount) chain.Amount { return sum }
	answers := quorum.Ask(ctx, c.nodes, question, quorum.Same[*node](c.majority(), itself))
	sum, found := quorum.Agreed(answers, c.majority(), itself)
	if !found {
		_, faults := quorum.Good(answers)
		return sum, unavailable(append(faults, fmt.Errorf("the coins of %s: no majority of the nodes agrees", address)))
	}
	return sum, nil
}

// search adds up the unspent outputs of a script that blocks up to a height have made.
func (n *node) search(ctx context.Context, height uint64, script []byte) (sum chain.Amount, err error) {
	var found struct {
		Outs []struct {
			Amount json.Number `json:"amount"`
			Height uint64      `json:"height"`
		} `json:"unspents"`
	}
	if err := n.call(ctx, &found, "scantxoutset", "start", []string{"raw(" + hex.EncodeToString(script) + ")"}); err != nil {
		return sum, err
	}
	for _, out := range found.Outs {
		amount, err := satoshi(out.Amount)
		if err != nil {
			return sum, n.RecordWrong("coin", fmt.Errorf("%s: %w", n.name, err))
		}
		if out.Height <= height {
			if sum, err = sum.Add(amount); err != nil {
				return sum, err
			}
		}
	}
	return sum, nil
}
