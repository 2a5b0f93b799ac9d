package records

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatewayd/chain"
)

// TransferSum adds up the transfers of one direction and state that moved value: failed transactions and what went from one
// account of ours to another are left out. Amount counts units of the asset on the
// transfer's ledger, Net and Fee units of the gateway token.
type TransferSum struct {
	Direction Direction     `json:"direction"`
	State     TransferState `json:"state"`
	Count     uint64        `json:"count"`
	Amount    chain.Amount  `json:"amount"`
	Net       chain.Amount  `json:"net"`
	Fee       chain.Amount  `json:"fee"`
}

// PaymentSum adds up the payments of one purpose, chain, asset and state, in units of the asset. A sweep counts with what it brought.
type PaymentSum struct {
	Purpose chain.Purpose `json:"purpose"`
	Chain   chain.ID      `json:"chain"`
	Asset   chain.Asset   `json:"asset"`
	State   PaymentState  `json:"state"`
	Count   uint64        `json:"count"`
	Amount  chain.Amount  `json:"amount"`
}

// Totals are the books of one token on one network, exact to the unit. They hold for every token, whose decimals need not be equal on both chains:
//
//	deposits:    amount of final + held + refused = (net + fee) of the same + dust
//	withdrawals: amount of final + held + refused = (net + fee) of the same
//	what is owed on a chain = credits and refunds there that are queued, bound or held
type Totals struct {
	Transfers   []TransferSum             `json:"transfers"`
	Payments    []PaymentSum              `json:"payments"`
	NetworkFees map[chain.ID]chain.Amount `json:"networkFees"` // native coin burnt by our own transactions for this token, in blocks of the line
}

// Totals adds up the books of a token on a network.
func (tx *Tx) Totals(network, token string) (Totals, error) {
	t := Totals{NetworkFees: make(map[chain.ID]chain.Amount)}
	err := tx.sumTransfers(&t, network, token)
	if err == nil {
		err = tx.sumPayments(&t, network, token)
	}
	if err == nil {
		err = tx.sumFees(&t, network, token)
	}
	if err != nil {
		return Totals{}, fmt.Errorf("adding up %s on %s: %w", token, network, err)
	}
	return t, nil
}

func (tx *Tx) sumTransfers(t *Totals, network, token string) error {
	var rows []struct {
		Direction string       `db:"direction"`
		State     string       `db:"state"`
		Count     uint64       `db:"count"`
		Amount    chain.Amount `db:"amount"`
		Net       chain.Amount `db:"net"`
		Fee       chain.Amount `db:"fee"`
	}
	err := tx.list(&rows, `SELECT direction, state, COUNT(*) AS count, amount_sum(amount) AS amount, amount_sum(net) AS net, amount_sum(fee) AS fee
		FROM transfers WHERE network = ? AND token = ? AND failed = 0 AND reason <> 'internal' GROUP BY direction, state ORDER BY direction, state`, network, token)
	for _, r := range rows {
		t.Transfers = append(t.Transfers, TransferSum{Direction(r.Direction), TransferState(r.State), r.Count, r.Amount, r.Net, r.Fee})
	}
	return err
}

func (tx *Tx) sumPayments(t *Totals, network, token string) error {
	var rows []struct {
		Purpose string       `db:"purpose"`
		Chain   string       `db:"chain"`
		Asset   string       `db:"asset"`
		State   string       `db:"state"`
		Count   uint64       `db:"count"`
		Amount  chain.Amount `db:"amount"`
	}
	err := tx.list(&rows, `SELECT purpose, chain, asset, state, COUNT(*) AS count, amount_sum(COALESCE(w.brought, p.amount)) AS amount
		FROM payments p LEFT JOIN swept w ON w.payment_id = p.id WHERE network = ? AND token = ? GROUP BY purpose, chain, asset, state ORDER BY purpose, chain, asset, state`, network, token)
	for _, r := range rows {
		t.Payments = append(t.Payments, PaymentSum{chain.Purpose(r.Purpose), chain.ID(r.Chain), chain.Asset(r.Asset), PaymentState(r.State), r.Count, r.Amount})
	}
	return err
}

