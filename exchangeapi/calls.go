package exchangeapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

var (
	errRepeated = errors.New("it was signed for once and used already")
	errOverrun  = errors.New("the cycle's calls are used up")
	// errForgotten: whether it was used before the program started is not known.
	errForgotten = errors.New("it was signed before the program knew what is used")
)

// call is a private request with a good signature.
type call struct {
	key   string
	text  string // what was signed, as it was signed
	at    int64  // its timestamp, Unix milliseconds, inside the window
	cycle cycle
}

// cycle is how many private calls a key has and for how long they count.
type cycle struct {
	limit  int
	length time.Duration
}

// counter lets every call through once and no more of a key than its cycle has (docs/adr/015-once.md).
type counter interface {
	// call uses a call up and counts it; errRepeated, errOverrun, errForgotten. A call that is refused leaves no trace. wait is when asking again
	// makes sense.
	call(ctx context.Context, c call) (wait time.Duration, err error)
	// leave makes what is known durable. There are no calls after it.
	leave() error
}

// useOnce remembers a signed text for a while; errRepeated if it was used before, by whatever program on the database.
func (k *Keys) useOnce(ctx context.Context, text string, life time.Duration) error {
	return inTx(ctx, k.db, func(tx *sqlx.Tx) error { return remember(ctx, tx, text, k.now(), life) })
}

func inTx(ctx context.Context, db *sqlx.DB, f func(*sqlx.Tx) error) error {
	tx, err := db.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("counting a call: %w", err)
	}
	defer tx.Rollback() // answers ErrTxDone after a commit
	if err := f(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("counting a call: %w", err)
	}
	return nil
}
