// Package apikey stores API keys with their sealed secrets and the clients' order IDs. It verifies
// signatures made with the keys, accepts each signed request once, and limits a key's calls
// (docs/adr/022-the-exchange-api.md). It does not handle HTTP.
package apikey

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/common/lru"
	"github.com/jmoiron/sqlx"

	"gatewayd/internal/database"
	"gatewayd/vite/core"
)

// Faults of the key store. Test with errors.Is.
var (
	ErrExists    = errors.New("the account already has an API key")
	ErrUnknown   = errors.New("no such API key")
	ErrWrongSeal = errors.New("the database was created with another secret")
	ErrNewer     = database.ErrNewer
)

// Key is an API key: it places and cancels orders of Owner, signed by Agent.
type Key struct {
	Key     string       // 32 hexadecimal digits in capitals
	Network string       // which Network it was issued for
	Owner   core.Address // whose orders they are
	Agent   core.Address // the delegation address, which signs
	Limit   int          // private calls in a cycle; 0: the configuration's
	Created time.Time
	Revoked time.Time // zero while the key is good
}

// Store keeps API keys. It is safe for concurrent use, also by several programs on one database;
// private requests are served by one of them only where it is SQLite's.
type Store struct {
	db    *sqlx.DB
	open  *database.DB // with db
	heads *sqlx.DB     // connections that hold the lock of a head; nil on SQLite
	seal  sealer
	now   func() time.Time
	guard replayGuard
	known *lru.Cache[string, cachedKey] // by key, those that were used last

	clientIDs *lru.Cache[string, string] // by order id; "" of an order that has none
	unnamed   atomic.Bool                // no order has a client order id, which only this program could give it
}

// cachedKey is a good key as it was read.
type cachedKey struct {
	Key
	secret string
	read   time.Time
}

// keyCacheTTL is for how long a key is not read again: so late at most does another program's
// change take effect. Our own take effect at once.
const keyCacheTTL = time.Second

// maxCachedKeys bounds the keys in memory, 300 bytes each.
const maxCachedKeys = 10_000

// Open opens the database of the keys and brings its schema up to date. ErrWrongSeal, ErrNewer.
func Open(ctx context.Context, c Config) (*Store, error) {
	seal, err := newSealer(c.Secret)
	if err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	open, err := openDatabase(ctx, c.URL)
	if err != nil {
		return nil, fmt.Errorf("opening the API keys: %w", err)
	}
	db := open.Writes
	s := &Store{
		db: db, open: open, seal: seal, now: c.Now, guard: &databaseGuard{db, c.Now}, known: lru.NewCache[string, cachedKey](maxCachedKeys),
		clientIDs: lru.NewCache[string, string](maxClientOrders),
	}
	if open.File == "" {
		s.heads = open.Reads
	} else if !c.Shared {
		s.guard = newMemoryGuard(db, c.Now)
		if err := s.loadUnnamed(ctx); err != nil {
			return nil, errors.Join(err, open.Close())
		}
	}
	if err := s.checkSeal(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the API keys: %w", err), open.Close())
	}
	return s, nil
}

// Close ends the connection. There must be no calls any more.
func (s *Store) Close() error { return errors.Join(s.guard.close(), s.open.Close()) }

// Pools returns the state of the pools of connections, for metrics.
func (s *Store) Pools() map[string]sql.DBStats {
	pools := map[string]sql.DBStats{"write": s.db.Stats()}
	if s.heads != nil {
		pools["heads"] = s.heads.Stats()
	}
	return pools
}

// Take counts what a client takes from a limit in all processes on one server: so many at once,
// then one in each period. It returns the client's waiting time. On SQLite it counts nothing.
func (s *Store) Take(ctx context.Context, limit, client string, period time.Duration, burst int) (time.Duration, error) {
	l := database.Limits{Table: "api_limits"}
	if s.heads != nil {
		l.Server = s.db
	}
	return l.Take(ctx, limit, client, period, burst)
}

// Ping asks the database for nothing.
func (s *Store) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	if err := s.db.PingContext(ctx); err != nil {
		return fmt.Errorf("asking the database of API keys: %w", err)
	}
	return nil
}

// pingTimeout bounds the answer of a healthy database.
const pingTimeout = 3 * time.Second

// Issue creates a key for an account and returns its secret, which cannot be read again. ErrExists:
// one account has one key on a network.
func (s *Store) Issue(ctx context.Context, network string, owner, agent core.Address) (Key, string, error) {
	key := Key{Key: randomText(), Network: network, Owner: owner, Agent: agent, Created: s.now().UTC().Truncate(time.Millisecond)}
	secret := randomText()
	closed, err := s.seal.close(secret, key.binding())
	if err != nil {
		return Key{}, "", err
	}
	r, err := s.db.ExecContext(ctx, s.db.Rebind(`INSERT INTO api_keys (api_key, network, owner, agent, secret, call_limit, created)
		VALUES (?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`),
		key.Key, network, owner.String(), agent.String(), closed, key.Created.UnixMilli())
	if err != nil {
		return Key{}, "", fmt.Errorf("storing an API key: %w", err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return Key{}, "", errors.Join(ErrExists, err)
	}
	return key, secret, nil
}

// keyDigits is the length of keys and secrets.
const keyDigits = 32

// randomText is 128 random bits in the form of keys and secrets.
func randomText() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	return strings.ToUpper(hex.EncodeToString(b[:]))
}

