package records_test

import (
	"path/filepath"
	"testing"

	"gatewayd/records/recordstest"
)

func TestSQLite(t *testing.T) {
	recordstest.Run(t, func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "records.db") })
}

func TestPostgres(t *testing.T) {
	server := recordstest.Postgres(t)
	recordstest.Run(t, server.Database)
}
