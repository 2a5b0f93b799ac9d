package daemon

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"gatewayd/records"
	"gatewayd/status"
)

// A daemon whose lease another one has taken stops working, and names the new holder.
func TestTenureEndsWithItsLease(t *testing.T) {
	path := "sqlite:" + filepath.Join(t.TempDir(), "records.db")
	synctest.Test(t, func(t *testing.T) {
		store, err := records.Open(t.Context(), records.Config{URL: path})
		require.NoError(t, err)
		defer store.Close()
		lease, err := store.Lease(t.Context(), status.Role, "first", time.Hour)
		require.NoError(t, err)
		log, hook := logtest.NewNullLogger()
		ours := &tenure{lease: lease, log: log, renewed: time.Now()}
		ended := make(chan error, 1) // one answer
		go func() { ended <- ours.renew(t.Context()) }()
		<-time.After(3*LeaseTTL - time.Second) // between two renewals
		require.Empty(t, ended, "it is renewed")
		require.NoError(t, lease.Release(t.Context()))
		_, err = store.Lease(t.Context(), status.Role, "second", time.Hour)
		require.NoError(t, err)
		select {
		case err = <-ended:
			require.ErrorIs(t, err, records.ErrFenced)
			require.ErrorContains(t, err, "second has taken it")
		case <-time.After(LeaseTTL):
			require.Fail(t, "it goes on without its lease")
		}
		require.Empty(t, hook.AllEntries())
	})
}

// Only the loss of a lease is explained with how long the database was away.
func TestTenureExplainsItsLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours := &tenure{log: logrus.New(), renewed: time.Now(), fault: errors.New("no route")}
		lost := errors.Join(records.ErrFenced)
		require.Equal(t, lost, ours.explain(lost), "it was renewed just now")
		<-time.After(2 * LeaseTTL)
		require.ErrorIs(t, ours.explain(lost), records.ErrFenced)
		require.ErrorContains(t, ours.explain(lost), `did not answer a renewal for 24s, but "no route"`)
		other := errors.New("a part failed")
		require.Equal(t, other, ours.explain(other))
	})
}
