package demo

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"gatewayd/exchangeapi/client"
)

// Log prints what a demo does: lines for people, or one JSON object per event for programs. It may
// be used by several goroutines.
type Log struct {
	json  bool
	steps atomic.Int64
	shown sync.Map // shapes and topics of which a push was printed

	mu  sync.Mutex
	out io.Writer
}

func NewLog(out io.Writer, asJSON bool) *Log {
	return &Log{json: asJSON, out: out}
}

// Event is an event as programs read it; members that it has no use for are left out.
type Event struct {
	Event     string          `json:"event"` // step, note, push, order, progress, result or done
	Step      int             `json:"step,omitempty"`
	Text      string          `json:"text,omitempty"`
	Shape     string          `json:"shape,omitempty"`
	Topic     string          `json:"topic,omitempty"`
	Timestamp int64           `json:"timestamp,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"`
	OrderID   string          `json:"orderId,omitempty"`
	Status    *client.Status  `json:"status,omitempty"`
	Counts    map[string]int  `json:"counts,omitempty"`
}

// emit prints one event; text is the form for people. A write fails only if the reader has closed
// its pipe.
func (l *Log) emit(e Event, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.json {
		line, err := json.Marshal(e)
		if err != nil {
			line = []byte(fmt.Sprintf(`{"event":"fault","text":%q}`, err))
		}
		text = string(line)
	}
	if text != "" {
		fmt.Fprintln(l.out, text)
	}
}

// Step begins the next part.
func (l *Log) Step(title string) {
	step := int(l.steps.Add(1))
	l.emit(Event{Event: "step", Step: step, Text: title}, fmt.Sprintf("\n%d. %s", step, title))
}

// Note prints one event.
func (l *Log) Note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.emit(Event{Event: "note", Text: text}, "   "+text)
}

// Progress reports how far a long step has come.
func (l *Log) Progress(counts map[string]int, text string) {
	l.emit(Event{Event: "progress", Counts: counts}, "   "+text)
}

// Result prints the final figures.
func (l *Log) Result(figures any, text string) {
	l.emit(Event{Event: "result", Data: inJSON(figures)}, text)
}

// Order prints an order's status.
func (l *Log) Order(id, what string, status client.Status) {
	l.emit(Event{Event: "order", OrderID: id, Status: &status, Text: what}, fmt.Sprintf("   %s: %d %s", what, status, status))
}

// Done is the last event.
func (l *Log) Done(text string, counts map[string]int) {
	l.emit(Event{Event: "done", Text: text, Counts: counts}, "\n"+text)
}

// Push prints a push. Programs get all pushes of all shapes. People get all pushes of the first
// shape. Of the other shapes they get one push of each topic as received, since the content is the
// same. For protobuf programs get the decoded form.
func (l *Log) Push(p client.Push, value any, text string) {
	e := Event{Event: "push", Shape: p.Shape.String(), Topic: p.Topic, Timestamp: p.Timestamp, Data: p.Data}
	_, known := l.shown.LoadOrStore(e.Shape+" "+p.Topic, true)
	switch {
	case p.Shape == client.Command:
		text = fmt.Sprintf("     > %s  %s", p.Topic, text)
	case known:
		text = ""
	case p.Shape == client.OpType:
		text = cutLine(fmt.Sprintf(`     > %s  as {"message":%s}`, p.Topic, p.Data))
	default:
		text = cutLine(fmt.Sprintf("     > %s  as %d bytes of protobuf: %s", p.Topic, len(p.Data), hex.EncodeToString(p.Data)))
	}
	if p.Shape == client.Binary {
		e.Data = inJSON(value)
	}
	l.emit(e, text)
}

func inJSON(value any) json.RawMessage {
	data, err := json.Marshal(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return data
}

// cutLine keeps a line in a terminal.
func cutLine(s string) string {
	const width = 150
	if len(s) <= width {
		return s
	}
	return s[:width] + "…"
}

// Write takes lines of the gateway's demo as notes.
func (l *Log) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			l.Note("%s", line)
		}
	}
	return len(text), nil
}
