package vite

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/blake2b"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// newChunkScene is a scene with a mint to an account of ours, and a snapshot block that confirms
// two deposits of one sender.
func newChunkScene(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	mint, err := core.ReIssue.Pack(goldID(), big.NewInt(77), s.inbox)
	require.NoError(t, err)
	s.send(t, s.stranger, core.AssetContract, core.VITE, 0, mint)
	s.mine(t, 2)
	s.deposit(t, s.inbox, 21, "first of two")
	s.deposit(t, s.inbox, 22, "second of two")
	s.mine(t, 2)
	s.honest = line(t, s.open(t), 1)
	require.Len(t, transfersIn(s.honest), 5)
	return s
}

// inChunks changes the chunks of an answer.
func inChunks(change func(chunk map[string]any)) lie {
	return onMethod("ledger_getChunks", func(_ string, _ []any, result any) any {
		list, _ := result.([]any)
		for _, item := range list {
			change(item.(map[string]any))
		}
		return result
	})
}

func blocksIn(chunk map[string]any) []any {
	blocks, _ := chunk["AccountBlocks"].([]any)
	return blocks
}

func snapshotIn(chunk map[string]any) map[string]any { return chunk["SnapshotBlock"].(map[string]any) }

// inSends changes the deposits of the stranger in all chunks.
func (s *scene) inSends(change func(b map[string]any)) lie {
	from, to := s.stranger.Address().String(), s.inbox.String()
	return inChunks(func(chunk map[string]any) {
		for _, item := range blocksIn(chunk) {
			if b := item.(map[string]any); b["accountAddress"] == from && b["toAddress"] == to {
				change(b)
			}
		}
	})
}

// without leaves out the blocks that are chosen.
func without(choose func(b map[string]any) bool) lie {
	return inChunks(func(chunk map[string]any) {
		chunk["AccountBlocks"] = slices.DeleteFunc(blocksIn(chunk), func(item any) bool { return choose(item.(map[string]any)) })
	})
}

// named makes the content of each chunk name the last of the listed blocks, as a node would that
// wants to be believed.
func named(l lie) lie {
	return func(method string, params []any, result any) any {
		return inChunks(func(chunk map[string]any) {
			content := make(map[string]any)
			for _, item := range blocksIn(chunk) {
				b := item.(map[string]any)
				content[b["accountAddress"].(string)] = map[string]any{"hash": b["hash"], "height": b["height"]}
			}
			set(snapshotIn(chunk), content, "snapshotContent", "snapshotData")
		})(method, params, l(method, params, result))
	}
}

// inSnapshots changes all snapshot blocks of chunks but the first.
func inSnapshots(change func(b map[string]any)) lie {
	return inChunks(func(chunk map[string]any) {
		if b := snapshotIn(chunk); b["height"] != json.Number("1") {
			change(b)
		}
	})
}

// inTriggered changes the sends that contracts made.
func inTriggered(change func(host map[string]any, sends []any)) lie {
	return inChunks(func(chunk map[string]any) {
		for _, item := range blocksIn(chunk) {
			host := item.(map[string]any)
			if sends, _ := host["sendBlockList"].([]any); len(sends) > 0 {
				change(host, sends)
			}
		}
	})
}

