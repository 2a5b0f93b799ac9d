package signguard

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"gatewayd/internal/database"
	"gatewayd/records/sqlstore"
)

// fileOptions make each signature durable before it is made (docs/payment-rules.md 5). The cache
// (KiB) holds the index pages that a group's causes are spread over: with SQLite's own 2 MiB they
// were read again for each group, once 20,000 had been signed.
const fileOptions = "?_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_busy_timeout=5000&_stmt_cache_size=256&_txlock=immediate&_cache_size=-32768"

// serverConnections is more than ever work at once: a signer authorizes one group at a time, and
// signs for each paying account.
const serverConnections = 8

// makeLock is the advisory lock under which the tables are made: two signers may start at once.
var makeLock = fmt.Sprintf("SELECT pg_advisory_xact_lock(%d)", database.LockGuardMake)

// txLimit bounds one transaction from BEGIN to the answer of COMMIT.
const txLimit = time.Minute

// Open opens the sign-guard's file, making it when it is missing.
func Open(path string) (*Guard, error) { return openAt(context.Background(), "sqlite:"+path) }

// OpenServer opens a sign-guard on a PostgreSQL server, making it in an empty database. The
// records' own database is refused: what restores that one would restore the sign-guard with it.
func OpenServer(ctx context.Context, url string) (*Guard, error) {
	if _, file := database.Path(url); file {
		return nil, errors.New("opening the sign-guard: the URL must be a postgres:// address")
	}
	return openAt(ctx, url)
}

func openAt(ctx context.Context, url string) (*Guard, error) {
	g, err := connect(ctx, url)
	if err == nil {
		if err = g.make(ctx); err != nil {
			err = errors.Join(err, g.Close())
		}
	}
	if err != nil {
		return nil, database.Of("signer.guard", fmt.Errorf("opening the sign-guard: %w", err))
	}
	return g, nil
}

// connect opens the database as it is.
func connect(ctx context.Context, url string) (*Guard, error) {
	db, err := database.Open(ctx, url, database.SQLite{Writes: fileOptions, Checked: true}, database.Postgres{
		Writers: serverConnections,
		Params: map[string]string{
			"application_name": "gatewayd signer", "synchronous_commit": "on", "statement_timeout": "30s", "timezone": "UTC",
			"idle_in_transaction_session_timeout": "10s", // a frozen signer does not block others from the sign-guard
		},
	})
	if err != nil {
		return nil, err
	}
	return &Guard{pool: db.Writes, db: session{db.Writes}, url: url, file: db.File}, nil
}

// make makes what a new sign-guard, or one of an earlier version, lacks. What was signed before
// there were authorizations may be signed again as it is.
func (g *Guard) make(ctx context.Context) error {
	return g.write(ctx, func(t session) error {
		if g.file == "" {
			if err := prepareServer(ctx, t); err != nil {
				return err
			}
		}
		if err := g.identify(ctx, t); err != nil {
			return err
		}
		if err := g.addPlaceColumn(ctx, t); err != nil {
			return err
		}
		if _, err := t.exec(ctx, guardSchema); err != nil {
			return err
		}
		if _, err := t.exec(ctx, authorizationSchema+spendingSchema+bindingSchema+linkSchema+anchorSchema+arrivalSchema+earlierSchema); err != nil {
			return err
		}
		return restartBooks(ctx, t)
	})
}

// prepareServer keeps other signers out and refuses a database that is the records'.
func prepareServer(ctx context.Context, t session) error {
	if _, err := t.exec(ctx, makeLock); err != nil {
		return err
	}
	var records bool
	if err := t.one(ctx, &records, `SELECT to_regclass('payments') IS NOT NULL`); err != nil {
		return err
	}
	if records {
		return errors.New("this database has the gateway's records: the sign-guard needs its own, on another server")
	}
	return nil
}

// addPlaceColumn gives the signatures of earlier versions, one at each number, their place: several
// may stand at a number now. Versions before authorizations lack the cause too.
func (g *Guard) addPlaceColumn(ctx context.Context, t session) error {
	before, err := g.columns(ctx, t, "guard")
	if err != nil || len(before) == 0 || slices.Contains(before, "place") {
		return err
	}
	if err := g.addColumn(ctx, t, "guard", "cause", "TEXT NOT NULL DEFAULT ''"); err != nil {
		return err
	}
	if g.file == "" {
		_, err := t.exec(ctx, `ALTER TABLE guard ADD COLUMN place INT NOT NULL DEFAULT 0, DROP CONSTRAINT guard_pkey, ADD PRIMARY KEY (chain, account, lineage, number, place)`)
		return err
	}
	const columns = `chain, account, lineage, number, digest, payment_id, live, cause`
	_, err = t.exec(ctx, `ALTER TABLE guard RENAME TO guard_before; DROP INDEX IF EXISTS guard_live_payment; `+guardSchema+`
		INSERT INTO guard (`+columns+`) SELECT `+columns+` FROM guard_before; DROP TABLE guard_before;`)
	return err
}

