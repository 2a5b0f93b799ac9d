package quorum

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// said is one node's answer: a number after a time, or an error; a silent one waits for its
// context.
type said struct {
	value  int
	after  time.Duration
	err    error
	silent bool
}

type member struct {
	*Node
	said  said
	asked int
}

func members(t *testing.T, all ...said) []*member {
	t.Helper()
	nodes := make([]*member, len(all))
	for i, s := range all {
		nodes[i] = &member{Node: New("test", len(all) == 1, nil), said: s}
		t.Cleanup(nodes[i].Close)
	}
	return nodes
}

func answer(ctx context.Context, m *member) (int, error) {
	m.asked++
	if m.said.silent {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	select {
	case <-time.After(m.said.after):
		return m.said.value, m.said.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func itself(n int) int { return n }

// agree asks until two answers agree, and returns the duration.
func agree(ctx context.Context, nodes []*member) (value int, found bool, took time.Duration) {
	begin := time.Now()
	answers := Ask(ctx, nodes, answer, Same[*member](2, itself))
	took = time.Since(begin)
	value, found = Agreed(answers, 2, itself)
	return value, found, took
}

func TestTheSlowDecideWhenTheOthersDiffer(t *testing.T) {
	const lie, truth = 12, 7
	cases := []struct {
		name  string
		nodes []said
		found bool
		took  time.Duration
	}{
		{"all alike", []said{{value: truth}, {value: truth}, {value: truth}}, true, 0},
		{"a liar and a slow one", []said{{value: lie}, {value: truth}, {value: truth, after: 2 * time.Second}}, true, 2 * time.Second},
		{"a liar and two slow ones", []said{{value: lie}, {value: truth, after: 9 * time.Second}, {value: truth, after: 2 * time.Second}}, true, 9 * time.Second},
		{"the slow one is not needed", []said{{value: truth}, {value: truth}, {value: truth, after: time.Hour}}, true, grace},
		{"nor is the silent one", []said{{silent: true}, {value: truth}, {value: truth}}, true, grace},
		{"a liar and a dead one", []said{{value: lie}, {value: truth}, {err: errors.New("dead")}}, false, 0},
		{"a liar that is slow", []said{{value: lie, after: time.Second}, {value: truth}, {value: truth}}, true, grace},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				value, found, took := agree(t.Context(), members(t, c.nodes...))
				require.Equal(t, c.found, found)
				require.Equal(t, c.took, took)
				if found {
					require.Equal(t, truth, value)
				}
			})
		})
	}
}

// TestASilentNodeCostsOneWait: while it works on an earlier question, it is not asked another
// unless the others do not suffice.
func TestASilentNodeCostsOneWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := members(t, said{value: 7}, said{value: 7}, said{silent: true})
		_, _, took := agree(t.Context(), nodes)
		require.Equal(t, grace, took)
		for range 10 {
			_, found, took := agree(t.Context(), nodes)
			require.True(t, found)
			require.Zero(t, took)
		}
		require.Equal(t, 1, nodes[2].asked)
		nodes[1].said.value = 8
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, found, _ := agree(ctx, nodes)
		require.False(t, found)
		require.Equal(t, 2, nodes[2].asked, "when the others differ, it is waited for")
	})
}

// TestALeftOutNodeIsHeardWhenItIsNeeded: leaving out must never make a majority impossible.
func TestALeftOutNodeIsHeardWhenItIsNeeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := members(t, said{value: 7}, said{value: 7}, said{value: 7})
		for range leaveOutAfter {
			nodes[2].RecordWrong("test", errors.New("a lie"))
		}
		_, found, _ := agree(t.Context(), nodes)
		require.True(t, found)
		require.Zero(t, nodes[2].asked)
		nodes[0].said.err = errors.New("dead")
		value, found, _ := agree(t.Context(), nodes)
		require.True(t, found)
		require.Equal(t, 7, value)
		require.Equal(t, 1, nodes[2].asked)
		require.Equal(t, []*member{nodes[0], nodes[1], nodes[2]}, Order(nodes))
	})
}

func TestAskingEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		nodes := members(t, said{silent: true}, said{silent: true}, said{value: 1})
		answers := Ask(ctx, nodes, answer, Same[*member](2, itself))
		require.Len(t, answers, 3)
		_, faults := Good(answers)
		require.Len(t, faults, 2)
		require.ErrorIs(t, faults[0], context.DeadlineExceeded)
	})
}
