package rpc

import (
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pipe is a connection that can be read only.
type pipe struct {
	net.Conn
	io.Reader
}

func (p pipe) Read(b []byte) (int, error) { return p.Reader.Read(b) }

func TestMessageBound(t *testing.T) {
	text := func(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }
	b := newBounded(pipe{Reader: strings.NewReader(text(maxBody) + text(maxBody) + text(10))})
	texts := json.NewDecoder(b)
	for _, n := range []int{maxBody, maxBody, 10} {
		var s string
		require.NoError(t, texts.Decode(&s))
		require.Len(t, s, n-2)
	}
	_, err := b.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)

	b = newBounded(pipe{Reader: strings.NewReader(text(10) + text(3*maxBody))})
	all, err := io.ReadAll(b)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, text(10)+"\n", string(all))
}