// addColumn adds what the tables of earlier versions lack.
func (g *Guard) addColumn(ctx context.Context, t session, table, column, kind string) error {
	before, err := g.columns(ctx, t, table)
	if err != nil || slices.Contains(before, column) {
		return err
	}
	_, err = t.exec(ctx, `ALTER TABLE `+table+` ADD COLUMN `+column+` `+kind)
	return err
}

// columns returns the names of a table's columns; none without the table.
func (g *Guard) columns(ctx context.Context, t session, table string) (names []string, err error) {
	query := `SELECT name FROM pragma_table_info(?)`
	if g.file == "" {
		query = `SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?`
	}
	err = t.all(ctx, &names, query, table)
	return names, err
}

// Close closes the file, or the connections to the server. A guard that Hold answered shares them
// with the one that it was asked of.
func (g *Guard) Close() error { return g.pool.Close() }

// Pools returns the state of the pools of connections, for metrics.
func (g *Guard) Pools() map[string]sql.DBStats {
	return map[string]sql.DBStats{"write": g.pool.Stats()}
}

// session runs statements in or outside a transaction. They are written with ? for both engines.
type session struct {
	q interface {
		sqlx.ExtContext
		Rebind(query string) string
	}
}

func (s session) exec(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return s.q.ExecContext(ctx, s.q.Rebind(statement), args...)
}

// all reads rows into a slice.
func (s session) all(ctx context.Context, into any, query string, args ...any) error {
	return sqlx.SelectContext(ctx, s.q, into, s.q.Rebind(query), args...)
}

// one reads the one row that there is.
func (s session) one(ctx context.Context, into any, query string, args ...any) error {
	return sqlx.GetContext(ctx, s.q, into, s.q.Rebind(query), args...)
}

// insert adds rows to a table and answers how many it added.
func (s session) insert(ctx context.Context, into string, rows [][]any, or string) (added int, err error) {
	return sqlstore.Insert(into, rows, or, func(statement string, args ...any) (int64, error) {
		r, err := s.exec(ctx, statement, args...)
		if err != nil {
			return 0, err
		}
		return r.RowsAffected()
	})
}

// groups cuts a list, in order, where the line changes or where something comes for the second
// time: no entry of a group has to do with another one.
func groups[T any](list []T, of func(T) (line, one, other any)) (cut [][]T) {
	begin, at, ones, others := 0, any(nil), map[any]bool{}, map[any]bool{}
	for i, e := range list {
		line, one, other := of(e)
		if i > begin && (line != at || ones[one] || others[other]) {
			cut, begin = append(cut, list[begin:i]), i
			clear(ones)
			clear(others)
		}
		at, ones[one], others[other] = line, true, true
	}
	if begin < len(list) {
		cut = append(cut, list[begin:])
	}
	return cut
}

// update is a transaction that counts: the records note how many there were. Its first statement
// makes it the only one, and is ErrLost when another signer has taken the sign-guard since this one
// took it.
func (g *Guard) update(ctx context.Context, f func(session) error) error {
	return g.write(ctx, func(t session) error {
		if err := g.enter(ctx, t); err != nil {
			return err
		}
		return f(t)
	})
}

func (g *Guard) enter(ctx context.Context, t session) error {
	r, err := t.exec(ctx, `UPDATE identity SET commits = commits + 1, seen_commits = seen_commits + 1 WHERE epoch = ? OR ? = 0`, g.epoch, g.epoch)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return fmt.Errorf("%w: another signer has taken it", ErrLost)
}

func (g *Guard) write(ctx context.Context, f func(session) error) error {
	ctx, cancel := context.WithTimeout(ctx, txLimit)
	defer cancel()
	return g.writeUnlimited(ctx, f)
}

func (g *Guard) writeUnlimited(ctx context.Context, f func(session) error) error {
	t, err := g.pool.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer t.Rollback()
	if err := f(session{t}); err != nil {
		return err
	}
	return t.Commit()
}
