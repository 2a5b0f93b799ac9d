package notify_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/notify"
	"gatewayd/records"
	"gatewayd/status"
)

const eventTimeout = time.Minute // how long a failing test waits

// webhookReceiver is a receiver that keeps what it gets, and verifies it as its authors' own
// library does.
type webhookReceiver struct {
	t      *testing.T
	server *httptest.Server
	hook   *standardwebhooks.Webhook
	cfg    notify.Webhook

	mu     sync.Mutex
	events []notify.Event
	ids    []string
	fails  int // so many of the next deliveries
}

func newWebhookReceiver(t *testing.T, topics ...notify.Topic) *webhookReceiver {
	t.Helper()
	o := &webhookReceiver{t: t}
	secret, err := notify.NewSecret()
	require.NoError(t, err)
	o.hook, err = standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte(secret+"\n"), 0o600))
	o.server = httptest.NewServer(o)
	t.Cleanup(o.server.Close)
	o.cfg = notify.Webhook{Name: "office", URL: o.server.URL + "/hook", SecretFile: file, Topics: topics}
	return o
}

func (o *webhookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || o.hook.Verify(body, r.Header) != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fails > 0 {
		o.fails--
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	var e notify.Event
	if err := json.Unmarshal(body, &e); err != nil {
		o.t.Error(err)
	}
	o.events, o.ids = append(o.events, e), append(o.ids, r.Header.Get("Webhook-Id"))
}

func (o *webhookReceiver) failing(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fails = n
}

// waitForTypes waits for so many events and returns their types.
func (o *webhookReceiver) waitForTypes(n int) (types []string) {
	o.t.Helper()
	require.Eventually(o.t, func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.events) >= n
	}, eventTimeout, 10*time.Millisecond)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.events {
		types = append(types, e.Type)
	}
	return types
}

// rig is records with a notifier that can be ended and begun again.
type rig struct {
	*recordstest.Rig
	cfg notify.Config
}

func newRig(t *testing.T, cfg notify.Config) *rig {
	t.Helper()
	require.NoError(t, cfg.Check())
	return &rig{recordstest.NewRig(t), cfg}
}

// run runs the notifier until the answer is called.
func (r *rig) run() (end func()) {
	log := logrus.New()
	log.SetOutput(r.T.Output())
	n := notify.New(notify.Parts{Config: r.cfg, Store: r.Store, Log: log, Row: func(rec records.Record) any { return map[string]uint64{"id": rec.ID} }})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(r.T, <-done)
	}
}

// waitUntilJoined waits until the receiver is a subscriber with a place in the history.
func (r *rig) waitUntilJoined(name string) {
	r.T.Helper()
	require.Eventually(r.T, func() bool { return r.subscriber(name).Name == name }, eventTimeout, 10*time.Millisecond)
}

// waitUntilRecorded waits until the records contain the receiver's last event: after an earlier end
// it is sent again.
func (r *rig) waitUntilRecorded(name string, o *webhookReceiver) {
	r.T.Helper()
	o.mu.Lock()
	number, _, _ := strings.Cut(strings.TrimPrefix(o.events[len(o.events)-1].ID, "h"), "-")
	last, err := strconv.ParseUint(number, 10, 64)
	o.mu.Unlock()
	require.NoError(r.T, err)
	require.Eventually(r.T, func() bool { return r.subscriber(name).Seq >= last }, eventTimeout, 10*time.Millisecond)
}

func (r *rig) subscriber(name string) (s records.Subscriber) {
	r.See(func(tx *records.Tx) error {
		all, err := records.Subscribers(tx)
		for _, x := range all {
			if x.Name == name {
				s = x
			}
		}
		return err
	})
	return s
}

func (r *rig) conditions(list ...records.Condition) {
	r.T.Helper()
	r.Do(func(tx *records.Tx) error { return records.AnnounceConditions(tx, list, status.Report{}.Alerts) })
}

var away = records.Condition{Kind: string(status.NodesDown), Chain: recordstest.Source, Stops: true, Detail: "no node answers"}

