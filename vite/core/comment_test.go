package core

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type commentVectors struct {
	Valid []struct {
		Type                          uint8
		Address, Label, DataHex, Note string
	}
	Invalid             []struct{ DataHex, Reason string }
	PlainText           []struct{ Text, DataHex string }
	DocumentDiscrepancy struct {
		HexPrinted string
		HexMeans   struct{ Address, Label string }
	}
}

func TestCommentVectors(t *testing.T) {
	var v commentVectors
	loadVectors(t, "vep8-comments.json", &v)
	require.NotEmpty(t, v.Valid)
	for _, c := range v.Valid {
		want := Comment{Type: c.Type, Address: c.Address, Label: c.Label}
		got, err := DecodeComment(unhex(t, c.DataHex))
		require.NoError(t, err, c.Note)
		require.Equal(t, want, got)
		data, err := want.Encode()
		require.NoError(t, err, c.Note)
		require.Equal(t, c.DataHex, hex.EncodeToString(data))
	}
	for _, c := range v.Invalid {
		_, err := DecodeComment(unhex(t, c.DataHex))
		require.Error(t, err, c.Reason)
	}
	for _, c := range v.PlainText {
		_, err := DecodeComment(unhex(t, c.DataHex))
		require.ErrorIs(t, err, ErrNoComment, c.Text)
	}
	doc, err := DecodeComment(unhex(t, v.DocumentDiscrepancy.HexPrinted))
	require.NoError(t, err)
	require.Equal(t, v.DocumentDiscrepancy.HexMeans.Address, doc.Address)
	require.Equal(t, v.DocumentDiscrepancy.HexMeans.Label, doc.Label)
}

const ethereumText = "0x52908400098527886E0F7030069857D2E4169EE7"

func TestDecodeCommentReasons(t *testing.T) {
	sized := func(n byte, s string) string { return string([]byte{n}) + s }
	for _, c := range []struct {
		data string
		want CommentReason
	}{
		{"\x0b\xc3", CommentTooShort},
		{"\x0b\xc3\x02", CommentUnknownType},
		{"\x0b\xc3\xa9 a text that happens to begin so", CommentUnknownType},
		{"\x0b\xc3\x00" + strings.Repeat("A", 256), CommentTooLong},
		{"\x0b\xc3\x00\xff", CommentInvalidUTF8},
		{"\x0b\xc3\x01", CommentAddressCut},
		{"\x0b\xc3\x01" + sized(5, "abc"), CommentAddressCut},
		{"\x0b\xc3\x01" + sized(3, "abc"), CommentLabelCut},
		{"\x0b\xc3\x01" + sized(3, "abc") + sized(2, "1"), CommentLabelCut},
		{"\x0b\xc3\x01" + sized(3, "abc") + sized(1, "12"), CommentTrailingBytes},
		{"\x0b\xc3\x01" + sized(1, "a") + sized(1, "\xff"), CommentInvalidUTF8},

		// What the Android client writes when the server names a label for type 0.
		{"\x0b\xc3\x00" + sized(42, ethereumText) + sized(0, ""), CommentAndroidLabel},
		{"\x0b\xc3\x00" + sized(42, ethereumText) + sized(5, "12345"), CommentAndroidLabel},
		{"\x0b\xc3\x00" + sized(42, ethereumText) + sized(2, "标签"), CommentAndroidLabel},
		{"\x0b\xc3\x00" + sized(200, strings.Repeat("A", 200)) + sized(0, ""), CommentAndroidLabel},
		// ... when it names none for type 1.
		{"\x0b\xc3\x01" + ethereumText, CommentAndroidNoSizes},
		{"\x0b\xc3\x01адрес", CommentAndroidNoSizes},
		// ... and its sizes for other than ASCII: UTF-16 units, two for a character beyond the first plane.
		{"\x0b\xc3\x01" + sized(42, ethereumText) + sized(2, "标签"), CommentAndroidUTF16},
		{"\x0b\xc3\x01" + sized(5, "адрес") + sized(3, "123"), CommentAndroidUTF16},
		{"\x0b\xc3\x01" + sized(42, ethereumText) + sized(2, "🚀"), CommentAndroidUTF16},
		{"\x0b\xc3\x01" + sized(42, ethereumText) + sized(1, "🚀"), CommentTrailingBytes},
	} {
		comment, err := DecodeComment([]byte(c.data))
		var malformed *CommentError
		require.ErrorAs(t, err, &malformed, "%q", c.data)
		require.Equal(t, c.want, malformed.Reason, "%q", c.data)
		require.Equal(t, Comment{}, comment)
		require.NotErrorIs(t, err, ErrNoComment)
	}
}

func TestEncodeCommentRefuses(t *testing.T) {
	for _, c := range []struct {
		comment Comment
		want    CommentReason
	}{
		{Comment{Type: 2}, CommentUnknownType},
		{Comment{Type: 0, Address: "a", Label: "b"}, CommentLabelWithType0},
		{Comment{Type: 0, Address: strings.Repeat("a", 256)}, CommentTooLong},
		{Comment{Type: 1, Label: strings.Repeat("a", 256)}, CommentTooLong},
		{Comment{Type: 1, Address: "\xff"}, CommentInvalidUTF8},
		{Comment{Type: 0, Address: "\x01a\x00"}, CommentAndroidLabel},
	} {
		_, err := c.comment.Encode()
		var malformed *CommentError
		require.ErrorAs(t, err, &malformed)
		require.Equal(t, c.want, malformed.Reason)
		require.Contains(t, err.Error(), string(c.want))
	}
}

func TestCommentPrintsQuoted(t *testing.T) {
	require.Equal(t, `address "a\nb"`, Comment{Address: "a\nb"}.String())
	require.Equal(t, `address "a" label "\x00"`, Comment{Type: 1, Address: "a", Label: "\x00"}.String())
}

func FuzzDecodeComment(f *testing.F) {
	var v commentVectors
	loadVectors(f, "vep8-comments.json", &v)
	for _, c := range v.Valid {
		f.Add(unhex(f, c.DataHex))
	}
	for _, c := range v.Invalid {
		f.Add(unhex(f, c.DataHex))
	}
	f.Add([]byte("\x0b\xc3\x00\x2a" + ethereumText + "\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := DecodeComment(data)
		if err != nil {
			var malformed *CommentError
			require.True(t, errors.Is(err, ErrNoComment) || errors.As(err, &malformed))
			return
		}
		again, err := c.Encode()
		require.NoError(t, err)
		require.Equal(t, data, again)
	})
}
