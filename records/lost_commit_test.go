package records_test

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"gatewayd/records"
	"gatewayd/records/recordstest"
)

// proxy passes bytes between a client and a server until it is told to keep the server's next answer for itself and hang up.
type proxy struct {
	listener net.Listener
	network  string // of the server: tcp or unix
	server   string
	swallow  atomic.Bool
	wg       sync.WaitGroup
}

func newProxy(t *testing.T, network, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l, network: network, server: server}
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		require.NoError(t, l.Close())
		p.wg.Wait()
	})
	return p
}

func (p *proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.server)
		if err != nil {
			client.Close()
			continue
		}
		p.wg.Go(func() {
			_, _ = io.Copy(server, client)
			server.Close()
		})
		p.wg.Go(func() { p.answers(client, server) })
	}
}

func (p *proxy) answers(client, server net.Conn) {
	defer client.Close()
	defer server.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := server.Read(buf)
		if err != nil || p.swallow.Load() {
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

// TestLostCommit: the connection dies while COMMIT is under way. The caller is told that it does not know, and finds the work stored.
func TestLostCommit(t *testing.T) {
	direct := recordstest.Postgres(t).Database(t)
	c, err := pgx.ParseConfig(direct)
	require.NoError(t, err)
	network, address := pgconn.NetworkAddress(c.Host, c.Port)
	p := newProxy(t, network, address)
	s, err := records.Open(t.Context(), records.Config{
		URL: fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", url.UserPassword(c.User, c.Password), p.listener.Addr(), c.Database),
	})
	require.NoError(t, err)
	defer s.Close()

	err = s.Update(t.Context(), func(tx *records.Tx) error {
		err := tx.EnsureAccount(records.Account{Chain: "eth", Account: "0xhot", Kind: records.KindHot, Network: "eth", KeyPath: "m/0"})
		p.swallow.Store(true)
		return err
	})
	require.ErrorIs(t, err, records.ErrUnknownOutcome)
	p.swallow.Store(false)
	require.NoError(t, s.View(t.Context(), func(tx *records.Tx) error {
		_, err := tx.Account("eth", "0xhot")
		return err
	}), "reading again tells")
}
