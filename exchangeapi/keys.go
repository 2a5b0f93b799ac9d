package exchangeapi

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common/lru"
	"github.com/jmoiron/sqlx"

	"gatewayd/chain/vite/core"
)

// Faults of the key store. Test with errors.Is.
var (
	ErrKeyExists  = errors.New("the account already has an API key")
	ErrUnknownKey = errors.New("no such API key")
	ErrWrongSeal  = errors.New("the database was made with another secret")
	ErrNewer      = errors.New("the database was written by a newer program")
)

// KeysConfig says where API keys are kept and what their secrets are encrypted with.
type KeysConfig struct {
	// URL is "sqlite:PATH" or "postgres://user@host/name?...". The password of a server belongs in PGPASSFILE or PGPASSWORD.
	URL string
	// Secret is the 32-byte key that secrets are encrypted with. Another one than the database was made with is ErrWrongSeal.
	Secret []byte
	Now    func() time.Time // nil means time.Now
}

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

// Keys keeps API keys. It is safe for concurrent use, also by several programs on one database; private requests are served by one of them only
// where it is SQLite's.
type Keys struct {
	db      *sqlx.DB
	seal    sealer
	now     func() time.Time
	counter counter
	known   *lru.Cache[string, knownKey] // by key, those that were used last
}

// knownKey is a good key as it was read.
type knownKey struct {
	Key
	secret string
	read   time.Time
}

// knownLife is for how long a key is not read again: so late at most does another program's change take effect. Our own take effect at once.
const knownLife = time.Second

// maxKnown bounds the keys in memory, 300 bytes each.
const maxKnown = 10_000

// OpenKeys opens the database and brings its schema up to date. ErrWrongSeal, ErrNewer.
func OpenKeys(ctx context.Context, c KeysConfig) (*Keys, error) {
	seal, err := newSealer(c.Secret)
	if err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	db, err := openDatabase(ctx, c.URL)
	if err != nil {
		return nil, fmt.Errorf("opening the API keys: %w", err)
	}
	k := &Keys{db: db, seal: seal, now: c.Now, counter: &together{db, c.Now}, known: lru.NewCache[string, knownKey](maxKnown)}
	if db.DriverName() == sqliteDriver {
		k.counter = newAlone(db, c.Now)
	}
	if err := k.checkSeal(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the API keys: %w", err), db.Close())
	}
	return k, nil
}

// Close ends the connection. There must be no calls any more.
func (k *Keys) Close() error { return errors.Join(k.counter.leave(), k.db.Close()) }

// ping asks the database for nothing.
func (k *Keys) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	if err := k.db.PingContext(ctx); err != nil {
		return fmt.Errorf("asking the database of API keys: %w", err)
	}
	return nil
}

// pingTime is how long a database that is well takes at most.
const pingTime = 3 * time.Second

// sealed is the text that a database is recognised by.
const sealed = "gatewayd API keys"

// checkSeal sees to it that this secret opens what an earlier one has closed.
func (k *Keys) checkSeal(ctx context.Context) error {
	text, err := k.seal.close(sealed, "")
	if err != nil {
		return err
	}
	_, err = k.db.ExecContext(ctx, k.db.Rebind(`INSERT INTO api_seal (id, seal) VALUES (1, ?) ON CONFLICT (id) DO NOTHING`), text)
	if err != nil {
		return err
	}
	if err := k.db.GetContext(ctx, &text, `SELECT seal FROM api_seal WHERE id = 1`); err != nil {
		return err
	}
	if _, err := k.seal.open(text, ""); err != nil {
		return ErrWrongSeal
	}
	return nil
}

