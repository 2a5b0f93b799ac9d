package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/config"
	"gatewayd/records"
	"gatewayd/vite/core"
)

// Query is a filter of records as an operator writes it.
type Query struct {
	Network, Token, Direction, State, Reason, Wallet, Hash string

	Older         time.Duration
	NeedsOperator bool
	Limit         int
	Before        uint64
}

// DefaultLimit is how many records a list shows, and maxLimit how many it can.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

func States() []string {
	return []string{string(records.Seen), string(records.Final), string(records.Orphaned), string(records.Held), string(records.Refused)}
}

// Directions are the words that a query may have.
func Directions() []string {
	return []string{string(records.Deposit), string(records.Withdrawal), string(records.Funding)}
}

// Filter checks every word of a query: nothing matches one that does not exist, which would look like good news.
func (d *Session) Filter(ctx context.Context, q Query) (f records.Filter, err error) {
	token, tokenErr := anyToken(d.Config, q.Token)
	wallet, walletErr := walletAddress(q.Wallet)
	err = errors.Join(oneOf("network", q.Network, d.Config.NetworkNames()), tokenErr, oneOf("direction", q.Direction, Directions()), oneOf("state", q.State, States()),
		oneOf("reason", q.Reason, records.Reasons()), walletErr)
	if err == nil && (q.Limit < 1 || q.Limit > MaxLimit) {
		err = Usagef("--limit %d: 1 to %d is wanted", q.Limit, MaxLimit)
	}
	if err == nil && q.Older < 0 {
		err = Usagef("--older %s: a time above zero is wanted, such as 30m", q.Older)
	}
	if err == nil && q.Hash != "" {
		q.Hash, err = d.wholeHash(ctx, q.Hash)
	}
	return records.Filter{
		Network: q.Network, Token: token, Direction: records.Direction(q.Direction), State: records.TransferState(q.State), Reason: q.Reason, Owner: wallet,
		Tx: q.Hash, OlderThan: q.Older, NeedsOperator: q.NeedsOperator, Limit: q.Limit, BeforeID: q.Before,
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
	return "", Usagef("no network has a token %q: one of %s, or a token's id, is wanted", name, strings.Join(slices.Compact(symbols), ", "))
}

// walletAddress is the canonical form of an exchange-chain address.
func walletAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	a, err := core.ParseAddress(text)
	if err != nil {
		return "", Usagef("--wallet %q: an address of the exchange chain is wanted, vite_ and 50 characters", text)
	}
	return a.String(), nil
}

// A short hash is what a table shows of one, or its beginning.
const (
	shortest  = 6  // digits that it must have at least
	ambiguous = 10 // hashes that are named when it fits several
)

// wholeHash is the hash that a text stands for: itself, or the one hash of the records that it is a part of.
func (d *Session) wholeHash(ctx context.Context, text string) (string, error) {
	start, end, cut := splitHash(text)
	if !cut && len(strings.TrimPrefix(start, "0x")) >= 2*core.HashSize {
		return text, nil
	}
	if len(strings.TrimPrefix(start, "0x")) < shortest {
		return "", Usagef("hash %q: its first %d digits are wanted at least", text, shortest)
	}
	var found []string
	err := d.Store.View(ctx, func(tx *records.Tx) (err error) {
		found, err = tx.HashesWith(start, MaxLimit)
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
		return "", fmt.Errorf("%d hashes begin with %s: write more of the one you mean\n  %s", len(found), text, shown)
	}
	return found[0], nil
}

// splitHash is what stands before and behind the mark that tables put for what they leave out.
func splitHash(text string) (start, end string, cut bool) {
	text = strings.ToLower(strings.ReplaceAll(text, "...", "…"))
	return strings.Cut(text, "…")
}
