package records_test

import (
	"context"
	"gatewayd/records"
	"gatewayd/records/recordstest"
	"github.com/stretchr/testify/require"
	"path/filepath"
	"testing"
)

func TestSmoke(t *testing.T) {
	pg := recordstest.Postgres(t)
	for _, u := range []string{"sqlite:" + filepath.Join(t.TempDir(), "r.db"), pg.Database(t)} {
		s, err := records.Open(context.Background(), records.Config{URL: u})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		s, err = records.Open(context.Background(), records.Config{URL: u})
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
}
