package bitcoin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/chain/bitcoin/spend"
)

const (
	// fewCoins is the number of free coins below which the change of a payment is divided, into
	// changeParts at most.
	fewCoins, changeParts = 12, 4
	// maxProofs bounds the bytes of the transactions that prove a transaction's coins to the
	// signer, which takes 2 MiB.
	maxProofs = 3 << 19
)

// Prepare drafts a transaction for a slot: it spends the slot's coin first and pays the payment's
// payees in their order. Raw is a PSBT with the transactions that made the coins, FeeCap the
// complete fee, and Hash final. With earlier attempts, which must pay the same or be cancelled, it
// replaces them (BIP-125). Coins that another slot has chosen within a minute are left to it.
//
// Errors: chain.ErrRefused: a payment that no transaction can make. ErrNotNow: the coins do not
// suffice now. ErrNoReplacement: a block spends the slot's coin. ErrFeeCeiling: as the port has it.
func (c *Chain) Prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	c = c.current()
	attempt, err := c.prepare(ctx, slot, pay, prev)
	if err != nil {
		return chain.Attempt{}, fmt.Errorf("preparing payment %d for coin %s of %s: %w", pay.ID, slot.Coin, slot.Account, err)
	}
	return attempt, nil
}

func (c *Chain) prepare(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt) (chain.Attempt, error) {
	if err := c.payable(pay); err != nil {
		return chain.Attempt{}, err
	}
	rate, err := c.offer(ctx, len(prev) > 0)
	if err != nil {
		return chain.Attempt{}, err
	}
	held, err := c.heldBy(ctx, slot.Account)
	if err != nil {
		return chain.Attempt{}, err
	}
	var pending *family
	if pay.Purpose == chain.Merge && pay.Source != "" {
		if pending, err = c.pendingCoin(ctx, pay.Source, held); err != nil {
			return chain.Attempt{}, err
		}
	}
	d, made, err := c.provable(ctx, slot, pay, prev, rate, held, pending)
	if err != nil {
		return chain.Attempt{}, err
	}
	for i := range d.Coins {
		if err := derive(&d.Coins[i], c.config.Accounts, made); err != nil {
			return chain.Attempt{}, err
		}
	}
	raw, err := d.PSBT(func(hash chainhash.Hash) (*wire.MsgTx, error) { return made[hash], nil })
	if err != nil {
		return chain.Attempt{}, err
	}
	return chain.Attempt{
		Seq: nextSeq(prev), Hash: d.Tx().TxHash().String(), Raw: raw, FeeCap: chain.NewAmount(uint64(d.Fee)), Coins: outsOf(d.Coins),
	}, nil
}

func nextSeq(prev []chain.Attempt) int {
	next := 0
	for _, a := range prev {
		next = max(next, a.Seq+1)
	}
	return next
}

func outsOf(coins []spend.Coin) []string {
	list := make([]string, len(coins))
	for i, coin := range coins {
		list[i] = coin.Outpoint.String()
	}
	return list
}

// payable returns an error unless the payees of a payment can be paid. Blocks do not distinguish a
// payment to an address of change from change.
func (c *Chain) payable(pay chain.Payment) error {
	if pay.Purpose == chain.Cancel || pay.Purpose == chain.Merge {
		return nil
	}
	for _, p := range pay.All() {
		if err := spend.CheckPayee(c.network, p); err != nil {
			return err
		}
		if to, _ := c.network.Parse(p.To); c.change.all[to.Text] {
			return &spend.Unpayable{Payment: p.ID, Why: fmt.Errorf("%w: %s takes the change of our own payments", chain.ErrAddress, to.Text)}
		}
	}
	return nil
}

func (c *Chain) heldBy(ctx context.Context, account string) ([]chain.HeldCoin, error) {
	if c.accounts == nil || len(c.config.Accounts) == 0 {
		return nil, errors.New("our accounts are not known")
	}
	return c.accounts.HeldCoins(ctx, c.config.ID, account)
}

// provable drafts a transaction and reads the transactions that made its coins. While these are too
// large for an order to the signer, the coin of the largest is left out.
func (c *Chain) provable(ctx context.Context, slot chain.Slot, pay chain.Payment, prev []chain.Attempt, rate spend.Rate, held []chain.HeldCoin, pending *family) (spend.Draft, map[chainhash.Hash]*wire.MsgTx, error) {
	made := make(map[chainhash.Hash]*wire.MsgTx)
	for {
		d, err := c.draft(slot, pay, prev, rate, held, pending)
		if err == nil {
			err = c.readMade(ctx, d.Coins, made)
		}
		if err != nil {
			return spend.Draft{}, nil, err
		}
		size, largest := 0, 0
		for i, coin := range d.Coins {
			one := made[coin.Outpoint.Hash].SerializeSizeStripped()
			size += one
			if i > 0 && (largest == 0 || one > made[d.Coins[largest].Outpoint.Hash].SerializeSizeStripped()) {
				largest = i
			}
		}
		if size <= maxProofs || largest == 0 || pending != nil && d.Coins[largest].Outpoint == pending.coin.Outpoint {
			return d, made, nil
		}
		out := d.Coins[largest].Outpoint.String()
		held = slices.DeleteFunc(slices.Clone(held), func(h chain.HeldCoin) bool { return h.Out == out })
	}
}