// binding ties a secret to its key, so that no row's secret works in another row.
func (k Key) binding() string {
	return k.Key + "|" + k.Network + "|" + k.Owner.String() + "|" + k.Agent.String()
}

const keyColumns = `api_key, network, owner, agent, secret, call_limit, created, revoked`

type keyRow struct {
	Key     string        `db:"api_key"`
	Network string        `db:"network"`
	Owner   string        `db:"owner"`
	Agent   string        `db:"agent"`
	Secret  string        `db:"secret"`
	Limit   int           `db:"call_limit"`
	Created int64         `db:"created"`
	Revoked sql.NullInt64 `db:"revoked"`
}

func (r keyRow) key() (Key, error) {
	owner, err := core.ParseAddress(r.Owner)
	if err != nil {
		return Key{}, fmt.Errorf("API key %s: owner: %w", r.Key, err)
	}
	agent, err := core.ParseAddress(r.Agent)
	if err != nil {
		return Key{}, fmt.Errorf("API key %s: agent: %w", r.Key, err)
	}
	k := Key{Key: r.Key, Network: r.Network, Owner: owner, Agent: agent, Limit: r.Limit, Created: time.UnixMilli(r.Created).UTC()}
	if r.Revoked.Valid {
		k.Revoked = time.UnixMilli(r.Revoked.Int64).UTC()
	}
	return k, nil
}

// isKey reports whether a text has the form of a key. PostgreSQL refuses to compare other texts
// with its UUID column.
func isKey(text string) bool {
	return len(text) == keyDigits && strings.Trim(text, "0123456789ABCDEF") == ""
}

// Find returns a key that is good on a network, or was so keyCacheTTL ago, with its secret;
// ErrUnknown.
func (s *Store) Find(ctx context.Context, network, key string) (Key, string, error) {
	if !isKey(key) {
		return Key{}, "", ErrUnknown
	}
	now := s.now()
	if known, ok := s.known.Get(key); ok && known.Network == network && now.Sub(known.read).Abs() < keyCacheTTL {
		return known.Key, known.secret, nil
	}
	row, err := s.row(ctx, `WHERE api_key = ? AND network = ? AND revoked IS NULL`, key, network)
	if err != nil {
		return Key{}, "", err
	}
	found, err := row.key()
	if err != nil {
		return Key{}, "", err
	}
	secret, err := s.seal.open(row.Secret, found.binding())
	if err != nil {
		return Key{}, "", fmt.Errorf("opening the secret of API key %s: %w", key, err)
	}
	s.known.Add(key, cachedKey{found, secret, now})
	return found, secret, nil
}

// OfOwner returns the good key of an account; ErrUnknown.
func (s *Store) OfOwner(ctx context.Context, network string, owner core.Address) (Key, error) {
	row, err := s.row(ctx, `WHERE network = ? AND owner = ? AND revoked IS NULL`, network, owner.String())
	if err != nil {
		return Key{}, err
	}
	return row.key()
}

func (s *Store) row(ctx context.Context, where string, args ...any) (keyRow, error) {
	var row keyRow
	err := s.db.GetContext(ctx, &row, s.db.Rebind(`SELECT `+keyColumns+` FROM api_keys `+where), args...)
	if errors.Is(err, sql.ErrNoRows) {
		return keyRow{}, ErrUnknown
	}
	if err != nil {
		return keyRow{}, fmt.Errorf("reading an API key: %w", err)
	}
	return row, nil
}

// List returns all keys, newest first; revoked ones too.
func (s *Store) List(ctx context.Context) ([]Key, error) {
	var rows []keyRow
	if err := s.db.SelectContext(ctx, &rows, `SELECT `+keyColumns+` FROM api_keys ORDER BY created DESC, api_key`); err != nil {
		return nil, fmt.Errorf("reading the API keys: %w", err)
	}
	list := make([]Key, len(rows))
	for i, row := range rows {
		var err error
		if list[i], err = row.key(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Revoke ends a key permanently; ErrUnknown if it is not valid. The account may get another.
func (s *Store) Revoke(ctx context.Context, key string) error {
	return s.change(ctx, key, `UPDATE api_keys SET revoked = ? WHERE api_key = ? AND revoked IS NULL`, s.now().UnixMilli())
}

// SetLimit sets how many private calls a key has in a cycle; 0 is the configuration's number.
// ErrUnknown.
func (s *Store) SetLimit(ctx context.Context, key string, calls int) error {
	if calls < 0 {
		return errors.New("the limit must not be negative")
	}
	return s.change(ctx, key, `UPDATE api_keys SET call_limit = ? WHERE api_key = ? AND revoked IS NULL`, calls)
}

func (s *Store) change(ctx context.Context, key, query string, value any) error {
	r, err := s.db.ExecContext(ctx, s.db.Rebind(query), value, key)
	s.known.Remove(key) // also where it is not known whether it has changed
	if err != nil {
		return fmt.Errorf("changing an API key: %w", err)
	}
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		return ErrUnknown
	}
	return err
}
