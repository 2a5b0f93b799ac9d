package vite

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// scene is a ledger with a waiting deposit, a received one, a payment and a mint, all confirmed.
type scene struct {
	*ledger
	honest    []chain.Block // from height 1
	elsewhere any           // a true send, to someone else
}

func newScene(t *testing.T) *scene {
	t.Helper()
	l := newLedger(t)
	comment, err := core.Comment{Type: 0, Address: "0xdest"}.Encode()
	require.NoError(t, err)
	received := l.deposit(t, l.inbox, 11, string(comment))
	l.deposit(t, l.inbox, 12, string(comment))
	elsewhere := l.deposit(t, l.newUser(t), 14, string(comment))
	l.mine(t, 1)
	l.receive(t, l.keys[inboxPath], received)
	l.send(t, l.keys[payerPath], l.stranger.Address(), core.VITE, 13, nil)
	l.mine(t, 2)
	l.send(t, l.keys[payerPath], l.stranger.Address(), core.VITE, 15, nil)
	l.mine(t, 1)
	s := &scene{ledger: l, honest: line(t, l.open(t), 1), elsewhere: l.ask(t, "ledger_getAccountBlockByHash", elsewhere.String())}
	require.Len(t, transfersIn(s.honest), 2)
	require.Len(t, ownTxsIn(s.honest), 3)
	return s
}

// deposits changes the stranger's sends to the inbox.
func (s *scene) deposits(change func(b map[string]any)) lie {
	from := s.stranger.Address().String()
	return eachBlock(func(b map[string]any) {
		if b["address"] == from && b["blockType"] == json.Number("2") {
			change(b)
		}
	})
}

// ours changes the blocks of one of our accounts.
func ours(a core.Address, change func(b map[string]any)) lie {
	return eachBlock(func(b map[string]any) {
		if b["address"] == a.String() {
			change(b)
		}
	})
}

// resealed changes a deposit and gives it the hash that goes with the change; the signature stays.
func resealed(change func(b map[string]any)) func(map[string]any) {
	return func(b map[string]any) {
		change(b)
		text, err := json.Marshal(b)
		if err != nil {
			return
		}
		var shown client.AccountBlock
		if json.Unmarshal(text, &shown) != nil {
			return
		}
		b["hash"] = signedPart(&shown).ComputeHash().String()
	}
}

func text(data string) string { return base64.StdEncoding.EncodeToString([]byte(data)) }

