package sqlstore

import (
	"cmp"
	"context"
	"os"
)

// Size returns the bytes of the database on its disk: the file with its log, or the server's
// figure.
func (s *Store) Size(ctx context.Context) (bytes int64, err error) {
	if s.engine.file == "" {
		err = s.db.Reads.GetContext(ctx, &bytes, "SELECT pg_database_size(current_database())")
		return bytes, err
	}
	for _, name := range []string{s.engine.file, s.engine.file + "-wal"} {
		info, failed := os.Stat(name)
		if failed != nil && !os.IsNotExist(failed) {
			err = cmp.Or(err, failed)
		} else if failed == nil {
			bytes += info.Size()
		}
	}
	return bytes, err
}
