package vite

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// catchUp reads the line from a height on by Blocks.
func catchUp(t testing.TB, c *Chain, from uint64) (blocks []chain.Block) {
	t.Helper()
	head, err := c.Head(t.Context())
	require.NoError(t, err)
	for from <= head.Latest.Height {
		list, err := c.Blocks(t.Context(), from, head.Latest.Height)
		require.NoError(t, err)
		require.NotEmpty(t, list)
		blocks = append(blocks, list...)
		from += uint64(len(list))
	}
	return blocks
}

func TestBlocksInFewCalls(t *testing.T) {
	l := newLedger(t)
	l.rest(t)
	for i := range 2500 {
		if i%50 == 0 {
			l.deposit(t, l.inbox, uint64(i+1), "")
		}
		l.mine(t, 1)
	}
	nodes := []*liar{newLiar(t, l), newLiar(t, l), newLiar(t, l)}
	c := l.open(t, nodes[0].URL, nodes[1].URL, nodes[2].URL)
	got := catchUp(t, c, 1)
	require.Len(t, got, int(l.height()))
	require.Len(t, transfersIn(got), 50)
	for i := range got[1:] {
		require.Equal(t, got[i].Hash, got[i+1].Parent)
	}
	calls := []map[string]int{nodes[0].counted(), nodes[1].counted(), nodes[2].counted()}
	require.Equal(t, 1+3, calls[0]["ledger_getChunks"], "the first look, and three answers")
	for _, other := range calls[1:] {
		require.Zero(t, other["ledger_getChunks"], "others only tell what they have at the end of an answer")
		require.LessOrEqual(t, other["ledger_getSnapshotBlockByHeight"], 3+2)
	}
	for h := uint64(1); h <= l.height(); h += 100 {
		b, err := c.Block(t.Context(), h)
		require.NoError(t, err)
		require.Equal(t, got[h-1], b)
	}
}

func TestRangesOfBlocks(t *testing.T) {
	l := newLedger(t)
	l.mine(t, 5)
	head := l.height()
	for name, target := range map[string]string{"chunks": l.ws, "lists": newListNode(t, l).URL} {
		t.Run(name, func(t *testing.T) {
			c := l.open(t, target)
			blocks, err := c.Blocks(t.Context(), 2, head+1_000_000)
			require.NoError(t, err)
			require.Len(t, blocks, int(head-1), "up to the end of the line")
			blocks, err = c.Blocks(t.Context(), 2, 4)
			require.NoError(t, err)
			require.Len(t, blocks, 3)
			for _, from := range []uint64{0, head + 1, head + 1_000_000} {
				_, err = c.Blocks(t.Context(), from, from+10)
				require.ErrorIs(t, err, chain.ErrNotFound)
			}
			_, err = c.Blocks(t.Context(), 3, 2)
			require.Error(t, err)
		})
	}
}

// TestFreeSendsCostNothing fills the unreceived list of the account whose address is public with
// sends of nothing.
func TestFreeSendsCostNothing(t *testing.T) {
	l := newLedger(t)
	p := newLiar(t, l)
	c := l.open(t, p.URL)
	callsOfNext := func() map[string]int {
		l.deposit(t, l.inbox, 1, "")
		l.mine(t, 1)
		p.counted()
		b, err := c.Block(t.Context(), l.height())
		require.NoError(t, err)
		require.Len(t, b.Transfers, 1)
		return p.counted()
	}
	callsOfNext()
	before := callsOfNext()
	require.Equal(t, map[string]int{"ledger_getChunks": 1}, before)
	l.rest(t)
	for i := range 3000 {
		l.deposit(t, l.inbox, 0, "junk")
		if i%100 == 0 {
			l.mine(t, 1)
		}
	}
	l.mine(t, 1)
	all := catchUp(t, c, 1)
	require.Len(t, transfersIn(all), 2)
	calls := p.counted()
	require.Zero(t, calls["ledger_getUnreceivedBlocksByAddress"])
	require.LessOrEqual(t, calls["ledger_getChunks"], 2)
	require.Equal(t, before, callsOfNext(), "with 3,000 of them waiting")
}

// TestAccountListedMeanwhile lists an account of ours while the block with its first deposit is
// being read.
func TestAccountListedMeanwhile(t *testing.T) {
	l := newLedger(t)
	late := l.newUser(t)
	send := l.deposit(t, late, 9, "")
	l.mine(t, 1)
	p := newLiar(t, l)
	var once sync.Once
	c := l.open(t, p.URL)
	_, err := c.Block(t.Context(), 1)
	require.NoError(t, err)
	p.tell(onMethod("ledger_getChunks", func(_ string, _ []any, r any) any {
		once.Do(func() { l.own.add(late) })
		return r
	}))
	b, err := c.Block(t.Context(), l.height())
	require.NoError(t, err)
	require.Equal(t, []string{send.String()}, transfersIn([]chain.Block{b}))
}