// Every event arrives, in order, with an ID of its own, whatever fails on the way and however often
// the daemon restarts.
func TestEveryEventOnce(t *testing.T) {
	t.Parallel()
	o := newWebhookReceiver(t)
	r := newRig(t, notify.Config{Gateway: "main", Webhooks: []notify.Webhook{o.cfg}})
	r.conditions(away) // before there is a receiver
	end := r.run()
	r.waitUntilJoined("webhook:office")
	r.conditions()
	require.Equal(t, []string{"condition.over"}, o.waitForTypes(1))
	o.failing(2)
	r.conditions(away)
	held := r.Receive(records.Deposit, 100)
	r.Finalize(held.Chain)
	r.Do(func(tx *records.Tx) error {
		return tx.Transfers().Move(held.ID, records.Seen, records.Held, records.ReasonOperator)
	})
	require.Equal(t, []string{"condition.over", "condition.began", "record.attention"}, o.waitForTypes(3))
	r.waitUntilRecorded("webhook:office", o)
	end()
	r.conditions(away, records.Condition{Kind: string(status.NodeFaulty), Subject: "a", Detail: "it lies"})
	end = r.run()
	defer end()
	require.Equal(t, []string{"condition.over", "condition.began", "record.attention", "condition.began"}, o.waitForTypes(4))

	o.mu.Lock()
	defer o.mu.Unlock()
	seen := map[string]bool{}
	for i, id := range o.ids {
		require.Regexp(t, `^main-h\d+-[0-9a-f]{8}$`, id)
		require.Equal(t, "main-"+o.events[i].ID, id)
		require.False(t, seen[id])
		seen[id] = true
	}
	require.Equal(t, away.Detail, o.events[1].Condition.Detail)
	require.True(t, o.events[1].Condition.Stops)
	require.Equal(t, string(status.NodeFaulty), o.events[3].Condition.Kind, "the other is known")
	require.Equal(t, recordstest.Source, o.events[1].Condition.Chain)
	require.Equal(t, notify.Change{Of: "transfer", State: "held", Detail: string(records.ReasonOperator)}, *o.events[2].Change)
	require.Equal(t, map[string]any{"id": float64(held.ID)}, o.events[2].Record)
}

// One mail or request is about all tokens without funds, and lists them.
func TestGroupedAlert(t *testing.T) {
	t.Parallel()
	o := newWebhookReceiver(t)
	r := newRig(t, notify.Config{Webhooks: []notify.Webhook{o.cfg}})
	defer r.run()()
	r.waitUntilJoined("webhook:office")
	tell := func(tokens ...string) {
		var list []records.Condition
		for _, token := range tokens {
			list = append(list, records.Condition{Kind: string(status.NoFunds), Network: "eth", Token: token, Direction: records.Withdrawal, Stops: true, Detail: "top it up"})
		}
		r.Do(func(tx *records.Tx) error { return records.AnnounceConditions(tx, list, status.Report{}.Alerts) })
	}
	tell("a")
	tell("a", "b")
	tell("a", "b")
	tell()
	require.Equal(t, []string{"condition.began", "condition.changed", "condition.over"}, o.waitForTypes(3))
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, want := range [][]string{{"eth a withdrawal"}, {"eth a withdrawal", "eth b withdrawal"}, {"eth a withdrawal", "eth b withdrawal"}} {
		require.Equal(t, want, o.events[i].Condition.Tokens)
		require.Equal(t, records.Warning, o.events[i].Condition.Severity)
	}
}

// A back office gets each change of a record.
func TestRecordsTopic(t *testing.T) {
	t.Parallel()
	o := newWebhookReceiver(t, notify.Records)
	r := newRig(t, notify.Config{Webhooks: []notify.Webhook{o.cfg}})
	defer r.run()()
	r.waitUntilJoined("webhook:office")
	r.conditions(away)
	_, payment := r.Owe(records.Deposit, 500)
	r.Pay(payment)
	o.waitForTypes(6)
	var states []string
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.events {
		states = append(states, e.Change.Of+" "+e.Change.State)
	}
	require.Equal(t, []string{"transfer seen", "transfer final", "credit queued", "credit bound", "credit attempt_pay", "credit paid"}, states)
}

// A receiver that takes nothing is a condition on every surface, and holds up no other.
func TestSilentReceiver(t *testing.T) {
	t.Parallel()
	good, bad := newWebhookReceiver(t), newWebhookReceiver(t)
	bad.cfg.Name = "bad"
	bad.failing(1 << 30)
	r := newRig(t, notify.Config{Webhooks: []notify.Webhook{good.cfg, bad.cfg}})
	defer r.run()()
	r.waitUntilJoined("webhook:office")
	r.waitUntilJoined("webhook:bad")
	r.conditions(away)
	require.Equal(t, []string{"condition.began"}, good.waitForTypes(1))
	require.Eventually(t, func() bool { return r.subscriber("webhook:bad").Attempts > 1 }, eventTimeout, 10*time.Millisecond)
	require.Equal(t, "it answers 500 Internal Server Error", r.subscriber("webhook:bad").Fault)
	require.False(t, r.hasCondition(status.NotTold), "a minute has not passed")
	r.Pass(2 * time.Minute)
	require.Eventually(t, func() bool { return r.hasCondition(status.NotTold) }, eventTimeout, 100*time.Millisecond)
	bad.failing(0)
	require.Equal(t, []string{"condition.began"}, bad.waitForTypes(1))
	require.Eventually(t, func() bool { return !r.hasCondition(status.NotTold) }, eventTimeout, 10*time.Millisecond)
}

