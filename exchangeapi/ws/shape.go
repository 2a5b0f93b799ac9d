package ws

import (
	"errors"
	"strings"

	"github.com/gorilla/websocket"
)

// shape is the format of a client's messages and of the answers. A client may use several on one
// connection. A push has the shape of its subscription. An error about an unreadable message has
// the shape of the last readable one, or else that of the path.
type shape uint8

// The shapes.
const (
	commandShape shape = iota // {"command","params"}; home is /v2/ws
	opTypeShape               // {"clientId","opType","topics"}; home is /ws
	binaryShape               // protobuf envelopes; home is /websocket
	shapes
)

// The words of the protocol, the same in all shapes.
const (
	opSub   = "sub"
	opUnSub = "un_sub"
	opPing  = "ping"
	opPong  = "pong"
	opPush  = "push"
	opAuth  = "auth"
)

// clientIDLength is the longest name that a client may give itself.
const clientIDLength = 128

// fault is the error of a message, in the numbers of the binary envelope.
type fault int

// The faults.
const (
	noFault         fault = 0
	illegalClientID fault = 1
	illegalTopic    fault = 2
	illegalOp       fault = 3
	notSignedIn     fault = 4
	visitLimit      fault = 5
	refusedSignIn   fault = 6
	unavailable     fault = 7
)

// text returns the fault's description.
func (f fault) text() string {
	switch f {
	case illegalClientID:
		return "illegal client id"
	case illegalTopic:
		return "illegal topic"
	case illegalOp:
		return "illegal message or operation"
	case visitLimit:
		return "too many topics"
	case notSignedIn:
		return "sign in with an API key of the account first"
	case refusedSignIn:
		return ErrSignIn.Error()
	case unavailable:
		return "service error"
	}
	return "ok"
}

// code is the fault as the number that REST and the command shape have for it.
func (f fault) code() int64 {
	switch f {
	case noFault:
		return 0
	case visitLimit:
		return 1001
	case unavailable:
		return 1005
	}
	return 1002
}

// request is a client's request, in any shape.
type request struct {
	shape                     shape
	op                        string
	topics                    []string
	clientID                  string
	key, timestamp, signature string // of opAuth
}

// reply is the answer to a client's request. A ping is answered with the operation pong.
type reply struct {
	op       string
	topics   []string
	clientID string
	fault    fault
	at       int64 // Unix milliseconds
}

// errUnreadable marks a message that is in none of the shapes.
var errUnreadable = errors.New("neither of the protocol's shapes")

// parse reads a client's message. A text frame is in the shape whose operation it names.
func parse(messageType int, data []byte) (request, error) {
	if messageType == websocket.BinaryMessage {
		return parseBinary(data)
	}
	return parseText(data)
}

// frame encodes a reply as a frame in a shape.
func (s shape) frame(r reply) []byte {
	switch s {
	case binaryShape:
		return appendFrame(nil, binaryFrame, r.binary())
	case opTypeShape:
		return appendFrame(nil, textFrame, r.opType())
	default:
		return appendFrame(nil, textFrame, r.command())
	}
}

// bracketed prints topics as the command shape does: one text, the list in brackets.
func bracketed(topics []string) string { return "[" + strings.Join(topics, ", ") + "]" }

// checkClientID reports whether a client may call itself so. The name is repeated in each binary
// push.
func checkClientID(id string) fault {
	if len(id) > clientIDLength {
		return illegalClientID
	}
	return noFault
}
