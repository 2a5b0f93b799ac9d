package bridge

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"gatewayd/chain"
	"gatewayd/cmd/gatewaybench/bench"
	"gatewayd/records"
	"gatewayd/vite/core"
)

// The filled store: most wallets have twenty deposits, some have one. The deposits of every tenth wallet were credited, and only
// those wallets are asked; the others' were too small to be, so that what must be there in full can be filled in little time.
const (
	storeRows    = 1_000_000
	storePage    = 20 // deposits of a wallet
	storeSingles = 10 // one wallet in so many has one deposit
	storeAsked   = 10 // one wallet in so many was credited
)

// The network of the filled store.
const (
	storeNetwork = "eth"
	storeToken   = "tti_5649544520544f4b454e6e40"
)

func storeFile(dir string) string { return filepath.Join(dir, "records.db") }

// storePolicy is what the deposits were taken under.
func storePolicy() records.Policy {
	return records.Policy{
		Decimals: 18, AssetDecimals: 18, MinDeposit: chain.NewAmount(1e16), MinWithdraw: chain.NewAmount(1e16),
		DepositConfirmations: records.Depth{Count: 12}, WithdrawConfirmations: records.Depth{Count: 30},
		Fee: records.Fee{Kind: "flat", Amount: chain.NewAmount(1e15)},
	}
}

// storeWallet is the address of a wallet of the filled store.
func storeWallet(i int) string {
	var a core.Address
	binary.BigEndian.PutUint64(a[:], uint64(i)+1)
	return a.String()
}

// storeWallets is how many wallets share so many rows, and the number of deposits of each.
func storeWallets(rows int) int {
	return max(2*storeSingles, rows*storeSingles/((storeSingles-1)*storePage+1))
}

func storeDeposits(wallet int) int {
	if wallet%storeSingles == 1 {
		return 1
	}
	return storePage
}

// fillStore makes a store with about a million deposits. The schema and its guards are the store's own; the rows are written
// behind its back, in bulk.
func fillStore(ctx context.Context, r *bench.Run) error {
	file := storeFile(r.Data)
	store, err := records.Open(ctx, records.Config{URL: "sqlite:" + file})
	if err != nil {
		return err
	}
	if err := errors.Join(storeAccounts(ctx, store), store.Close()); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", file+"?_journal_mode=OFF&_synchronous=OFF&_foreign_keys=off&_cache_size=-200000")
	if err != nil {
		return fmt.Errorf("opening the store for filling: %w", err)
	}
	db.SetMaxOpenConns(1) // the wallets are a table of this connection
	err = fillTables(ctx, db, storeWallets(r.N(storeRows)))
	return errors.Join(err, db.Close())
}

func storeAccounts(ctx context.Context, store *records.Store) error {
	return store.Update(ctx, func(tx *records.Tx) error {
		for id, a := range map[chain.ID]records.Account{
			"eth":  {Account: "0x1000000000000000000000000000000000000001", Kind: records.KindHot, KeyPath: "m/1"},
			"vite": {Account: storeWallet(1 << 40), Kind: records.KindGateway, KeyPath: "m/2"},
		} {
			a.Chain, a.Network = id, storeNetwork
			err := errors.Join(tx.StartCursor(id, chain.Point{Height: 50_000_000, Hash: "0x50"}), tx.EnsureAccount(a))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// fillTables writes the rows, table by table, as the guards ask for: a payment is queued first, and paid by a paid slot.
func fillTables(ctx context.Context, db *sql.DB, wallets int) error {
	if err := fillWallets(ctx, db, wallets); err != nil {
		return err
	}
	policy, err := json.Marshal(storePolicy())
	if err != nil {
		return err
	}
	for what, statement := range fillStatements() {
		if _, err := db.ExecContext(ctx, statement, sql.Named("policy", string(policy)), sql.Named("payer", storeWallet(1<<40))); err != nil {
			return fmt.Errorf("filling step %d: %w", what, err)
		}
	}
	return nil
}

func fillWallets(ctx context.Context, db *sql.DB, wallets int) error {
	if _, err := db.ExecContext(ctx, `CREATE TEMP TABLE wallets (n INTEGER PRIMARY KEY, address TEXT, deposits INT, credited INT)`); err != nil {
		return fmt.Errorf("making the wallets: %w", err)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("making the wallets: %w", err)
	}
	defer tx.Rollback() // answers ErrTxDone after the commit
	insert, err := tx.PrepareContext(ctx, `INSERT INTO wallets VALUES (?, ?, ?, ?)`)
	if err != nil {
		return fmt.Errorf("making the wallets: %w", err)
	}
	defer func() { _ = insert.Close() }() // the transaction tells what went wrong
	for i := range wallets {
		if _, err := insert.ExecContext(ctx, i, storeWallet(i), storeDeposits(i), i/2%storeAsked == 0); err != nil {
			return fmt.Errorf("making wallet %d: %w", i, err)
		}
	}
	return tx.Commit()
}

// fillStatements are the rows of each table. The wallets' deposits alternate, as they do in life: nobody's rows are neighbours.
func fillStatements() []string {
	return []string{
		`INSERT INTO transfers (id, network, direction, chain, ref, tx, sender, account, asset, amount, memo, failed, token, owner, payee, payee_label,
			net, fee, policy, state, reason, height, block_hash, block_at, seen_at, changed_at)
		WITH RECURSIVE turn(t) AS (SELECT 0 UNION ALL SELECT t + 1 FROM turn WHERE t + 1 < (SELECT MAX(deposits) FROM wallets))
		SELECT ROW_NUMBER() OVER (), 'eth', 'deposit', 'eth', printf('0x%064x:0', t * 1000000 + n), printf('0x%064x', t * 1000000 + n),
			printf('0x%040x', n), printf('0x%040x', n + 7), 'native', '1000000000000000000', '{}', 0, 'tti_5649544520544f4b454e6e40', address, address, '',
			'999000000000000000', '1000000000000000', @policy, CASE WHEN credited THEN 'final' ELSE 'refused' END,
			CASE WHEN credited THEN '' ELSE 'below_minimum' END, 1000000 + t, printf('0x%064x', t), 1790000000000 + t * 12000, 1790000000000 + t * 12000, 1790000000000 + t * 12000
		FROM turn CROSS JOIN wallets WHERE t < deposits`,
		`INSERT INTO payments (id, transfer_id, purpose, network, token, chain, account, asset, amount, payee, payee_label, source, state, created_at, changed_at)
		SELECT ROW_NUMBER() OVER (), id, 'credit', network, token, 'vite', @payer, token, net, payee, '', '', 'queued', seen_at, seen_at
		FROM transfers WHERE state = 'final'`,
		`INSERT INTO slots (chain, account, lineage, number, payment_id, gen, state, created_at, changed_at)
		SELECT chain, account, 1, id, id, 0, 'open', created_at, created_at FROM payments`,
		`INSERT INTO attempts (chain, account, lineage, number, seq, kind, hash, raw, tip, cap, head, created_at)
		SELECT chain, account, 1, number, 1, 'pay', printf('%064x', number), printf('%0400x', number), '0', '0', 1, created_at FROM slots`,
		`UPDATE slots SET state = 'paid', tx = printf('%064x', number), block_hash = printf('%064x', number)`,
		`UPDATE payments SET state = 'paid', tx = printf('%064x', id)`,
	}
}
