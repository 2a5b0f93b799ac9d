package watcher

import "errors"

// ErrNothingToDo says that an operator's order does not fit the record's state.
var ErrNothingToDo = errors.New("nothing to do")

var errNoQuote = errors.New("no network cost has been quoted yet")
