// Package books sums the records of money: totals of a token, required holdings and liabilities,
// the paying accounts, contradicting rows, and findings: coin of our accounts that differs from the
// books. It changes nothing but findings and the openings and losses of tokens, which only it
// reads.
package books

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/sqlstore"
)

// TransferSum adds up the transfers of one direction and state that moved value: failed
// transactions and what went from one account of ours to another are left out. Amount counts units
// of the asset on the transfer's ledger, Net and Fee units of the gateway token.
type TransferSum struct {
	Direction records.Direction     `json:"direction" db:"direction"`
	State     records.TransferState `json:"state" db:"state"`
	Count     uint64                `json:"count" db:"count"`
	Amount    chain.Amount          `json:"amount" db:"amount"`
	Net       chain.Amount          `json:"net" db:"net"`
	Fee       chain.Amount          `json:"fee" db:"fee"`
}

// PaymentSum adds up the payments of one purpose, chain, asset and state, in units of the asset. A
// sweep counts with what it brought.
type PaymentSum struct {
	Purpose chain.Purpose        `json:"purpose" db:"purpose"`
	Chain   chain.ID             `json:"chain" db:"chain"`
	Asset   chain.Asset          `json:"asset" db:"asset"`
	State   records.PaymentState `json:"state" db:"state"`
	Count   uint64               `json:"count" db:"count"`
	Amount  chain.Amount         `json:"amount" db:"amount"`
}

// Totals are the books of one token on one network, exact to the unit. They hold for every token,
// whose decimals need not be equal on both chains:
//
//	deposits:    amount of final + held + refused = (net + fee) of the same + dust
//	withdrawals: amount of final + held + refused = (net + fee) of the same
//	what is owed on a chain = credits and refunds there that are queued, bound or held
type Totals struct {
	Transfers   []TransferSum             `json:"transfers"`
	Payments    []PaymentSum              `json:"payments"`
	NetworkFees map[chain.ID]chain.Amount `json:"networkFees"` // native coin burnt by our own transactions for this token, in blocks of the line
}

// TotalsOf adds up the books of a token on a network.
func TotalsOf(tx *records.Tx, network, token string) (Totals, error) {
	t := Totals{NetworkFees: make(map[chain.ID]chain.Amount)}
	err := sumTransfers(tx, &t, network, token)
	if err == nil {
		err = sumPayments(tx, &t, network, token)
	}
	if err == nil {
		err = sumFees(tx, &t, network, token)
	}
	return t, sqlstore.Doing(err, "adding up %s on %s", token, network)
}

func sumTransfers(tx *records.Tx, t *Totals, network, token string) error {
	return tx.SQL().List(&t.Transfers, `SELECT direction, state, COUNT(*) AS count, amount_sum(amount) AS amount, amount_sum(net) AS net, amount_sum(fee) AS fee
		FROM transfers WHERE network = ? AND token = ? AND failed = 0 AND reason <> 'internal' GROUP BY direction, state ORDER BY direction, state`, network, token)
}

func sumPayments(tx *records.Tx, t *Totals, network, token string) error {
	return tx.SQL().List(&t.Payments, `SELECT purpose, chain, asset, state, COUNT(*) AS count, amount_sum(COALESCE(w.brought, p.amount)) AS amount
		FROM payments p LEFT JOIN swept w ON w.payment_id = p.id WHERE network = ? AND token = ? GROUP BY purpose, chain, asset, state ORDER BY purpose, chain, asset, state`, network, token)
}

// sumFees counts the fee of a batch once, for the token of its first payment.
func sumFees(tx *records.Tx, t *Totals, network, token string) error {
	var rows []struct {
		Chain string       `db:"chain"`
		Fee   chain.Amount `db:"fee"`
	}
	err := tx.SQL().List(&rows, `SELECT e.chain, amount_sum(e.fee) AS fee FROM payments p JOIN slots s ON s.payment_id = p.id
		JOIN attempts a ON a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number
		JOIN effects e ON e.chain = a.chain AND e.account = a.account AND e.number = a.number AND e.tx = a.hash
		WHERE p.network = ? AND p.token = ? AND s.place = 0 AND (e.settled = 1 OR EXISTS
			(SELECT 1 FROM blocks b WHERE b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1))
		GROUP BY e.chain`, network, token)
	for _, r := range rows {
		t.NetworkFees[chain.ID(r.Chain)] = r.Fee
	}
	return err
}

// String is the books as lines of text, for operators.
func (t Totals) String() string {
	var b strings.Builder
	for _, s := range t.Transfers {
		fmt.Fprintf(&b, "  %-10s %-8s %6d  amount %s  net %s  fee %s\n", s.Direction, s.State, s.Count, s.Amount, s.Net, s.Fee)
	}
	for _, s := range t.Payments {
		fmt.Fprintf(&b, "  %-10s %-8s %6d  amount %s  of %s on %s\n", s.Purpose, s.State, s.Count, s.Amount, s.Asset, s.Chain)
	}
	for _, id := range slices.Sorted(maps.Keys(t.NetworkFees)) {
		fmt.Fprintf(&b, "  network fees on %s: %s\n", id, t.NetworkFees[id])
	}
	return b.String()
}

// Owed is the amount of Backlog by asset.
func Owed(tx *records.Tx, id chain.ID, account string) (map[chain.Asset]chain.Amount, error) {
	waiting, err := Backlog(tx, id, account)
	if err != nil {
		return nil, err
	}
	owed := make(map[chain.Asset]chain.Amount, len(waiting))
	for _, w := range waiting {
		owed[w.Asset] = w.Amount
	}
	return owed, nil
}
