package drill

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gatewayd/daemon"
	"gatewayd/dev"
	"gatewayd/internal/testing/faults"
)

// drillDatabase is a database on a PostgreSQL server to which the daemon goes by a link, so that it
// can be cut off: the server's Unix socket under another name.
type drillDatabase struct {
	db           *pgx.Conn // as the server's owner
	name         string
	socket, link string
}

// openDatabase makes an empty database and answers its URL. It is dropped when the drill ends.
func (w *drillEnv) openDatabase(ctx context.Context, server string) (string, error) {
	cfg, err := pgx.ParseConfig(server)
	if err != nil {
		return "", fmt.Errorf("GATEWAYD_TEST_POSTGRES: %w", err)
	}
	network, socket := pgconn.NetworkAddress(cfg.Host, cfg.Port)
	if network != "unix" {
		return "", fmt.Errorf("GATEWAYD_TEST_POSTGRES: host=%s must be the directory of a Unix socket, which the drill can hide from the daemon", cfg.Host)
	}
	db, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return "", fmt.Errorf("GATEWAYD_TEST_POSTGRES: %w", err)
	}
	d := &drillDatabase{db: db, name: "gatewayd_drill_" + uuid.NewString()[:8], socket: socket, link: filepath.Join(w.dir, filepath.Base(socket))}
	w.onClose(func() error { return db.Close(context.WithoutCancel(ctx)) })
	if _, err := db.Exec(ctx, "CREATE DATABASE "+d.name); err != nil {
		return "", fmt.Errorf("making a database for the drill: %w", err)
	}
	w.onClose(func() error {
		_, err := db.Exec(context.WithoutCancel(ctx), "DROP DATABASE "+d.name+" WITH (FORCE)")
		return err
	})
	w.database = d
	u := url.URL{Scheme: "postgres", User: url.User(cfg.User), Path: "/" + d.name}
	if cfg.Password != "" {
		u.User = url.UserPassword(cfg.User, cfg.Password)
	}
	u.RawQuery = url.Values{"host": {w.dir}, "port": {strconv.Itoa(int(cfg.Port))}, "sslmode": {"disable"}}.Encode()
	return u.String(), os.Symlink(d.socket, d.link)
}

// cutDatabase hides the server from the daemon and ends its connections.
func (w *drillEnv) cutDatabase(ctx context.Context) error {
	if err := os.Remove(w.database.link); err != nil {
		return err
	}
	_, err := w.database.db.Exec(ctx, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", w.database.name)
	return err
}

// joinDatabase lets the daemon's lease run out before the database is back.
func (w *drillEnv) joinDatabase(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(daemon.LeaseTTL):
	}
	w.log.Note("the database is back")
	if err := os.Symlink(w.database.socket, w.database.link); err != nil {
		return err
	}
	return dev.Within(ctx, drillPatience, "the next lease", func() (bool, error) {
		return strings.Contains(w.readLog(w.logFrom), "the lease is taken again"), w.alive()
	})
}

func (w *drillEnv) withoutPostgres() string {
	if w.database == nil {
		return "GATEWAYD_TEST_POSTGRES names no server"
	}
	return ""
}

// ballast is the file that fills the daemon's disk.
func (w *drillEnv) ballast() string { return filepath.Join(w.data, "ballast") }

func (w *drillEnv) fillDisk(context.Context) error {
	return faults.Fill(w.ballast())
}

func (w *drillEnv) freeDisk(context.Context) error {
	w.log.Note("there is room again")
	return os.Remove(w.ballast())
}

func (w *drillEnv) withoutDisk() string {
	if !w.small {
		return "this system lets nobody mount a small disk in a name space of their own"
	}
	return ""
}

// freePort is a loopback address that was unused a moment ago. Its port is below the ephemeral
// ones.
func freePort() (address string, err error) {
	for range 100 {
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(22_000))); err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", err
}
