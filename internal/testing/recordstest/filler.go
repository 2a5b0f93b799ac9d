package recordstest

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/jmoiron/sqlx"

	"gatewayd/chain"
	"gatewayd/records"
)

// filler writes the rows of one plan, batch by batch.
type filler struct {
	Plan
	db     *sqlx.DB
	token  records.Token
	policy string
	raw    string // bytes of an attempt: about as many as a signed token transfer has

	net, fee, gross, deposited string // of each payment, as columns hold them
	history                    history

	accounts, bindings, sweepable, blocks, transfers, payments, slots, attempts, ownTxs *table

	payment uint64            // id of the newest
	seq     uint64            // of the newest account
	next    map[string]uint64 // by account
	users   int
	height  uint64
}

const feeUnits, netUnits = 30, 1000

func newFiller(ctx context.Context, db *sqlx.DB, p Plan) (*filler, error) {
	f := &filler{
		Plan: p, db: db, token: p.Network.Tokens[0], policy: text(p.Network.Tokens[0].Policy),
		raw: base64.StdEncoding.EncodeToString(make([]byte, 170)), next: map[string]uint64{p.Network.Gateway: 1},
		accounts:  newTable("accounts", "chain, account, kind, network, key_path, state, lineage, base, next, seq, created_at"),
		bindings:  newTable("bindings", "id, network, type, owner, chain, address, label, path_index, created_at"),
		sweepable: newTable("sweepable", "chain, account, asset, came, went, came_at, open"),
		blocks:    newTable("blocks", "chain, hash, height, parent, at, canonical"),
		transfers: newTable("transfers", "id, network, direction, chain, ref, tx, sender, account, asset, amount, memo, failed, token, owner, payee, payee_label, net, fee, policy, state, reason, height, block_hash, block_at, seen_at, changed_at, due"),
		payments:  newTable("payments", "id, transfer_id, purpose, network, token, chain, account, asset, amount, payee, payee_label, source, state, class, owner, created_at, changed_at"),
		slots:     newTable("slots", "chain, account, lineage, number, payment_id, gen, state, created_at, changed_at"),
		attempts:  newTable("attempts", "chain, account, lineage, number, seq, kind, hash, raw, tip, cap, head, created_at"),
		ownTxs:    newTable("effects", "chain, tx, block_hash, height, account, number, ok, void, fee, settled, known, value"),
	}
	net, fee := chain.NewAmount(netUnits), chain.NewAmount(feeUnits)
	gross, err := net.Add(fee)
	if err != nil {
		return f, err
	}
	deposited, _, err := net.Rescale(f.token.Decimals, f.token.AssetDecimals)
	if err != nil {
		return f, err
	}
	f.net, f.fee, f.gross, f.deposited = net.String(), fee.String(), gross.String(), deposited.String()
	if err := db.GetContext(ctx, &f.seq, "SELECT MAX(seq) FROM accounts"); err != nil {
		return f, err
	}
	return f, f.history.begin(ctx, db)
}

func (f *filler) end() End {
	n := f.Network
	e := End{
		Source:   chain.Point{Height: f.height, Hash: BlockHash(n.Source, f.height)},
		Exchange: chain.Point{Height: f.height, Hash: BlockHash(n.Exchange, f.height)},
		LastSent: baseHash,
	}
	if last := f.next[n.Gateway]; last > 1 {
		e.LastSent = outHash(n.Exchange, n.Gateway, last-1)
	}
	return e
}

func (f *filler) run(ctx context.Context) error {
	for from := 0; from < f.Payments; from += batch {
		first := f.payment + 1
		for i := from; i < min(from+batch, f.Payments); i++ {
			f.add(i)
		}
		if err := f.store(ctx, first); err != nil {
			return err
		}
	}
	return nil
}

// add makes the rows of one deposit or withdrawal.
func (f *filler) add(i int) {
	if i%perBlock == 0 {
		f.mine()
		f.mine()
	}
	user, at := i/perUser, f.At.UnixMilli()+int64(i)*1000
	if user == f.users {
		f.bind(user, at)
	}
	if i%2 == 0 {
		f.deposit(i, user, at)
	} else {
		f.withdraw(i, user, at)
	}
	if i%perUser == perUser-1 || i == f.Payments-1 {
		f.sweep(user, i%perUser/2+1, at)
	}
}

// mine adds the next block of both chains.
func (f *filler) mine() {
	f.height++
	for _, id := range []chain.ID{f.Network.Source, f.Network.Exchange} {
		f.blocks.add(string(id), BlockHash(id, f.height), int64(f.height), BlockHash(id, f.height-1), f.At.UnixMilli()+int64(f.height)*1000, 1)
	}
}

