package notify

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail"
)

// sendTime bounds one delivery.
const sendTime = 10 * time.Second

// receiver is a webhook or an e-mail address that gets events.
type receiver interface {
	name() string
	topics() []Topic
	most() int // events at a time
	// send delivers all of them, or answers why none is to be taken as delivered.
	send(ctx context.Context, gateway string, events []Event) error
}

// receivers opens all that are configured. Their secrets are read at each delivery, so that a new
// one is used at once.
func (c Config) receivers() (list []receiver) {
	for _, w := range c.Webhooks {
		list = append(list, w)
	}
	if c.Email != nil {
		list = append(list, *c.Email)
	}
	return list
}

func (w Webhook) name() string    { return "webhook:" + w.Name }
func (w Webhook) topics() []Topic { return wanted(w.Topics) }
func (w Webhook) most() int       { return 1 }

// post is shared, so that connections are. It follows no redirect: the address is the operator's.
var post = &http.Client{Timeout: sendTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (w Webhook) send(ctx context.Context, gateway string, events []Event) error {
	key, err := w.secret()
	if err != nil {
		return err
	}
	for _, e := range events {
		body, err := json.Marshal(e)
		if err != nil {
			return err
		}
		if err := w.post(ctx, key, gateway+"-"+e.ID, body); err != nil {
			return err
		}
	}
	return nil
}

// post signs id, time and body as Standard Webhooks has it.
func (w Webhook) post(ctx context.Context, key []byte, id string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	now := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", id, now, body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", now)
	req.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	answer, err := post.Do(req)
	if err != nil {
		return withoutURL(err)
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 4096) // so that the connection can be used again
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it answers %s", answer.Status)
	}
	return nil
}

// withoutURL leaves out the address, which may hold a token.
func withoutURL(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		if !strings.Contains(err.Error(), "://") {
			break
		}
		err = inner
	}
	return err
}

func (e Email) name() string    { return "email" }
func (e Email) topics() []Topic { return wanted(e.Topics) }
func (e Email) most() int       { return 50 } // a storm is one mail, not fifty

func (e Email) send(ctx context.Context, gateway string, events []Event) error {
	m, err := e.message(gateway, events)
	if err != nil {
		return err
	}
	client, err := e.client()
	if err != nil {
		return err
	}
	return client.DialAndSendWithContext(ctx, m)
}

func (e Email) message(gateway string, events []Event) (*mail.Msg, error) {
	m := mail.NewMsg()
	if err := errors.Join(m.From(e.From), m.To(e.To...)); err != nil {
		return nil, err
	}
	first := events[0]
	subject, _ := first.text()
	if len(events) > 1 {
		subject += fmt.Sprintf(" and %d more", len(events)-1)
	}
	m.Subject("gatewayd " + gateway + ": " + subject)
	m.SetDate()
	_, domain, _ := strings.Cut(e.From, "@")
	m.SetMessageIDWithValue(gateway + "-" + first.ID + "-" + events[len(events)-1].ID + "@" + strings.Trim(domain, " >"))
	var body strings.Builder
	for _, event := range events {
		s, text := event.text()
		fmt.Fprintf(&body, "%s UTC  %s\n%s\n", event.At.UTC().Format(time.DateTime), s, text)
	}
	m.SetBodyString(mail.TypeTextPlain, body.String())
	return m, nil
}

func (e Email) client() (*mail.Client, error) {
	host, portText, err := net.SplitHostPort(e.Server)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return nil, fmt.Errorf("server: port %q must be a number", portText)
	}
	options := []mail.Option{mail.WithPort(port), mail.WithTimeout(sendTime)}
	switch {
	case port == 465:
		options = append(options, mail.WithSSL())
	case local(host):
		options = append(options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if e.User != "" {
		password, err := readSecret(e.PasswordFile, e.PasswordEnv)
		if err != nil {
			return nil, err
		}
		if password == "" {
			return nil, fmt.Errorf("%s is empty", cmp.Or(e.PasswordFile, e.PasswordEnv))
		}
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(e.User), mail.WithPassword(password))
	}
	return mail.NewClient(host, options...)
}