func TestLyingChunks(t *testing.T) {
	s := newChunkScene(t)
	foreign := keyOf(t, "someone else")
	public := foreign.Public()
	foreignKey, other := base64.StdEncoding.EncodeToString(public[:]), strings.Repeat("ab", 32)
	from, to := s.stranger.Address().String(), s.inbox.String()
	isDeposit := func(b map[string]any) bool { return b["accountAddress"] == from && b["toAddress"] == to }
	isOwn := func(b map[string]any) bool { return b["accountAddress"] == s.payer.String() }
	number := func(n string) any { return json.Number(n) }
	tests := []struct {
		name string
		lie  lie
	}{
		{"deposit left out", without(isDeposit)},
		{"deposit left out of the content too", named(without(isDeposit))},
		{"first of two left out", without(func(b map[string]any) bool { return isDeposit(b) && b["amount"] == number("21") })},
		{"last of two left out", without(func(b map[string]any) bool { return isDeposit(b) && b["amount"] == number("22") })},
		{"last of two left out of the content too", named(without(func(b map[string]any) bool { return isDeposit(b) && b["amount"] == number("22") }))},
		{"own payment left out", named(without(isOwn))},
		{"everything left out", inChunks(func(c map[string]any) { c["AccountBlocks"] = nil })},
		{"everything left out of the content too", named(inChunks(func(c map[string]any) { c["AccountBlocks"] = nil }))},
		{"deposit twice", inChunks(func(c map[string]any) {
			for _, b := range blocksIn(c) {
				if isDeposit(b.(map[string]any)) {
					c["AccountBlocks"] = append(blocksIn(c), b)
					return
				}
			}
		})},
		{"true send invented here", named(inChunks(func(c map[string]any) { c["AccountBlocks"] = append(blocksIn(c), s.elsewhere) }))},
		{"true send invented here, but not in the content", inChunks(func(c map[string]any) { c["AccountBlocks"] = append(blocksIn(c), s.elsewhere) })},
		{"a block that the content does not name", inChunks(func(c map[string]any) { s.invent(t, foreign, c) })},
		{"reordered", inChunks(func(c map[string]any) { slices.Reverse(blocksIn(c)) })},
		{"amount", s.inSends(func(b map[string]any) { b["amount"] = number("99") })},
		{"amount with new hash", named(s.inSends(resealed(func(b map[string]any) { b["amount"] = number("99") })))},
		{"token", s.inSends(func(b map[string]any) { b["tokenId"] = goldID().String() })},
		{"payee", s.inSends(func(b map[string]any) { b["toAddress"] = s.payer.String() })},
		{"payee is a stranger", s.inSends(func(b map[string]any) { b["toAddress"] = someUser })},
		{"payee is a stranger, with new hash", named(s.inSends(resealed(func(b map[string]any) { b["toAddress"] = someUser })))},
		{"comment", s.inSends(func(b map[string]any) { b["data"] = text("\x0b\xc3\x000xthief") })},
		{"no comment", s.inSends(func(b map[string]any) { b["data"] = nil })},
		{"sender", s.inSends(func(b map[string]any) { b["accountAddress"] = someUser })},
		{"height", s.inSends(func(b map[string]any) { b["height"] = number("70") })},
		{"height 0", s.inSends(func(b map[string]any) { b["height"] = number("0") })},
		{"hash", s.inSends(func(b map[string]any) { b["hash"] = other })},
		{"previous hash", s.inSends(func(b map[string]any) { b["prevHash"] = other })},
		{"type", s.inSends(func(b map[string]any) { b["blockType"] = number("4") })},
		{"genesis", s.inSends(func(b map[string]any) { b["blockType"] = number("7") })},
		{"signature", s.inSends(func(b map[string]any) { b["signature"] = text(strings.Repeat("s", 64)) })},
		{"no signature", s.inSends(func(b map[string]any) { b["signature"], b["publicKey"] = nil, nil })},
		{"foreign key", s.inSends(func(b map[string]any) { b["publicKey"] = foreignKey })},
		{"not a number", s.inSends(func(b map[string]any) { b["amount"] = "1e3" })},
		{"over 256 bits", s.inSends(func(b map[string]any) { b["amount"] = number(strings.Repeat("9", 78)) })},
		{"contract's send left out", inTriggered(func(host map[string]any, _ []any) { host["sendBlockList"] = []any{} })},
		{"contract's payee", inTriggered(func(_ map[string]any, sends []any) { sends[0].(map[string]any)["toAddress"] = someUser })},
		{"contract's amount", inTriggered(func(_ map[string]any, sends []any) { sends[0].(map[string]any)["amount"] = number("78") })},
		{"contract's send twice", inTriggered(func(host map[string]any, sends []any) { host["sendBlockList"] = append(sends, sends[0]) })},
		{"comment shown as a fee", s.inSends(commentAsFee)},
		{"comment shown as a fee, and the fee as part of the nonce", s.inSends(func(b map[string]any) {
			commentAsFee(b)
			b["logHash"], b["nonce"] = nil, base64.StdEncoding.EncodeToString(make([]byte, core.HashSize+core.NonceSize))
		})},
		{"contract's sends shown as part of the nonce", inTriggered(func(host map[string]any, sends []any) {
			nonce := make([]byte, core.NonceSize)
			for _, item := range sends {
				h, err := core.ParseHash(item.(map[string]any)["hash"].(string))
				require.NoError(t, err)
				nonce = append(nonce, h[:]...)
			}
			host["nonce"], host["sendBlockList"] = base64.StdEncoding.EncodeToString(nonce), []any{}
		})},
		{"a user's send in a receive", inChunks(func(c map[string]any) {
			for _, b := range blocksIn(c) {
				if b := b.(map[string]any); b["accountAddress"] == s.inbox.String() {
					b["sendBlockList"] = []any{s.elsewhere}
				}
			}
		})},
		{"content names another account", inSnapshots(func(b map[string]any) {
			set(b, map[string]any{someUser: map[string]any{"hash": other, "height": number("1")}}, "snapshotContent", "snapshotData")
		})},
		{"content names another height", inSnapshots(func(b map[string]any) {
			for _, id := range b["snapshotContent"].(map[string]any) {
				id.(map[string]any)["height"] = number("70")
			}
			b["snapshotData"] = b["snapshotContent"]
		})},
		{"no content", inSnapshots(func(b map[string]any) { set(b, nil, "snapshotContent", "snapshotData") })},
		{"link", inSnapshots(func(b map[string]any) { set(b, other, "prevHash", "previousHash") })},
		{"time", inSnapshots(func(b map[string]any) { b["timestamp"] = number("1") })},
		{"seed", inSnapshots(func(b map[string]any) { b["seed"] = number("18446744073709551615") })},
		{"version", inSnapshots(func(b map[string]any) { b["version"] = number("15") })},
		{"snapshot's hash", inSnapshots(func(b map[string]any) { b["hash"] = other })},
		{"snapshot's height", inSnapshots(func(b map[string]any) { b["height"] = number("77") })},
		{"snapshot's signature", inSnapshots(func(b map[string]any) { b["signature"] = text(strings.Repeat("s", 64)) })},
		{"snapshot without signature", inSnapshots(func(b map[string]any) { b["signature"], b["publicKey"] = nil, nil })},
		{"snapshot's key", inSnapshots(func(b map[string]any) { b["publicKey"] = foreignKey })},
		{"snapshot's producer", inSnapshots(func(b map[string]any) { b["producer"] = someUser })},
		{"no snapshot block", inChunks(func(c map[string]any) { delete(c, "SnapshotBlock") })},
		{"nothing", onMethod("ledger_getChunks", func(string, []any, any) any { return []any{} })},
		{"null", onMethod("ledger_getChunks", func(string, []any, any) any { return nil })},
		{"text", onMethod("ledger_getChunks", func(string, []any, any) any { return "none" })},
		{"null in the list", onMethod("ledger_getChunks", func(string, []any, any) any { return []any{nil} })},
		{"more than asked for", onMethod("ledger_getChunks", func(_ string, _ []any, r any) any { return append(r.([]any), r.([]any)...) })},
		{"without the first", onMethod("ledger_getChunks", func(_ string, _ []any, r any) any { return r.([]any)[1:] })},
		{"backwards", onMethod("ledger_getChunks", func(_ string, _ []any, r any) any {
			slices.Reverse(r.([]any))
			if len(r.([]any)) == 1 { // then the answer to another question
				return s.askChunks(t, 2, 2)
			}
			return r
		})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newLiar(t, s.ledger)
			honestAtFirst := s.open(t, p.URL)
			_, err := honestAtFirst.Block(t.Context(), 1)
			require.NoError(t, err)
			p.tell(tt.lie)
			for _, c := range []*Chain{honestAtFirst, s.openWith(t, Config{Proof: proofRequired}, p.URL)} {
				blocks, err := c.Blocks(t.Context(), 1, uint64(len(s.honest)))
				if err != nil {
					require.ErrorIs(t, err, chain.ErrUnavailable)
				}
				require.Less(t, len(blocks), len(s.honest))
				require.Equal(t, s.honest[:len(blocks)], append([]chain.Block{}, blocks...))
				require.NotZero(t, s.requireProof(t, c), "unavailable heights")
			}
			c := s.open(t, p.URL, s.ws, newLiar(t, s.ledger).URL)
			require.Equal(t, s.honest, catchUp(t, c, 1), "one of three")
			p.tell(nil)
			require.Equal(t, s.honest, catchUp(t, honestAtFirst, 1), "the lie leaves nothing behind")
		})
	}
}