// readMade adds the transactions that made coins.
func (c *Chain) readMade(ctx context.Context, coins []spend.Coin, made map[chainhash.Hash]*wire.MsgTx) error {
	missing := make(map[string]chainhash.Hash)
	for _, coin := range coins {
		if made[coin.Outpoint.Hash] == nil {
			missing[coin.Outpoint.Hash.String()] = coin.Outpoint.Hash
		}
	}
	if len(missing) == 0 {
		return nil
	}
	hashes := make([]string, 0, len(missing))
	for text := range missing {
		hashes = append(hashes, text)
	}
	raw, err := c.accounts.CoinTxs(ctx, c.config.ID, hashes)
	if err != nil {
		return err
	}
	for text, hash := range missing {
		tx := new(wire.MsgTx)
		if err := tx.Deserialize(bytes.NewReader(raw[text])); err != nil {
			return fmt.Errorf("the stored transaction %s: %w", text, err)
		}
		if tx.TxHash() != hash {
			return fmt.Errorf("the stored transaction %s has the hash %s", text, tx.TxHash())
		}
		made[hash] = tx
	}
	return nil
}

// derive adds the keys of a coin's address, and holds the coin against the transaction that made
// it.
func derive(coin *spend.Coin, accounts []network.Account, made map[chainhash.Hash]*wire.MsgTx) error {
	own, err := network.OwnOf(accounts, coin.Own.Path)
	if err != nil {
		return err
	}
	outs, at := made[coin.Outpoint.Hash].TxOut, int64(coin.Outpoint.Index)
	if at >= int64(len(outs)) || outs[at].Value != coin.Amount || !bytes.Equal(outs[at].PkScript, own.Script) {
		return fmt.Errorf("coin %s: it is not %d satoshi of %s, as stored", coin.Outpoint, coin.Amount, own.Text)
	}
	coin.Own = own
	return nil
}

// draft chooses coins and keeps the choice.
func (c *Chain) draft(slot chain.Slot, pay chain.Payment, prev []chain.Attempt, rate spend.Rate, held []chain.HeldCoin, pending *family) (spend.Draft, error) {
	c.chosen.mu.Lock()
	defer c.chosen.mu.Unlock()
	now := time.Now()
	f, err := c.funds(held, func(h chain.HeldCoin) use {
		switch {
		case h.Bound && h.Number != slot.Nonce:
			return useNot
		case h.Out == slot.Coin:
			return useFirst
		case c.chosen.taken(h.Out, slot, now):
			return useNot
		}
		return useAny
	})
	if err != nil && len(prev) > 0 {
		err = fmt.Errorf("%w: %w", chain.ErrNoReplacement, err)
	}
	if err != nil {
		return spend.Draft{}, err
	}
	known := append([]spend.Coin{f.Anchor}, f.Others...)
	if pending != nil {
		known = append(known, pending.coin)
	}
	earlier, err := readAttempts(prev, f.Anchor, known, pay.Purpose != chain.Merge)
	if err != nil {
		return spend.Draft{}, err
	}
	var d spend.Draft
	if pay.Purpose == chain.Merge {
		d, err = buildMerge(c.builder(), f, pending, pay.Source, rate, earlier)
	} else {
		d, err = build(c.builder(), f, pay, rate, earlier)
	}
	if err != nil {
		return spend.Draft{}, err
	}
	c.chosen.choose(slot, outsOf(d.Coins), now)
	return d, nil
}

func (c *Chain) builder() spend.Builder {
	return spend.Builder{Network: c.network, Limits: c.rules.Limits()}
}

// build drafts a payment or a cancellation. Only a cancellation may pay others than earlier
// attempts.
func build(b spend.Builder, f spend.Funds, pay chain.Payment, rate spend.Rate, earlier []spend.Earlier) (spend.Draft, error) {
	if pay.Purpose == chain.Cancel {
		return b.Cancel(f, rate, earlier...)
	}
	d, err := b.Pay(f, pay, rate, earlier...)
	if err != nil {
		return spend.Draft{}, err
	}
	payees := d.Outputs[:len(d.Outputs)-d.Parts]
	for i, e := range earlier {
		if len(e.Outputs) < len(payees) || !slices.EqualFunc(e.Outputs[:len(payees)], payees, sameOutput) {
			return spend.Draft{}, fmt.Errorf("attempt %d of %d pays others", i+1, len(earlier))
		}
	}
	return d, nil
}

