package bitcoin

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"gatewayd/chain"
)

const (
	// keepIdle connections per node serve blocks that are read at the same time.
	keepIdle = readAtOnce
	// maxPlain bounds the answer to a small call, maxBatch that to a batch.
	maxPlain = 1 << 20
	maxBatch = 16 << 20
	// maxCookie bounds a cookie file.
	maxCookie = 1 << 10
	// maxText bounds a node's own words in errors.
	maxText = 200
)

var (
	errTooLarge  = errors.New("the answer is larger than max_response, or than any to this question")
	errMalformed = errors.New("the answer is no JSON-RPC")
	errPassword  = errors.New("the node refuses the user and the password")
)

// request is one call of JSON-RPC. Version 1.0 is what all nodes take, also in batches.
type request struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

func newRequest(id int, method string, params []any) request {
	if params == nil {
		params = []any{}
	}
	return request{"1.0", id, method, params}
}

type response struct {
	ID     *int            `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *refusal        `json:"error"`
}

// refusal is a node's answer that it does not do what it was asked.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) Error() string {
	text := strings.Map(func(c rune) rune {
		if c < ' ' {
			return ' '
		}
		return c
	}, r.Message)
	return fmt.Sprintf("%s (%d)", text[:min(len(text), maxText)], r.Code)
}

// statusError is an answer without JSON-RPC.
type statusError int

func (s statusError) Error() string {
	return fmt.Sprintf("HTTP status %d: %s", int(s), http.StatusText(int(s)))
}

// rpcClient speaks JSON-RPC over HTTP with one node.
type rpcClient struct {
	url    string // without user and password
	user   *url.Userinfo
	cookie string // a file; used when user is nil. Empty for nodes on other machines
	http   *http.Client
}

func newRPCClient(address string, config Config, authorities *x509.CertPool) (*rpcClient, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the node's address is not a URL")
	}
	r := &rpcClient{user: u.User}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() == "localhost" || ip.IsLoopback() {
		r.cookie = config.CookieFile
	}
	u.User = nil
	r.url = u.String()
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: config.Timeout}).DialContext,
		MaxIdleConnsPerHost: keepIdle,
		IdleConnTimeout:     time.Minute,
		TLSHandshakeTimeout: config.Timeout,
		DisableCompression:  true, // hashes and signatures do not get shorter
	}
	if authorities != nil {
		transport.TLSClientConfig = tlsOf(authorities)
	}
	r.http = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return r, nil
}

// post sends one request or a batch, and reads an answer of at most limit bytes into a buffer.
func (r *rpcClient) post(ctx context.Context, content any, limit int64, answer *bytes.Buffer) error {
	body, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return errors.New("the node's address cannot be asked")
	}
	q.Header.Set("Content-Type", "application/json")
	if err := r.authorize(q); err != nil {
		return err
	}
	a, err := r.http.Do(q)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			return of.Err // without the address
		}
		return err
	}
	defer a.Body.Close()
	if a.StatusCode == http.StatusUnauthorized || a.StatusCode == http.StatusForbidden {
		return errPassword
	}
	if a.StatusCode == http.StatusTooManyRequests {
		return chain.ErrLimited
	}
	if size := a.ContentLength; size > 0 && size <= limit {
		answer.Grow(int(size) + bytes.MinRead)
	}
	if _, err := answer.ReadFrom(io.LimitReader(a.Body, limit+1)); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if int64(answer.Len()) > limit {
		return errTooLarge
	}
	// Nodes answer a refusal with status 500 or 404, and its reason in JSON.
	if start := bytes.TrimLeft(answer.Bytes(), " \r\n\t"); len(start) == 0 || start[0] != '{' && start[0] != '[' {
		if a.StatusCode != http.StatusOK {
			return statusError(a.StatusCode)
		}
		return errMalformed
	}
	return nil
}

// authorize adds user and password. A node writes a new cookie at each start.
func (r *rpcClient) authorize(q *http.Request) error {
	if r.user != nil {
		password, _ := r.user.Password()
		q.SetBasicAuth(r.user.Username(), password)
		return nil
	}
	if r.cookie == "" {
		return nil
	}
	f, err := os.Open(r.cookie)
	if err != nil {
		return fmt.Errorf("cookie_file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCookie))
	if err != nil {
		return fmt.Errorf("cookie_file: %w", err)
	}
	user, password, found := strings.Cut(strings.TrimSpace(string(text)), ":")
	if !found {
		return errors.New("cookie_file: must have user:password")
	}
	q.SetBasicAuth(user, password)
	return nil
}

// readResult takes the result of request 1 out of an answer.
func readResult(text []byte, out any) error {
	var a response
	if err := json.Unmarshal(text, &a); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return a.take(1, out)
}

func (a response) take(id int, out any) error {
	switch {
	case a.Error != nil:
		return a.Error
	case a.ID == nil || *a.ID != id || a.Result == nil:
		return fmt.Errorf("%w: it has no result, or is another's", errMalformed)
	}
	if err := json.Unmarshal(a.Result, out); err != nil {
		return fmt.Errorf("%w: %w", errMalformed, err)
	}
	return nil
}

var resultMark = []byte(`"result":"`)

// readHex is readResult for a long text of hexadecimal digits: it leaves them out of the JSON that
// is parsed.
func readHex(text []byte) ([]byte, error) {
	start := bytes.Index(text, resultMark)
	if start < 0 {
		var digits string
		if err := readResult(text, &digits); err != nil {
			return nil, err
		}
		return decodeHex([]byte(digits))
	}
	start += len(resultMark)
	size := bytes.IndexByte(text[start:], '"')
	if size < 0 {
		return nil, fmt.Errorf("%w: it is cut off", errMalformed)
	}
	around := append(bytes.Clone(text[:start]), text[start+size:]...)
	if err := readResult(around, new(string)); err != nil {
		return nil, err
	}
	return decodeHex(text[start : start+size])
}

func decodeHex(digits []byte) ([]byte, error) {
	raw := make([]byte, hex.DecodedLen(len(digits)))
	if _, err := hex.Decode(raw, digits); err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return raw, nil
}

// transient reports whether the same call may succeed a moment later.
func transient(err error) bool {
	var status statusError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), os.IsTimeout(err):
		return false
	case errors.Is(err, errTooLarge), errors.Is(err, errPassword), errors.Is(err, errMalformed), errors.Is(err, chain.ErrLimited), errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return false
	case errors.As(err, &status):
		return status >= 500
	}
	return !refused(err)
}

// refused reports whether the node has answered with a refusal.
func refused(err error) bool {
	var r *refusal
	return errors.As(err, &r)
}
