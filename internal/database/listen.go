package database

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A connection that listens is checked when it was silent for listenSilence. Connecting and the
// check may take listenTimeout each: a network that loses everything answers neither.
const (
	listenSilence = 10 * time.Second
	listenTimeout = 5 * time.Second
)

// errNoServer is Listen's error on a file.
var errNoServer = errors.New("a file announces nothing")

// Listen calls heard with the text of each NOTIFY on a channel, until ctx ends, the connection
// breaks or heard fails, and returns the reason. The connection is its own. When it listens it
// first calls heard with an empty text, since earlier notifications may have been missed.
func (db *DB) Listen(ctx context.Context, channel string, heard func(text string) error) error {
	if db.server == nil {
		return errNoServer
	}
	conn, err := db.listen(ctx, channel)
	if err != nil {
		return fmt.Errorf("listening to the database: %w", err)
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ending) // it has no transaction
	}()
	for err = heard(""); err == nil; {
		var n *pgconn.Notification
		if n, err = nextNotification(ctx, conn); n != nil {
			err = heard(n.Payload)
		}
	}
	return fmt.Errorf("listening to the database: %w", err)
}

func (db *DB) listen(ctx context.Context, channel string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, listenTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, db.server)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

// nextNotification returns nil if none came for a while and the server still answers.
func nextNotification(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	silence, cancel := context.WithTimeout(ctx, listenSilence)
	defer cancel()
	n, err := conn.WaitForNotification(silence)
	if err == nil || silence.Err() == nil {
		return n, err
	}
	check, cancel := context.WithTimeout(ctx, listenTimeout)
	defer cancel()
	return nil, conn.Ping(check)
}
