package daemon

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
)

// TestWaitingAtTheStart: what a start waits for is information at first, and a warning when it
// lasts for a minute.
func TestWaitingAtTheStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, seen := logtest.NewNullLogger()
		begin := time.Now()
		node := awaitedService{"the node", func(context.Context) error {
			if time.Since(begin) < 100*time.Second {
				return errors.New("it starts")
			}
			return nil
		}}
		require.NoError(t, logWaiting(t.Context(), log, []awaitedService{node}))
		var levels []logrus.Level
		for _, e := range seen.AllEntries() {
			levels = append(levels, e.Level)
		}
		require.Equal(t, []logrus.Level{logrus.InfoLevel, logrus.WarnLevel, logrus.InfoLevel}, levels)
	})
}
