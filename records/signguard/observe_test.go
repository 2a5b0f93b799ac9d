package signguard

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"testing"

	"github.com/jmoiron/sqlx"
	"github.com/stretchr/testify/require"
)

// Observe calls tell for the guard's statements, each before it is run, from now on. It returns a
// handle for further statements on the same database.
func (g *Guard) Observe(t *testing.T, name string, tell func(statement string)) *sqlx.DB {
	t.Helper()
	plain := g.pool
	g.pool = sqlx.NewDb(sql.OpenDB(observer{plain.Driver(), name, tell}), plain.DriverName())
	g.db = session{g.pool}
	t.Cleanup(func() { require.NoError(t, plain.Close()) })
	return plain
}

// observer opens connections that report what they prepare: they offer only that, so that all is
// prepared.
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
