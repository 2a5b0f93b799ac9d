package signguard

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
)

// Observe has the guard's statements told, each before it is run, from now on. It answers what else runs statements on the same database.
func (g *Guard) Observe(t *testing.T, name string, tell func(statement string)) *sqlx.DB {
	t.Helper()
	plain := g.pool
	g.pool = sqlx.NewDb(sql.OpenDB(observer{plain.Driver(), name, tell}), plain.DriverName())
	g.db = session{g.pool}
	t.Cleanup(func() { require.NoError(t, plain.Close()) })
	return plain
}

// observer opens connections that tell what they prepare: they offer nothing but that, so that all is prepared.
type observer struct {
	driver driver.Driver
	name   string
	tell   func(string)
}

func (o observer) Driver() driver.Driver { return o.driver }

func (o observer) Connect(context.Context) (driver.Conn, error) {
	c, err := o.driver.Open(o.name)
	return observedConn{c, o.tell}, err
}

type observedConn struct {
	driver.Conn
	tell func(string)
}

func (c observedConn) Prepare(query string) (driver.Stmt, error) {
	c.tell(query)
	return c.Conn.Prepare(query)
}