func (f *filler) owner(user int) string {
	return fmt.Sprintf("%s-owner-%x", f.Network.Exchange, mix(uint64(user)))
}
func (f *filler) address(user int) string {
	return fmt.Sprintf("%s-deposit-%x", f.Network.Source, mix(uint64(user)))
}

func (f *filler) bind(user int, at int64) {
	n, id, address := f.Network, int64(user)+1, f.address(user)
	f.users++
	f.seq++
	f.accounts.add(string(n.Source), address, string(records.KindDeposit), n.Name, fmt.Sprintf("deposit/%d", user), string(records.AccountOK), 0, 0, 1, int64(f.seq), at)
	f.bindings.add(id, n.Name, 0, f.owner(user), string(n.Source), address, "", int64(user), at)
	f.history.of(at, "account", address, "adopted", fmt.Sprintf("on %s, lineage 0, base 0 ", n.Source))
	f.history.add(at, "binding", id, "bound", f.owner(user)+" to "+address+"  on "+n.Name)
}

func (f *filler) deposit(i, user int, at int64) {
	n, id, hash := f.Network, int64(i)+1, fmt.Sprintf("in-%x", mix(uint64(i)))
	block, owner := BlockHash(n.Source, f.height-1), f.owner(user)
	f.transfers.add(id, n.Name, string(records.Deposit), string(n.Source), hash+":0", hash, "depositor", f.address(user), string(f.token.Asset), f.deposited,
		text(chain.Memo{Type: -1}), 0, f.token.TokenID, owner, owner, "", f.net, "0", f.policy, string(records.Final), "", int64(f.height-1), block, at, at, at, f.due(f.token.Policy.DepositConfirmations))
	f.decided(id, at, records.Deposit, f.deposited, f.token.Asset, block)
	f.pay(order{transfer: id, purpose: chain.Credit, chain: n.Exchange, account: n.Gateway, asset: f.token.TokenID, amount: f.net, payee: owner, owner: owner}, at)
}

func (f *filler) withdraw(i, user int, at int64) {
	n, id, hash := f.Network, int64(i)+1, fmt.Sprintf("in-%x", mix(uint64(i)))
	block, payee := BlockHash(n.Exchange, f.height-1), fmt.Sprintf("payee-%x", mix(uint64(user)))
	f.transfers.add(id, n.Name, string(records.Withdrawal), string(n.Exchange), hash, hash, f.owner(user), n.Gateway, f.token.TokenID, f.gross,
		text(chain.Memo{Raw: []byte{0x0b, 0xc3}, Address: payee}), 0, f.token.TokenID, f.owner(user), payee, "", f.net, f.fee, f.policy,
		string(records.Final), "", int64(f.height-1), block, at, at, at, f.due(f.token.Policy.WithdrawConfirmations))
	f.decided(id, at, records.Withdrawal, f.gross, chain.Asset(f.token.TokenID), block)
	f.pay(order{transfer: id, purpose: chain.Receive, chain: n.Exchange, account: n.Gateway, asset: f.token.TokenID, amount: f.gross, payee: n.Gateway, source: hash, owner: f.owner(user)}, at)
	f.pay(order{transfer: id, purpose: chain.Credit, chain: n.Source, account: n.Hot, asset: string(f.token.Asset), amount: f.deposited, payee: payee, owner: f.owner(user)}, at)
}

// due is the height at which a transfer in the block before the newest is deep enough; 0 when the
// chain's final point decides.
func (f *filler) due(d records.Depth) int64 {
	if d.Tag {
		return 0
	}
	return int64(max(1, f.height-1+d.Count-1))
}

func (f *filler) decided(id, at int64, d records.Direction, amount string, asset chain.Asset, block string) {
	f.history.add(at, "transfer", id, "seen", fmt.Sprintf("%s of %s %s in block %d %s", d, amount, asset, f.height-1, block))
	f.history.add(at, "transfer", id, "final", "")
}

// sweep brings all that came to a deposit address to the hot account.
func (f *filler) sweep(user, deposits int, at int64) {
	sum, err := chain.ParseAmount(f.deposited)
	if err == nil {
		sum, err = sum.Mul(uint64(deposits))
	}
	if err != nil {
		panic(err) // forty times a thousand units
	}
	f.sweepable.add(string(f.Network.Source), f.address(user), string(f.token.Asset), sum.String(), sum.String(), at, 0)
	f.pay(order{purpose: chain.Sweep, chain: f.Network.Source, account: f.address(user), asset: string(f.token.Asset), amount: sum.String(), payee: f.Network.Hot}, at)
}