func (tx *Tx) sumFees(t *Totals, network, token string) error {
	var rows []struct {
		Chain string       `db:"chain"`
		Fee   chain.Amount `db:"fee"`
	}
	err := tx.list(&rows, `SELECT e.chain, amount_sum(e.fee) AS fee FROM payments p JOIN slots s ON s.payment_id = p.id
		JOIN attempts a ON a.chain = s.chain AND a.account = s.account AND a.lineage = s.lineage AND a.number = s.number
		JOIN effects e ON e.chain = a.chain AND e.tx = a.hash
		WHERE p.network = ? AND p.token = ? AND (e.settled = 1 OR EXISTS
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

// Moved adds up transfers of a direction in the states given. ErrAmount above 2^256-1.
func (t Totals) Moved(d Direction, states ...TransferState) (sum TransferSum, err error) {
	sum.Direction = d
	for _, s := range t.Transfers {
		if s.Direction != d || !slices.Contains(states, s.State) {
			continue
		}
		sum.Count += s.Count
		for _, add := range []struct {
			to *chain.Amount
			a  chain.Amount
		}{{&sum.Amount, s.Amount}, {&sum.Net, s.Net}, {&sum.Fee, s.Fee}} {
			if *add.to, err = add.to.Add(add.a); err != nil {
				return TransferSum{}, err
			}
		}
	}
	return sum, nil
}

// Pays adds up payments of a purpose on a chain in the states given.
func (t Totals) Pays(p chain.Purpose, id chain.ID, states ...PaymentState) (sum chain.Amount, err error) {
	for _, s := range t.Payments {
		if s.Purpose != p || s.Chain != id || !slices.Contains(states, s.State) {
			continue
		}
		if sum, err = sum.Add(s.Amount); err != nil {
			return chain.Amount{}, err
		}
	}
	return sum, nil
}

// Owed is what users are owed on a chain: credits and refunds that are queued, bound or held, in units of the token's asset there.
func (t Totals) Owed(id chain.ID) (chain.Amount, error) {
	credits, err := t.Pays(chain.Credit, id, Queued, Bound, HeldPayment)
	if err != nil {
		return chain.Amount{}, err
	}
	refunds, err := t.Pays(chain.Refund, id, Queued, Bound, HeldPayment)
	if err != nil {
		return chain.Amount{}, err
	}
	return credits.Add(refunds)
}

// Dust is what deposits left over because the gateway token has fewer decimals than its source asset, in units of the asset.
func (t Totals) Dust(decimals, assetDecimals uint8) (chain.Amount, error) {
	in, err := t.Moved(Deposit, Final, Held, Refused)
	if err != nil || assetDecimals <= decimals {
		return chain.Amount{}, err
	}
	given, err := in.Net.Add(in.Fee)
	if err != nil {
		return chain.Amount{}, err
	}
	if given, _, err = given.Rescale(decimals, assetDecimals); err != nil {
		return chain.Amount{}, err
	}
	return in.Amount.Sub(given)
}

// Owed sums per asset what an account still has to pay to users: credits and refunds that are queued, held, or bound and not standing in a
// block of the line.
func (tx *Tx) Owed(id chain.ID, account string) (map[chain.Asset]chain.Amount, error) {
	var rows []struct {
		Asset  string       `db:"asset"`
		Amount chain.Amount `db:"amount"`
	}
	err := tx.list(&rows, `SELECT p.asset, amount_sum(p.amount) AS amount FROM payments p
		WHERE p.chain = ? AND p.account = ? AND p.purpose IN ('credit','refund') AND p.state IN ('queued','held','bound')
		AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = p.id AND s.state = 'open' AND s.mined_in <> '')
		GROUP BY p.asset`, string(id), account)
	if err != nil {
		return nil, fmt.Errorf("summing what %s owes on %s: %w", account, id, err)
	}
	owed := make(map[chain.Asset]chain.Amount, len(rows))
	for _, r := range rows {
		owed[chain.Asset(r.Asset)] = r.Amount
	}
	return owed, nil
}

// SweepUnderWay tells whether a sweep of the same account and asset, or a gas payment to the same address, is queued, bound or held.
func (tx *Tx) SweepUnderWay(p Payment) (busy bool, err error) {
	if p.Purpose == chain.Gas {
		busy, err = tx.gasUnderWay(p)
	} else {
		busy, err = tx.sweepUnderWay(p)
	}
	if err != nil {
		return false, fmt.Errorf("looking for a %s under way: %w", p.Purpose, err)
	}
	return busy, nil
}

func (tx *Tx) sweepUnderWay(p Payment) (bool, error) {
	return tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND account = ? AND asset = ? AND purpose = 'sweep' AND state IN ('queued','bound','held')`,
		string(p.Chain), p.Account, string(p.Asset))
}