// TestReorgIsReadAnew reads what replaced blocks that were read.
func TestReorgIsReadAnew(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	stays := l.deposit(t, l.inbox, 1, "")
	l.mine(t, 1)
	moved := l.deposit(t, l.inbox, 2, "")
	l.mine(t, 1)
	at := l.height()
	require.Equal(t, []string{stays.String(), moved.String()}, transfersIn(catchUp(t, c, 1)))
	l.reorg(t, 1, false)
	again := l.deposit(t, l.inbox, 3, "")
	l.mine(t, 1)
	require.Equal(t, []string{again.String()}, transfersIn(catchUp(t, c, at)), "read from the fork on")
	require.Equal(t, []string{stays.String(), again.String()}, transfersIn(catchUp(t, c, 1)))
}

// otherRule makes snapshot blocks look as if they were made under unknown rules.
var otherRule = inSnapshots(func(b map[string]any) { b["version"] = json.Number("99") })

func TestLineModes(t *testing.T) {
	s := newChunkScene(t)
	unknown := newLiar(t, s.ledger)
	unknown.tell(otherRule)
	tests := []struct {
		name, proof, target string
		want                LineMode
		err                 error
	}{
		{"real", "", s.ws, LineProven, nil},
		{"real, required", proofRequired, s.ws, LineProven, nil},
		{"real, off", proofOff, s.ws, LineUnproven, nil},
		{"other rule", "", unknown.URL, LineUnproven, nil},
		{"other rule, required", proofRequired, unknown.URL, LineUnproven, chain.ErrUnavailable},
		{"no chunks", "", newListNode(t, s.ledger).URL, LineLists, nil},
		{"no chunks, required", proofRequired, newListNode(t, s.ledger).URL, LineLists, chain.ErrUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := s.openWith(t, Config{Proof: tt.proof}, tt.target)
			info := c.NodeInfo(t.Context())
			require.NoError(t, info[0].Err)
			require.Equal(t, tt.want, info[0].Line)
			require.NotEqual(t, "unknown", info[0].Line.String())
			b, err := c.Block(t.Context(), 3)
			require.ErrorIs(t, err, tt.err)
			if err == nil {
				require.Equal(t, s.honest[2], b)
			}
		})
	}
}

// TestUnprovenLineNeedsAgreement: one of three nodes lies where no proof is possible.
func TestUnprovenLineNeedsAgreement(t *testing.T) {
	s := newChunkScene(t)
	from := s.stranger.Address().String()
	hide := named(without(func(b map[string]any) bool { return b["accountAddress"] == from }))
	var nodes []*liar
	for range 3 {
		p := newLiar(t, s.ledger)
		p.tell(otherRule)
		nodes = append(nodes, p)
	}
	nodes[1].tell(func(m string, p []any, r any) any { return otherRule(m, p, hide(m, p, r)) })
	c := s.open(t, nodes[0].URL, nodes[1].URL, nodes[2].URL)
	require.Equal(t, s.honest, catchUp(t, c, 1))
	require.Empty(t, transfersIn(catchUp(t, s.open(t, nodes[1].URL), 1)[:6]), "one alone is believed")
	nodes[2].tell(otherHashes)
	_, err := c.Blocks(t.Context(), 4, 4)
	require.ErrorIs(t, err, chain.ErrUnavailable, "no two agree")
}

// otherHashes gives a node a chain of its own.
func otherHashes(method string, params []any, r any) any {
	return otherRule(method, params, inSnapshots(func(b map[string]any) { b["timestamp"] = json.Number("5") })(method, params, r))
}

// behind hides the line above a height.
func behind(t *testing.T, l *ledger, height uint64) lie {
	top := l.ask(t, "ledger_getSnapshotBlockByHeight", strconv.FormatUint(height, 10))
	return func(method string, params []any, r any) any {
		switch method {
		case "ledger_getLatestSnapshotBlock":
			return top
		case "ledger_getSnapshotBlockByHeight":
			if asked, err := strconv.ParseUint(fmt.Sprint(params[0]), 10, 64); err == nil && asked > height {
				return nil
			}
		case "ledger_getChunks":
			first, err := strconv.ParseUint(fmt.Sprint(params[0]), 10, 64)
			list := r.([]any)
			if keep := int(height) - int(first) + 1; err == nil && keep < len(list) {
				return list[:max(0, keep)]
			}
		}
		return r
	}
}

