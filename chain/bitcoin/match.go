package bitcoin

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"

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
	for _, coin := range found.Coins {
		coin.Made = nil // what is spent needs no proof
		c.recent.put(coin.Out, coin)
	}
	return found, nil
}

// find asks once which addresses, and once which coins, are ours.
func (c *Chain) find(ctx context.Context, b *block) (chain.Block, error) {
	s := &searcher{network: c.network, change: c.change, own: c.own, found: chain.Block{
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
	s.coins = maps.Clone(known)
	for _, out := range spent {
		if coin, ok := c.recent.get(out); ok {
			s.coins[out] = coin
		}
	}
	for i := range b.txs {
		s.transaction(b, i)
	}
	return s.found, nil
}

// searcher goes through one block.
type searcher struct {
	network *network.Network
	change  changes
	own     *recent[chain.Outgoing]
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
	own, in := chain.OwnTx{Tx: tx.Hash().String(), OK: true, Account: s.change.pool}, int64(0)
	for _, out := range s.spent[i] {
		coin, ours := s.coins[out]
		if !ours {
			continue
		}
		own.Spent = append(own.Spent, out)
		own.Account = cmp.Or(own.Account, coin.Address)
		in += int64(coin.Amount.Uint256().Uint64())
	}
	var made []byte
	for v, out := range tx.MsgTx().TxOut {
		if s.ours[s.paid[i][v]] {
			if made == nil {
				made = stripped(tx.MsgTx())
			}
			s.coin(b, i, v, len(own.Spent) > 0, made)
		}
		in -= out.Value
	}
	if len(own.Spent) == 0 {
		return
	}
	if len(own.Spent) == len(s.spent[i]) && in >= 0 {
		own.Fee = chain.NewAmount(uint64(in))
	}
	did := s.change.outgoing(tx.MsgTx(), s.paid[i])
	s.own.put(own.Tx, did)
	if len(did.Members) == 0 {
		own.To, own.Value = did.To, did.Amount
	} else {
		own.Members = make([]chain.Outcome, len(did.Members))
		for k := range own.Members {
			own.Members[k] = chain.MemberPaid
		}
	}
	s.found.OwnTxs = append(s.found.OwnTxs, own)
}

// stripped is a transaction without its witnesses.
func stripped(tx *wire.MsgTx) []byte {
	var raw bytes.Buffer
	_ = tx.SerializeNoWitness(&raw) // a buffer takes all
	return raw.Bytes()
}

// coin reports an output that is ours.
func (s *searcher) coin(b *block, i, v int, own bool, made []byte) {
	tx := b.txs[i]
	out := wire.OutPoint{Hash: *tx.Hash(), Index: uint32(v)}
	coin := chain.Coin{Out: out.String(), Address: s.paid[i][v], Amount: chain.NewAmount(uint64(tx.MsgTx().TxOut[v].Value)), Own: own, Made: made}
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