func (tx *Tx) gasUnderWay(p Payment) (bool, error) {
	return tx.exists(`SELECT 1 FROM payments WHERE chain = ? AND payee = ? AND purpose = 'gas' AND state IN ('queued','bound','held')`, string(p.Chain), p.Payee)
}

// Sheet is what the books say of a token on one network: what our accounts on the source chain must hold, and what the gateway owes. Amounts
// count the asset's units, but for Deposited, Withdrawn and GivenAway, which count the gateway token's.
type Sheet struct {
	Height     uint64       // final block of the source chain
	Came       chain.Amount // of the asset to any account of ours, by Height
	Paid       chain.Amount // out of them to others, by Height
	Lost       chain.Amount // written off by operators
	Opening    chain.Amount // held before the books began
	Opened     bool         // Opening is known
	Above      chain.Amount // deposits that are credited already and stand above Height
	Deposited  chain.Amount // credited, or to be
	Withdrawn  chain.Amount // given back, with fees
	WrittenOff chain.Amount // paid on the source chain for transfers that have left their chain, and written off
	GivenAway  chain.Amount // the same on the exchange chain, in the gateway token's units
	Unpaid     chain.Amount // payouts and refunds of the source chain that no final block has
}

// Sheet adds up the books of a token at its source chain's final block. It reads all of the token's past.
func (tx *Tx) Sheet(n Network, t Token) (s Sheet, err error) {
	c, err := tx.Cursor(n.Source)
	if err == nil {
		s.Height = c.Final.Height
		err = tx.sheetMoves(&s, n.Source, t.Asset)
	}
	if err == nil {
		err = tx.sheetOpening(&s, n.Source, t.Asset)
	}
	if err == nil {
		err = tx.sheetDebts(&s, n, t)
	}
	if err == nil {
		err = tx.sheetLosses(&s, n, t)
	}
	if err != nil {
		return Sheet{}, fmt.Errorf("adding up what is held of %s on %s: %w", t.TokenID, n.Name, err)
	}
	return s, nil
}

// sheetMoves adds up what came and went of an asset, and what has come above the final block and counts already.
func (tx *Tx) sheetMoves(s *Sheet, id chain.ID, asset chain.Asset) error {
	err := tx.one(&s.Came, `SELECT COALESCE(amount_sum(m.amount), '0') FROM transfers m WHERE m.chain = ? AND m.asset = ? AND m.failed = 0
		AND m.state <> 'orphaned' AND m.height <= ? AND NOT `+onLeftBlock, string(id), string(asset), s.Height)
	if err == nil {
		err = tx.one(&s.Paid, `SELECT COALESCE(amount_sum(amount), '0') FROM payments
			WHERE chain = ? AND asset = ? AND purpose IN ('credit','refund') AND state = 'paid'`, string(id), string(asset))
	}
	if err == nil {
		err = tx.one(&s.Above, `SELECT COALESCE(amount_sum(amount), '0') FROM transfers
			WHERE chain = ? AND asset = ? AND height > ? AND state = 'final' AND direction = 'deposit'`, string(id), string(asset), s.Height)
	}
	return err
}

