package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Habit is a way in which a provider's endpoint differs from a plain node. Its functions may be
// called concurrently.
type Habit struct {
	Name string
	// Whole answers a request, single or batch, without asking the node; nil passes it on.
	Whole func(calls []Call) *Reply
	// Before changes a call before the node gets it.
	Before func(up *Upstream, c *Call)
	// After changes the node's answer to a call.
	After func(up *Upstream, c Call, a *Answer)
	// CloseAfter ends WebSocket connections of that age; 0 never does.
	CloseAfter time.Duration
}

// Call is one JSON-RPC call.
type Call struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  []any           `json:"params"`
}

// Answer is the answer to one call.
type Answer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *ErrorObject    `json:"error,omitempty"`
}

// ErrorObject is the error of an answer.
type ErrorObject struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Refuse replaces the result by an error.
func (a *Answer) Refuse(code int, text string) { a.Result, a.Error = nil, &ErrorObject{code, text} }

// Return replaces the answer by a result.
func (a *Answer) Return(result any) {
	text, err := json.Marshal(result)
	if err != nil {
		a.Refuse(-32603, err.Error())
		return
	}
	a.Result, a.Error = text, nil
}

// Reply is an HTTP answer of the endpoint itself.
type Reply struct {
	Status     int
	Type       string // Content-Type
	Body       string
	RetryAfter string
	Hangs      bool // no answer at all
}

// Upstream is the node behind the endpoint.
type Upstream struct {
	ctx context.Context
	url string
}

// Ask calls the node.
func (u *Upstream) Ask(into any, method string, params ...any) error {
	text, err := json.Marshal(Call{"2.0", json.RawMessage("1"), method, params})
	if err != nil {
		return err
	}
	answered, err := u.post(text)
	if err != nil {
		return err
	}
	var a Answer
	if err := json.Unmarshal(answered, &a); err != nil {
		return err
	}
	if a.Error != nil {
		return errors.New(a.Error.Message)
	}
	return json.Unmarshal(a.Result, into)
}

func (u *Upstream) post(body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(u.ctx, http.MethodPost, u.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(io.LimitReader(response.Body, maxNodeBody))
}

// answer returns the endpoint's answer to a request: the text of the calls' answers, or a reply of
// its own.
func (h Habit) answer(up *Upstream, asked []byte) ([]byte, *Reply, error) {
	batch := bytes.HasPrefix(bytes.TrimSpace(asked), []byte("["))
	if !batch {
		asked = inBrackets(asked)
	}
	var calls []Call
	if err := json.Unmarshal(asked, &calls); err != nil {
		return nil, nil, fmt.Errorf("reading a request: %w", err)
	}
	if h.Whole != nil {
		if r := h.Whole(calls); r != nil {
			return nil, r, nil
		}
	}
	answers, err := h.pass(up, calls)
	if err != nil {
		return nil, nil, err
	}
	var out any = answers
	if !batch {
		out = answers[0]
	}
	text, err := json.Marshal(out)
	return text, nil, err
}

// pass has the node answer the calls, and changes the answers.
func (h Habit) pass(up *Upstream, calls []Call) ([]Answer, error) {
	if h.Before != nil {
		for i := range calls {
			h.Before(up, &calls[i])
		}
	}
	body, err := json.Marshal(calls)
	if err != nil {
		return nil, err
	}
	text, err := up.post(body)
	if err != nil {
		return nil, err
	}
	var answers []Answer
	if err := json.Unmarshal(text, &answers); err != nil || len(answers) != len(calls) {
		return nil, fmt.Errorf("the node answers %.100q", text)
	}
	for i := range answers { // nodes answer in order
		if answers[i].Result == nil && answers[i].Error == nil {
			answers[i].Result = json.RawMessage("null")
		}
		if h.After != nil {
			h.After(up, calls[i], &answers[i])
		}
	}
	return answers, nil
}

// serve answers an HTTP request.
func (h Habit) serve(w http.ResponseWriter, up *Upstream, asked []byte) {
	text, reply, err := h.answer(up, asked)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
	case reply == nil:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text) // a client that went away reads nothing
	case reply.Hangs:
		<-up.ctx.Done()
	default:
		w.Header().Set("Content-Type", reply.Type)
		if reply.RetryAfter != "" {
			w.Header().Set("Retry-After", reply.RetryAfter)
		}
		w.WriteHeader(reply.Status)
		_, _ = io.WriteString(w, reply.Body)
	}
}