// Issue makes a key for an account and answers its secret, which nobody can read again. ErrKeyExists: one account has one key on a network.
func (k *Keys) Issue(ctx context.Context, network string, owner, agent core.Address) (Key, string, error) {
	key := Key{Key: randomText(), Network: network, Owner: owner, Agent: agent, Created: k.now().UTC().Truncate(time.Millisecond)}
	secret := randomText()
	closed, err := k.seal.close(secret, key.binding())
	if err != nil {
		return Key{}, "", err
	}
	r, err := k.db.ExecContext(ctx, k.db.Rebind(`INSERT INTO api_keys (api_key, network, owner, agent, secret, call_limit, created)
		VALUES (?, ?, ?, ?, ?, 0, ?) ON CONFLICT DO NOTHING`),
		key.Key, network, owner.String(), agent.String(), closed, key.Created.UnixMilli())
	if err != nil {
		return Key{}, "", fmt.Errorf("storing an API key: %w", err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return Key{}, "", errors.Join(ErrKeyExists, err)
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

// isKey tells whether a text has the form of a key. PostgreSQL refuses to look for texts that are none of its own.
func isKey(text string) bool {
	return len(text) == keyDigits && strings.Trim(text, "0123456789ABCDEF") == ""
}

// find answers a key that is good on a network, or was so knownLife ago, with its secret; ErrUnknownKey.
func (k *Keys) find(ctx context.Context, network, key string) (Key, string, error) {
	if !isKey(key) {
		return Key{}, "", ErrUnknownKey
	}
	now := k.now()
	if known, ok := k.known.Get(key); ok && known.Network == network && now.Sub(known.read).Abs() < knownLife {
		return known.Key, known.secret, nil
	}
	row, err := k.row(ctx, `WHERE api_key = ? AND network = ? AND revoked IS NULL`, key, network)
	if err != nil {
		return Key{}, "", err
	}
	found, err := row.key()
	if err != nil {
		return Key{}, "", err
	}
	secret, err := k.seal.open(row.Secret, found.binding())
	if err != nil {
		return Key{}, "", fmt.Errorf("opening the secret of API key %s: %w", key, err)
	}
	k.known.Add(key, knownKey{found, secret, now})
	return found, secret, nil
}

// OfOwner answers the good key of an account; ErrUnknownKey.
func (k *Keys) OfOwner(ctx context.Context, network string, owner core.Address) (Key, error) {
	row, err := k.row(ctx, `WHERE network = ? AND owner = ? AND revoked IS NULL`, network, owner.String())
	if err != nil {
		return Key{}, err
	}
	return row.key()
}

func (k *Keys) row(ctx context.Context, where string, args ...any) (keyRow, error) {
	var row keyRow
	err := k.db.GetContext(ctx, &row, k.db.Rebind(`SELECT `+keyColumns+` FROM api_keys `+where), args...)
	if errors.Is(err, sql.ErrNoRows) {
		return keyRow{}, ErrUnknownKey
	}
	if err != nil {
		return keyRow{}, fmt.Errorf("reading an API key: %w", err)
	}
	return row, nil
}

// List answers all keys, newest first; revoked ones too.
func (k *Keys) List(ctx context.Context) ([]Key, error) {
	var rows []keyRow
	if err := k.db.SelectContext(ctx, &rows, `SELECT `+keyColumns+` FROM api_keys ORDER BY created DESC, api_key`); err != nil {
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

// Revoke ends a key for good; ErrUnknownKey if it is not a good one. The account may get another.
func (k *Keys) Revoke(ctx context.Context, key string) error {
	return k.change(ctx, key, `UPDATE api_keys SET revoked = ? WHERE api_key = ? AND revoked IS NULL`, k.now().UnixMilli())
}

// SetLimit sets how many private calls a key has in a cycle; 0 is the configuration's number. ErrUnknownKey.
func (k *Keys) SetLimit(ctx context.Context, key string, calls int) error {
	if calls < 0 {
		return errors.New("the limit must not be negative")
	}
	return k.change(ctx, key, `UPDATE api_keys SET call_limit = ? WHERE api_key = ? AND revoked IS NULL`, calls)
}

func (k *Keys) change(ctx context.Context, key, query string, value any) error {
	r, err := k.db.ExecContext(ctx, k.db.Rebind(query), value, key)
	k.known.Remove(key) // also where it is not known whether it has changed
	if err != nil {
		return fmt.Errorf("changing an API key: %w", err)
	}
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		return ErrUnknownKey
	}
	return err
}
