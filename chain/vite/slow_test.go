package vite

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// slowTimeout is the limit of one call in these tests; slowly lets most of it pass.
const slowTimeout = time.Second

func slowly() { <-time.After(slowTimeout * 3 / 4) }

// TestSlowReader: one of three nodes answers each call just in time, first with a chain of its own
// of which every block needs another question, then block by block. The others get their share of
// the time, and one of them reads next.
func TestSlowReader(t *testing.T) {
	s := newChunkScene(t)
	crowd := s.invented(t, 2, 2_500)
	asked := 0
	for name, l := range map[string]lie{
		"a question for each block": onMethod("ledger_getChunks", func(_ string, params []any, _ any) any {
			slowly()
			return strangeLine(t, 2, 40)
		}),
		"a question for each hundred accounts": func(method string, _ []any, r any) any {
			switch method {
			case "ledger_getChunks":
				return crowd
			case "ledger_getAccountBlockByHash":
				if asked++; asked%100 == 1 { // once in a batch
					slowly()
				}
			}
			return r
		},
		"a block for each call": onMethod("ledger_getChunks", func(_ string, params []any, r any) any {
			slowly()
			list, _ := r.([]any)
			return list[:min(1, len(list))]
		}),
	} {
		t.Run(name, func(t *testing.T) {
			p := newLiar(t, s.ledger)
			upgrades := 0
			p.tell(func(method string, params []any, r any) any {
				if method == "ledger_getUpgradeInfo" {
					upgrades++
					slowly()
				}
				return l(method, params, r)
			})
			others := []*liar{newLiar(t, s.ledger), newLiar(t, s.ledger)}
			c := s.openWith(t, Config{Timeout: slowTimeout}, p.URL, others[0].URL, others[1].URL)
			for range 2 {
				_, err := c.Blocks(t.Context(), 2, uint64(len(s.honest)))
				require.NoError(t, err)
			}
			require.NotZero(t, others[0].counted()["ledger_getChunks"]+others[1].counted()["ledger_getChunks"])
			require.LessOrEqual(t, upgrades, 3, "once for each reading")
		})
	}
}

// invented is a fabricated chunk, with a block of each of many unknown accounts.
func (s *scene) invented(t *testing.T, height uint64, accounts int) any {
	t.Helper()
	key := keyOf(t, "nobody's producer")
	public := key.Public()
	content, shown := make(map[string]any, accounts), make([]any, 0, accounts)
	seal := core.Seal{PreviousHash: core.Hash{1}, Height: height, Time: 1735787045, Content: make(map[core.Address]core.HashHeight, accounts)}
	for i := range accounts {
		b := core.AccountBlock{BlockType: core.Receive, Height: 5, Address: core.ContractAddress(core.Address{}, uint64(i), core.Hash{}), SendBlockHash: core.Hash{2}}
		b.Hash = b.ComputeHash()
		seal.Content[b.Address] = core.HashHeight{Hash: b.Hash, Height: b.Height}
		content[b.Address.String()] = map[string]any{"hash": b.Hash.String(), "height": b.Height}
		shown = append(shown, map[string]any{
			"blockType": 4, "height": b.Height, "hash": b.Hash.String(), "accountAddress": b.Address.String(), "fromBlockHash": b.SendBlockHash.String(),
			"prevHash": b.PreviousHash.String(),
		})
	}
	hash := seal.ComputeHash()
	return []any{map[string]any{"AccountBlocks": shown, "SnapshotBlock": map[string]any{
		"height": height, "hash": hash.String(), "previousHash": seal.PreviousHash.String(), "timestamp": seal.Time, "version": 0, "seed": 0, "snapshotContent": content,
		"producer": key.Address().String(), "publicKey": base64.StdEncoding.EncodeToString(public[:]), "signature": base64.StdEncoding.EncodeToString(key.Sign(hash[:])),
	}}}
}

// strangeLine returns fabricated snapshot blocks, each of another version.
func strangeLine(t *testing.T, from, to uint64) (list []any) {
	key := keyOf(t, "nobody's producer")
	public := key.Public()
	var last core.Hash
	for h := from; h <= to; h++ {
		seal := core.Seal{PreviousHash: last, Height: h, Time: 1735787045, Version: uint32(100 + h), Upgrade: fmt.Sprint(100 + h)}
		hash := seal.ComputeHash()
		list = append(list, map[string]any{"AccountBlocks": nil, "SnapshotBlock": map[string]any{
			"height": h, "hash": hash.String(), "previousHash": last.String(), "timestamp": 1735787045, "version": 100 + h, "seed": 0,
			"producer": key.Address().String(), "publicKey": base64.StdEncoding.EncodeToString(public[:]), "signature": base64.StdEncoding.EncodeToString(key.Sign(hash[:])),
		}})
		last = hash
	}
	return list
}

