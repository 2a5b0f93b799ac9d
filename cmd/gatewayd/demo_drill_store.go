package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// databaseGate stands between the daemon and a PostgreSQL server, with a database of its own there, and can cut every connection.
type databaseGate struct {
	network, address string // of the server
	listen           net.Listener

	mu    sync.Mutex
	cut   bool
	conns map[net.Conn]bool
}

const drillDatabase = "gatewayd_drill"

// openDatabase makes an empty database on a server and answers its URL through a gate. It is dropped when the drill ends.
func (w *drillWorld) openDatabase(ctx context.Context, server string) (string, error) {
	cfg, err := pgx.ParseConfig(server)
	if err != nil {
		return "", fmt.Errorf("--postgres: %w", err)
	}
	db, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return "", fmt.Errorf("--postgres: %w", err)
	}
	w.closers = append(w.closers, func() error { return db.Close(context.WithoutCancel(ctx)) })
	if _, err := db.Exec(ctx, "CREATE DATABASE "+drillDatabase); err != nil {
		return "", fmt.Errorf("making a database for the drill: %w", err)
	}
	w.closers = append(w.closers, func() error {
		_, err := db.Exec(context.WithoutCancel(ctx), "DROP DATABASE "+drillDatabase+" WITH (FORCE)")
		return err
	})
	g := &databaseGate{conns: map[net.Conn]bool{}}
	g.network, g.address = pgconn.NetworkAddress(cfg.Host, cfg.Port)
	if g.listen, err = net.Listen("unix", filepath.Join(w.dir, ".s.PGSQL."+strconv.Itoa(int(cfg.Port)))); err != nil {
		return "", err
	}
	go g.serve()
	w.database = g
	w.closers = append(w.closers, func() error { g.fail(true); return g.listen.Close() })
	u := url.URL{Scheme: "postgres", User: url.User(cfg.User), Path: "/" + drillDatabase}
	if cfg.Password != "" {
		u.User = url.UserPassword(cfg.User, cfg.Password)
	}
	u.RawQuery = url.Values{"host": {w.dir}, "port": {strconv.Itoa(int(cfg.Port))}, "sslmode": {"disable"}}.Encode()
	return u.String(), nil
}

func (g *databaseGate) serve() {
	for {
		client, err := g.listen.Accept()
		if err != nil {
			return
		}
		go g.carry(client)
	}
}

// carry copies both ways until either end closes.
func (g *databaseGate) carry(client net.Conn) {
	defer client.Close()
	if !g.take(client) {
		return
	}
	defer g.drop(client)
	server, err := net.Dial(g.network, g.address)
	if err != nil {
		return
	}
	defer server.Close()
	go func() { _, _ = io.Copy(client, server); client.Close() }()
	_, _ = io.Copy(server, client)
}

func (g *databaseGate) take(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.cut {
		g.conns[c] = true
	}
	return !g.cut
}

func (g *databaseGate) drop(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, c)
}

// fail cuts every connection and takes no new one, until it is called with false.
func (g *databaseGate) fail(cut bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut = cut
	for c := range g.conns {
		if cut {
			c.Close()
		}
	}
}

func cutDatabase(_ context.Context, d *drillRun) error { d.database.fail(true); return nil }

// joinDatabase lets the daemon's lease run out before the database is back.
func joinDatabase(ctx context.Context, d *drillRun) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(leaseTTL):
	}
	d.database.fail(false)
	d.log.note("the database is back")
	return within(ctx, drillPatience, "the next lease", func() (bool, error) {
		return strings.Contains(d.told(d.logFrom), "the lease is ours again"), d.alive()
	})
}

func withoutPostgres(w *drillWorld) string {
	if w.database == nil {
		return "--postgres names no server"
	}
	return ""
}

// ballast is what takes all room of the daemon's disk.
func (w *drillWorld) ballast() string { return filepath.Join(w.data, "ballast") }

func fillDisk(_ context.Context, d *drillRun) error {
	f, err := os.Create(d.ballast())
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, zeroes{}); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("filling the disk: %w", err)
	}
	return nil
}

func freeDisk(_ context.Context, d *drillRun) error {
	d.log.note("there is room again")
	return os.Remove(d.ballast())
}

// zeroes never ends.
type zeroes struct{}

func (zeroes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func withoutDisk(w *drillWorld) string {
	switch {
	case w.database != nil:
		return "the records are on PostgreSQL"
	case !w.small:
		return "this system lets nobody mount a small disk in a name space of their own"
	}
	return ""
}
