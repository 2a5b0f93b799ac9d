package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"gatewayd/chain/vite/core"
	"gatewayd/records"
)

// query is a filter of records as an operator writes it.
type query struct {
	network, token, direction, state, reason, wallet, hash string

	older         time.Duration
	needsOperator bool
	limit         int
	before        uint64
}

// defaultLimit is how many records a list shows, and maxLimit how many it can.
const (
	defaultLimit = 50
	maxLimit     = 1000
)

func (q *query) flags(f *pflag.FlagSet, all bool) {
	f.StringVar(&q.network, "network", "", "only this network")
	f.StringVar(&q.token, "token", "", "only this token (id or symbol)")
	f.StringVar(&q.direction, "direction", "", "only deposit, withdrawal or funding")
	f.StringVar(&q.state, "state", "", "only transfers in this state: "+strings.Join(states(), ", "))
	f.StringVar(&q.reason, "reason", "", "only this reason: "+strings.Join(records.Reasons(), ", "))
	f.StringVar(&q.wallet, "wallet", "", "only this exchange-chain address")
	f.StringVar(&q.hash, "hash", "", "only records with this hash, in or out; its beginning will do")
	f.DurationVar(&q.older, "older", 0, "only records seen longer ago than this")
	f.BoolVar(&q.needsOperator, "needs-operator", false, "only what waits for an operator: held transfers, held payments, and what was decided and left its chain")
	q.limit = maxLimit
	if !all {
		f.IntVar(&q.limit, "limit", defaultLimit, "at most this many, up to 1000")
		f.Uint64Var(&q.before, "before", 0, "only records before the one with this ID")
	}
}

func states() []string {
	return []string{string(records.Seen), string(records.Final), string(records.Orphaned), string(records.Held), string(records.Refused)}
}

func directions() []string {
	return []string{string(records.Deposit), string(records.Withdrawal), string(records.Funding)}
}

// filter checks every word of a query: nothing matches one that does not exist, which would look like good news.
func (d *desk) filter(ctx context.Context, q query) (f records.Filter, err error) {
	token, tokenErr := d.cfg.anyToken(q.token)
	wallet, walletErr := walletAddress(q.wallet)
	err = errors.Join(oneOf("network", q.network, d.cfg.networkNames()), tokenErr, oneOf("direction", q.direction, directions()), oneOf("state", q.state, states()),
		oneOf("reason", q.reason, records.Reasons()), walletErr)
	if err == nil && (q.limit < 1 || q.limit > maxLimit) {
		err = usagef("--limit %d: 1 to %d is wanted", q.limit, maxLimit)
	}
	if err == nil && q.older < 0 {
		err = usagef("--older %s: a time above zero is wanted, such as 30m", q.older)
	}
	if err == nil && q.hash != "" {
		q.hash, err = d.wholeHash(ctx, q.hash)
	}
	return records.Filter{
		Network: q.network, Token: token, Direction: records.Direction(q.direction), State: records.TransferState(q.state), Reason: q.reason, Owner: wallet,
		Tx: q.hash, OlderThan: q.older, NeedsOperator: q.needsOperator, Limit: q.limit, BeforeID: q.before,
	}, err
}

func (c Config) networkNames() (names []string) {
	for _, n := range c.Networks {
		names = append(names, n.Name)
	}
	return names
}

// anyToken finds a token id by symbol in any network; an id stays as it is.
func (c Config) anyToken(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	var symbols []string
	for _, n := range c.Networks {
		if id, err := c.token(n.Name, name); err == nil {
			return id, nil
		}
		for _, t := range n.Tokens {
			symbols = append(symbols, t.Symbol)
		}
	}
	slices.Sort(symbols)
	return "", usagef("no network has a token %q: one of %s, or a token's id, is wanted", name, strings.Join(slices.Compact(symbols), ", "))
}

// walletAddress is the canonical form of an exchange-chain address.
func walletAddress(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	a, err := core.ParseAddress(text)
	if err != nil {
		return "", usagef("--wallet %q: an address of the exchange chain is wanted, vite_ and 50 characters", text)
	}
	return a.String(), nil
}

// A short hash is what a table shows of one, or its beginning.
const (
	shortest  = 6  // digits that it must have at least
	ambiguous = 10 // hashes that are named when it fits several
)

// wholeHash is the hash that a text stands for: itself, or the one hash of the records that it is a part of.
func (d *desk) wholeHash(ctx context.Context, text string) (string, error) {
	start, end, cut := splitHash(text)
	if !cut && len(strings.TrimPrefix(start, "0x")) >= 2*core.HashSize {
		return text, nil
	}
	if len(strings.TrimPrefix(start, "0x")) < shortest {
		return "", usagef("hash %q: its first %d digits are wanted at least", text, shortest)
	}
	var found []string
	err := d.store.View(ctx, func(tx *records.Tx) (err error) {
		found, err = tx.HashesWith(start, maxLimit)
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