func (tx *Tx) sheetOpening(s *Sheet, id chain.ID, asset chain.Asset) error {
	var r struct {
		Opening chain.Amount `db:"opening"`
		Lost    chain.Amount `db:"lost"`
	}
	found, err := tx.get(&r, `SELECT opening, lost FROM token_openings WHERE chain = ? AND asset = ?`, string(id), string(asset))
	s.Opening, s.Lost, s.Opened = r.Opening, r.Lost, found
	return err
}

// sheetLosses adds up what operators wrote off of transfers that have left their chains.
func (tx *Tx) sheetLosses(s *Sheet, n Network, t Token) error {
	const of = `SELECT COALESCE(amount_sum(amount), '0') FROM write_offs WHERE network = ? AND token = ? AND chain = ?`
	err := tx.one(&s.WrittenOff, of, n.Name, t.TokenID, string(n.Source))
	if err == nil {
		err = tx.one(&s.GivenAway, of, n.Name, t.TokenID, string(n.Exchange))
	}
	return err
}

// sheetDebts adds up what users have of the token, and what they are about to get.
func (tx *Tx) sheetDebts(s *Sheet, n Network, t Token) error {
	totals, err := tx.Totals(n.Name, t.TokenID)
	if err != nil {
		return err
	}
	add := func(sum *chain.Amount, parts ...chain.Amount) {
		for _, p := range parts {
			if err == nil {
				*sum, err = sum.Add(p)
			}
		}
	}
	for _, x := range totals.Transfers {
		switch {
		case x.State != Final:
		case x.Direction == Deposit:
			add(&s.Deposited, x.Net)
		case x.Direction == Withdrawal:
			add(&s.Withdrawn, x.Net, x.Fee)
		}
	}
	for _, p := range totals.Payments {
		user := p.Purpose == chain.Credit || p.Purpose == chain.Refund
		if user && p.Chain == n.Source && p.State != Paid && p.State != VoidPayment {
			add(&s.Unpaid, p.Amount)
		}
	}
	return err
}

// OpenTokenBooks stores what our accounts held of a token before its books began. ErrConflict: that is known already.
func (tx *Tx) OpenTokenBooks(id chain.ID, asset chain.Asset, opening chain.Amount, height uint64) error {
	n, err := tx.exec(`INSERT INTO token_openings (chain, asset, opening, height) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		string(id), string(asset), opening, height)
	if err == nil && n == 0 {
		err = ErrConflict
	}
	if err == nil {
		err = tx.log("chain", string(id), "tokens_counted", fmt.Sprintf("%s of %s from before block %d's books", opening, asset, height))
	}
	if err != nil {
		return fmt.Errorf("opening the books of %s on %s: %w", asset, id, err)
	}
	return nil
}

// WriteOffTokens is an operator's word that our accounts hold so much less of a token than the books say, for good.
func (tx *Tx) WriteOffTokens(id chain.ID, asset chain.Asset, amount chain.Amount, why string) error {
	var lost chain.Amount
	err := tx.one(&lost, `SELECT lost FROM token_openings WHERE chain = ? AND asset = ?`, string(id), string(asset))
	if err == nil {
		lost, err = lost.Add(amount)
	}
	if err == nil {
		err = tx.change(`UPDATE token_openings SET lost = ? WHERE chain = ? AND asset = ?`, lost, string(id), string(asset))
	}
	if err == nil {
		err = tx.log("chain", string(id), "shortage_accepted", fmt.Sprintf("%s of %s: %s", amount, asset, why))
	}
	if err != nil {
		return fmt.Errorf("writing off %s of %s on %s: %w", amount, asset, id, err)
	}
	return nil
}
