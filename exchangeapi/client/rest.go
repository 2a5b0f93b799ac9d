package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// answerMost is the largest answer that is read.
const answerMost = 16 << 20

// Codes of the API's errors (spec "Errors").
const (
	CodeGeneral     = 1
	CodeTooFrequent = 1001
	CodeParameter   = 1002
	CodeNetwork     = 1003
	CodeOther       = 1004
	CodeService     = 1005
	CodeMinimum     = 1006
	CodeBalance     = 1007
)

// Error is the API's answer that a request was not carried out.
type Error struct {
	Code int // of the envelope; zero if the answer had none
	HTTP int // status
	Msg  string
}

// Error prints what the API said.
func (e *Error) Error() string {
	return fmt.Sprintf("exchange API: code %d: %s (HTTP %d)", e.Code, e.Msg, e.HTTP)
}

// Client calls the REST API. It may be used by several goroutines. Key and Secret are needed for private calls only.
type Client struct {
	Base   string // "https://host", on the test network "https://host/test"
	Key    string
	Secret string
	HTTP   *http.Client     // nil: a client with a timeout of 15 seconds
	Now    func() time.Time // signs requests; nil: time.Now. The server takes 5 s of lag and 1 s of lead
}

// public calls an endpoint that needs no signature.
func (c *Client) public(ctx context.Context, path string, q params, data any) error {
	return c.call(ctx, http.MethodGet, path, q.encode(), nil, data)
}

// private signs the parameters and calls: in the query for DELETE, as a form for POST.
func (c *Client) private(ctx context.Context, method, path string, p params, data any) error {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	p = append(p, param{"key", c.Key}, param{"timestamp", strconv.FormatInt(now().UnixMilli(), 10)})
	p = append(p, param{"signature", Sign(c.Secret, p.values())})
	if method == http.MethodPost {
		return c.call(ctx, method, path, "", []byte(p.encode()), data)
	}
	return c.call(ctx, method, path, p.encode(), nil, data)
}

// call sends a request and reads the envelope's data into data.
func (c *Client) call(ctx context.Context, method, path, query string, form []byte, data any) error {
	address := strings.TrimSuffix(c.Base, "/") + "/api/v2/" + path
	if query != "" {
		address += "?" + query
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(form))
	if err != nil {
		return fmt.Errorf("calling %s: %w", path, err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := c.http().Do(req)
	if err != nil {
		return fmt.Errorf("calling %s: %w", path, withoutQuery(err))
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, answerMost+1))
	if err != nil {
		return fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	if len(body) > answerMost {
		return fmt.Errorf("reading the answer of %s: larger than %d bytes", path, answerMost)
	}
	return open(body, answer.StatusCode, path, data)
}

func (c *Client) http() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return &http.Client{Timeout: 15 * time.Second}
}

// withoutQuery is the error of a call without its URL: the query holds a signature.
func withoutQuery(err error) error {
	if e, ok := err.(*url.Error); ok { //nolint:errorlint // http.Client returns no other
		return e.Err
	}
	return err
}

// open reads an answer.
func open(body []byte, status int, path string, data any) error {
	var envelope struct {
		Code *int            `json:"code"`
		Msg  string          `json:"msg"`
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil || envelope.Code == nil {
		return &Error{HTTP: status, Msg: "the answer is no envelope"}
	}
	if *envelope.Code != 0 || status != http.StatusOK {
		return &Error{Code: *envelope.Code, HTTP: status, Msg: envelope.Msg}
	}
	if data == nil {
		return nil
	}
	if err := json.Unmarshal(envelope.Data, data); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	return nil
}
