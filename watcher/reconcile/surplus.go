package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// maxLocated bounds the surpluses whose blocks are looked for in one round, dearest first: anybody
// can send dust to many addresses.
const maxLocated = 1_000

// proposal is a surplus on its way to be credited: what was found, and the later comparison that
// shows it too.
type proposal struct {
	books.Finding
	look   books.Look
	height uint64 // of look
}

// confirm compares accounts that differed again, at a later final block. What a surplus is made of
// is then looked for, and credited.
func (a *Auditor) confirm(ctx context.Context, found []books.Finding) error {
	accounts := make([]string, len(found))
	for i, f := range found {
		accounts[i] = f.Account
	}
	looks, height, err := a.readLooks(ctx, func(tx *records.Tx) ([]records.Holding, error) { return tx.Balances().HoldingsOf(a.id, accounts) })
	if err == nil {
		err = a.storeLooks(ctx, height, looks)
	}
	if err != nil {
		return err
	}
	agreed, err := confirmed(found, looks, height)
	if err != nil {
		return err
	}
	slices.SortStableFunc(agreed, func(x, y proposal) int { return y.Amount.Cmp(x.Amount) })
	agreed = agreed[:min(len(agreed), maxLocated)]
	arrivals, err := a.arrivals(ctx, agreed)
	if err != nil {
		return err
	}
	for i, p := range agreed {
		if err := a.credit(ctx, p, arrivals[i]); err != nil {
			return err
		}
	}
	return nil
}

// arrivals returns the parts of each surplus. The blocks of dust, which is refused in any case, are
// not searched.
func (a *Auditor) arrivals(ctx context.Context, agreed []proposal) ([][]arrival, error) {
	all := make([][]arrival, len(agreed))
	var worth []proposal
	var at []int
	for i, p := range agreed {
		if p.Clean >= 0 && a.isDust(p) {
			all[i] = []arrival{{p.Height, p.Amount, after}}
			continue
		}
		worth, at = append(worth, p), append(at, i)
	}
	found, err := a.locateArrivals(ctx, worth)
	for i := range found {
		all[at[i]] = found[i]
	}
	return all, err
}

// isDust reports whether a surplus is below the minimum deposit of the coin.
func (a *Auditor) isDust(p proposal) bool {
	token, ok := a.network(p.look.Network).ByAsset(chain.Native, records.TypeAddress)
	if !ok {
		return false
	}
	net, _, err := p.Amount.Rescale(token.AssetDecimals, token.Decimals)
	return err == nil && net.Less(token.Policy.MinDeposit)
}

// confirmed returns the surpluses among the findings that the later comparison shows too.
func confirmed(found []books.Finding, looks []books.Look, height uint64) ([]proposal, error) {
	of := make(map[string]books.Look, len(looks))
	for _, l := range looks {
		of[l.Account] = l
	}
	var agreed []proposal
	for _, f := range found {
		l, ok := of[f.Account]
		if !ok || f.Kind != books.Surplus || height <= f.Height {
			continue
		}
		surplus, _, err := l.Compare(l.Have)
		if err != nil {
			return nil, err
		}
		if !surplus.Less(f.Amount) && l.Opened {
			agreed = append(agreed, proposal{f, l, height})
		}
	}
	return agreed, nil
}

// credit stores what a surplus is made of as transfers, in one transaction.
func (a *Auditor) credit(ctx context.Context, p proposal, parts []arrival) error {
	log := a.log.WithFields(logrus.Fields{"account": p.Account, "amount": p.Amount, "height": p.Height})
	if parts == nil {
		a.logContradicted(log, p.Finding)
		return nil
	}
	blocks := make([]chain.Block, len(parts))
	for i, part := range parts {
		var err error
		if blocks[i], err = a.blockAt(ctx, part.height); err != nil {
			return fmt.Errorf("reading the block of a surplus: %w", err)
		}
	}
	err := a.Store.Update(ctx, func(tx *records.Tx) error {
		rows := make([]records.Transfer, len(parts))
		for i, part := range parts {
			var err error
			if rows[i], err = a.transfer(tx, p, part, blocks[i]); err != nil {
				return err
			}
		}
		return books.CreditSurplus(tx, p.Finding, p.height, p.look, rows)
	})
	if errors.Is(err, records.ErrConflict) { // the books changed meanwhile: the next round handles it
		log.WithError(err).Info("surplus not credited now")
		return nil
	}
	if err == nil {
		delete(a.contradicted, p.Account)
		log.WithField("parts", len(parts)).Warn("balances showed coin that no block showed")
	}
	return err
}

// logContradicted logs a surplus that past balances contradict when it begins and when its amount
// changes.
func (a *Auditor) logContradicted(log logrus.FieldLogger, f books.Finding) {
	if last, known := a.contradicted[f.Account]; known && last == f.Amount {
		return
	}
	a.contradicted[f.Account] = f.Amount
	log.Warn("the nodes' past balances do not match this surplus: not credited, checking again at each final block")
}

// endContradicted logs the end of contradicted surpluses that are no longer among the findings.
func (a *Auditor) endContradicted(found []books.Finding) {
	left := maps.Clone(a.contradicted)
	for _, f := range found {
		if f.Kind == books.Surplus {
			delete(left, f.Account)
		}
	}
	for account, amount := range left {
		delete(a.contradicted, account)
		a.log.WithFields(logrus.Fields{"account": account, "amount": amount}).Info("the surplus that past balances did not match has ended")
	}
}

// blockAt answers hash and time of a block of our line.
func (a *Auditor) blockAt(ctx context.Context, height uint64) (b chain.Block, err error) {
	found := false
	err = a.Store.View(ctx, func(tx *records.Tx) error {
		b, found, err = tx.Balances().LineBlock(a.id, height)
		return err
	})
	if err != nil || found {
		return b, err
	}
	return a.Chains[a.id].Block(ctx, height)
}

// transfer returns the row of one part. Its transaction is unknown: its block's hash, which clients
// can show and look up, replaces it. Coin that came to an address before it was given to its user
// belongs to no user, and where that is unknown an operator decides.
func (a *Auditor) transfer(tx *records.Tx, p proposal, part arrival, b chain.Block) (records.Transfer, error) {
	row, ok, err := a.Classify(tx, a.id, chain.Transfer{
		Ref: records.AuditRef(p.Account, chain.Native, part.height), Tx: b.Hash, To: p.Account, Asset: chain.Native, Amount: part.amount, Memo: chain.Memo{Type: -1},
	})
	if err == nil && !ok {
		err = fmt.Errorf("%s is not one of our accounts", p.Account)
	}
	if err != nil {
		return row, err
	}
	row.Height, row.BlockHash, row.BlockAt = b.Height, b.Hash, b.Time
	switch {
	case row.Owner == "":
	case part.when == before:
		row.Reason, row.Token, row.Owner, row.Payee, row.Net = records.ReasonBeforeAddress, "", "", "", chain.Amount{}
	case part.when == unknown:
		row.Reason = records.ReasonUnproven
	}
	return row, nil
}
