package ethereum

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxPlain bounds an answer over HTTP that is not read with a Scanner. An RPC client needs a
// hundred times the memory of a malicious text. The longest valid answer is two headers, which come
// with the hashes of all transactions.
const maxPlain = 2 << 20

var errTooLarge = errors.New("the answer is larger than max_response, or than any to this question")

// plainAnswer is the key of requests that maxPlain holds for.
type plainAnswer struct{}

func plain(ctx context.Context) context.Context { return context.WithValue(ctx, plainAnswer{}, true) }

// httpClient reads bounded answers, follows no redirects and asks a node on this machine not to
// compress: that costs more than it saves.
func (n *node) httpClient() *http.Client {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: n.timeout}).DialContext,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: keepIdle,
		IdleConnTimeout:     time.Minute,
		TLSHandshakeTimeout: n.timeout,
		DisableCompression:  isLoopback(n.address),
	}
	return &http.Client{
		Transport:     boundedTransport{transport, n.limit, n.limiter},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	return u.Hostname() == "localhost" || strings.HasPrefix(u.Hostname(), "127.") || u.Hostname() == "::1"
}

// boundedTransport cuts answers off after limit bytes (uncompressed), with an error, obeys those
// that ask for a pause and refuses pages for people.
type boundedTransport struct {
	base    http.RoundTripper
	limit   int64
	limiter *nodeLimiter
}

func (t boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	t.limiter.pauseAsTold(response)
	limit := t.limit
	if r.Context().Value(plainAnswer{}) != nil {
		limit = min(limit, maxPlain)
	}
	body := bufio.NewReader(&boundedBody{response.Body, limit})
	if showsPage(response, body) {
		response.Body.Close()
		return nil, htmlAnswer{response.StatusCode}
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{body, response.Body}
	return response, nil
}

// showsPage reports whether an answer is HTML where JSON is expected. A status that refuses the
// request counts for itself, whatever the page.
func showsPage(response *http.Response, body *bufio.Reader) bool {
	if response.StatusCode >= 300 && response.StatusCode < 500 {
		return false
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		return true
	}
	for {
		start, err := body.Peek(1)
		if err != nil { // the reader gets the same error
			return false
		}
		if !bytes.ContainsAny(start, " \r\n\t") {
			return start[0] == '<'
		}
		_, _ = body.Discard(1) // as JSON allows
	}
}

// CloseIdleConnections lets http.Client end kept connections.
func (t boundedTransport) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
