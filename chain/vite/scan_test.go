package vite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

func TestOneScanServesCatchingUp(t *testing.T) {
	l := newLedger(t)
	p := newListNode(t, l)
	c := l.open(t, p.URL)
	var want []string
	for i := range 60 {
		want = append(want, l.deposit(t, l.inbox, uint64(i+1), "").String())
		l.mine(t, 2)
	}
	require.Equal(t, want, transfersIn(line(t, c, 1)))
	calls := p.counted()
	require.Equal(t, 3, calls["ledger_getUnreceivedBlocksByAddress"], "one scan of the three accounts")
	require.Equal(t, want, transfersIn(line(t, c, 1)))
	require.Zero(t, p.counted()["ledger_getUnreceivedBlocksByAddress"], "the line did not change")

	l.mine(t, 1)
	_, err := c.Block(t.Context(), l.height())
	require.NoError(t, err)
	_, err = c.Block(t.Context(), l.height()-scanMargin)
	require.NoError(t, err)
	require.Equal(t, 3, p.counted()["ledger_getUnreceivedBlocksByAddress"])
}

func TestHeightsAskedAtOnce(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	want := make(map[string]uint64)
	for range 20 {
		want[l.deposit(t, l.inbox, 1, "").String()] = l.height() + 1
		l.mine(t, 1)
	}
	got := make([]chain.Block, l.height()+1)
	var asking sync.WaitGroup
	for h := l.height(); h > 0; h-- {
		asking.Go(func() { got[h], _ = c.Block(t.Context(), h) })
	}
	asking.Wait()
	seen := make(map[string]uint64)
	for _, b := range got {
		for _, tr := range b.Transfers {
			seen[tr.Ref] = b.Height
		}
	}
	require.Equal(t, want, seen)
}

func TestReorgMovesAndRemovesTransfers(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	stays := l.deposit(t, l.inbox, 1, "")
	l.mine(t, 1)
	moved := l.deposit(t, l.inbox, 2, "")
	l.mine(t, 1)
	taken := l.receive(t, l.keys[inboxPath], stays)
	l.mine(t, 1)
	from := l.height() - 2
	before := line(t, c, from)
	require.Equal(t, []string{stays.String(), moved.String()}, transfersIn(before))
	require.Equal(t, []string{taken.String()}, ownTxsIn(before))

	l.reorg(t, 2, false)
	after := line(t, c, from)
	require.Equal(t, before[0], after[0], "below the fork nothing changed")
	require.Equal(t, before[0].Hash, after[1].Parent)
	require.NotEqual(t, before[1].Hash, after[1].Hash)
	require.Equal(t, []string{stays.String()}, transfersIn(after), "a removed send is in no block")
	require.Empty(t, ownTxsIn(after))

	again := l.deposit(t, l.inbox, 3, "")
	l.mine(t, 1)
	l.reorg(t, 1, true)
	require.Equal(t, []string{stays.String(), again.String()}, transfersIn(line(t, c, from)))
}

// TestLongUnreceivedList reads more waiting sends than a page holds, while some are received and
// others dropped.
func TestLongUnreceivedList(t *testing.T) {
	l := newLedger(t)
	l.rest(t)
	want := make(map[string]bool)
	for i := range 2000 {
		want[l.deposit(t, l.inbox, uint64(i+1), "").String()] = true
		if i%100 == 99 {
			l.mine(t, 1)
		}
	}
	p := newListNode(t, l)
	c := l.open(t, p.URL)
	requireSeenOnce := func() {
		t.Helper()
		refs := transfersIn(line(t, c, 1))
		require.Equal(t, len(want), len(refs))
		for _, ref := range refs {
			require.True(t, want[ref])
		}
	}
	requireSeenOnce()
	require.Equal(t, 3+2+4, p.counted()["ledger_getUnreceivedBlocksByAddress"], "three accounts, and two more pages and a second pass of four for one")

	// Much is received in the middle of both passes, so that sends get past the limits of both;
	// then one is dropped in the next.
	l.mine(t, 1)
	disturbed := 0
	dropped := l.deposit(t, l.inbox, 1, "never confirmed")
	p.tell(onMethod("ledger_getUnreceivedBlocksByAddress", func(_ string, params []any, result any) any {
		list := result.([]any)
		if len(list) < secondPass || params[1] != json.Number("0") || disturbed > 2 {
			return result
		}
		if disturbed++; disturbed == 3 {
			require.NoError(t, l.DropUnconfirmed(dropped))
			return result
		}
		for _, item := range list[:380] {
			source, err := core.ParseHash(item.(map[string]any)["hash"].(string))
			require.NoError(t, err)
			if source != dropped {
				l.receive(t, l.keys[inboxPath], source)
			}
		}
		return result
	}))
	c = l.open(t, p.URL)
	requireSeenOnce()
	require.Equal(t, 3, disturbed)
}