// order is a payment to make the rows of.
type order struct {
	transfer              int64
	purpose               chain.Purpose
	chain                 chain.ID
	account, asset        string
	amount, payee, source string
	owner                 string // whose turn it takes in the order of service
}

func (f *filler) pay(o order, at int64) {
	n := f.Network
	f.payment++
	id, number := int64(f.payment), f.next[o.account]
	f.next[o.account]++
	branch, fee, token := 0, "21000", f.token.TokenID
	if o.chain == n.Exchange {
		branch, fee = 1, "0"
	}
	var transfer any
	if o.transfer > 0 {
		transfer = o.transfer
	} else {
		token = ""
	}
	hash, block := outHash(o.chain, o.account, number), BlockHash(o.chain, f.height)
	f.payments.add(id, transfer, string(o.purpose), n.Name, token, string(o.chain), o.account, o.asset, o.amount, o.payee, "", o.source, string(records.Queued),
		int(records.ClassOf(o.purpose)), o.owner, at, at)
	f.slots.add(string(o.chain), o.account, branch, int64(number), id, 0, records.SlotOpen, at, at)
	f.attempts.add(string(o.chain), o.account, branch, int64(number), 0, records.AttemptPay, hash, f.raw, "0", fee, int64(f.height-1), at)
	f.ownTxs.add(string(o.chain), hash, block, int64(f.height), o.account, int64(number), 1, 0, fee, 1, 1, "0")
	slot := fmt.Sprintf("%s %s %d/%d", o.chain, o.account, branch, number)
	f.history.add(at, "payment", id, "queued", fmt.Sprintf("%s of %s %s to %s on %s for transfer %d", o.purpose, o.amount, o.asset, o.payee, o.chain, o.transfer))
	f.history.add(at, "payment", id, "bound", "to slot "+slot)
	f.history.add(at, "payment", id, "attempt_pay", hash+" in slot "+slot)
	f.history.add(at, "payment", id, "paid", hash+" in block "+block+", slot "+slot)
}

// store writes a batch in one transaction, in the order that the guards ask for.
func (f *filler) store(ctx context.Context, first uint64) (err error) {
	tx, err := f.db.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, t := range []*table{f.accounts, f.bindings, f.sweepable, f.blocks, f.transfers, f.payments, f.slots, f.attempts, f.ownTxs, f.history.table} {
		if err := t.flush(ctx, tx); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	n := f.Network
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{settleSlots, []any{first, f.payment}},
		{settlePayments, []any{first, f.payment}},
		{`UPDATE accounts SET next = ? WHERE chain = ? AND account = ?`, []any{f.next[n.Hot], string(n.Source), n.Hot}},
		{`UPDATE accounts SET next = ? WHERE chain = ? AND account = ?`, []any{f.next[n.Gateway], string(n.Exchange), n.Gateway}},
		{moveCursor, []any{f.height, f.height, f.height, BlockHash(n.Source, f.height), BlockHash(n.Source, f.height), string(n.Source)}},
		{moveCursor, []any{f.height, f.height, f.height, BlockHash(n.Exchange, f.height), BlockHash(n.Exchange, f.height), string(n.Exchange)}},
	} {
		if _, err := tx.ExecContext(ctx, tx.Rebind(s.sql), s.args...); err != nil {
			return fmt.Errorf("%.40s: %w", s.sql, err)
		}
	}
	return tx.Commit()
}

const (
	settleSlots = `UPDATE slots SET state = 'paid',
		tx = (SELECT a.hash FROM attempts a WHERE a.chain = slots.chain AND a.account = slots.account AND a.lineage = slots.lineage AND a.number = slots.number),
		block_hash = (SELECT e.block_hash FROM attempts a CROSS JOIN effects e WHERE a.chain = slots.chain AND a.account = slots.account AND a.lineage = slots.lineage
			AND a.number = slots.number AND e.chain = a.chain AND e.account = a.account AND e.number = a.number AND e.tx = a.hash)
		WHERE payment_id BETWEEN ? AND ?`
	settlePayments = `UPDATE payments SET state = 'paid', tx = (SELECT s.tx FROM slots s WHERE s.payment_id = payments.id) WHERE id BETWEEN ? AND ?`
	moveCursor     = `UPDATE cursors SET height = ?, head_height = ?, final_height = ?, hash = ?, final_hash = ? WHERE chain = ?`
)
