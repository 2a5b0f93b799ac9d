package ethereum

import (
	"errors"
	"testing"
	"time"

	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"
)

// TestATracerIsAskedAgainAfterAPause: the pause doubles up to a minute, calls that were under way
// together count once.
func TestATracerIsAskedAgainAfterAPause(t *testing.T) {
	log, hook := logtest.NewNullLogger()
	x, now, gone := &tracer{log: log}, time.Unix(1_800_000_000, 0), errors.New("no such method")
	x.works()
	for pause := firstRetrace; ; pause = min(2*pause, lastRetrace) {
		require.NoError(t, x.absent(now))
		for range 8 {
			x.lose(now, gone)
		}
		require.ErrorIs(t, x.absent(now.Add(pause-1)), gone)
		now = now.Add(pause)
		if pause == lastRetrace {
			break
		}
	}
	require.Len(t, hook.AllEntries(), 1)
	require.Equal(t, "the node no longer traces blocks", hook.LastEntry().Message)
	x.works()
	require.Equal(t, "the node traces blocks again", hook.LastEntry().Message)
	x.lose(now, gone)
	require.NoError(t, x.absent(now.Add(firstRetrace)), "the pause is short again")
}

// TestATracerThatDoesNotAnswerIsGivenUp: one lost answer is none, nor are eight at once; fifteen
// seconds of them are.
func TestATracerThatDoesNotAnswerIsGivenUp(t *testing.T) {
	x, begin, late := new(tracer), time.Unix(1_800_000_000, 0), errors.New("no answer in time")
	for range 8 {
		require.False(t, x.failed(begin, begin.Add(10*time.Second), late))
	}
	x.answered()
	second := begin.Add(10 * time.Second)
	require.False(t, x.failed(second, second.Add(10*time.Second), late), "an answer between them ends the row")
	require.True(t, x.failed(second, second.Add(20*time.Second), late))
	third := second.Add(20 * time.Second)
	require.ErrorIs(t, x.absent(third), late)
	third = third.Add(firstRetrace)
	require.NoError(t, x.absent(third))
	require.True(t, x.failed(third, third.Add(10*time.Second), late), "a node that was given up is not waited for again")
}