// TestReceivedWhileRead receives a deposit between the two reads that search for it.
func TestReceivedWhileRead(t *testing.T) {
	l := newLedger(t)
	send := l.deposit(t, l.inbox, 1, "")
	l.mine(t, 1)
	p := newListNode(t, l)
	var once sync.Once
	p.tell(func(method string, params []any, result any) any {
		switch method {
		case "ledger_getUnreceivedBlocksByAddress", "ledger_getLatestAccountBlock":
			if params[0] == l.inbox.String() {
				once.Do(func() { l.receive(t, l.keys[inboxPath], send) })
			}
		}
		return result
	})
	require.Equal(t, []string{send.String()}, transfersIn(line(t, l.open(t, p.URL), 1)))
	require.NotEmpty(t, l.slotOf(l.inbox, inboxPath).Prev)
}

// TestReorgWhileRead takes the line away under the reading.
func TestReorgWhileRead(t *testing.T) {
	l := newLedger(t)
	l.deposit(t, l.inbox, 1, "")
	l.mine(t, 1)
	p := newListNode(t, l)
	c := l.open(t, p.URL)
	var once sync.Once
	p.tell(onMethod("ledger_getUnreceivedBlocksByAddress", func(_ string, _ []any, result any) any {
		once.Do(func() { l.reorg(t, 1, false) })
		return result
	}))
	_, err := c.Block(t.Context(), l.height())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.Empty(t, transfersIn(line(t, c, 1)))
}

// TestReorgBeforeRead takes the line away between the reading of a block and that of what it
// confirmed: the block of the old line must not come with what the new line holds, which is
// nothing.
func TestReorgBeforeRead(t *testing.T) {
	l := newLedger(t)
	l.deposit(t, l.inbox, 1, "")
	l.mine(t, 1)
	p := newListNode(t, l)
	c := l.open(t, p.URL)
	var once sync.Once
	p.tell(onMethod("ledger_getSnapshotBlockByHeight", func(_ string, _ []any, result any) any {
		once.Do(func() { l.reorg(t, 1, false) })
		return result
	}))
	_, err := c.Block(t.Context(), l.height())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	require.Empty(t, transfersIn(line(t, c, 1)))
}

func TestPagesTooLargeAreReadInSmallerOnes(t *testing.T) {
	l := newLedger(t)
	var want []string
	for i := range 30 {
		want = append(want, l.deposit(t, l.inbox, uint64(i+1), "").String())
	}
	l.mine(t, 1)
	p := newListNode(t, l)
	wide := regexp.MustCompile(`getUnreceivedBlocksByAddress.*,\d{2,}\]\}$`) // pages of ten and more
	blanks := bytes.Repeat([]byte{' '}, 1<<20)
	p.serveInstead(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		if _, err := body.ReadFrom(r.Body); err != nil {
			return
		}
		if wide.Match(body.Bytes()) {
			for range 2 { // over max_response
				if _, err := w.Write(blanks); err != nil {
					return
				}
			}
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if bytes.Contains(body.Bytes(), []byte("ledger_getChunks")) {
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":`, id(body.Bytes()), `,"error":{"code":-32601,"message":"no such method"}}`)
			return
		}
		resp, err := http.Post(l.url, "application/json", &body)
		if err != nil {
			return
		}
		defer resp.Body.Close()
		fmt.Fprint(w, readAll(resp.Body))
	})
	require.ElementsMatch(t, want, transfersIn(line(t, l.openWith(t, Config{MaxResponse: 1 << 20}, p.URL), 1)))
}

// id of a request.
func id(request []byte) any {
	asked, _ := decode(request).(map[string]any)
	return asked["id"]
}

// TestLongOwnChain pays more than one page of own blocks.
func TestLongOwnChain(t *testing.T) {
	l := newLedger(t)
	l.rest(t)
	var want []string
	for i := range ownPage + 50 {
		want = append(want, l.send(t, l.keys[payerPath], l.stranger.Address(), core.VITE, 1, nil).String())
		if i%200 == 0 {
			l.mine(t, 1)
		}
	}
	l.mine(t, 1)
	require.Equal(t, want, ownTxsIn(line(t, l.open(t, newListNode(t, l).URL), 1)))
}
