package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/status"
)

// solvencyPage is the number of accounts per request.
const solvencyPage = 4_000

// solvencyPrefix marks the automatic stops of this check.
const solvencyPrefix = "solvency: "

// BalanceSheet compares the holdings of all our accounts on a source chain in a token's asset, by
// the chain's own answer at a final block, with the gateway's liabilities. Amounts count the
// asset's units. Balances of users' deposit addresses and of the cold address count as held: only
// we can move them.
type BalanceSheet struct {
	Network  string
	Token    records.Token
	Height   uint64
	Hot      chain.Amount // accounts that pay
	Gas      chain.Amount
	Shared   chain.Amount
	Deposits chain.Amount // users' own addresses
	Above    chain.Amount // credited deposits that are younger than Height
	Cold     chain.Amount // at the cold address, which is the operators'
	Held     chain.Amount // all of these

	Circulating chain.Amount // credited less given back: what users have of the gateway token, by the books
	Issued      bool         // the gateway is the token's issuer, so that all of it in other hands has to be covered
	Supply      chain.Amount // where it is: what is in other hands, by the exchange chain
	Unpaid      chain.Amount // payouts and refunds that no final block has
	Owed        chain.Amount // Unpaid and Circulating, or Supply if that is more; of all tokens of the asset, which share Held
	WrittenOff  chain.Amount // paid for transfers that have left their chains, and written off; of all these tokens

	Opened   bool         // tokens: what was there before the books is known
	Opening  chain.Amount // of tokens, to be stored if not Opened
	Expected chain.Amount // of tokens, at Height by the books; without Above
	Missing  chain.Amount // of tokens: so much less than Expected is there
}

// Uncovered is by how much less is held than is owed, but for what is written off.
func (b BalanceSheet) Uncovered() chain.Amount { return less(less(b.Owed, b.WrittenOff), b.Held) }

// coverage returns what is stored of the sheet.
func (b BalanceSheet) coverage(at time.Time) status.Coverage {
	return status.Coverage{
		Network: b.Network, Token: b.Token.TokenID, Asset: b.Token.Asset, Held: b.Held, Owed: less(b.Owed, b.WrittenOff), Height: b.Height, At: at,
		Parts: &status.HoldingParts{Hot: b.Hot, Gas: b.Gas, Shared: b.Shared, Deposits: b.Deposits, Recent: b.Above, Cold: b.Cold},
	}
}

func (b BalanceSheet) text(a chain.Amount) string {
	return a.Whole(b.Token.AssetDecimals) + " " + b.Token.SourceSymbol()
}

// unbooked returns the circulation of an issued token in excess of the books.
func (b BalanceSheet) unbooked() string {
	if more := less(b.Supply, b.Circulating); !more.IsZero() {
		return "; " + b.text(more) + " more is in circulation than the books show"
	}
	return ""
}

// fault describes the fault, or is empty.
func (b BalanceSheet) fault() string {
	var found []string
	if !b.Missing.IsZero() {
		found = append(found, fmt.Sprintf("our accounts hold %s less than the books show at block %d: it left without our transaction, or the token took it",
			b.text(b.Missing), b.Height))
	}
	if short := b.Uncovered(); !short.IsZero() {
		found = append(found, fmt.Sprintf("at block %[3]d %[1]s is held and %[2]s owed: %[4]s is missing%[5]s",
			b.text(b.Held), b.text(b.Owed), b.Height, b.text(short), b.unbooked()))
	}
	return strings.Join(found, "; ")
}

