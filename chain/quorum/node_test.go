package quorum

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
)

func logged(hook *logtest.Hook) (texts []string) {
	for _, e := range hook.AllEntries() {
		texts = append(texts, e.Message)
	}
	hook.Reset()
	return texts
}

func TestFaultsAreCountedAndLoggedOncePerChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, hook := logtest.NewNullLogger()
		n := New("node.example:8545", false, log)
		for i := range 2 {
			require.EqualError(t, n.RecordWrong("nonce", fmt.Errorf("nonce %d", i)), fmt.Sprintf("nonce %d", i))
		}
		require.Equal(t, []string{"the node is wrong: nonce 0"}, logged(hook))
		require.True(t, n.Willing())
		n.RecordWrong("block", errors.New("no such block"))
		require.Equal(t, []string{
			"the node is wrong: no such block", "the node is excluded for 1m0s: wrong 3 times, last: no such block",
		}, logged(hook))
		s := n.State()
		require.Equal(t, "node.example:8545", s.Name)
		require.EqualValues(t, 3, s.Faults)
		require.Equal(t, "no such block", s.LastFault)
		require.True(t, s.LeftOut)
		require.False(t, n.Willing())
		for range 20 { // asked because the others did not suffice
			n.RecordWrong("block", errors.New("no such block"))
		}
		require.Empty(t, logged(hook))
		require.EqualValues(t, 23, n.State().Faults)
	})
}

func TestALeftOutNodeIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, hook := logtest.NewNullLogger()
		n := New("test", false, log)
		wrong := func() { n.RecordWrong("test", errors.New("wrong")) }
		wrong()
		wrong()
		for _, leave := range []time.Duration{firstLeave, 2 * firstLeave, 4 * firstLeave} {
			wrong()
			require.True(t, n.State().LeftOut)
			<-time.After(leave - 1)
			require.False(t, n.Willing())
			<-time.After(1)
			require.True(t, n.Willing())
			require.False(t, n.State().LeftOut)
			n.RecordCall(t.Context(), nil)
		}
		require.Contains(t, logged(hook), "the node is used again")
		<-time.After(pardonAfter + 4*firstLeave)
		wrong()
		wrong()
		require.True(t, n.Willing(), "what is long ago is forgotten")
		require.EqualValues(t, 7, n.State().Faults)
	})
}

func TestTheOnlyNodeIsNeverLeftOut(t *testing.T) {
	n := New("test", true, nil)
	for range 10 {
		n.RecordWrong("test", errors.New("wrong"))
		n.RecordCall(t.Context(), errors.New("refused"))
	}
	require.True(t, n.Willing())
	require.NoError(t, n.Ready())
	require.False(t, n.State().LeftOut)
}

func TestADeadNodeRestsAndIsCalledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, hook := logtest.NewNullLogger()
		n := New("test", false, log)
		require.False(t, n.State().Up, "nothing is known yet")
		dead := func() { n.RecordCall(t.Context(), errors.New("connection refused")) }
		dead()
		require.Equal(t, "connection refused", n.State().Why)
		require.NoError(t, n.Ready())
		dead()
		dead()
		require.ErrorIs(t, n.Ready(), ErrResting)
		require.Equal(t, []string{"the node does not answer: connection refused"}, logged(hook))
		for rest := firstRest; rest <= 4*firstRest; rest *= 2 {
			<-time.After(rest - 1)
			require.Error(t, n.Ready())
			<-time.After(1)
			require.NoError(t, n.Ready())
			dead()
		}
		require.Empty(t, logged(hook))
		<-time.After(lastRest)
		n.RecordCall(t.Context(), nil)
		require.True(t, n.State().Up)
		require.Empty(t, n.State().Why)
		require.Equal(t, time.Now(), n.State().AskedAt)
		require.Equal(t, []string{"the node answers again"}, logged(hook))
	})
}

// TestAnAskerThatWentAwaySaysNothing: a canceled call is no failure, one that took too long is.
func TestAnAskerThatWentAwaySaysNothing(t *testing.T) {
	n := New("test", false, logrus.New())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n.RecordCall(ctx, ctx.Err())
	require.True(t, n.State().AskedAt.IsZero())
	late, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	n.RecordCall(late, late.Err())
	require.Equal(t, "no answer in time", n.State().Why)
}

func TestABlockBesideTheOthersCountsOnce(t *testing.T) {
	n := New("test", false, nil)
	for range 10 {
		n.RecordMinorityBlock("0xa", errors.New("another block"))
	}
	require.EqualValues(t, 1, n.State().Faults)
	n.RecordMinorityBlock("0xb", errors.New("another block"))
	require.EqualValues(t, 2, n.State().Faults)
}
