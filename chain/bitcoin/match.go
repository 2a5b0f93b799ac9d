package bitcoin

import (
	"context"
	"fmt"
	"sync"

	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
)

// maturity is the number of blocks from a coinbase to the first that may spend it.
const maturity = 100

// noComment is the memo's type of transfers without any.
const noComment = -1

// search finds what concerns us in a block of the line.
func (c *Chain) search(ctx context.Context, b *block) (chain.Block, error) {
	found, err := c.find(ctx, b)
	if err != nil {
		return chain.Block{}, fmt.Errorf("block %d: %w", b.height, err)
	}
	c.recent.add(found.Coins)
	return found, nil
}

// find asks once which addresses, and once which coins, are ours.
func (c *Chain) find(ctx context.Context, b *block) (chain.Block, error) {
	s := &searcher{network: c.network, found: chain.Block{
		Point: chain.Point{Height: b.height, Hash: b.hash.String()}, Parent: b.parent.String(), Time: b.time,
	}}
	var err error
	if s.ours, err = c.accounts.Owned(ctx, c.config.ID, s.payees(b)); err != nil {
		return chain.Block{}, fmt.Errorf("asking which addresses are ours: %w", err)
	}
	spent := s.inputs(b)
	known, err := c.accounts.Coins(ctx, c.config.ID, spent)
	if err != nil {
		return chain.Block{}, fmt.Errorf("asking which coins are ours: %w", err)
	}
	s.coins = c.recent.with(known, spent)
	for i := range b.txs {
		s.transaction(b, i)
	}
	return s.found, nil
}

// searcher goes through one block.
type searcher struct {
	network *network.Network
	found   chain.Block
	paid    [][]string // address of each output of each transaction; empty: it has none
	spent   [][]string // outpoint of each input of each transaction but the coinbase
	ours    map[string]bool
	coins   map[string]chain.Coin // of ours, by outpoint: those that the block spends, and its own
}

// payees are the addresses of all outputs, each once.
func (s *searcher) payees(b *block) (list []string) {
	seen := make(map[string]bool, 4*len(b.txs))
	s.paid = make([][]string, len(b.txs))
	for i, tx := range b.txs {
		s.paid[i] = make([]string, len(tx.MsgTx().TxOut))
		for v, out := range tx.MsgTx().TxOut {
			to, ok := s.network.Of(out.PkScript)
			if !ok || out.Value == 0 {
				continue
			}
			s.paid[i][v] = to.Text
			if !seen[to.Text] {
				seen[to.Text] = true
				list = append(list, to.Text)
			}
		}
	}
	return list
}

// inputs are the outpoints that the block spends.
func (s *searcher) inputs(b *block) (list []string) {
	s.spent = make([][]string, len(b.txs))
	for i, tx := range b.txs[1:] {
		begin := len(list)
		for _, in := range tx.MsgTx().TxIn {
			list = append(list, in.PreviousOutPoint.String())
		}
		s.spent[i+1] = list[begin:len(list):len(list)]
	}
	return list
}

// transaction reports one transaction's effects for us.
func (s *searcher) transaction(b *block, i int) {
	tx := b.txs[i]
	own, in := chain.OwnTx{Tx: tx.Hash().String(), OK: true}, int64(0)
	for _, out := range s.spent[i] {
		coin, ours := s.coins[out]
		if !ours {
			continue
		}
		if own.Spent = append(own.Spent, out); len(own.Spent) == 1 {
			own.Account = coin.Address
		}
		in += int64(coin.Amount.Uint256().Uint64())
	}
	var others []int // outputs that pay no account of ours
	for v, out := range tx.MsgTx().TxOut {
		switch {
		case s.ours[s.paid[i][v]]:
			s.coin(b, i, v, len(own.Spent) > 0)
		case out.Value > 0:
			others = append(others, v)
		}
		in -= out.Value
	}
	if len(own.Spent) == 0 {
		return
	}
	if len(own.Spent) == len(s.spent[i]) && in >= 0 {
		own.Fee = chain.NewAmount(uint64(in))
	}
	switch len(others) {
	case 0:
	case 1:
		own.To, own.Value = s.paid[i][others[0]], chain.NewAmount(uint64(tx.MsgTx().TxOut[others[0]].Value))
	default:
		own.Members = make([]chain.Outcome, len(others))
		for k := range own.Members {
			own.Members[k] = chain.MemberPaid
		}
	}
	s.found.OwnTxs = append(s.found.OwnTxs, own)
}

// coin reports an output that is ours.
func (s *searcher) coin(b *block, i, v int, own bool) {
	tx := b.txs[i]
	out := wire.OutPoint{Hash: *tx.Hash(), Index: uint32(v)}
	coin := chain.Coin{Out: out.String(), Address: s.paid[i][v], Amount: chain.NewAmount(uint64(tx.MsgTx().TxOut[v].Value)), Own: own}
	if i == 0 {
		coin.Matures = b.height + maturity
	}
	s.coins[coin.Out] = coin
	s.found.Coins = append(s.found.Coins, coin)
	if own {
		return
	}
	s.found.Transfers = append(s.found.Transfers, chain.Transfer{
		Ref: coin.Out, Tx: tx.Hash().String(), To: coin.Address, Asset: chain.Native, Amount: coin.Amount,
		Memo: chain.Memo{Type: noComment}, Matures: coin.Matures,
	})
}

// rememberCoins is the number of coins that are remembered at least.
const rememberCoins = 1 << 15

// recentCoins remembers the coins of the blocks that were read last. The records know them when
// they have stored the block, and blocks are read ahead of that.
type recentCoins struct {
	mu         sync.Mutex
	newer, old map[string]chain.Coin
}

func newRecentCoins() *recentCoins { return &recentCoins{newer: make(map[string]chain.Coin)} }

func (r *recentCoins) add(coins []chain.Coin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range coins {
		if r.newer[c.Out] = c; len(r.newer) > rememberCoins {
			r.old, r.newer = r.newer, make(map[string]chain.Coin)
		}
	}
}

// with returns the known coins with those of the outpoints that are remembered.
func (r *recentCoins) with(known map[string]chain.Coin, outpoints []string) map[string]chain.Coin {
	all := make(map[string]chain.Coin, len(known))
	for out, c := range known {
		all[out] = c
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.newer)+len(r.old) == 0 {
		return all
	}
	for _, out := range outpoints {
		if c, ok := r.newer[out]; ok {
			all[out] = c
		} else if c, ok := r.old[out]; ok {
			all[out] = c
		}
	}
	return all
}
