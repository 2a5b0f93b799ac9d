package recordstest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/stretchr/testify/require"

	"gatewayd/records"
)

// Environment names a PostgreSQL server for tests: a URL of a role that may create databases.
// Without it Postgres starts a server of its own.
const Environment = "GATEWAYD_TEST_POSTGRES"

// Server is a PostgreSQL server that tests make databases on.
type Server struct {
	url      string
	template string // database with the schema, made for the first test

	bin, home string // of PostgreSQL's programs, and of the files
	run       func(name string, args ...string) *exec.Cmd
	launch    func() *exec.Cmd // makes the server's process; nil for one that the environment names
	cmd       *exec.Cmd        // while it runs
}

// Postgres returns the server that the environment names, or starts a throw-away one that ends with
// the test. It skips the test only where PostgreSQL is not installed at all.
func Postgres(t testing.TB) *Server {
	t.Helper()
	if u := os.Getenv(Environment); u != "" {
		s := &Server{url: u}
		t.Cleanup(func() {
			if s.template != "" {
				s.exec(t, "DROP DATABASE "+s.template)
			}
		})
		return s
	}
	return OwnPostgres(t, "")
}

// OwnPostgres starts a throw-away server whatever the environment names, for tests that stop it.
// Its files are in a new folder of dir, or of the system's place for such when dir is empty.
func OwnPostgres(t testing.TB, dir string) *Server {
	t.Helper()
	bin, err := binaries()
	if err != nil {
		t.Skipf("PostgreSQL is not tested: %v", err)
	}
	home, err := os.MkdirTemp(dir, "gatewayd-postgres-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
	s, err := prepare(bin, home)
	require.NoError(t, err)
	require.NoError(t, s.Start())
	t.Cleanup(func() { s.Stop(syscall.SIGINT) }) // fast shutdown
	return s
}

// Start starts the process of a server of the test's own and waits until it answers.
func (s *Server) Start() error {
	s.cmd = s.launch()
	if err := s.cmd.Start(); err != nil {
		return err
	}
	return s.await()
}

// Stop ends that process with a signal (SIGINT: connections are closed, SIGQUIT: as a crash) and
// waits for its end. It may have ended before.
func (s *Server) Stop(signal syscall.Signal) {
	_ = s.cmd.Process.Signal(signal)
	_ = s.cmd.Wait()
}

// Pid is the number of that process.
func (s *Server) Pid() int { return s.cmd.Process.Pid }

// Addr is the server's host and port.
func (s *Server) Addr(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(s.url)
	require.NoError(t, err)
	return u.Host
}

// binaries finds the folder of initdb and postgres.
func binaries() (string, error) {
	folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	folders = append(folders, "/usr/local/bin", "/usr/bin")
	if p, err := exec.LookPath("initdb"); err == nil {
		folders = append(folders, filepath.Dir(p))
	}
	for _, f := range folders {
		if _, err := os.Stat(filepath.Join(f, "initdb")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(f, "postgres")); err == nil {
			return f, nil
		}
	}
	return "", errors.New("no initdb and postgres here")
}

// prepare makes the files of a server that will listen on a free port of 127.0.0.1. Commits are not
// forced to disk: it outlives no test.
func prepare(bin, dir string) (*Server, error) {
	run, err := asServerUser(dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	out, err := run(filepath.Join(bin, "initdb"), "-D", data, "-U", "gatewayd", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	return listening(&Server{bin: bin, home: dir, run: run}, data)
}

// listening lets a server with its data listen on a free port of 127.0.0.1.
func listening(s *Server, data string) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s.url = fmt.Sprintf("postgres://gatewayd@127.0.0.1:%d/postgres?sslmode=disable", port)
	s.launch = func() *exec.Cmd {
		return s.run(filepath.Join(s.bin, "postgres"), "-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-k", s.home,
			"-c", "fsync=off", "-c", "max_connections=200")
	}
	return s, nil
}

// Standby starts a server that follows a server of the test's own, synchronously.
func (s *Server) Standby(t testing.TB) *Server {
	t.Helper()
	u, err := url.Parse(s.url)
	require.NoError(t, err)
	data := filepath.Join(s.home, newName())
	out, err := s.run(filepath.Join(s.bin, "pg_basebackup"), "-h", u.Hostname(), "-p", u.Port(), "-U", "gatewayd", "-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync").CombinedOutput()
	require.NoError(t, err, "%s", out)
	standby, err := listening(&Server{bin: s.bin, home: s.home, run: s.run}, data)
	require.NoError(t, err)
	require.NoError(t, standby.Start())
	t.Cleanup(func() { standby.Stop(syscall.SIGINT) })
	s.exec(t, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	s.exec(t, "SELECT pg_reload_conf()")
	return standby
}

// StartWithoutStandby starts a server that had a standby; commits no longer wait for one.
func (s *Server) StartWithoutStandby(t testing.TB) {
	t.Helper()
	require.NoError(t, s.Start())
	s.Asynchronous(t)
}

// Promote makes a standby a primary and waits until it is one.
func (s *Server) Promote(t testing.TB) {
	t.Helper()
	s.exec(t, "SELECT pg_promote()")
}

// Asynchronous ends the waiting of commits for a standby.
func (s *Server) Asynchronous(t testing.TB) {
	t.Helper()
	s.exec(t, "ALTER SYSTEM RESET synchronous_standby_names")
	s.exec(t, "SELECT pg_reload_conf()")
}

// Same returns the URL of a standby's copy of a database.
func (s *Server) Same(t testing.TB, database string) string {
	t.Helper()
	name, err := databaseOf(database)
	require.NoError(t, err)
	return s.at(t, name)
}

// Either adds a standby's address to the URL of a database of s: clients use the one that is the
// primary.
func (s *Server) Either(t testing.TB, standby *Server, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	other, err := url.Parse(standby.url)
	require.NoError(t, err)
	u.Host += "," + other.Host
	q := u.Query()
	q.Set("target_session_attrs", "read-write")
	u.RawQuery = q.Encode()
	return u.String()
}

// asServerUser makes commands that run as a user that PostgreSQL accepts: it refuses root.
func asServerUser(dir string) (func(name string, args ...string) *exec.Cmd, error) {
	plain := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(name, args...)
		c.Dir = dir
		return c
	}
	if os.Getuid() != 0 {
		return plain, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, err
	}
	if err := os.Chown(dir, uid, gid); err != nil {
		return nil, err
	}
	return func(name string, args ...string) *exec.Cmd {
		c := plain(name, args...)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return c
	}, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// await asks the server until it answers.
func (s *Server) await() error {
	db, err := sql.Open("pgx", s.url)
	if err != nil {
		return err
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for PostgreSQL: %w", err)
		}
	}
}

// Database makes a database without rows that ends with the test and answers its URL. Not for
// parallel use.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	if s.template == "" {
		name := newName()
		s.create(t, name, "template1")
		store, err := records.Open(t.Context(), records.Config{URL: s.at(t, name)})
		require.NoError(t, err)
		require.NoError(t, store.Close())
		s.template = name
	}
	name := newName()
	s.create(t, name, s.template)
	t.Cleanup(func() { s.exec(t, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return s.at(t, name)
}

// Copy makes a copy of the database at a URL, to which no client may be connected. It ends with the
// test. Not for parallel use.
func (s *Server) Copy(t testing.TB, from string) string {
	t.Helper()
	template, err := databaseOf(from)
	require.NoError(t, err)
	name := newName()
	s.create(t, name, template)
	t.Cleanup(func() { s.exec(t, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return s.at(t, name)
}

// Empty makes a database without tables that ends with the test and answers its URL. Not for
// parallel use.
func (s *Server) Empty(t testing.TB) string {
	t.Helper()
	name := newName()
	s.create(t, name, "template1")
	t.Cleanup(func() { s.exec(t, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return s.at(t, name)
}

// databaseOf is the name of a URL's database. The parameters may name a socket's folder.
func databaseOf(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", err
	}
	return path.Base(u.Path), nil
}

// newName returns a name that no concurrent test uses, of this process or another.
func newName() string { return fmt.Sprintf("gatewayd_test_%d_%x", os.Getpid(), rand.Uint64()) }

func (s *Server) create(t testing.TB, name, template string) {
	t.Helper()
	s.exec(t, "CREATE DATABASE "+name+" TEMPLATE "+template)
}

func (s *Server) exec(t testing.TB, statement string) {
	t.Helper()
	Do(t, s.url, statement)
}

// Do runs a statement on the database of a URL.
func Do(t testing.TB, url, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(statement)
	require.NoError(t, err)
}

// at is the URL of a database of the server.
func (s *Server) at(t testing.TB, name string) string {
	t.Helper()
	u, err := url.Parse(s.url)
	require.NoError(t, err)
	u.Path = "/" + name
	return u.String()
}