// TestSlowBroadcast has one of three nodes refuse block after block as received already, just in
// time for each.
func TestSlowBroadcast(t *testing.T) {
	l := newLedger(t)
	batches := 0
	p := newLiar(t, l)
	p.serveInstead(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		asked := decode(body)
		if list, ok := asked.([]any); ok {
			batches++
			slowly()
			var out []any
			for _, q := range list {
				out = append(out, map[string]any{"jsonrpc": "2.0", "id": q.(map[string]any)["id"], "error": client.ErrAlreadyReceived})
			}
			json.NewEncoder(w).Encode(out)
			return
		}
		var result any
		if asked := asked.(map[string]any); asked["method"] != "ledger_getLatestAccountBlock" {
			answer, err := post(l.url, body)
			if err != nil {
				return
			}
			result = answer.(map[string]any)["result"]
		}
		json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": asked.(map[string]any)["id"], "result": result})
	})
	c := l.openWith(t, Config{Timeout: slowTimeout}, p.URL, newLiar(t, l).URL, newLiar(t, l).URL)
	list := l.credits(t, 20)
	for _, err := range c.Broadcast(t.Context(), list) {
		require.NoError(t, err)
	}
	require.Equal(t, list[len(list)-1].Hash, l.slot(t).Prev)
	c.Close()
	require.LessOrEqual(t, batches, 2)
}

// credits signs so many, one behind the other.
func (l *ledger) credits(t *testing.T, n int) (list []chain.Attempt) {
	t.Helper()
	slot := l.slot(t)
	for i := range n {
		a, err := chaintest.Sign(t.Context(), l.open(t), l.keys, slot, l.credit(uint64(i+1), l.newUser(t), 5), nil)
		require.NoError(t, err)
		list = append(list, a)
		slot.Nonce, slot.Prev = slot.Nonce+1, a.Hash
	}
	return list
}

// TestBlocksThatOtherNodesBring: nodes exchange blocks, so a node may have a block before it
// processes the batch with it.
func TestBlocksThatOtherNodesBring(t *testing.T) {
	l := newLedger(t)
	p := newLiar(t, l)
	brought := 0
	p.serveInstead(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if batch, ok := decode(body).([]any); ok && batch[0].(map[string]any)["method"] == "ledger_sendRawTransaction" {
			first, err := json.Marshal(batch[:min(2, len(batch))])
			if err != nil {
				return
			}
			if _, err := post(l.url, first); err != nil {
				return
			}
			brought++
			batch = batch[:min(4, len(batch))] // the rest is cut off, as by another node that was faster
			if body, err = json.Marshal(batch); err != nil {
				return
			}
		}
		answer, err := post(l.url, body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answer)
	})
	c := l.open(t, p.URL)
	defer c.Close()
	list := l.credits(t, 9)
	for _, err := range c.Broadcast(t.Context(), list) {
		require.NoError(t, err)
	}
	require.Equal(t, list[len(list)-1].Hash, l.slot(t).Prev)
	require.Equal(t, 3, brought)
}

// TestNodeThatFailsAfterARefusal: what a node took before it refused a block and then answered
// nothing more counts as sent.
func TestNodeThatFailsAfterARefusal(t *testing.T) {
	l := newLedger(t)
	p := newLiar(t, l)
	refused := false
	p.serveInstead(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || refused {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		asked := decode(body)
		answer, err := post(l.url, body)
		if err != nil {
			return
		}
		if batch, ok := asked.([]any); ok && batch[0].(map[string]any)["method"] == "ledger_sendRawTransaction" {
			refused = true
			for i, a := range answer.([]any)[2:] {
				answer.([]any)[i+2] = map[string]any{"jsonrpc": "2.0", "id": a.(map[string]any)["id"], "error": client.ErrPrevBlock}
			}
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answer)
	})
	c := l.open(t, p.URL)
	defer c.Close()
	errs := c.Broadcast(t.Context(), l.credits(t, 4))
	require.NoError(t, errs[0])
	require.NoError(t, errs[1])
	require.ErrorContains(t, errs[2], client.ErrPrevBlock.Error())
	require.ErrorIs(t, errs[3], chain.ErrNotSent)
}

// TestQuotaThatOneNodeInvents: more than half of the nodes must agree on the quota for the
// following blocks.
func TestQuotaThatOneNodeInvents(t *testing.T) {
	l := newLedger(t)
	var urls []string
	for i := range 3 {
		p := newLiar(t, l)
		if i == 0 {
			p.tell(onMethod("contract_getQuotaByAccount", func(_ string, _ []any, r any) any {
				set(r.(map[string]any), "18446744073709551615", "currentQuota", "maxQuota")
				return r
			}))
		}
		urls = append(urls, p.URL)
	}
	c := l.open(t, urls...)
	quota, err := l.open(t).Quota(t.Context(), l.payer.String())
	require.NoError(t, err)
	b := l.draft(l.payer, core.SendCall)
	b.ToAddress = l.newUser(t)
	for range 20 {
		due, err := c.agreedPrice(t.Context(), b, 21_000)
		require.NoError(t, err)
		require.LessOrEqual(t, due.left, quota.Current)
	}
}
