package index

import (
	"strconv"
	"strings"
)

// listQuery is the rows of a list: a table with conditions.
type listQuery struct {
	// Wide lists have conditions that no index answers: much more may be read than is given.
	Wide bool

	text strings.Builder
	args []any
}

// newListQuery begins with the table and the condition that always holds.
func newListQuery(text string, args ...any) *listQuery {
	l := &listQuery{args: args}
	l.text.WriteString(text)
	return l
}

// And adds a condition.
func (l *listQuery) And(condition string, args ...any) {
	l.text.WriteString(" AND ")
	l.text.WriteString(condition)
	l.args = append(l.args, args...)
}

// Between adds a time with its bounds, both included; 0 is none.
func (l *listQuery) Between(column string, start, end int64) {
	if start > 0 {
		l.And(column+" >= ?", start)
	}
	if end > 0 {
		l.And(column+" <= ?", end)
	}
}

// Side adds a side, 0 or 1; nil is both. The text equals the condition of an index.
func (l *listQuery) Side(side *int) {
	if side != nil {
		l.And("side = " + strconv.Itoa(*side))
	}
}

// In adds that a column is in a list, which is not empty.
func (l *listQuery) In(column string, list []int64) {
	l.And(column + " IN (?" + strings.Repeat(",?", len(list)-1) + ")")
	for _, n := range list {
		l.args = append(l.args, n)
	}
}

// Args are the arguments of the conditions, and what follows them.
func (l *listQuery) Args(more ...any) []any {
	return append(l.args[:len(l.args):len(l.args)], more...)
}

// Count is the query for the number of rows.
func (l *listQuery) Count() string { return "SELECT COUNT(*) FROM " + l.text.String() }

// Page is the query for some of the rows: how many, and how many to leave out before, follow the
// arguments. "+ 0" is explained in exchangeapi/index/store.go.
func (l *listQuery) Page(columns, order string) string {
	return "SELECT " + columns + " FROM " + l.text.String() + " ORDER BY " + order + " LIMIT ? + 0 OFFSET ?"
}
