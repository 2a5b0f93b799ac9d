package ws

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// The members of the binary envelope.
const (
	envelopeClientID  protowire.Number = 1
	envelopeTopics    protowire.Number = 2
	envelopeOpType    protowire.Number = 3
	envelopeMessage   protowire.Number = 4
	envelopeErrorCode protowire.Number = 5
	envelopeKey       protowire.Number = 6
	envelopeTimestamp protowire.Number = 7
	envelopeSignature protowire.Number = 8
)

// parseBinary reads a client's envelope. Members that are not known are skipped; of one that is
// repeated, the last counts.
func parseBinary(data []byte) (request, error) {
	r := request{shape: binaryShape}
	var topics string
	for len(data) > 0 {
		field, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return request{}, fmt.Errorf("%w: tag: %w", errUnreadable, protowire.ParseError(n))
		}
		data = data[n:]
		size := protowire.ConsumeFieldValue(field, kind, data)
		if size < 0 {
			return request{}, fmt.Errorf("%w: member %d: %w", errUnreadable, field, protowire.ParseError(size))
		}
		value := data[:size]
		data = data[size:]
		if err := r.member(field, kind, value, &topics); err != nil {
			return request{}, err
		}
	}
	r.topics = splitTopics(topics)
	return r, nil
}

// member takes one member of the envelope.
func (r *request) member(field protowire.Number, kind protowire.Type, value []byte, topics *string) error {
	var to *string
	switch field {
	case envelopeClientID:
		to = &r.clientID
	case envelopeTopics:
		to = topics
	case envelopeOpType:
		to = &r.op
	case envelopeKey:
		to = &r.key
	case envelopeTimestamp:
		to = &r.timestamp
	case envelopeSignature:
		to = &r.signature
	default:
		return nil
	}
	if kind != protowire.BytesType {
		return fmt.Errorf("%w: member %d is no text", errUnreadable, field)
	}
	text, _ := protowire.ConsumeBytes(value)
	if !utf8.Valid(text) {
		return fmt.Errorf("%w: member %d is not UTF-8", errUnreadable, field)
	}
	*to = string(text)
	return nil
}

// binary encodes a reply as an envelope. Replies do not repeat the client's id (the published
// samples).
func (r reply) binary() []byte {
	b := protoText(nil, envelopeTopics, strings.Join(r.topics, ","))
	b = protoText(b, envelopeOpType, r.op)
	return protoInt(b, envelopeErrorCode, int64(r.fault))
}

// appendBinaryBody appends a push's envelope without the client's ID. All clients share it; each
// client's ID precedes it.
func appendBinaryBody(b []byte, name string, message []byte) []byte {
	b = protoText(b, envelopeTopics, name)
	b = protoText(b, envelopeOpType, opPush)
	return protoItem(b, envelopeMessage, message)
}

// appendBinaryPush appends a push as a frame for the client of that id.
func appendBinaryPush(b []byte, clientID string, body []byte) []byte {
	id := 0
	if clientID != "" {
		id = protowire.SizeTag(envelopeClientID) + protowire.SizeBytes(len(clientID))
	}
	b = appendFrameHeader(b, binaryFrame, id+len(body))
	b = protoText(b, envelopeClientID, clientID)
	return append(b, body...)
}
