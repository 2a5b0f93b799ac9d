package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/records"
	"gatewayd/view"
	"gatewayd/vite/core"
)

// Query is a filter of records as an operator writes it.
type Query struct {
	Network, Token, Direction, State, Reason, Wallet, Hash string

	Address       string // of anybody: user, sender, payee, or a deposit address
	Amount        string // incoming, in whole units: 1.5
	From, Until   string // times of first sight: 2026-11-23, or 2026-11-23T10:00:00Z
	Older         time.Duration
	Unattributed  bool
	UnknownTokens bool
	NeedsOperator bool
	Limit         int
	Before, After uint64
}

// DefaultLimit is the length of a list, and maxLimit its maximum.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// States are the words for a record's state that a query may have. The states as wallets see them
// are understood, too.
func States() []string {
	return append([]string{string(records.Seen), string(records.Final), string(records.Orphaned), string(records.Held), string(records.Refused)}, view.Outcomes()...)
}

// Reasons are the words for a record's reason that a query may have.
func Reasons() (list []string) {
	for _, r := range records.Reasons() {
		list = append(list, string(r))
	}
	return list
}

// Directions are the words that a query may have.
func Directions() []string {
	return []string{string(records.Deposit), string(records.Withdrawal), string(records.Funding)}
}

// Filter checks every word of a query: a word that does not exist would match nothing, which would
// look like good news.
func (d *Session) Filter(ctx context.Context, q Query) (f view.Filter, err error) {
	outcomes, known := choicesOf(q.State)
	if known {
		q.State = ""
	}
	token, tokenErr := anyToken(d.Config, q.Token)
	wallet, walletErr := walletAddress(q.Wallet)
	err = errors.Join(oneOf("network", q.Network, d.Config.NetworkNames()), tokenErr, oneOf("direction", q.Direction, Directions()), oneOf("state", q.State, States()),
		oneOf("reason", q.Reason, Reasons()), walletErr)
	if err == nil && (q.Limit < 1 || q.Limit > MaxLimit) {
		err = Usagef("--limit %d: must be from 1 to %d", q.Limit, MaxLimit)
	}
	if err == nil && q.Older < 0 {
		err = Usagef("--older %s: must be a time above zero, such as 30m", q.Older)
	}
	address, addressErr := anyAddress(q.Address)
	amounts, amountErr := d.amounts(token, q.Amount)
	from, fromErr := moment("from", q.From)
	until, untilErr := moment("until", q.Until)
	err = errors.Join(err, addressErr, amountErr, fromErr, untilErr)
	if err == nil && q.Before > 0 && q.After > 0 {
		err = Usagef("--before and --after: only one is allowed")
	}
	if err == nil && q.Hash != "" {
		q.Hash, err = d.wholeHash(ctx, q.Hash)
	}
	return view.Filter{
		Address: address, Amounts: amounts, From: from, Until: until, AfterID: q.After,
		Network: q.Network, Token: token, Direction: records.Direction(q.Direction), State: records.TransferState(q.State), Outcomes: outcomes, Reason: records.Reason(q.Reason), Owner: wallet,
		Tx: q.Hash, OlderThan: q.Older, NeedsOperator: q.NeedsOperator, Unattributed: q.Unattributed, UnknownTokens: q.UnknownTokens, Limit: q.Limit, BeforeID: q.Before,
	}, err
}

// anyToken finds a token id by symbol in any network; an id stays as it is.
func anyToken(c config.Config, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	var symbols []string
	for _, n := range c.Networks {
		if id, err := FindToken(c, n.Name, name); err == nil {
			return id, nil
		}
		for _, t := range n.Tokens {
			symbols = append(symbols, t.Symbol)
		}
	}
	slices.Sort(symbols)
	return "", Usagef("no network has a token %q: must be one of %s, or a token's id", name, strings.Join(slices.Compact(symbols), ", "))
}

// walletAddress is the canonical form of an exchange-chain address.
func walletAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	a, err := core.ParseAddress(text)
	if err != nil {
		return "", Usagef("--wallet %q: must be an address of the exchange chain, vite_ and 50 characters", text)
	}
	return a.String(), nil
}

// anyAddress is the canonical form of an address of either chain.
func anyAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	canonical, err := config.CanonicalAddress(text)
	if err != nil {
		return "", Usagef("--address %q: must be an address, vite_ and 50 characters or 0x and 40 digits", text)
	}
	return canonical, nil
}

// amounts converts a number of whole units to the smallest units of the tokens, and of their
// assets.
func (d *Session) amounts(token, text string) (list []chain.Amount, err error) {
	if text == "" {
		return nil, nil
	}
	for _, n := range d.Config.Networks {
		for _, t := range n.Tokens {
			for _, decimals := range []uint8{t.Decimals, t.AssetDecimals} {
				a, err := chain.ParseWhole(text, decimals)
				if err == nil && (token == "" || token == t.Token) && !slices.Contains(list, a) {
					list = append(list, a)
				}
			}
		}
	}
	if len(list) == 0 {
		return nil, Usagef("--amount %q: must be a number of whole units, such as 1.5", text)
	}
	return list, nil
}

// moment is a day, or a moment in UTC.
func moment(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, Usagef("--%s %q: must be a day or a time, such as 2026-11-23 or 2026-11-23T10:00:00Z", flag, text)
}

// A short hash is a table's form of one, or its beginning.
const (
	shortest  = 6  // digits that it must have at least
	ambiguous = 10 // hashes that are named when it fits several
)

// wholeHash returns the hash for a text: itself, or the only hash of the records that contains it.
func (d *Session) wholeHash(ctx context.Context, text string) (string, error) {
	start, end, cut := splitHash(text)
	if !cut && len(strings.TrimPrefix(start, "0x")) >= 2*core.HashSize {
		return text, nil
	}
	if len(strings.TrimPrefix(start, "0x")) < shortest {
		return "", Usagef("hash %q: must have at least its first %d digits", text, shortest)
	}
	var found []string
	err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
		found, err = view.HashesWith(tx, start, MaxLimit)
		return err
	})
	if err != nil {
		return "", err
	}
	found = slices.DeleteFunc(found, func(h string) bool { return !strings.HasSuffix(h, end) })
	switch {
	case len(found) == 0:
		return text, nil // it may be something else than a hash, or nothing that is there
	case len(found) > 1:
		shown := strings.Join(found[:min(len(found), ambiguous)], "\n  ")
		return "", fmt.Errorf("%d hashes begin with %s: enter more digits\n  %s", len(found), text, shown)
	}
	return found[0], nil
}

// splitHash returns the parts before and after the ellipsis of a table's short hash.
func splitHash(text string) (start, end string, cut bool) {
	text = strings.ToLower(strings.ReplaceAll(text, "...", "…"))
	return strings.Cut(text, "…")
}