// commentAsFee shows what a block's hash covers in another way: the hash of its data as its fee,
// and its fee as the hash of logs.
func commentAsFee(b map[string]any) {
	data, _ := b["data"].(string)
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 {
		return
	}
	sum := blake2b.Sum256(raw)
	b["data"], b["fee"], b["logHash"] = nil, json.Number(new(big.Int).SetBytes(sum[:]).String()), strings.Repeat("0", 64)
}

// invent adds a signed first block of an account to a chunk with a deposit: a deposit of its own,
// that no snapshot confirms.
func (s *scene) invent(t testing.TB, key core.PrivateKey, c map[string]any) {
	t.Helper()
	for _, b := range blocksIn(c) {
		if b := b.(map[string]any); b["toAddress"] == s.inbox.String() {
			forged := maps.Clone(b)
			public := key.Public()
			forged["accountAddress"], forged["height"], forged["prevHash"] = key.Address().String(), json.Number("1"), strings.Repeat("0", 64)
			forged["publicKey"] = base64.StdEncoding.EncodeToString(public[:])
			resealed(func(map[string]any) {})(forged)
			hash, err := core.ParseHash(forged["hash"].(string))
			require.NoError(t, err)
			forged["signature"] = base64.StdEncoding.EncodeToString(key.Sign(hash[:]))
			c["AccountBlocks"] = append(blocksIn(c), forged)
			return
		}
	}
}

