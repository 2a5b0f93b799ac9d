package records

import (
	"slices"
	"strings"
)

// rowsAtOnce are the numbers of rows that one statement takes, largest first: few, so that both engines have each statement prepared, and small
// enough for their limits on parameters.
var rowsAtOnce = [...]int{64, 16, 4, 1}

// insert adds rows to a table, many in a statement. All of them have a value for each column; or is what a statement says of rows that are there.
func (tx *Tx) insert(into string, rows [][]any, or string) error {
	for len(rows) > 0 {
		n := atOnce(len(rows))
		row := "(?" + strings.Repeat(", ?", len(rows[0])-1) + ")"
		_, err := tx.exec("INSERT INTO "+into+" VALUES "+row+strings.Repeat(", "+row, n-1)+or, slices.Concat(rows[:n]...)...)
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// atOnce is how many of n rows the next statement takes.
func atOnce(n int) int {
	for _, size := range rowsAtOnce {
		if size <= n {
			return size
		}
	}
	return 1
}

// inGroups hands a list on in groups that one statement takes. in is a group as the arguments of set, the text of a list for IN; the group's last
// is repeated until it has one of the usual sizes.
func inGroups[T any](list []T, f func(set string, in []any, n int) error) error {
	for part := range slices.Chunk(list, rowsAtOnce[0]) {
		size := rowsAtOnce[0]
		for _, s := range rowsAtOnce {
			if s >= len(part) {
				size = s
			}
		}
		in := make([]any, size)
		for i := range in {
			in[i] = part[min(i, len(part)-1)]
		}
		if err := f("(?"+strings.Repeat(", ?", size-1)+")", in, len(part)); err != nil {
			return err
		}
	}
	return nil
}

// changeAll is change for the rows with the keys, which differ and end the query: all of them, or ErrConflict.
func changeAll[T any](tx *Tx, keys []T, query string, args ...any) error {
	return inGroups(keys, func(set string, in []any, n int) error {
		changed, err := tx.exec(query+set, slices.Concat(args, in)...)
		if err == nil && changed != int64(n) {
			return ErrConflict
		}
		return err
	})
}
