package bitcoin

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/spend"
	"gatewayd/chain/quorum"
)

// codeInChain is a node's answer that a block has the transaction.
const codeInChain = -27

// knownTexts are answers of nodes that have the transaction, conflictTexts those of nodes that
// replace no other by it. Lower case; of bitcoind, litecoind and btcd.
var (
	knownTexts    = []string{"txn-already-in-mempool", "txn-already-known", "already have transaction", "transaction already exists", "already in block chain", "already in utxo set"}
	conflictTexts = []string{"txn-mempool-conflict", "output already spent in mempool"}
)

// Broadcast sends the bytes of attempts to all nodes. An error is nil when one of the nodes has the
// transaction. Otherwise it contains each node's answer: a chain.Refusal if a majority refuses it.
// Neither decides anything. That inputs are missing or spent, or that another transaction spends
// them, is a refusal too: the other may be an attempt of the same slot.
func (c *Chain) Broadcast(ctx context.Context, attempts []chain.Attempt) []error {
	c = c.current()
	errs := make([]error, len(attempts))
	for i, a := range attempts {
		if _, err := readAttempt(a); err != nil {
			errs[i] = fmt.Errorf("broadcasting: %w", err)
		}
	}
	question := func(ctx context.Context, n *node) ([]error, error) {
		results := make([]error, len(attempts))
		for i, a := range attempts {
			if errs[i] == nil {
				results[i] = n.send(ctx, a)
			}
		}
		return results, nil
	}
	answers, faults := quorum.Good(quorum.All(ctx, c.nodes, question))
	for i, a := range attempts {
		if errs[i] != nil {
			continue
		}
		replies := slices.Clone(faults)
		for _, answer := range answers {
			replies = append(replies, answer.Value[i])
		}
		if !slices.Contains(replies, nil) {
			errs[i] = fmt.Errorf("broadcasting %s: %w", a.Hash, refusedBy(replies, c.majority()))
		}
	}
	return errs
}

// maxRefusals bounds how many nodes' texts a refusal contains.
const maxRefusals = 3

// refusedBy is a chain.Refusal if a majority of the nodes refuses a transaction.
func refusedBy(replies []error, majority int) error {
	var words []string
	for _, err := range replies {
		var r refusedSend
		if errors.As(err, &r) {
			words = append(words, r.Error())
		}
	}
	if len(words) < majority {
		return unavailable(replies)
	}
	return chain.Refusal{Text: strings.Join(words[:min(len(words), maxRefusals)], "; ")}
}

// refusedSend is one node's refusal to take a transaction.
type refusedSend struct {
	node string
	why  *refusal
}

func (r refusedSend) Error() string { return r.node + ": " + r.why.Error() }

// send is nil when the node has the transaction.
func (n *node) send(ctx context.Context, a chain.Attempt) error {
	var got string
	err := n.call(ctx, &got, "sendrawtransaction", hex.EncodeToString(a.Raw))
	var why *refusal
	switch {
	case err == nil && got != a.Hash:
		return n.RecordWrong("broadcast", fmt.Errorf("%s: it took other bytes: it answers the hash %s", n.name, printable(got)))
	case err == nil, hasCode(err, codeInChain):
		return nil
	case !errors.As(err, &why):
		return err
	case contains(why, knownTexts):
		return nil
	}
	if contains(why, conflictTexts) {
		n.keeps.Store(true)
	}
	return refusedSend{n.name, why}
}

func contains(r *refusal, texts []string) bool {
	text := strings.ToLower(r.Message)
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(text, t) })
}

// margin is the part of an offer by which blocks must ask for more before it is replaced.
const margin = 4

// Underpriced reports whether an attempt waits because blocks ask for more than it offers, by a
// margin and below the ceiling. It waits at a node whose pool has it, or no spender of its coin at
// all: pools drop and refuse what offers too little. Nodes that were seen to keep the first of two
// transactions do not count, because a replacement does not reach their pools. An attempt whose own
// coin is held and another one is not can never be in a block: it is replaced at any price.
func (c *Chain) Underpriced(ctx context.Context, slot chain.Slot, a chain.Attempt) (bool, error) {
	c = c.current()
	seen, err := c.sight(ctx, slot, a)
	if err != nil {
		return false, err
	}
	if seen.free && !seen.pooled {
		held, err := c.heldBy(ctx, slot.Account)
		lost := false
		if err == nil {
			lost, err = c.lostCoin(ctx, seen.tx, held)
		}
		if lost || err != nil {
			return lost, err
		}
	}
	if !seen.replaces {
		return false, nil
	}
	return c.offersLess(ctx, a, seen.tx)
}