// askChunks asks the node itself.
func (l *ledger) askChunks(t testing.TB, from, to int) any {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "ledger_getChunks", "params": []int{from, to}})
	require.NoError(t, err)
	answer, err := post(l.url, body)
	require.NoError(t, err)
	return answer.(map[string]any)["result"]
}

// requireProof reads all heights and counts the unavailable ones. Every answer is the complete
// truth.
func (s *scene) requireProof(t *testing.T, c *Chain) (unavailable int) {
	t.Helper()
	for i, honest := range s.honest {
		b, err := c.Block(t.Context(), uint64(i+1))
		if err != nil {
			require.ErrorIs(t, err, chain.ErrUnavailable)
			require.NotErrorIs(t, err, chain.ErrNotFound)
			unavailable++
			continue
		}
		require.Equal(t, honest, b)
	}
	return unavailable
}

// TestFirstSightIsProven: a node hides the first of two blocks that an account has in the first
// snapshot block that is read, and invents the account's earlier head.
func TestFirstSightIsProven(t *testing.T) {
	s := newChunkScene(t)
	two := uint64(slices.IndexFunc(s.honest, func(b chain.Block) bool { return len(b.Transfers) == 2 && b.Height > 5 }) + 1)
	require.NotZero(t, two)
	cut := without(func(b map[string]any) bool { return b["amount"] == json.Number("21") })
	older := s.honest[two-2].Hash
	tests := map[string]lie{
		"cut":          func(_ string, _ []any, r any) any { return r },
		"unknown":      onMethod("ledger_getAccountBlockByHash", func(string, []any, any) any { return nil }),
		"not placed":   eachBlock(func(b map[string]any) { set(b, nil, "firstSnapshotHash", "confirmedHash") }),
		"placed below": eachBlock(func(b map[string]any) { set(b, older, "firstSnapshotHash", "confirmedHash") }),
		"placed in nothing": eachBlock(func(b map[string]any) {
			set(b, strings.Repeat("ab", 32), "firstSnapshotHash", "confirmedHash")
		}),
		"placed below, and named there": func(method string, params []any, r any) any {
			r = eachBlock(func(b map[string]any) { set(b, older, "firstSnapshotHash", "confirmedHash") })(method, params, r)
			return onMethod("ledger_getSnapshotBlockByHash", func(_ string, _ []any, r any) any {
				if b, ok := r.(map[string]any); ok {
					set(b, s.contentBefore(t, two), "snapshotContent", "snapshotData")
				}
				return r
			})(method, params, r)
		},
	}
	for name, l := range tests {
		t.Run(name, func(t *testing.T) {
			p := newLiar(t, s.ledger)
			p.tell(func(method string, params []any, r any) any { return l(method, params, cut(method, params, r)) })
			_, err := s.open(t, p.URL).Block(t.Context(), two)
			require.ErrorIs(t, err, chain.ErrUnavailable)
			p.tell(nil)
			b, err := s.open(t, p.URL).Block(t.Context(), two)
			require.NoError(t, err)
			require.Equal(t, s.honest[two-1], b)
		})
	}
}

// TestFirstSightIsConfirmed: a node hides a block and signs, with a key of its own, a snapshot
// block below the chain that contains the account's earlier head.
func TestFirstSightIsConfirmed(t *testing.T) {
	s := newChunkScene(t)
	two := uint64(slices.IndexFunc(s.honest, func(b chain.Block) bool { return len(b.Transfers) == 2 && b.Height > 5 }) + 1)
	cut := without(func(b map[string]any) bool { return b["amount"] == json.Number("21") })
	forged := s.forgedSnapshot(t, s.honest[two-2].Hash, s.contentBefore(t, two))
	p := newLiar(t, s.ledger)
	p.tell(func(method string, params []any, r any) any {
		r = cut(method, params, r)
		r = eachBlock(func(b map[string]any) { set(b, forged["hash"], "firstSnapshotHash", "confirmedHash") })(method, params, r)
		return onMethod("ledger_getSnapshotBlockByHash", func(string, []any, any) any { return forged })(method, params, r)
	})
	c := s.openWith(t, Config{Proof: proofRequired}, p.URL, s.ws, newLiar(t, s.ledger).URL)
	got, err := c.Block(t.Context(), two)
	require.NoError(t, err)
	require.Equal(t, s.honest[two-1], got)
	require.NotZero(t, c.Nodes()[0].Faults)
}

