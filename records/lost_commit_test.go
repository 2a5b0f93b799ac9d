package records_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/records/books"
)

// proxy passes bytes between a client and a server. On request it withholds the server's next
// answer, or all but the first bytes of the client's next request, and disconnects.
type proxy struct {
	listener net.Listener
	network  string // of the server: tcp or unix
	server   string
	swallow  atomic.Bool
	keep     atomic.Int32 // one more than the bytes of the next request that pass; 0: all of it
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
		p.wg.Go(func() { p.requests(client, server) })
		p.wg.Go(func() { p.answers(client, server) })
	}
}

func (p *proxy) requests(client, server net.Conn) {
	defer client.Close()
	defer server.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if keep := int(p.keep.Load()); keep > 0 {
			_, _ = server.Write(buf[:min(n, keep-1)])
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
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

// rounds is the number of connections that TestLostCommit cuts; GATEWAYD_CUTS asks for more. A full
// run takes 1,000.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("GATEWAYD_CUTS")
	if text == "" {
		return 30
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// TestLostCommit: connections die during COMMIT, before it, in the middle of it, or before the
// answer. The caller gets the unknown outcome, a read resolves it, and the store continues
// automatically.
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

	for round := range rounds(t) {
		account := fmt.Sprintf("0x%d", round)
		answered := rand.IntN(2) == 0
		err := s.Update(t.Context(), func(tx *records.Tx) error {
			err := tx.Accounts().Ensure(records.Account{Chain: "eth", Account: account, Kind: records.KindHot, Network: account, KeyPath: "m/" + account})
			if err == nil {
				_, err = books.HistoryEnd(tx) // lines of the history that wait for the commit are written now
			}
			if answered {
				p.swallow.Store(true)
			} else {
				p.keep.Store(1 + rand.Int32N(11)) // the message has 12 bytes
			}
			return err
		})
		p.swallow.Store(false)
		p.keep.Store(0)
		require.ErrorIs(t, err, records.ErrUnknownOutcome)
		err = s.View(t.Context(), func(tx *records.Tx) error {
			_, err := tx.Accounts().Get("eth", account)
			return err
		})
		if answered {
			require.NoError(t, err, "reading again tells")
			continue
		}
		require.ErrorIs(t, err, records.ErrNotFound, "reading again tells")
	}
}