// TestLyingListNode asks for every height of a ledger whose node has no chunks and lies. Whatever
// it answers must be true; a lie that can be seen through makes at least one height unavailable. A
// node that only leaves things out cannot be seen through by asking it alone.
func TestLyingListNode(t *testing.T) {
	s := newScene(t)
	foreign := keyOf(t, "someone else")
	public := foreign.Public()
	other := strings.Repeat("ab", 32)
	tests := []struct {
		name   string
		lie    lie
		hidden bool // one node alone can get away with it: it shows less than there is
	}{
		{"amount", s.deposits(func(b map[string]any) { set(b, "99", "amount") }), false},
		{"amount with new hash", s.deposits(resealed(func(b map[string]any) { set(b, "99", "amount") })), false},
		{"token", s.deposits(func(b map[string]any) { set(b, goldID().String(), "tokenId") }), false},
		{"comment", s.deposits(func(b map[string]any) { set(b, text("\x0b\xc3\x000xthief"), "data") }), false},
		{"comment with new hash", s.deposits(resealed(func(b map[string]any) { set(b, text("\x0b\xc3\x000xthief"), "data") })), false},
		{"no comment", s.deposits(func(b map[string]any) { set(b, nil, "data") }), false},
		{"sender", s.deposits(func(b map[string]any) { set(b, someUser, "address", "accountAddress", "fromAddress") }), false},
		{"sender is ours", s.deposits(func(b map[string]any) { set(b, s.payer.String(), "address", "accountAddress", "fromAddress") }), false},
		{"payee", s.deposits(func(b map[string]any) { set(b, s.payer.String(), "toAddress") }), false},
		{"signature", s.deposits(func(b map[string]any) { set(b, text(strings.Repeat("s", 64)), "signature") }), false},
		{"no signature", s.deposits(func(b map[string]any) { set(b, nil, "signature", "publicKey") }), false},
		{"foreign key", s.deposits(func(b map[string]any) { set(b, base64.StdEncoding.EncodeToString(public[:]), "publicKey") }), false},
		{"height", s.deposits(func(b map[string]any) { set(b, "7", "height") }), false},
		{"no height", s.deposits(func(b map[string]any) { set(b, "0", "height") }), false},
		{"hash", s.deposits(func(b map[string]any) { set(b, other, "hash") }), false},
		{"minted by a user", s.deposits(func(b map[string]any) { set(b, json.Number("3"), "blockType") }), false},
		{"not a send", s.deposits(func(b map[string]any) { set(b, json.Number("4"), "blockType") }), false},
		{"placed later", s.deposits(func(b map[string]any) { set(b, "5", "firstSnapshotHeight") }), false},
		{"placed in a foreign block", s.deposits(func(b map[string]any) { set(b, other, "firstSnapshotHash", "confirmedHash") }), false},
		{"placed nowhere", s.deposits(func(b map[string]any) { set(b, nil, "firstSnapshotHash", "confirmedHash") }), false},
		{"not a number", s.deposits(func(b map[string]any) { set(b, "1e3", "amount") }), false},
		{"negative", s.deposits(func(b map[string]any) { set(b, "-5", "amount") }), false},
		{"over 256 bits", s.deposits(func(b map[string]any) { set(b, strings.Repeat("9", 78), "amount") }), false},

		{"own receive of another send", ours(s.inbox, func(b map[string]any) { set(b, other, "sendBlockHash", "fromBlockHash") }), false},
		{"own block foreign", ours(s.payer, func(b map[string]any) { set(b, someUser, "address", "accountAddress") }), false},
		{"own payment to another", ours(s.payer, func(b map[string]any) { set(b, someUser, "toAddress") }), false},
		{"own block placed elsewhere", ours(s.payer, func(b map[string]any) { set(b, "3", "firstSnapshotHeight") }), false},
		{"own block not confirmed", ours(s.payer, func(b map[string]any) {
			if b["height"] == "2" {
				set(b, nil, "firstSnapshotHash", "confirmedHash", "firstSnapshotHeight", "confirmations", "confirmedTimes")
			}
		}), false},
		{"own chain cut", onMethod("ledger_getAccountBlocks", func(string, []any, any) any { return []any{} }), false},
		{"own chain null", onMethod("ledger_getAccountBlocks", func(string, []any, any) any { return nil }), false},
		{"received send unknown", onMethod("ledger_getAccountBlockByHash", func(string, []any, any) any { return nil }), false},
		{"page too long", onMethod("ledger_getUnreceivedBlocksByAddress", func(_ string, _ []any, r any) any {
			list := r.([]any)
			for len(list) > 0 && len(list) <= client.MaxPage {
				list = append(list, list[0])
			}
			return list
		}), false},
		{"list never ends", onMethod("ledger_getUnreceivedBlocksByAddress", func(_ string, p []any, r any) any {
			list := r.([]any)
			for len(list) > 0 && p[2].(json.Number) != "" && len(list) < client.MaxPage {
				list = append(list, list[0])
			}
			return list
		}), false},
		{"snapshot block of another height", onMethod("ledger_getSnapshotBlockByHeight", func(_ string, _ []any, r any) any {
			if b, ok := r.(map[string]any); ok {
				set(b, json.Number("77"), "height")
			}
			return r
		}), false},
		{"snapshot block of another hash", onMethod("ledger_getSnapshotBlockByHeight", otherHash), false},
		{"block without members", onMethod("ledger_getUnreceivedBlocksByAddress", func(string, []any, any) any { return []any{map[string]any{}} }), false},
		{"null in the list", onMethod("ledger_getUnreceivedBlocksByAddress", func(string, []any, any) any { return []any{nil} }), false},
		{"deposit of someone else", onMethod("ledger_getUnreceivedBlocksByAddress", func(_ string, _ []any, r any) any {
			return append(r.([]any), s.elsewhere)
		}), false},
		{"text for a list", onMethod("ledger_getUnreceivedBlocksByAddress", func(string, []any, any) any { return "none" }), false},
		{"deposits left out", onMethod("ledger_getUnreceivedBlocksByAddress", func(string, []any, any) any { return []any{} }), true},
		{"own chain hidden", onMethod("ledger_getLatestAccountBlock", func(string, []any, any) any { return nil }), true},
		{"deposit not confirmed", s.deposits(func(b map[string]any) {
			set(b, nil, "firstSnapshotHash", "confirmedHash", "firstSnapshotHeight", "confirmations", "confirmedTimes")
		}), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newListNode(t, s.ledger)
			p.tell(tt.lie)
			unavailable := s.requireTruth(t, s.open(t, p.URL))
			require.Equal(t, tt.hidden, unavailable == 0, "%d heights unavailable", unavailable)

			c := s.open(t, newListNode(t, s.ledger).URL, p.URL, newListNode(t, s.ledger).URL)
			require.Equal(t, s.honest, line(t, c, 1), "one of three")
			require.Equal(t, s.honest, line(t, s.open(t, p.URL, newListNode(t, s.ledger).URL, s.ws), 1), "and another has chunks")
			p.tell(nil)
			require.Equal(t, s.honest, line(t, s.open(t, p.URL), 1), "the lie leaves nothing behind")
		})
	}
}

