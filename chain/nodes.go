package chain

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"time"
)

// NodeState is an adapter's view of one of its nodes. It contains no credentials, so it may be
// shown to operators.
type NodeState struct {
	Name      string    // host and port of its URL
	Up        bool      // its last call was answered
	Why       string    // what was wrong with the last call or answer, empty when nothing
	Head      uint64    // the newest height that it reported
	HeadTime  time.Time // the time in that block, zero when unknown
	AskedAt   time.Time // when it was last asked
	Faults    uint64    // answers of it since the start that were proven wrong or that the other nodes contradicted
	LastFault string    // the newest of these in words
	LeftOut   bool      // not asked for now because of its faults
}

// PlainError returns the reason for a missing answer of a node, in words for people. Other errors
// keep their own text.
func PlainError(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return "no answer in time"
	case errors.As(err, &dns):
		return "the name " + dns.Name + " is not known"
	case errors.As(err, &op):
		return "no connection"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection broke off"
	}
	return err.Error()
}
