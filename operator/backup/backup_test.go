package backup_test

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/exchangeapi/apikey"
	"gatewayd/operator/backup"
	"gatewayd/records"
	"gatewayd/records/signguard"
	"gatewayd/vite/core"
	"gatewayd/vite/store"
)

const configText = `
data: DIR
ethereum: [{id: eth, chain_id: 1, nodes: ["http://127.0.0.1:1"], finality: "12"}]
vite: [{id: vite, nodes: ["http://127.0.0.1:2"], confirmations: 3, tag: gate}]
embedded: {dir: DIR/exchange, listen: "127.0.0.1:0", genesis: DIR/genesis.json}
gateway: {new_bindings_per_day: 50}
networks:
  - name: eth
    path: /gateway/eth
    source: eth
    exchange: vite
    tokens:
      - token: tti_687d8a93915393b219212c73
        symbol: ETH-000
        decimals: 18
        asset: native
        asset_decimals: 18
        type: 0
        min_deposit: "10000000000000000"
        min_withdraw: "10000000000000000"
        max_withdraw: "0"
        deposit_confirmations: {count: 64, tag: true}
        withdraw_confirmations: {count: 180}
        fee: {kind: flat, amount: "1000000000000000"}
exchange: {listen: "127.0.0.1:0", index: {url: "sqlite:DIR/gatewayd.db"}} # one file of two owners
`

// gateway is the data of a gateway without a daemon.
type gateway struct {
	dir, config string
	cfg         config.Config
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{dir: t.TempDir()}
	g.config = filepath.Join(g.dir, "config.yaml")
	require.NoError(t, os.WriteFile(g.config, []byte(strings.ReplaceAll(configText, "DIR", filepath.Join(g.dir, "data"))), 0o600))
	g.load(t)
	require.NoError(t, os.MkdirAll(g.at("exchange"), 0o700))
	require.NoError(t, os.WriteFile(g.at("genesis.json"), []byte("{}"), 0o600))
	g.grow(t, 3)
	s, err := records.Open(t.Context(), g.cfg.Database)
	require.NoError(t, err)
	require.NoError(t, s.Update(t.Context(), func(tx *records.Tx) error {
		for i, kind := range []records.AccountKind{records.KindHot, records.KindGas, records.KindDeposit} {
			a := records.Account{Chain: "eth", Account: string(kind), Kind: kind, Network: "eth", KeyPath: fmt.Sprint(i)}
			if err := tx.Accounts().Ensure(a); err != nil {
				return err
			}
		}
		return tx.Accounts().Ensure(records.Account{Chain: "vite", Account: "gateway", Kind: records.KindGateway, Network: "eth", KeyPath: "3"})
	}))
	require.NoError(t, s.Close())
	g.sign(t, 0, 3)
	k, err := apikey.Open(t.Context(), apikey.Config{URL: g.cfg.Exchange.Keys, Secret: make([]byte, apikey.SecretSize)})
	require.NoError(t, err)
	require.NoError(t, k.Close())
	return g
}

func (g *gateway) load(t *testing.T) {
	t.Helper()
	cfg, err := config.Load(g.config)
	require.NoError(t, err)
	g.cfg = cfg
}

func (g *gateway) at(name string) string { return filepath.Join(g.dir, "data", name) }

// grow adds records to the chain's log.
func (g *gateway) grow(t *testing.T, records int) {
	t.Helper()
	l, err := store.OpenLog(g.at("exchange/blocks.log"), core.Hash{1}, func() {}, store.Place{}, func([]byte) error { return nil })
	require.NoError(t, err)
	for i := range records {
		require.NoError(t, l.Wait(l.Add(binary.BigEndian.AppendUint64([]byte{0xff}, uint64(i)), nil)))
	}
	require.NoError(t, l.Close())
}

// sign lets the sign-guard know signatures and addresses.
func (g *gateway) sign(t *testing.T, from, to uint64) {
	t.Helper()
	guard, err := signguard.Open(g.at("guard.db"))
	require.NoError(t, err)
	for n := from; n < to; n++ {
		require.NoError(t, guard.Allow(t.Context(), "eth", signguard.Signature{Slot: chain.Slot{Account: "hot", Nonce: n}, Digest: "receive|d", PaymentID: n + 1, Receive: true}))
		require.NoError(t, guard.GiveIndex(t.Context(), "eth", uint32(n)))
	}
	require.NoError(t, guard.Close())
}