// Sheet asks the chain for everything our accounts hold of a token. false: the chain does not offer
// it, or is not followed yet.
func Sheet(ctx context.Context, s viewer, source, exchange chain.Chain, n records.Network, t records.Token) (b BalanceSheet, ok bool, err error) {
	h := chain.CapabilitiesOf(source).Holdings
	if h == nil {
		return b, false, nil
	}
	sheets := sharing(n, t)
	for i := range sheets { // before the books: they then cover later credits
		if err := sheets[i].readSupply(ctx, s, exchange, n); err != nil {
			return b, false, err
		}
	}
	all := make([]books.Sheet, len(sheets))
	err = s.View(ctx, func(tx *records.Tx) error {
		cur, err := tx.Chains().Cursor(n.Source)
		if ok = err == nil && !cur.Missing && cur.Final.Height > 0; !ok {
			return err
		}
		for i := range all {
			if all[i], err = books.SheetOf(tx, n, sheets[i].Token); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !ok {
		return b, false, err
	}
	if b, err = owedOf(sheets, all); err != nil {
		return b, false, err
	}
	sheet := all[0]
	b.Height, b.Above = sheet.Height, sheet.Above
	if err := b.addHoldings(ctx, s, h, n); err != nil {
		return b, false, err
	}
	if err := b.addCold(ctx, s, h, n); err != nil {
		return b, false, err
	}
	return b, true, b.compare(sheet)
}

// sharing returns empty sheets of a token and of the other tokens of its asset. What is held of the
// asset covers the debts of all of them.
func sharing(n records.Network, t records.Token) []BalanceSheet {
	list := []BalanceSheet{{Network: n.Name, Token: t}}
	for _, other := range n.Tokens {
		if other.Asset == t.Asset && other.TokenID != t.TokenID {
			list = append(list, BalanceSheet{Network: n.Name, Token: other})
		}
	}
	return list
}

// owedOf returns the first sheet with the debts of all.
func owedOf(sheets []BalanceSheet, all []books.Sheet) (b BalanceSheet, err error) {
	for i := range sheets {
		if err := sheets[i].owe(all[i]); err != nil {
			return b, err
		}
	}
	b = sheets[0]
	for _, other := range sheets[1:] {
		if b.Owed, err = b.Owed.Add(other.Owed); err == nil {
			b.WrittenOff, err = b.WrittenOff.Add(other.WrittenOff)
		}
		if err != nil {
			return b, err
		}
	}
	return b, nil
}

// owe adds up the debts of the sheet's own token.
func (b *BalanceSheet) owe(s books.Sheet) (err error) {
	b.Unpaid = s.Unpaid
	if b.Circulating, _, err = less(s.Deposited, s.Withdrawn).Rescale(b.Token.Decimals, b.Token.AssetDecimals); err != nil {
		return err
	}
	given, _, err := s.GivenAway.Rescale(b.Token.Decimals, b.Token.AssetDecimals)
	if err == nil {
		b.WrittenOff, err = s.WrittenOff.Add(given)
	}
	if err != nil {
		return err
	}
	circulating := b.Circulating
	if circulating.Less(b.Supply) {
		circulating = b.Supply
	}
	b.Owed, err = circulating.Add(s.Unpaid)
	return err
}

// readSupply asks the exchange chain how much of the token is in other hands, where the gateway is
// its issuer: by its owner there, or by configuration.
func (b *BalanceSheet) readSupply(ctx context.Context, s viewer, c chain.Chain, n records.Network) error {
	i := chain.CapabilitiesOf(c).Supply
	if i == nil {
		return nil
	}
	var accounts []string
	err := s.View(ctx, func(tx *records.Tx) error {
		ours, err := tx.Accounts().List(n.Exchange, records.KindGateway)
		for _, a := range ours {
			accounts = append(accounts, a.Account)
		}
		return err
	})
	if err != nil || len(accounts) == 0 {
		return err
	}
	supply, owned, err := i.Circulating(ctx, chain.Asset(b.Token.TokenID), accounts)
	if errors.Is(err, chain.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the circulating supply of %s: %w", b.Token.Symbol, err)
	}
	if b.Issued = owned || b.Token.Issued; b.Issued {
		b.Supply, _, err = supply.Rescale(b.Token.Decimals, b.Token.AssetDecimals)
	}
	return err
}

// addHoldings adds up what the accounts hold, page by page, all at the same block.
func (b *BalanceSheet) addHoldings(ctx context.Context, s viewer, h chain.HoldingsReader, n records.Network) error {
	for last := ""; ; {
		var page []records.Holding
		err := s.View(ctx, func(tx *records.Tx) (err error) {
			page, err = tx.Balances().HoldingsAfter(n.Source, last, solvencyPage)
			return err
		})
		if err != nil || len(page) == 0 {
			return err
		}
		accounts := make([]string, len(page))
		for i, p := range page {
			accounts[i] = p.Account
		}
		have, err := h.HoldingsAt(ctx, b.Height, b.Token.Asset, accounts)
		if err != nil {
			return fmt.Errorf("reading the holdings of %s: %w", b.Token.Asset, err)
		}
		for i, p := range page {
			if err := b.add(p.Kind, have[i]); err != nil {
				return err
			}
		}
		last = accounts[len(accounts)-1]
	}
}

// addCold asks what the cold address has at the same block. One that is an account of ours is
// counted there.
func (b *BalanceSheet) addCold(ctx context.Context, s viewer, h chain.HoldingsReader, n records.Network) error {
	if b.Token.Cold == "" {
		return nil
	}
	err := s.View(ctx, func(tx *records.Tx) error {
		_, err := tx.Accounts().Get(n.Source, b.Token.Cold)
		return err
	})
	if !errors.Is(err, records.ErrNotFound) {
		return err
	}
	have, err := h.HoldingsAt(ctx, b.Height, b.Token.Asset, []string{b.Token.Cold})
	if err != nil {
		return fmt.Errorf("reading the cold address's balance of %s: %w", b.Token.Asset, err)
	}
	b.Cold = have[0]
	return nil
}

func (b *BalanceSheet) add(k records.AccountKind, have chain.Amount) (err error) {
	sum := map[records.AccountKind]*chain.Amount{
		records.KindHot: &b.Hot, records.KindGas: &b.Gas, records.KindShared: &b.Shared, records.KindDeposit: &b.Deposits,
	}[k]
	if sum == nil {
		return fmt.Errorf("an account of the kind %q holds nothing on a source chain", k)
	}
	if *sum, err = sum.Add(have); err == nil {
		b.Held, err = b.Held.Add(have)
	}
	return err
}

// compare compares the books with the holdings. Coin has its own books, by account; here it is
// compared with the liabilities only.
func (b *BalanceSheet) compare(s books.Sheet) (err error) {
	there := b.Held
	if b.Held, err = b.Held.Add(s.Above); err != nil {
		return err
	}
	if b.Held, err = b.Held.Add(b.Cold); err != nil {
		return err
	}
	if b.Token.Asset == chain.Native {
		return nil
	}
	went, err := s.Paid.Add(s.Lost)
	if err != nil {
		return err
	}
	if b.Opened, b.Opening = s.Opened, s.Opening; !s.Opened {
		if there, err = there.Add(went); err == nil {
			b.Opening = less(there, s.Came)
		}
		return err
	}
	all, err := s.Opening.Add(s.Came)
	if err == nil {
		b.Expected = less(all, went)
		b.Missing = less(b.Expected, there)
	}
	return err
}

// share bounds the cost of sheets: drawing them takes at most this part of the time. Sheets of a
// small gateway are drawn at each reconciliation and those of a million addresses every quarter of
// an hour or so.
const share = 200

// Solvency compares balance sheets in its time, and after each that does not fit again with the
// next final blocks: what two in a row show closes the token's channels until one fits.
type Solvency struct {
	Parts
	most   time.Duration // between two comparisons
	next   time.Time
	before map[tokenKey]uint64    // height of the last sheet that did not fit
	failed map[tokenKey]time.Time // since when no sheet could be drawn
	told   int                    // number of conditions in the last round; -1: those of an earlier process may still be stored
}

// untold is the time for which a sheet may be missing before that is reported: nodes are away for a
// moment now and then.
const untold = 5 * time.Minute

// tokenKey names a token of a network.
type tokenKey struct{ network, token string }

// NewSolvency compares at least once in a time.
func NewSolvency(p Parts, most time.Duration) *Solvency {
	return &Solvency{Parts: p, most: most, before: map[tokenKey]uint64{}, failed: map[tokenKey]time.Time{}, told: -1}
}

// Round compares all tokens when it is time. One that cannot be compared does not affect the
// others, and is reported when that lasts.
func (v *Solvency) Round(ctx context.Context) error {
	if v.Now().Before(v.next) {
		return nil
	}
	begun := time.Now()
	var faults []error
	var tell []records.Condition
	var drawn []status.Coverage
	for _, n := range v.Networks() {
		for _, t := range n.Tokens {
			key := tokenKey{n.Name, t.TokenID}
			b, ok, err := v.check(ctx, n, t)
			if ok && err == nil {
				drawn = append(drawn, b.coverage(v.Now()))
			}
			if err == nil {
				delete(v.failed, key)
				continue
			}
			faults = append(faults, fmt.Errorf("comparing holdings and debts of %s on %s: %w", t.Symbol, n.Name, err))
			since, again := v.failed[key]
			if !again {
				since, v.failed[key] = v.Now(), v.Now()
			}
			if v.Now().Sub(since) >= untold {
				tell = append(tell, records.Condition{
					Kind: string(status.ChecksFail), Chain: n.Source, Network: n.Name, Token: t.TokenID, Subject: "solvency " + n.Name + " " + t.TokenID,
					Detail: fmt.Sprintf("holdings and debts of %s were not compared since %s: %s", t.Symbol, since.UTC().Format(time.DateTime), chain.PlainError(err)),
				})
			}
		}
	}
	if len(v.before) == 0 {
		v.next = v.Now().Add(min(v.most, share*time.Since(begun)))
	}
	note := func(tx *records.Tx) error { return status.NoteCoverage(tx, v.Networks(), drawn, v.next.Sub(v.Now())) }
	return errors.Join(append(faults, v.tell(ctx, tell), v.Store.Update(ctx, note))...)
}

// tell stores the tokens that were not compared for long, when that may differ from the stored
// ones.
func (v *Solvency) tell(ctx context.Context, list []records.Condition) error {
	if len(list) == 0 && v.told == 0 {
		return nil
	}
	err := v.Store.Update(ctx, func(tx *records.Tx) error { return records.NoteConditions(tx, "solvency", list) })
	if err == nil {
		v.told = len(list)
	}
	return err
}

// check draws a token's sheet and judges it.
func (v *Solvency) check(ctx context.Context, n records.Network, t records.Token) (BalanceSheet, bool, error) {
	b, ok, err := Sheet(ctx, v.Store, v.Chains[n.Source], v.Chains[n.Exchange], n, t)
	if err != nil || !ok {
		return b, false, err
	}
	return b, true, v.judge(ctx, n, t, b)
}

// judge closes a token's channels by its sheet. One that does not fit is checked again at a later
// final block before it closes anything: the books of a block that has just become final may be
// half written.
func (v *Solvency) judge(ctx context.Context, n records.Network, t records.Token, b BalanceSheet) error {
	if !b.Opened && t.Asset != chain.Native {
		err := v.Store.Update(ctx, func(tx *records.Tx) error { return books.OpenToken(tx, n.Source, t.Asset, b.Opening, b.Height) })
		if err != nil {
			return err
		}
	}
	key, fault := tokenKey{n.Name, t.TokenID}, b.fault()
	if fault == "" {
		delete(v.before, key)
		return v.setChannels(ctx, n, t, records.ChannelOpen, "")
	}
	seen, again := v.before[key]
	if !again {
		v.before[key] = b.Height
	}
	if !again || b.Height <= seen {
		return nil
	}
	return v.setChannels(ctx, n, t, records.ChannelMaintain, solvencyPrefix+fault)
}

// setChannels moves the channels of a token, unless another part has stopped them.
func (v *Solvency) setChannels(ctx context.Context, n records.Network, t records.Token, want, why string) error {
	return v.Store.Update(ctx, func(tx *records.Tx) error {
		for _, d := range []records.Direction{records.Deposit, records.Withdrawal} {
			changed, err := records.SetByCheck(tx, n.Name, t.TokenID, d, solvencyPrefix, want, why)
			if err != nil {
				return err
			}
			if changed {
				v.Log.WithFields(logrus.Fields{"network": n.Name, "token": t.TokenID}).Errorf("channel of %ss: automatic %s %s", d, want, why)
			}
		}
		return nil
	})
}
