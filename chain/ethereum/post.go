package ethereum

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/ethereum/go-ethereum/rpc"
)

// question is a JSON-RPC request.
type question struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// scan is call for large answers: read takes the result as it comes. Over HTTP the answer is read
// in one pass; the other transports hand over a copy.
func (n *node) scan(ctx context.Context, read func(*scanner), method string, args ...any) error {
	if err := n.ready(ctx); err != nil {
		return err
	}
	return n.exchange(ctx, method, 1, func(ctx context.Context, client *rpc.Client) error {
		if strings.HasPrefix(n.address, "http") {
			return n.post(ctx, read, method, args)
		}
		var result json.RawMessage
		if err := client.CallContext(ctx, &result, method, args...); err != nil {
			return err
		}
		s := newScanner(result)
		read(s)
		return s.End()
	})
}

// post asks over HTTP without the RPC client, which would read the answer four times.
func (n *node) post(ctx context.Context, read func(*scanner), method string, args []any) error {
	return n.postBody(ctx, question{"2.0", 1, method, args}, func(text []byte) error { return readAnswer(text, read) })
}

// postBody sends a request of any form. The client bounds the answer and follows no redirect, like
// the other calls. take must not keep parts of the text.
func (n *node) postBody(ctx context.Context, content any, take func(text []byte) error) error {
	body, err := json.Marshal(content)
	if err != nil {
		return fmt.Errorf("encoding the request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.address, bytes.NewReader(body))
	if err != nil {
		return errors.New("the node's address cannot be asked")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := n.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return rpc.HTTPError{StatusCode: response.StatusCode, Status: response.Status}
	}
	answer := n.buffer()
	defer n.putBuffer(answer)
	if response.ContentLength > 0 && response.ContentLength <= n.limit {
		answer.Grow(int(response.ContentLength) + bytes.MinRead)
	}
	if _, err := answer.ReadFrom(response.Body); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return take(answer.Bytes())
}

// buffer is room for an answer: that of an earlier one, if there was one. What is read from an
// answer never keeps a part of its text.
func (n *node) buffer() *bytes.Buffer {
	if b, ok := n.answers.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return new(bytes.Buffer)
}

// maxBuffer is the largest answer whose buffer is used again; blocks of any chain are below it.
const maxBuffer = 8 << 20

func (n *node) putBuffer(answer *bytes.Buffer) {
	if answer.Cap() <= maxBuffer {
		n.answers.Put(answer)
	}
}

// readAnswer takes the result, or the error, out of a JSON-RPC answer to request 1.
func readAnswer(text []byte, read func(*scanner)) error {
	s := newScanner(text)
	if c := s.Peek(); c != '{' && c != 0 {
		return errNotJSON
	}
	var refusal *refusal
	answered, mine := false, false
	s.Object(func(name []byte) {
		switch string(name) {
		case "id":
			mine = string(s.Raw()) == "1"
		case "result":
			answered = true
			read(s)
		case "error":
			refusal = scanRefusal(s)
		default:
			s.Skip()
		}
	})
	switch err := s.End(); {
	case err != nil:
		return err
	case refusal != nil:
		return remoteError{refusal.Code, refusal.Message}
	case !answered || !mine:
		return errors.New("the answer has no result, or is another's")
	}
	return nil
}

// refusal is the error member of an answer.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// scanRefusal reads an error; nil for null.
func scanRefusal(s *scanner) *refusal {
	if s.Null() {
		return nil
	}
	var r refusal
	if err := json.Unmarshal(s.Raw(), &r); err != nil {
		s.Fail(err)
	}
	return &r
}
