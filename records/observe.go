package records

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
)

// observed is a session that tells what it runs.
type observed struct {
	session
	tell func(statement string)
}

// ExecContext runs a statement.
func (o observed) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	o.tell(query)
	return o.session.ExecContext(ctx, query, args...)
}

// GetContext reads one row.
func (o observed) GetContext(ctx context.Context, into any, query string, args ...any) error {
	o.tell(query)
	return o.session.GetContext(ctx, into, query, args...)
}

// SelectContext reads all rows.
func (o observed) SelectContext(ctx context.Context, into any, query string, args ...any) error {
	o.tell(query)
	return o.session.SelectContext(ctx, into, query, args...)
}

// QueryContext begins to read rows.
func (o observed) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	o.tell(query)
	return o.session.QueryContext(ctx, query, args...)
}

// QueryxContext begins to read rows.
func (o observed) QueryxContext(ctx context.Context, query string, args ...any) (*sqlx.Rows, error) {
	o.tell(query)
	return o.session.QueryxContext(ctx, query, args...)
}
