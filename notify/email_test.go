package notify_test

import (
	"io"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"gatewayd/notify"
	"gatewayd/records"
	"gatewayd/status"
)

// smtpServer is an SMTP server on this machine that keeps what it gets.
type smtpServer struct {
	mu    sync.Mutex
	mails []string
	to    []string
}

func (p *smtpServer) NewSession(*smtp.Conn) (smtp.Session, error) { return &smtpSession{p}, nil }

type smtpSession struct{ *smtpServer }

func (s *smtpSession) Mail(string, *smtp.MailOptions) error { return nil }
func (s *smtpSession) Reset()                               {}
func (s *smtpSession) Logout() error                        { return nil }

func (s *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = append(s.to, to)
	return nil
}

func (s *smtpSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mails = append(s.mails, string(text))
	return err
}

func (p *smtpServer) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.mails)
}

// Many events at once are one mail.
func TestEmail(t *testing.T) {
	t.Parallel()
	p := &smtpServer{}
	server := smtp.NewServer(p)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	r := newRig(t, notify.Config{Gateway: "main", Email: &notify.Email{Server: l.Addr().String(), From: "gatewayd@example.org", To: []string{"a@example.org", "b@example.org"}}})
	end := r.run()
	r.waitUntilJoined("email")
	end()
	r.conditions(away, records.Condition{Kind: string(status.NodeFaulty), Subject: "a", Detail: "it lies"}, records.Condition{Kind: string(status.NodeFaulty), Subject: "b", Detail: "it sleeps"})
	defer r.run()()
	require.Eventually(t, func() bool { return p.count() == 1 }, eventTimeout, 10*time.Millisecond)
	m, err := mail.ReadMessage(strings.NewReader(p.mails[0]))
	require.NoError(t, err)
	require.Equal(t, "gatewayd main: payments are blocked: nodes_unreachable and 2 more", m.Header.Get("Subject"))
	require.Regexp(t, `^<main-h\d+-[0-9a-f]{8}-h\d+-[0-9a-f]{8}@example\.org>$`, m.Header.Get("Message-Id"))
	body, err := io.ReadAll(m.Body)
	require.NoError(t, err)
	for _, want := range []string{"no node answers", "it lies", "it sleeps"} {
		require.Contains(t, string(body), want)
	}
	require.Equal(t, []string{"a@example.org", "b@example.org"}, p.to)
}
