package recordstest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/jmoiron/sqlx"
	_ "github.com/mattn/go-sqlite3" // the driver "sqlite3"

	"gatewayd/chain"
	"gatewayd/records"
)

const (
	perUser = 40 // payments: half deposits, half withdrawals
	// payments whose transfers are in one block of each chain; the resulting payments are in the
	// next one
	perBlock = 20
	batch    = 2000
)

// Plan describes the rows. Its network needs accounts Hot and Gateway and one token; key paths are
// the accounts' roles ("hot", "deposit/7").
type Plan struct {
	Network  records.Network
	Payments int       // deposits and withdrawals together; what is received and swept for them comes on top
	At       time.Time // of the first; each comes a second after the one before
}

// End is the state of the filled chains: both cursors are there, everything is final and settled,
// and nothing waits.
type End struct {
	Source   chain.Point
	Exchange chain.Point
	LastSent string // hash of the gateway account's last block on the exchange chain
}

// Fill adds the plan's payments to the database at url, which must be empty or new, and returns the
// state of its chains.
func Fill(ctx context.Context, url string, p Plan) (End, error) {
	end, err := fill(ctx, url, p)
	if err != nil {
		return End{}, fmt.Errorf("filling in %d past payments: %w", p.Payments, err)
	}
	return end, nil
}

func fill(ctx context.Context, url string, p Plan) (End, error) {
	if len(p.Network.Tokens) == 0 {
		return End{}, errors.New("the network has no token")
	}
	if err := begin(ctx, url, p); err != nil {
		return End{}, err
	}
	db, err := connect(url)
	if err != nil {
		return End{}, err
	}
	f, err := newFiller(ctx, db, p)
	if err == nil {
		err = f.run(ctx)
	}
	return f.end(), errors.Join(err, db.Close())
}

// begin makes the schema, the cursors and the accounts by the store's own methods.
func begin(ctx context.Context, url string, p Plan) error {
	s, err := records.Open(ctx, records.Config{URL: url, Now: func() time.Time { return p.At }})
	if err != nil {
		return err
	}
	n := p.Network
	err = s.Update(ctx, func(tx *records.Tx) error {
		for _, id := range []chain.ID{n.Source, n.Exchange} {
			if err := tx.Chains().Start(id, chain.Point{Hash: BlockHash(id, 0)}); err != nil {
				return err
			}
		}
		for _, a := range Accounts(n) {
			if err := tx.Accounts().Ensure(a); err != nil {
				return err
			}
		}
		if err := tx.Accounts().Adopt(n.Source, n.Hot, 0, ""); err != nil {
			return err
		}
		return tx.Accounts().Adopt(n.Exchange, n.Gateway, 1, baseHash)
	})
	return errors.Join(err, s.Close())
}

// Accounts are the network's own accounts, with their roles as key paths.
func Accounts(n records.Network) (list []records.Account) {
	for _, a := range []records.Account{
		{Chain: n.Source, Account: n.Hot, Kind: records.KindHot}, {Chain: n.Source, Account: n.Shared, Kind: records.KindShared},
		{Chain: n.Source, Account: n.Gas, Kind: records.KindGas}, {Chain: n.Exchange, Account: n.Gateway, Kind: records.KindGateway},
	} {
		if a.Account != "" {
			a.Network, a.KeyPath = n.Name, string(a.Kind)
			list = append(list, a)
		}
	}
	return list
}

// connect opens the database for writing in bulk. What fails half-way leaves a database that is
// good for nothing.
func connect(url string) (*sqlx.DB, error) {
	driver, dsn := "pgx", url
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, dsn = "sqlite3", path+"?_journal_mode=OFF&_locking_mode=EXCLUSIVE&_synchronous=OFF&_foreign_keys=on&_cache_size=-1500000&_txlock=immediate&_stmt_cache_size=64"
	}
	db, err := sqlx.Open(driver, dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// baseHash is the block of the gateway's account that the first filled one follows.
const baseHash = "seed-base"

// BlockHash is the hash of a filled block.
func BlockHash(id chain.ID, height uint64) string {
	return fmt.Sprintf("%s-%x-%064x", id, mix(height), height)
}

// outHash is the hash of our transaction at a number of an account.
func outHash(id chain.ID, account string, number uint64) string {
	return fmt.Sprintf("%s-%x-%s-%d", id, mix(number+uint64(len(account))), account, number)
}

// mix spreads a number over 64 bits, so that hashes come in no order, as real ones do.
func mix(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a struct of texts and numbers
	}
	return string(b)
}