func (g *gateway) backup(t *testing.T) string {
	t.Helper()
	target := filepath.Join(t.TempDir(), "backup.tar")
	_, err := backup.Write(t.Context(), g.cfg, target, backup.Options{Program: "gatewayd test"})
	require.NoError(t, err)
	return target
}

func (g *gateway) states(t *testing.T) map[string]records.AccountState {
	t.Helper()
	s, err := records.OpenExisting(t.Context(), g.cfg.Database)
	require.NoError(t, err)
	defer s.Close()
	states := map[string]records.AccountState{}
	require.NoError(t, s.View(t.Context(), func(tx *records.Tx) error {
		for _, id := range []chain.ID{"eth", "vite"} {
			list, err := tx.Accounts().List(id)
			if err != nil {
				return err
			}
			for _, a := range list {
				states[a.Account] = a.State
			}
		}
		return nil
	}))
	return states
}

// tree is every file below a directory with its bytes.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = string(text)
		return err
	}))
	return files
}

func TestBackupIsAFileOfItsOwnersAlone(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	target := g.backup(t)
	info, err := os.Stat(target)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	m, err := backup.Verify(t.Context(), target)
	require.NoError(t, err)
	var names []string
	for _, f := range m.Files {
		names = append(names, f.Name)
	}
	require.Equal(t, []string{"records.db", "sign-guard/guard.db", "apikeys.db", "exchange-chain/blocks.log", "exchange-chain/genesis.json", "config.yaml"}, names)
	require.Len(t, tree(t, filepath.Dir(target)), 1, "nothing is left beside it")
	_, err = backup.Write(t.Context(), g.cfg, target, backup.Options{})
	require.ErrorIs(t, err, backup.ErrExists)
	for path, text := range tree(t, g.dir) {
		if strings.HasSuffix(path, ".secret") {
			require.NotContains(t, tree(t, filepath.Dir(target))["/backup.tar"], text)
		}
	}
}

// Every bit counts: of contents, of the tar's own headers and padding, of the manifest and of the
// digest itself.
func TestFlippedBitIsFound(t *testing.T) {
	t.Parallel()
	target := newGateway(t).backup(t)
	data, err := os.ReadFile(target)
	require.NoError(t, err)
	f, err := os.OpenFile(target, os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	at := func(i int) {
		bit := byte(1) << rng.IntN(8)
		_, err := f.WriteAt([]byte{data[i] ^ bit}, int64(i))
		require.NoError(t, err)
		_, err = backup.Verify(t.Context(), target)
		require.ErrorIs(t, err, backup.ErrDamaged, "bit %d of byte %d", bit, i)
		_, err = f.WriteAt(data[i:i+1], int64(i))
		require.NoError(t, err)
	}
	for i := 0; i < len(data); i += 1 + rng.IntN(8192) {
		at(i)
	}
	for i := len(data) - 6000; i < len(data); i += 1 + rng.IntN(40) { // manifest and digest
		at(i)
	}
	for _, size := range []int{0, 1, 2047, 2048, len(data) / 2, len(data) - 1} {
		require.NoError(t, os.WriteFile(target, data[:size], 0o600))
		_, err := backup.Verify(t.Context(), target)
		require.ErrorIs(t, err, backup.ErrDamaged, size)
		_, err = backup.Restore(t.Context(), target, filepath.Join(t.TempDir(), "config.yaml"), backup.RestoreOptions{})
		require.ErrorIs(t, err, backup.ErrDamaged, size)
	}
	require.NoError(t, os.WriteFile(target, append(data, 0), 0o600))
	_, err = backup.Verify(t.Context(), target)
	require.ErrorIs(t, err, backup.ErrDamaged)
}

// A new machine gets all files, and as the sign-guard is the backup's, what pays is stopped and the
// next addresses are passed over.
func TestRestoreOnANewMachine(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	target := g.backup(t)
	log := tree(t, g.dir)["/data/exchange/blocks.log"]
	require.NoError(t, os.RemoveAll(g.at("")))
	r, err := backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{})
	require.NoError(t, err)
	require.Len(t, r.Put, 5)
	require.Len(t, r.Stopped, 3)
	require.Equal(t, log, tree(t, g.dir)["/data/exchange/blocks.log"])
	require.Equal(t, map[string]records.AccountState{
		"hot": records.AccountHalted, "gas": records.AccountHalted, "gateway": records.AccountHalted, "deposit": records.AccountNew,
	}, g.states(t))
	guard, err := signguard.Open(g.at("guard.db"))
	require.NoError(t, err)
	defer guard.Close()
	require.ErrorIs(t, guard.GiveIndex(t.Context(), "eth", 3), chain.ErrTaken, "it may have been given since")
	require.ErrorIs(t, guard.GiveIndex(t.Context(), "eth", 102), chain.ErrTaken, "the bound of two days")
	require.NoError(t, guard.GiveIndex(t.Context(), "eth", 103))
	for path := range tree(t, g.dir) {
		require.NotContains(t, path, "restore-", "nothing is left beside it")
	}
}