// The conditions of a receiver that is no longer configured are deleted.
func TestRemovedReceiverIsForgotten(t *testing.T) {
	t.Parallel()
	o := newWebhookReceiver(t)
	r := newRig(t, notify.Config{Webhooks: []notify.Webhook{o.cfg}})
	silent := func(name string) {
		r.Do(func(tx *records.Tx) error {
			return records.NoteConditions(tx, "notify:"+name, []records.Condition{{Kind: string(status.NotTold), Subject: name}})
		})
	}
	silent("webhook:office")
	silent("webhook:renamed")
	r.Do(func(tx *records.Tx) error { return records.NoteConditions(tx, "monitor", []records.Condition{away}) })
	defer r.run()()
	about := func() (subjects []string) {
		r.See(func(tx *records.Tx) error {
			all, err := records.Conditions(tx)
			for _, c := range all {
				subjects = append(subjects, c.Subject)
			}
			return err
		})
		return subjects
	}
	require.Eventually(t, func() bool { return len(about()) == 2 }, eventTimeout, 10*time.Millisecond)
	require.ElementsMatch(t, []string{"", "webhook:office"}, about())
}

// A clock that was ahead when a delivery failed mutes no receiver until the time that it showed.
func TestClockThatWasAhead(t *testing.T) {
	t.Parallel()
	o := newWebhookReceiver(t)
	r := newRig(t, notify.Config{Webhooks: []notify.Webhook{o.cfg}})
	end := r.run()
	r.waitUntilJoined("webhook:office")
	end()
	r.Do(func(tx *records.Tx) error {
		return records.SubscriberRefused(tx, "webhook:office", "no connection", time.Now().Add(8*time.Hour))
	})
	r.conditions(away)
	defer r.run()()
	require.Equal(t, []string{"condition.began"}, o.waitForTypes(1))
}

// After a restore the history continues with numbers that other lines had: their events have other
// IDs.
func TestSameNumberInTwoHistories(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	for _, detail := range []string{"before the restore", "after it"} {
		o := newWebhookReceiver(t)
		r := newRig(t, notify.Config{Webhooks: []notify.Webhook{o.cfg}})
		end := r.run()
		r.waitUntilJoined("webhook:office")
		one := away
		one.Detail = detail
		r.conditions(one)
		o.waitForTypes(1)
		end()
		ids[o.events[0].ID] = true
	}
	require.Len(t, ids, 2)
}

func (r *rig) hasCondition(kind status.Kind) (found bool) {
	r.See(func(tx *records.Tx) error {
		all, err := records.Conditions(tx)
		for _, c := range all {
			found = found || c.Kind == string(kind)
		}
		return err
	})
	return found
}

func TestTestSaysWhoFails(t *testing.T) {
	t.Parallel()
	good, bad := newWebhookReceiver(t), newWebhookReceiver(t)
	bad.cfg.Name, bad.cfg.SecretFile = "bad", good.cfg.SecretFile
	list := notify.Test(t.Context(), notify.Config{Webhooks: []notify.Webhook{good.cfg, bad.cfg}})
	require.Len(t, list, 2)
	require.Empty(t, list[0].Fault)
	require.Equal(t, "it answers 401 Unauthorized", list[1].Fault, "the key is another's")
	require.Equal(t, []string{"test"}, good.waitForTypes(1))
	good.server.Close()
	fault := notify.Test(t.Context(), notify.Config{Webhooks: []notify.Webhook{good.cfg}})[0].Fault
	require.NotEmpty(t, fault)
	require.NotContains(t, fault, "/hook", "an address may hold a token")
}

func TestConfigCheck(t *testing.T) {
	hook := notify.Webhook{Name: "a", URL: "https://example.org/x", SecretEnv: "KEY"}
	mail := notify.Email{Server: "smtp.example.org:587", From: "a@example.org", To: []string{"b@example.org"}}
	require.NoError(t, notify.Config{Webhooks: []notify.Webhook{hook}, Email: &mail}.Check())
	for want, change := range map[string]func(*notify.Webhook){
		"name":        func(w *notify.Webhook) { w.Name = "A b" },
		"url":         func(w *notify.Webhook) { w.URL = "http://example.org" },
		"password":    func(w *notify.Webhook) { w.URL = "https://a:b@example.org" },
		"secret_file": func(w *notify.Webhook) { w.SecretEnv = "" },
		"topics":      func(w *notify.Webhook) { w.Topics = []notify.Topic{"all"} },
	} {
		w := hook
		change(&w)
		require.ErrorContains(t, notify.Config{Webhooks: []notify.Webhook{w}}.Check(), want)
	}
	require.ErrorContains(t, notify.Config{Webhooks: []notify.Webhook{hook, hook}}.Check(), "used twice")
	for want, change := range map[string]func(*notify.Email){
		"server":        func(e *notify.Email) { e.Server = "smtp.example.org" },
		"to":            func(e *notify.Email) { e.To = nil },
		"from, to":      func(e *notify.Email) { e.From = "nobody" },
		"password_file": func(e *notify.Email) { e.User = "a" },
		"user":          func(e *notify.Email) { e.PasswordEnv = "A" },
	} {
		e := mail
		change(&e)
		require.ErrorContains(t, notify.Config{Email: &e}.Check(), "email."+want)
	}
}
