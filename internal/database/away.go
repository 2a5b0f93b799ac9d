package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
)

// awayCodes are PostgreSQL's errors of a server that is stopping, starting, without a free
// connection, or a standby.
var awayCodes = []string{"57P01", "57P02", "57P03", "53300", "25006", "08000", "08003", "08006"}

// Away reports whether an error of a database means that its server does not work now: it does not
// answer in time, is stopping or starting, or is a standby. The same request may succeed later.
func Away(err error) bool {
	var server *pgconn.PgError
	if errors.As(err, &server) { // also where connecting was refused
		return slices.Contains(awayCodes, server.Code)
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded)
}

// KeyError is an error of a database with the configuration key that has its address.
type KeyError struct {
	Key string
	Err error
}

func (e *KeyError) Error() string { return e.Err.Error() }
func (e *KeyError) Unwrap() error { return e.Err }

// Of adds to an error of a database the configuration key that has its address.
func Of(key string, err error) error {
	if err == nil {
		return nil
	}
	return &KeyError{key, err}
}