// Files that must not go back stay when they are newer: the sign-guard, and the chain's log. Then
// nothing is stopped here; the daemon detects it automatically.
func TestRestoreKeepsWhatIsNewer(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	target := g.backup(t)
	g.sign(t, 3, 9)
	g.grow(t, 4)
	before := tree(t, g.dir)
	_, err := backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{})
	require.ErrorIs(t, err, backup.ErrExists)
	after := tree(t, g.dir)
	delete(after, "/data/gatewayd.db.daemon.lock")
	delete(after, "/data/exchange/LOCK")
	require.Equal(t, before, after, "nothing was changed")
	r, err := backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{Replace: true})
	require.NoError(t, err)
	require.Equal(t, []string{g.at("guard.db"), g.at("exchange/blocks.log"), g.at("genesis.json")}, r.Unchanged)
	require.Empty(t, r.Stopped)
	require.Equal(t, records.AccountNew, g.states(t)["hot"])
	after = tree(t, g.dir)
	require.Equal(t, before["/data/exchange/blocks.log"], after["/data/exchange/blocks.log"])
	require.Equal(t, before["/data/guard.db"], after["/data/guard.db"])
}

// A sign-guard that lacks data of the backup is not the newest one; the backup's is taken only by
// an explicit order.
func TestRestoreRefusesAnOlderGuard(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	older, err := os.ReadFile(g.at("guard.db"))
	require.NoError(t, err)
	g.sign(t, 3, 4)
	target := g.backup(t)
	require.NoError(t, os.WriteFile(g.at("guard.db"), older, 0o600))
	_, err = backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{Replace: true})
	require.ErrorContains(t, err, "it does not know the signature eth hot 0/3 of the backup")
	require.NoError(t, os.WriteFile(g.at("guard.db"), []byte("no database"), 0o600))
	_, err = backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{Replace: true})
	require.ErrorContains(t, err, "cannot be the newest one")
	r, err := backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{Replace: true, OlderGuard: true})
	require.NoError(t, err)
	require.Len(t, r.Stopped, 3)
	guard, err := signguard.Open(g.at("guard.db"))
	require.NoError(t, err)
	defer guard.Close()
	_, next, known, err := guard.Next(t.Context(), "eth", "hot")
	require.NoError(t, err)
	require.True(t, known)
	require.EqualValues(t, 4, next)
}

// A log in place that is not the backup's or longer is replaced by it, with everything derived from
// it, by the order alone.
func TestRestoreOfAShortenedChain(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	target := g.backup(t)
	want := tree(t, g.dir)["/data/exchange/blocks.log"]
	require.NoError(t, os.Truncate(g.at("exchange/blocks.log"), int64(len(want)-3)))
	require.NoError(t, os.WriteFile(g.at("exchange/state-1-2"), nil, 0o600))
	require.NoError(t, os.Mkdir(g.at("exchange/history"), 0o700))
	_, err := backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{})
	require.ErrorIs(t, err, backup.ErrExists)
	r, err := backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{Replace: true})
	require.NoError(t, err)
	require.NotContains(t, r.Unchanged, g.at("exchange/blocks.log"))
	require.Equal(t, want, tree(t, g.dir)["/data/exchange/blocks.log"])
	left, err := filepath.Glob(g.at("exchange/*"))
	require.NoError(t, err)
	for _, path := range left {
		require.Regexp(t, `(/blocks\.log|/LOCK|/replaced-\w+)$`, path)
	}
}

func TestRestoreRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	db, err := sql.Open("sqlite3", g.at("gatewayd.db"))
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO goose_db_version (version_id, is_applied) SELECT MAX(version_id) + 1, 1 FROM goose_db_version")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = backup.Write(t.Context(), g.cfg, filepath.Join(t.TempDir(), "backup.tar"), backup.Options{})
	require.ErrorIs(t, err, backup.ErrNewer, "written by this program it could be verified by none")

	g = newGateway(t)
	target := g.backup(t)
	text, err := os.ReadFile(g.config)
	require.NoError(t, err)
	other := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(other, []byte(strings.Replace(string(text), "embedded:", "#", 1)), 0o600))
	_, err = backup.Restore(t.Context(), target, other, backup.RestoreOptions{})
	require.ErrorContains(t, err, "the backup contains exchange-chain/blocks.log, which is not in the configuration")
}

// Who has lost the records alone gets them alone; the sign-guard is looked at all the same.
func TestRestoreOfTheRecordsAlone(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	target := g.backup(t)
	require.NoError(t, os.Remove(g.at("gatewayd.db")))
	g.sign(t, 3, 4)
	before := tree(t, g.dir)
	_, err := backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{})
	require.ErrorIs(t, err, backup.ErrExists, "the keys are there")
	r, err := backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{Only: []string{"records.db"}})
	require.NoError(t, err)
	require.Equal(t, []string{g.at("gatewayd.db")}, r.Put)
	require.Equal(t, []string{g.at("guard.db")}, r.Unchanged)
	require.Equal(t, before["/data/apikeys.db"], tree(t, g.dir)["/data/apikeys.db"])
	require.NoError(t, os.Remove(g.at("gatewayd.db")))
	require.NoError(t, os.Remove(g.at("guard.db")))
	r, err = backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{Only: []string{"records.db"}})
	require.NoError(t, err)
	require.Len(t, r.Stopped, 3, "the sign-guard was lost as well")
	require.NoError(t, os.Remove(g.at("guard.db")))
	r, err = backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{Only: []string{"sign-guard/guard.db"}})
	require.NoError(t, err)
	require.Len(t, r.Stopped, 3, "in the records that are there")
	require.Equal(t, []string{g.at("guard.db")}, r.Put)
	require.Equal(t, records.AccountHalted, g.states(t)["hot"])
	_, err = backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{Only: []string{"gatewayd.db"}})
	require.ErrorContains(t, err, "no file \"gatewayd.db\"")
}

// A daemon's lock is enough, whoever has it.
func TestRestoreRefusesARunningDaemon(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	target := g.backup(t)
	s, err := records.Open(t.Context(), g.cfg.Database)
	require.NoError(t, err)
	defer s.Close()
	l, err := s.Hold(t.Context(), "daemon", "a test", time.Minute)
	require.NoError(t, err)
	_, err = backup.Restore(t.Context(), target, g.config, backup.RestoreOptions{Replace: true, OlderGuard: true})
	require.ErrorIs(t, err, backup.ErrInUse)
	require.NoError(t, l.Release(t.Context()))
}

func TestPostgresIsNamed(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	g.cfg.Database.URL, g.cfg.Exchange.Index.URL = "postgres://gw:secret@db.example/gateway", "postgres://db.example/exchange"
	target := filepath.Join(t.TempDir(), "backup.tar")
	_, err := backup.Write(t.Context(), g.cfg, target, backup.Options{})
	require.ErrorContains(t, err, "pg_dump --format=custom --file=gatewayd-records.dump 'postgres://gw@db.example/gateway'")
	require.ErrorContains(t, err, "--postgres-apart TARGET")
	m, err := backup.Write(t.Context(), g.cfg, target, backup.Options{Apart: true})
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(m.Absent), "database.url")
	require.Equal(t, "sign-guard/guard.db", m.Files[0].Name)
}

// A copy of the log that ends in a torn frame is valid; damage before complete frames is found when
// the backup is made.
func TestBackupOfADamagedLog(t *testing.T) {
	t.Parallel()
	g := newGateway(t)
	log, err := os.OpenFile(g.at("exchange/blocks.log"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer log.Close()
	end, err := log.Seek(0, io.SeekEnd)
	require.NoError(t, err)
	_, err = log.WriteString("VF")
	require.NoError(t, err)
	g.backup(t)
	_, err = log.WriteAt([]byte{0xff}, end/2)
	require.NoError(t, err)
	dir := t.TempDir()
	_, err = backup.Write(t.Context(), g.cfg, filepath.Join(dir, "backup.tar"), backup.Options{})
	require.ErrorIs(t, err, store.ErrCorrupt)
	require.Empty(t, tree(t, dir), "nothing is left behind")
}
