package records

import "errors"

// What callers test for with errors.Is.
var (
	ErrNotFound       = errors.New("no such row")
	ErrConflict       = errors.New("the stored rows do not allow it")
	ErrFull           = errors.New("as many transactions of the account as may be are in no block yet")
	ErrWaits          = errors.New("the payment cannot be bound now")
	ErrHalted         = errors.New("the chain is halted")
	ErrParent         = errors.New("the block does not follow the cursor")
	ErrFinality       = errors.New("the line changed at or below its final point")
	ErrNotFinal       = errors.New("the block is not a final block of the line")
	ErrUnknownOutcome = errors.New("the answer to the commit was lost: read again what was stored")
	ErrLeased         = errors.New("another holder has the lease")
	ErrFenced         = errors.New("the lease is lost")
	ErrNewer          = errors.New("the database was written by a newer version")
	ErrOlder          = errors.New("the database was written by an older version")
	ErrTaken          = errors.New("the index was given before")
	ErrGuard          = errors.New("the sign-guard refuses")
)