// sighting is where nodes have an attempt.
type sighting struct {
	tx       *wire.MsgTx
	pooled   bool // a pool has it
	free     bool // nothing spends its first coin at a node
	replaces bool // one of these nodes was not seen to keep the first of two
}

func (c *Chain) sight(ctx context.Context, slot chain.Slot, a chain.Attempt) (s sighting, err error) {
	s.tx, err = readAttempt(a)
	if err == nil && s.tx.TxIn[0].PreviousOutPoint.String() != slot.Coin {
		err = fmt.Errorf("it spends %s first, not %s", s.tx.TxIn[0].PreviousOutPoint, slot.Coin)
	}
	if err != nil {
		return s, fmt.Errorf("asking for attempt %s: %w", a.Hash, err)
	}
	question := func(ctx context.Context, n *node) (place, error) { return n.placeOf(ctx, s.tx) }
	pooled := func(a answer[place]) bool { return a.Err == nil && a.Value == inPool }
	answers := quorum.Ask(ctx, c.nodes, question, func(list []answer[place]) bool { return slices.ContainsFunc(list, pooled) })
	good, faults := quorum.Good(answers)
	if len(good) == 0 {
		return s, fmt.Errorf("asking for attempt %s: %w", a.Hash, unavailable(faults))
	}
	for _, one := range good {
		s.pooled = s.pooled || one.Value == inPool
		s.free = s.free || one.Value == nowhere
		s.replaces = s.replaces || one.Value != elsewhere && !one.Node.keeps.Load()
	}
	return s, nil
}

// offersLess reports whether blocks ask for more than an attempt offers, by the margin.
func (c *Chain) offersLess(ctx context.Context, a chain.Attempt, tx *wire.MsgTx) (bool, error) {
	asked, err := c.offer(ctx, true)
	if err != nil {
		return false, err
	}
	offered := spend.RateOf(int64(a.FeeCap.Uint256().Uint64()), spend.SizeOf(tx))
	return offered+offered/margin < asked, nil
}

// lostCoin reports whether the first coin that a transaction spends is held, and not all others.
// Change that a transaction of ours may still make is not lost.
func (c *Chain) lostCoin(ctx context.Context, tx *wire.MsgTx, held []chain.HeldCoin) (bool, error) {
	missing := func(in *wire.TxIn) bool {
		out := in.PreviousOutPoint.String()
		return !slices.ContainsFunc(held, func(h chain.HeldCoin) bool { return h.Out == out })
	}
	if missing(tx.TxIn[0]) {
		return false, nil
	}
	for _, in := range tx.TxIn[1:] {
		if !missing(in) {
			continue
		}
		if f, err := c.pendingCoin(ctx, in.PreviousOutPoint.String(), held); err != nil || f == nil {
			return err == nil, err
		}
	}
	return false, nil
}

// place is where a node has a transaction of ours.
type place byte

const (
	elsewhere place = iota // in a block, or something else spends its first coin
	inPool
	nowhere // nothing spends its first coin
)

func (n *node) placeOf(ctx context.Context, tx *wire.MsgTx) (place, error) {
	hash, coin := tx.TxHash().String(), tx.TxIn[0].PreviousOutPoint
	var shown struct {
		Hash  string `json:"txid"`
		Block string `json:"blockhash"`
	}
	err := n.call(ctx, &shown, "getrawtransaction", hash, 1)
	if err == nil && shown.Hash == hash && shown.Block == "" {
		return inPool, nil
	}
	if !refused(err) {
		return elsewhere, err
	}
	var unspent *struct {
		Confirmations int64 `json:"confirmations"`
	}
	err = n.call(ctx, &unspent, "gettxout", coin.Hash.String(), coin.Index, true)
	if err == nil && unspent != nil && unspent.Confirmations > 0 {
		return nowhere, nil
	}
	return elsewhere, err
}