// buildMerge drafts a merge: for a stuck parent, or of small coins.
func buildMerge(b spend.Builder, f spend.Funds, pending *family, source string, rate spend.Rate, earlier []spend.Earlier) (spend.Draft, error) {
	switch {
	case pending != nil:
		return b.Child(f, pending.coin, pending.parent, rate, earlier...)
	case source != "":
		return b.Leave(f, source, rate, earlier...)
	}
	return b.Merge(f, rate, earlier...)
}

func sameOutput(a, b *wire.TxOut) bool {
	return a.Value == b.Value && bytes.Equal(a.PkScript, b.PkScript)
}

// readAttempts reads the earlier attempts of a slot. One with a coin that another one spends is
// never in a block. With lost it counts, with its stored fee and the coins that are left, because a
// pool may still have it. It does not count for a merge that has lost its parent: its fee was for
// both.
func readAttempts(prev []chain.Attempt, anchor spend.Coin, coins []spend.Coin, lost bool) ([]spend.Earlier, error) {
	var list []spend.Earlier
	for _, a := range prev {
		tx, err := readAttempt(a)
		if err != nil {
			return nil, err
		}
		if first := tx.TxIn[0].PreviousOutPoint; first != anchor.Outpoint {
			return nil, fmt.Errorf("attempt %d spends %s first", a.Seq, first)
		}
		d, err := spend.ReadDraft(a.Raw, coins)
		if err != nil && !lost {
			continue
		}
		if err != nil {
			left := slices.DeleteFunc(slices.Clone(coins), func(c spend.Coin) bool { return !spends(tx, c.Outpoint) })
			d = spend.Draft{Coins: left, Outputs: tx.TxOut, Fee: int64(a.FeeCap.Uint256().Uint64()), Size: spend.SizeOf(tx)}
		}
		list = append(list, spend.Earlier{Draft: d})
	}
	return list, nil
}

func spends(tx *wire.MsgTx, out wire.OutPoint) bool {
	return slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool { return in.PreviousOutPoint == out })
}

// readAttempt decodes stored bytes and holds them against the stored hash.
func readAttempt(a chain.Attempt) (*wire.MsgTx, error) {
	tx := new(wire.MsgTx)
	if err := tx.Deserialize(bytes.NewReader(a.Raw)); err != nil {
		return nil, fmt.Errorf("attempt %d: decoding its bytes: %w", a.Seq, err)
	}
	if got := tx.TxHash().String(); got != a.Hash || len(tx.TxIn) == 0 {
		return nil, fmt.Errorf("attempt %d: its bytes have the hash %s, not %s", a.Seq, got, a.Hash)
	}
	return tx, nil
}

// use decides what a draft does with a coin.
type use byte

const (
	useNot use = iota
	useAny
	useFirst // as the anchor
)

// funds sorts coins by their use, of which there must be an anchor. Coins of accounts that are no
// longer configured are left out.
func (c *Chain) funds(held []chain.HeldCoin, useOf func(chain.HeldCoin) use) (f spend.Funds, err error) {
	if f.Change, err = c.config.Pool(); err != nil {
		return f, err
	}
	found, free := false, 0
	for _, h := range held {
		as := useOf(h)
		if as == useNot {
			continue
		}
		coin, err := coinOf(h, c.config.Accounts)
		if err != nil {
			continue
		}
		if !h.Bound {
			free++
		}
		if as == useFirst {
			f.Anchor, found = coin, true
		} else {
			f.Others = append(f.Others, coin)
		}
	}
	if !found {
		return f, fmt.Errorf("%w: the coin is not held", chain.ErrNotNow)
	}
	if free < fewCoins {
		f.Parts = changeParts
	}
	return f, nil
}

// coinOf is a held coin without its key, which takes time to derive.
func coinOf(h chain.HeldCoin, accounts []network.Account) (coin spend.Coin, err error) {
	a, err := network.AccountOf(accounts, h.Key)
	if err != nil {
		return coin, err
	}
	if coin.Outpoint, err = spend.ParseOutpoint(h.Out); err != nil {
		return coin, err
	}
	coin.Amount, coin.Height = int64(h.Amount.Uint256().Uint64()), h.Height
	coin.Own.Path, coin.Own.Kind = h.Key, a.Kind
	return coin, nil
}
