package drill

import (
	"context"
	"database/sql"
	"errors"
	"syscall"
	"time"

	"gatewayd/daemon"
)

// yearAhead is the error of the clock.
const yearAhead = 365 * 24 * time.Hour

// advanceClock leaves the sign-guard as a signer does whose clock is ahead. The clock of a running
// process is the system's, which a test cannot set.
func (w *drillEnv) advanceClock(ctx context.Context) error {
	return w.moveAuthorizations(ctx, yearAhead)
}

// correctClock takes that back, which an operator cannot: he waits for a day.
func (w *drillEnv) correctClock(ctx context.Context) error {
	w.log.Note("a day later, as it were")
	return w.moveAuthorizations(ctx, -yearAhead)
}

// moveAuthorizations restarts the daemon, and moves the times of what was authorized meanwhile.
func (w *drillEnv) moveAuthorizations(ctx context.Context, by time.Duration) (err error) {
	if err := w.stop(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", daemon.GuardPath(w.cfg))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `UPDATE authorizations SET created_at = created_at + ?`, by.Milliseconds())
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return w.start(ctx)
}

// stop ends the daemon as an operator does.
func (w *drillEnv) stop() error {
	if err := w.daemon.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	return <-w.ended
}
