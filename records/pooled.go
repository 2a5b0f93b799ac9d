package records

import (
	"slices"
	"time"

	"gatewayd/chain"
)

// Pooled is a deposit that waits in the pool of a node. Wallets see it, and nothing else follows.
type Pooled struct {
	Network, Token, Owner string
	Ref, Tx               string
	Net                   chain.Amount
	SeenAt                time.Time
}

// pooledFor is the time after which a list counts as abandoned by its writer.
const pooledFor = 2 * time.Minute

func pooledReport(id chain.ID) string { return "pool " + string(id) }

// NotePooled stores the deposits that wait in the pools of a chain's nodes, newest first.
func NotePooled(tx *Tx, id chain.ID, list []Pooled) error {
	return NoteReport(tx, pooledReport(id), list)
}

// PooledOf returns the deposits of a user that wait in a pool and that no block has shown yet.
func (tx Transfers) PooledOf(id chain.ID, network, token, owner string) (found []Pooled, err error) {
	var all []Pooled
	at, _, err := ReadReport(tx.Tx, pooledReport(id), &all)
	if err != nil || tx.SQL().Now().Sub(at) > pooledFor {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p Pooled) bool { return p.Network != network || p.Token != token || p.Owner != owner })
	for _, p := range all {
		shown, err := tx.exists(`SELECT 1 FROM transfers WHERE chain = ? AND ref = ?`, string(id), p.Ref)
		if err != nil {
			return nil, err
		}
		if !shown {
			found = append(found, p)
		}
	}
	return found, nil
}