// forgedSnapshot is a true snapshot block with another content, signed by an unknown key.
func (s *scene) forgedSnapshot(t *testing.T, hash string, content any) map[string]any {
	t.Helper()
	b := s.ask(t, "ledger_getSnapshotBlockByHash", hash).(map[string]any)
	key := keyOf(t, "nobody's producer")
	public := key.Public()
	set(b, content, "snapshotContent", "snapshotData")
	set(b, base64.StdEncoding.EncodeToString(public[:]), "publicKey")
	set(b, key.Address().String(), "producer")
	raw, err := json.Marshal(b)
	require.NoError(t, err)
	var shown client.SnapshotBlock
	require.NoError(t, json.Unmarshal(raw, &shown))
	nc, err := client.Dial(t.Context(), s.url, client.Options{})
	require.NoError(t, err)
	defer nc.Close()
	upgrades, err := nc.Upgrades(t.Context())
	require.NoError(t, err)
	var name string
	for _, u := range upgrades {
		if u.Version == shown.Version {
			name = u.Name
		}
	}
	seal := shown.Seal(name)
	sealed := seal.ComputeHash()
	set(b, sealed.String(), "hash")
	set(b, base64.StdEncoding.EncodeToString(key.Sign(sealed[:])), "signature")
	return b
}

// contentBefore names the first of the blocks at a snapshot height as confirmed before it.
func (s *scene) contentBefore(t *testing.T, height uint64) any {
	chunk := s.askChunks(t, int(height), int(height)).([]any)[0].(map[string]any)
	b := blocksIn(chunk)[0].(map[string]any)
	return map[string]any{b["accountAddress"].(string): map[string]any{"hash": b["hash"], "height": b["height"]}}
}

// TestTooLargeAnswersAreReadInSmallerOnes has a node whose answers to more than three heights at
// once are too large.
func TestTooLargeAnswersAreReadInSmallerOnes(t *testing.T) {
	s := newChunkScene(t)
	blanks := bytes.Repeat([]byte{' '}, 1<<20)
	p := newLiar(t, s.ledger)
	large, most := 0, int64(3)
	p.serveInstead(func(w http.ResponseWriter, r *http.Request) {
		body := []byte(readAll(r.Body))
		asked := decode(body).(map[string]any)
		params, _ := asked["params"].([]any)
		if asked["method"] == "ledger_getChunks" && span(params) > most {
			large++
			for range 2 { // over max_response
				if _, err := w.Write(blanks); err != nil {
					return
				}
			}
			return
		}
		answer, err := post(s.url, body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answer)
	})
	c := s.openWith(t, Config{MaxResponse: 1 << 20}, p.URL)
	var got []chain.Block
	for from := uint64(1); from <= uint64(len(s.honest)); from = uint64(len(got)) + 1 {
		blocks, err := c.Blocks(t.Context(), from, uint64(len(s.honest)))
		require.NoError(t, err)
		require.LessOrEqual(t, len(blocks), 3)
		got = append(got, blocks...)
	}
	require.Equal(t, s.honest, got)
	require.NotZero(t, large)
	most = 0
	_, err := c.Block(t.Context(), 2)
	require.ErrorContains(t, err, "max_response")
}

// span is the number of requested heights.
func span(params []any) int64 {
	from, ok := new(big.Int).SetString(params[0].(string), 10)
	to, ok2 := new(big.Int).SetString(params[1].(string), 10)
	if !ok || !ok2 {
		return 0
	}
	return to.Sub(to, from).Int64() + 1
}

// TestCutAnswers has a node answer less than it was asked for: what it answers counts, the rest is
// asked for again.
func TestCutAnswers(t *testing.T) {
	s := newChunkScene(t)
	p := newLiar(t, s.ledger)
	p.tell(onMethod("ledger_getChunks", func(_ string, _ []any, r any) any { return r.([]any)[:1] }))
	c := s.open(t, p.URL)
	blocks, err := c.Blocks(t.Context(), 1, client.MaxChunks)
	require.NoError(t, err)
	require.Equal(t, s.honest[:1], blocks)
	require.Equal(t, s.honest, line(t, c, 1))
}
