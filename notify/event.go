package notify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/records"
)

// Event is a webhook's JSON. Receivers should store the IDs that they have seen: an event may come
// twice.
type Event struct {
	ID        string         `json:"id"`   // the same at every delivery
	Type      string         `json:"type"` // condition.began, condition.changed, condition.over, record.attention, record.changed, test
	At        time.Time      `json:"timestamp"`
	Actor     string         `json:"actor,omitempty"` // who did it: the daemon or an operator
	Condition *records.Alert `json:"condition,omitempty"`
	Change    *Change        `json:"change,omitempty"`
	Record    any            `json:"record,omitempty"` // as it is now, as `records list --json` has it

	record *records.Record
	seq    uint64 // of its line of the history
	topic  Topic
}

// Change is a change of a record: of its transfer or of a payment of it.
type Change struct {
	Of     string `json:"of"` // transfer, or the payment's purpose: credit, refund
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
}

// eventOf makes an event of a line of the history; nil for one that is of none of the topics.
func eventOf(tx *records.Tx, line records.Event, wanted []Topic) (*Event, error) {
	// By the digest: after a restore the history continues with numbers that other lines had, and
	// receivers have stored the IDs of those.
	e := &Event{ID: fmt.Sprintf("h%d-%.8s", line.Seq, line.Digest), At: line.At, Actor: line.Actor, seq: line.Seq}
	if e.topic = topicOf(line); !slices.Contains(wanted, e.topic) {
		return nil, nil
	}
	if e.topic == Conditions {
		e.Type, e.Condition = "condition."+line.Event, &records.Alert{}
		return e, json.Unmarshal([]byte(line.Detail), e.Condition)
	}
	id, err := strconv.ParseUint(line.SubjectID, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("line %d of the history: %w", line.Seq, err)
	}
	if line.Subject == "transfer" {
		if err := e.ofRecord(tx, id, Change{"transfer", line.Event, line.Detail}); err != nil || slices.Contains(wanted, e.topic) {
			return e, err
		}
		return nil, nil
	}
	p, err := tx.Payments().Get(id)
	if err != nil || p.TransferID == 0 || (p.Purpose != chain.Credit && p.Purpose != chain.Refund) {
		return nil, err // sweeps, gas and receives are no user's business
	}
	return e, e.ofRecord(tx, p.TransferID, Change{string(p.Purpose), line.Event, line.Detail})
}

// topicOf is empty for events without a notification.
func topicOf(line records.Event) Topic {
	switch line.Subject {
	case records.ConditionSubject:
		return Conditions
	case "transfer", "payment":
		if line.Event == string(records.Held) || line.Event == "incident" {
			return Attention
		}
		return Records
	}
	return ""
}

func (e *Event) ofRecord(tx *records.Tx, id uint64, c Change) error {
	r, err := tx.Transfers().Record(id)
	if err != nil {
		return err
	}
	e.record, e.Change, e.Type = &r, &c, "record.changed"
	unknown, err := tx.Transfers().OfUnknownToken(r.Transfer)
	if unknown {
		e.topic = Records // no action is required
	}
	if e.topic == Attention {
		e.Type = "record.attention"
	}
	return err
}

// text is the event for people: a subject, and lines.
func (e Event) text() (subject, body string) {
	switch {
	case e.Condition != nil:
		return e.conditionText()
	case e.record != nil:
		r := e.record
		subject = fmt.Sprintf("record %d: %s %s", r.ID, e.Change.Of, e.Change.State)
		body = fmt.Sprintf("%s %s on %s: %s\n%s\ngatewayd records show %d\n", r.Direction, r.Tx, r.Network, r.State, e.Change.Detail, r.ID)
	default:
		subject, body = "a test", "This is a test of `gatewayd alerts test`.\n"
	}
	return subject, body
}

func (e Event) conditionText() (subject, body string) {
	c := e.Condition
	subject = c.Kind
	switch {
	case e.Type == "condition."+records.ConditionOver:
		subject = "over: " + subject
	case c.Severity == records.Critical:
		subject = "payments are blocked: " + subject
	case c.Stops:
		subject = "payments of some tokens are blocked: " + subject
	}
	body = c.Detail + "\nsince " + c.Since.UTC().Format(time.DateTime) + " UTC\n"
	if len(c.Tokens) > 0 {
		body += strings.Join(c.Tokens, "\n") + "\n"
	}
	return subject, body
}