// requireTruth reads all heights and counts the unavailable ones. What is answered may lack
// something, but holds nothing untrue.
func (s *scene) requireTruth(t *testing.T, c *Chain) (unavailable int) {
	t.Helper()
	for i, honest := range s.honest {
		b, err := c.Block(t.Context(), uint64(i+1))
		if err != nil {
			require.ErrorIs(t, err, chain.ErrUnavailable)
			require.NotErrorIs(t, err, chain.ErrNotFound)
			unavailable++
			continue
		}
		if b.Hash == honest.Hash {
			require.Subset(t, honest.Transfers, append([]chain.Transfer{}, b.Transfers...))
			require.Subset(t, honest.OwnTxs, append([]chain.OwnTx{}, b.OwnTxs...))
		} else {
			require.Empty(t, b.Transfers)
			require.Empty(t, b.OwnTxs)
		}
	}
	return unavailable
}

// TestBrokenNode puts a server in the node's place that does not speak as a node.
func TestBrokenNode(t *testing.T) {
	s := newScene(t)
	write := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(text))
		}
	}
	tests := []struct {
		name  string
		serve http.HandlerFunc
	}{
		{"HTML", write("<html>come back later</html>")},
		{"empty", write("")},
		{"cut JSON", write(`{"jsonrpc":"2.0","id":1,"result":{"height":`)},
		{"null result", write(`{"jsonrpc":"2.0","id":1,"result":null}`)},
		{"deep JSON", write(`{"jsonrpc":"2.0","id":1,"result":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`)},
		{"server error", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) }},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, s.url, http.StatusTemporaryRedirect) }},
		{"node panics", write(`{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"server execute panic"}}`)},
		{"hangs", hang},
		{"endless", func(w http.ResponseWriter, _ *http.Request) {
			blanks := bytes.Repeat([]byte{' '}, 1<<20)
			for {
				if _, err := w.Write(blanks); err != nil {
					return
				}
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newLiar(t, s.ledger)
			p.serveInstead(tt.serve)
			cfg := Config{Timeout: 500 * time.Millisecond}
			c := s.openWith(t, cfg, p.URL)
			a := s.signed(t)
			_, headErr := c.Head(t.Context())
			_, blockErr := c.Block(t.Context(), 1)
			_, balanceErr := c.Balance(t.Context(), s.payer.String(), chain.Asset(core.VITE.String()))
			_, tipErr := c.AccountHead(t.Context(), s.inbox.String())
			_, signErr := chaintest.Sign(t.Context(), c, s.keys, s.slot(t), s.credit(1, s.newUser(t), 5), nil)
			if tt.name == "null result" { // for an account it means that it has no block
				balanceErr, tipErr, signErr = headErr, headErr, headErr
			}
			for _, err := range []error{headErr, blockErr, balanceErr, tipErr, signErr} {
				require.ErrorIs(t, err, chain.ErrUnavailable)
			}
			if tt.name != "null result" {
				require.Error(t, chaintest.Send(t.Context(), c, a))
			}

			c = s.openWith(t, cfg, s.ws, p.URL, newLiar(t, s.ledger).URL)
			require.Equal(t, s.honest, line(t, c, 1), "one of three")
		})
	}
}
