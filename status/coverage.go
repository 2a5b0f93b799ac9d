package status

import (
	"errors"
	"slices"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
)

// Coverage is a stored comparison of the holdings and debts of a token, in units of the source
// chain's asset. Tokens of one asset share what is held, so each of them has the debts of all.
type Coverage struct {
	Network string        `json:"network"`
	Token   string        `json:"token"`
	Asset   chain.Asset   `json:"asset"`
	Held    chain.Amount  `json:"held"`
	Parts   *HoldingParts `json:"parts,omitempty"` // of Held; absent if an older version stored it
	Owed    chain.Amount  `json:"owed"`            // without what is written off
	Height  uint64        `json:"height"`
	At      time.Time     `json:"at"`
	Pause   uint64        `json:"pause"` // seconds until the next comparison, beyond the time of a reconciliation
}

// HoldingParts are the parts of what is held. Their sum is the total.
type HoldingParts struct {
	Hot      chain.Amount `json:"hot"` // accounts that pay
	Gas      chain.Amount `json:"gas"`
	Shared   chain.Amount `json:"shared"`
	Deposits chain.Amount `json:"deposits"` // users' own addresses
	Recent   chain.Amount `json:"recent"`   // credited deposits of blocks after Height
	Cold     chain.Amount `json:"cold"`
}

// TokenCoverage is a token's last comparison, and whether it shows the present.
type TokenCoverage struct {
	Coverage
	State string `json:"state"` // covered, missing, uncompared, or why it is unknown: halted, unfollowed, old
}

// coverageReport is the name of the stored comparisons.
const coverageReport = "coverage"

// missedComparisons is the number of comparisons that may be late before the last one is old.
const missedComparisons = 3

// NoteCoverage stores new comparisons. A configured token without one keeps its last, also that of
// an earlier process. Pause is the time until the next ones.
func NoteCoverage(tx *records.Tx, networks []records.Network, drawn []Coverage, pause time.Duration) error {
	before, err := readCoverage(tx)
	if err != nil {
		return err
	}
	list, known := []Coverage{}, slices.Concat(drawn, before) // the newest first
	for _, n := range networks {
		for _, t := range n.Tokens {
			if c, ok := findCoverage(known, n, t); ok {
				c.Pause = uint64(max(0, pause).Seconds())
				list = append(list, c)
			}
		}
	}
	return records.NoteReport(tx, coverageReport, list)
}

func readCoverage(tx *records.Tx) (list []Coverage, err error) {
	_, _, err = records.ReadReport(tx, coverageReport, &list)
	return list, err
}

// findCoverage returns the first comparison of a token. One of another asset is of an earlier
// configuration.
func findCoverage(list []Coverage, n records.Network, t records.Token) (Coverage, bool) {
	i := slices.IndexFunc(list, func(c Coverage) bool { return c.Network == n.Name && c.Token == t.TokenID && c.Asset == t.Asset })
	if i < 0 {
		return Coverage{Network: n.Name, Token: t.TokenID, Asset: t.Asset}, false
	}
	return list[i], true
}

// ReadCoverage returns one row for each configured token, judged at a moment. Found are the
// conditions of the networks, and every is the time between two reconciliations.
func ReadCoverage(tx *records.Tx, networks []records.Network, found []Condition, at time.Time, every time.Duration) ([]TokenCoverage, error) {
	stored, err := readCoverage(tx)
	if err != nil {
		return nil, err
	}
	list := []TokenCoverage{}
	for _, n := range networks {
		doubt, err := doubtOf(tx, n, found)
		if err != nil {
			return nil, err
		}
		for _, t := range n.Tokens {
			c := tokenCoverage(stored, n, t)
			switch {
			case c.State == "uncompared":
			case doubt != "":
				c.State = doubt
			case at.After(c.At.Add(missedComparisons * c.Every(every))):
				c.State = "old"
			}
			list = append(list, c)
		}
	}
	return list, nil
}

// Every returns the time between two comparisons of a token.
func (c Coverage) Every(reconcile time.Duration) time.Duration {
	return reconcile + time.Duration(c.Pause)*time.Second //nolint:gosec // at most a day or so
}

// tokenCoverage is the stored comparison of a token.
func tokenCoverage(stored []Coverage, n records.Network, t records.Token) TokenCoverage {
	c, ok := findCoverage(stored, n, t)
	switch {
	case !ok:
		return TokenCoverage{c, "uncompared"}
	case c.Held.Less(c.Owed):
		return TokenCoverage{c, "missing"}
	}
	return TokenCoverage{c, "covered"}
}

// doubtOf returns why comparisons of a network may be wrong about the present: a chain is halted or
// not followed. It is empty if there is no doubt.
func doubtOf(tx *records.Tx, n records.Network, found []Condition) (string, error) {
	source, err := tx.Chains().Cursor(n.Source)
	exchange, err2 := tx.Chains().Cursor(n.Exchange)
	switch {
	case err != nil || err2 != nil:
		return "", errors.Join(err, err2)
	case source.Halted || exchange.Halted:
		return "halted", nil
	case Unfollowed(found, n.Source) != nil || Unfollowed(found, n.Exchange) != nil:
		return "unfollowed", nil
	}
	return "", nil
}

// Unfollowed returns the condition that no process follows a chain, or nil.
func Unfollowed(found []Condition, id chain.ID) *Condition {
	i := slices.IndexFunc(found, func(c Condition) bool { return c.Kind == DaemonDown && (c.Chain == "" || c.Chain == id) })
	if i < 0 {
		return nil
	}
	return &found[i]
}
