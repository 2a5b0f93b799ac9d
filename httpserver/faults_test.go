package httpserver

import (
	"testing"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
)

// TestFaultLog: a flood of failing requests gives a few lines a minute, with the number of requests
// that they represent.
func TestFaultLog(t *testing.T) {
	log, hook := test.NewNullLogger()
	log.SetLevel(logrus.DebugLevel)
	now := time.Unix(1_700_000_000, 0)
	l := NewFaultLog(func() time.Time { return now })
	flood := func(level logrus.Level) []*logrus.Entry {
		hook.Reset()
		for range 1000 {
			l.Write(logrus.NewEntry(log), level, "request")
		}
		return hook.AllEntries()
	}
	require.Len(t, flood(logrus.ErrorLevel), faultsAtOnce)
	require.Len(t, flood(logrus.WarnLevel), faultsAtOnce, "warnings leave room for errors")
	require.Len(t, flood(logrus.DebugLevel), 1000)
	require.Empty(t, flood(logrus.ErrorLevel))
	now = now.Add(12 * time.Second)
	lines := flood(logrus.ErrorLevel)
	require.Len(t, lines, 2)
	require.EqualValues(t, 1990, lines[0].Data["more"])
	require.NotContains(t, lines[1].Data, "more")
	now = now.Add(time.Hour)
	require.EqualValues(t, 998, flood(logrus.ErrorLevel)[0].Data["more"])
}
