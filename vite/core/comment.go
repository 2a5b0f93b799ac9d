package core

import (
	"errors"
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// The types of gateway comments: what a token's binding calls its "type".
const (
	CommentAddress      uint8 = 0 // an address alone
	CommentAddressLabel uint8 = 1 // an address and a label (memo, tag)
)

const (
	// commentFirst, commentSecond: the content type 0x0bc3 that begins a gateway comment.
	commentFirst, commentSecond = 0x0b, 0xc3

	commentHeader = 3   // content type and comment type
	commentMax    = 255 // bytes of an address, of a label
)

// ErrNoComment marks block data that is no gateway comment: none at all, a wallet's plain text,
// another content type. Data that begins like one but is broken is a *CommentError instead.
var ErrNoComment = errors.New("no gateway comment")

// CommentReason names what is wrong with a gateway comment. The values are stable: operators and
// records see them.
type CommentReason string

// Reasons for refusing a gateway comment. The android ones are shapes that a published wallet
// writes. They are recognised to report the cause to the user and the operators, but never
// interpreted.
const (
	CommentTooShort       CommentReason = "too_short"
	CommentUnknownType    CommentReason = "unknown_type"
	CommentTooLong        CommentReason = "over_255_bytes"
	CommentAddressCut     CommentReason = "address_cut_short"
	CommentLabelCut       CommentReason = "label_cut_short"
	CommentTrailingBytes  CommentReason = "trailing_bytes"
	CommentInvalidUTF8    CommentReason = "invalid_utf8"
	CommentAndroidLabel   CommentReason = "android_type0_with_label"      // type 0 written in the layout of type 1
	CommentAndroidNoSizes CommentReason = "android_type1_without_lengths" // type 1 written in the layout of type 0
	CommentAndroidUTF16   CommentReason = "android_utf16_lengths"         // sizes count UTF-16 units, content is UTF-8
	CommentLabelWithType0 CommentReason = "label_with_type0"              // encoding only

	commentWellFormed CommentReason = ""
)

// CommentError reports that block data is a gateway comment that must not be executed.
type CommentError struct{ Reason CommentReason }

func (e *CommentError) Error() string { return "malformed gateway comment: " + string(e.Reason) }

// Comment is the content of a withdrawal's block data: the payee on the source chain
// (docs/exchange-chain-wire.md 7). The address may be empty or nonsense; the source chain decides
// whether it is payable.
type Comment struct {
	Type    uint8 // CommentAddress or CommentAddressLabel
	Address string
	Label   string // empty unless Type is CommentAddressLabel
}

// Encode returns the block data of the comment. Errors are *CommentError.
func (c Comment) Encode() ([]byte, error) {
	if reason := c.check(); reason != commentWellFormed {
		return nil, &CommentError{reason}
	}
	data := []byte{commentFirst, commentSecond, c.Type}
	if c.Type == CommentAddress {
		data = append(data, c.Address...)
		if androidLabel(data[commentHeader:]) {
			return nil, &CommentError{CommentAndroidLabel}
		}
		return data, nil
	}
	data = append(append(data, byte(len(c.Address))), c.Address...)
	return append(append(data, byte(len(c.Label))), c.Label...), nil
}

func (c Comment) check() CommentReason {
	switch {
	case c.Type > CommentAddressLabel:
		return CommentUnknownType
	case c.Type == CommentAddress && c.Label != "":
		return CommentLabelWithType0
	case len(c.Address) > commentMax || len(c.Label) > commentMax:
		return CommentTooLong
	case !utf8.ValidString(c.Address) || !utf8.ValidString(c.Label):
		return CommentInvalidUTF8
	}
	return commentWellFormed
}

// DecodeComment reads block data. It is strict, since it directs money: every byte must be
// accounted for. Data that is no gateway comment is ErrNoComment, a broken one *CommentError.
func DecodeComment(data []byte) (Comment, error) {
	if len(data) < 2 || data[0] != commentFirst || data[1] != commentSecond {
		return Comment{}, ErrNoComment
	}
	if len(data) < commentHeader {
		return Comment{}, &CommentError{CommentTooShort}
	}
	var c Comment
	var reason CommentReason
	switch body := data[commentHeader:]; data[2] {
	case CommentAddress:
		c, reason = decodeAddressOnly(body)
	case CommentAddressLabel:
		c, reason = decodeAddressLabel(body)
	default:
		reason = CommentUnknownType
	}
	if reason != commentWellFormed {
		return Comment{}, &CommentError{reason}
	}
	return c, nil
}

func decodeAddressOnly(body []byte) (Comment, CommentReason) {
	switch {
	case androidLabel(body):
		return Comment{}, CommentAndroidLabel
	case len(body) > commentMax:
		return Comment{}, CommentTooLong
	case !utf8.Valid(body):
		return Comment{}, CommentInvalidUTF8
	}
	return Comment{Type: CommentAddress, Address: string(body)}, commentWellFormed
}

// androidLabel reports whether a type 0 body is laid out as a type 1 body, in bytes or in UTF-16
// units. Such a body is valid UTF-8 in general, so only its exact structure betrays it.
func androidLabel(body []byte) bool {
	address, label, reason := splitSized(body)
	return reason == commentWellFormed && utf8.Valid(address) && utf8.Valid(label) || utf16Sized(body)
}

func decodeAddressLabel(body []byte) (Comment, CommentReason) {
	address, label, reason := splitSized(body)
	if reason == commentWellFormed && !(utf8.Valid(address) && utf8.Valid(label)) {
		reason = CommentInvalidUTF8
	}
	switch {
	case reason == commentWellFormed:
		return Comment{CommentAddressLabel, string(address), string(label)}, commentWellFormed
	case utf16Sized(body):
		return Comment{}, CommentAndroidUTF16
	case unsizedText(body):
		return Comment{}, CommentAndroidNoSizes
	}
	return Comment{}, reason
}

// splitSized takes apart size, address, size, label.
func splitSized(body []byte) (address, label []byte, reason CommentReason) {
	address, rest, ok := takeSized(body)
	if !ok {
		return nil, nil, CommentAddressCut
	}
	label, rest, ok = takeSized(rest)
	switch {
	case !ok:
		return nil, nil, CommentLabelCut
	case len(rest) > 0:
		return nil, nil, CommentTrailingBytes
	}
	return address, label, commentWellFormed
}

func takeSized(b []byte) (taken, rest []byte, ok bool) {
	if len(b) == 0 || len(b)-1 < int(b[0]) {
		return nil, nil, false
	}
	end := 1 + int(b[0])
	return b[1:end], b[end:], true
}

// utf16Sized reports whether body is size, address, size, label with sizes that count UTF-16 units,
// and at least one of the two is longer in UTF-8.
func utf16Sized(body []byte) bool {
	address, rest, ok := takeUTF16(body)
	if !ok {
		return false
	}
	label, rest, ok := takeUTF16(rest)
	return ok && len(rest) == 0 && (!isASCII(address) || !isASCII(label))
}

func takeUTF16(b []byte) (taken, rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, nil, false
	}
	units, end := int(b[0]), 1
	for units > 0 {
		r, size := utf8.DecodeRune(b[end:])
		if size == 0 || r == utf8.RuneError && size == 1 {
			return nil, nil, false
		}
		units--
		if utf16.RuneLen(r) == 2 {
			units--
		}
		end += size
	}
	return b[1:end], b[end:], units == 0
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// unsizedText reports whether body is bare printable text, as an address written without sizes is.
func unsizedText(body []byte) bool {
	for _, r := range string(body) {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return len(body) > 0
}

// String prints the comment for logs and operators, quoted: its content is a stranger's.
func (c Comment) String() string {
	if c.Type == CommentAddress {
		return fmt.Sprintf("address %q", c.Address)
	}
	return fmt.Sprintf("address %q label %q", c.Address, c.Label)
}
