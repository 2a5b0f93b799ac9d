package database

import (
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// sessions answers every question for the session by the number of a connection, from 0 on, and of
// the question.
type sessions func(conn, question int) int

// startServer is a server of PostgreSQL's protocol that knows one statement.
func startServer(t *testing.T, answer sessions) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		serving.Wait()
	})
	var mu sync.Mutex
	asked := 0
	next := func(conn int) int {
		mu.Lock()
		defer mu.Unlock()
		asked++
		return answer(conn, asked)
	}
	serving.Go(func() {
		for n := 0; ; n++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				serveSessions(conn, func() int { return next(n) })
			})
		}
	})
	return "postgres://gatewayd@" + listener.Addr().String() + "/gatewayd?sslmode=disable"
}

func serveSessions(conn net.Conn, session func() int) {
	b := pgproto3.NewBackend(conn, conn)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for b.Flush() == nil {
		m, err := b.Receive()
		q, ok := m.(*pgproto3.Query)
		switch {
		case err != nil || !ok:
			return
		case q.String == "SELECT pg_backend_pid()":
			b.Send(&pgproto3.RowDescription{Fields: []pgproto3.FieldDescription{{Name: []byte("pg_backend_pid"), DataTypeOID: 23, DataTypeSize: 4, TypeModifier: -1}}})
			b.Send(&pgproto3.DataRow{Values: [][]byte{[]byte(strconv.Itoa(session()))}})
			b.Send(&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")})
		default:
			b.Send(&pgproto3.EmptyQueryResponse{})
		}
		b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	}
}

// TestPoolersInTransactionMode: an address whose connections share sessions, or change them, is
// refused. A server, or a pooler in session mode, is not.
func TestPoolersInTransactionMode(t *testing.T) {
	for name, answer := range map[string]sessions{
		"one session":                 func(int, int) int { return 7 },
		"two sessions in turn":        func(_, question int) int { return question % 2 },
		"three sessions in turn":      func(_, question int) int { return question % 3 },
		"a session for each question": func(_, question int) int { return question },
	} {
		_, err := Open(t.Context(), startServer(t, answer), SQLite{}, Postgres{Writers: 1})
		require.ErrorIs(t, err, ErrPooled, name)
		require.False(t, Away(err), "waiting does not help")
	}
	db, err := Open(t.Context(), startServer(t, func(conn, _ int) int { return conn }), SQLite{}, Postgres{Writers: 1})
	require.NoError(t, err)
	require.NoError(t, db.Close())
}
