package ws

import "encoding/binary"

// Opcodes of the frames that pushes and replies travel in (RFC 6455, 5.2), with the bit that says that the message
// ends with the frame.
const (
	textFrame   = 0x80 | 1
	binaryFrame = 0x80 | 2
)

// frameHeader is the longest header of a server's frame: opcode, 127, and eight bytes of length. A server does not mask.
const frameHeader = 10

// appendFrame appends payload as one whole frame. A frame is encoded once and then belongs to all connections that get
// it, so it is built here and not by the connection, which would build it anew for each.
func appendFrame(b []byte, opcode byte, payload []byte) []byte {
	b = appendFrameHeader(b, opcode, len(payload))
	return append(b, payload...)
}

// appendFrameHeader appends the header of a frame whose payload of n bytes follows.
func appendFrameHeader(b []byte, opcode byte, n int) []byte {
	switch {
	case n < 126:
		return append(b, opcode, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, opcode, 126), uint16(n))
	default:
		return binary.BigEndian.AppendUint64(append(b, opcode, 127), uint64(n))
	}
}