// TestNodesThatLag asks nodes of which only one, or only two, are at the end of the line.
func TestNodesThatLag(t *testing.T) {
	l := newLedger(t)
	l.mine(t, 7)
	head := l.height()
	for late := range 3 {
		t.Run(fmt.Sprint(late, " late"), func(t *testing.T) {
			nodes := make([]string, 3)
			for i := range nodes {
				p := newLiar(t, l)
				if i >= 3-late {
					p.tell(behind(t, l, head-2))
				}
				nodes[i] = p.URL
			}
			want := head
			if late == 2 {
				want = head - 2
			}
			c := l.open(t, nodes...)
			blocks, err := c.Blocks(t.Context(), 1, head)
			require.NoError(t, err)
			require.Len(t, blocks, int(want), "as far as two have it")
			_, err = c.Block(t.Context(), want+1)
			require.ErrorIs(t, err, chain.ErrNotFound)
			b, err := c.Block(t.Context(), want)
			require.NoError(t, err)
			require.Equal(t, blocks[want-1], b)
		})
	}
}

// TestReaderOnAnotherBranch: the node that is read first follows a branch of its own, which it
// proves.
func TestReaderOnAnotherBranch(t *testing.T) {
	l := newLedger(t)
	l.mine(t, 3)
	fork := newLiar(t, l)
	c := l.open(t, fork.URL, l.ws, newLiar(t, l).URL)
	_, err := c.Block(t.Context(), 1)
	require.NoError(t, err)
	left := newLiar(t, l)
	old := l.askChunks(t, 1, int(l.height()))
	kept, err := json.Marshal(old)
	require.NoError(t, err)
	l.reorg(t, 2, false)
	fork.tell(onMethod("ledger_getChunks", func(_ string, params []any, r any) any {
		list, _ := decode(kept).([]any)
		first, err := strconv.Atoi(fmt.Sprint(params[0]))
		if err != nil || first > len(list) {
			return r
		}
		return list[first-1:]
	}))
	want := line(t, l.open(t, left.URL), 1)
	require.Equal(t, want, catchUp(t, c, 1))
}

// TestMethodThatGoes: a node loses its chunks. The call fails, and the node's abilities are probed
// again.
func TestMethodThatGoes(t *testing.T) {
	s := newChunkScene(t)
	p := newLiar(t, s.ledger)
	c := s.open(t, p.URL)
	require.Equal(t, s.honest, catchUp(t, c, 1))
	p.mu.Lock()
	p.lacks = map[string]bool{"ledger_getChunks": true}
	p.mu.Unlock()
	_, err := c.Block(t.Context(), 3)
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.ErrorIs(t, err, client.ErrMethod)
	require.Equal(t, s.honest, catchUp(t, c, 1), "by its lists")
	require.Equal(t, LineLists, c.NodeInfo(t.Context())[0].Line)
}

func TestCommonStart(t *testing.T) {
	block := func(name string) chain.Block { return chain.Block{Point: chain.Point{Hash: name}} }
	list := func(names string) answer[[]chain.Block] {
		var a answer[[]chain.Block]
		for _, n := range names {
			a.Value = append(a.Value, block(string(n)))
		}
		return a
	}
	failed := answer[[]chain.Block]{Err: errors.New("broken")}
	tests := []struct {
		answers []answer[[]chain.Block]
		quorum  int
		want    string
	}{
		{[]answer[[]chain.Block]{list("abc")}, 1, "abc"},
		{[]answer[[]chain.Block]{list("abc"), list("abc"), list("abd")}, 2, "abc"},
		{[]answer[[]chain.Block]{list("ab"), list("abc"), list("abd")}, 2, "ab"},
		{[]answer[[]chain.Block]{list("abc"), failed, list("abc")}, 2, "abc"},
		{[]answer[[]chain.Block]{list("abc"), failed, failed}, 2, ""},
		{[]answer[[]chain.Block]{list("xbc"), list("ybc"), list("zbc")}, 2, ""},
		{[]answer[[]chain.Block]{list("xbc"), list("abc"), list("abd")}, 2, "ab"},
		{[]answer[[]chain.Block]{list("xc"), list("ab"), list("ac")}, 2, "a"},
	}
	for _, tt := range tests {
		var got string
		for _, b := range commonStart(tt.answers, tt.quorum) {
			got += b.Hash
		}
		require.Equal(t, tt.want, got)
	}
}

// TestGenesisIsNoOwnTx reads block 1, whose blocks have hashes of their own making and no
// signatures.
func TestGenesisIsNoOwnTx(t *testing.T) {
	l := newLedger(t)
	b, err := l.open(t).Block(t.Context(), genesisHeight)
	require.NoError(t, err)
	require.Empty(t, b.OwnTxs)
	require.Equal(t, core.Hash{}.String(), b.Parent)
}
