package vite

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// understand checks chunks from block 1 on, as a new reader does.
func understand(t *testing.T, nc *client.Client, own accountSet, answer any) ([]chain.Block, error) {
	t.Helper()
	text, err := json.Marshal(answer)
	require.NoError(t, err)
	var chunks []client.Chunk
	if err := json.Unmarshal(text, &chunks); err != nil {
		return nil, err
	}
	r := &lineReader{client: nc, mode: LineProven, names: make(map[uint32]string), heads: make(map[core.Address]core.HashHeight)}
	r.resetBelow(genesisHeight)
	if err := r.check(t.Context(), genesisHeight, chunks); err != nil {
		return nil, err
	}
	return own.blocksOf(chunks)
}

// TestEveryMemberCounts changes, empties and leaves out each member of an answer, one at a time:
// what comes out is the truth or an error.
func TestEveryMemberCounts(t *testing.T) {
	s := newChunkScene(t)
	own, err := s.open(t).ourAccounts(t.Context())
	require.NoError(t, err)
	nc, err := client.Dial(t.Context(), s.url, client.Options{})
	require.NoError(t, err)
	defer nc.Close()
	answer := s.askChunks(t, 1, len(s.honest))
	got, err := understand(t, nc, own, answer)
	require.NoError(t, err)
	require.Equal(t, s.honest, got)

	const perMember = 30 // as many places of the same name are tried
	tried, noticed := make(map[string]int), make(map[string]bool)
	eachMember(answer, "", func(at string) {
		if tried[at]++; tried[at] > perMember {
			return
		}
		got, err := understand(t, nc, own, answer)
		if err == nil {
			require.Equal(t, s.honest, got, at)
		}
		noticed[at] = noticed[at] || err != nil
	})
	for _, block := range []string{".AccountBlocks.", ".AccountBlocks.sendBlockList."} {
		for _, name := range []string{"blockType", "hash", "height", "accountAddress", "toAddress", "amount", "tokenId"} {
			require.True(t, noticed[block+name], block+name)
		}
	}
	for _, name := range []string{"hash", "previousHash", "height", "producer", "publicKey", "signature", "seed", "snapshotData", "timestamp", "version"} {
		require.True(t, noticed[".SnapshotBlock."+name], name)
	}
}

// TestGenesisMovesNothing puts a send to us into a block whose hash cannot be recomputed.
func TestGenesisMovesNothing(t *testing.T) {
	s := newChunkScene(t)
	own, err := s.open(t).ourAccounts(t.Context())
	require.NoError(t, err)
	nc, err := client.Dial(t.Context(), s.url, client.Options{})
	require.NoError(t, err)
	defer nc.Close()
	answer := s.askChunks(t, 1, 2)
	for _, item := range blocksIn(answer.([]any)[0].(map[string]any)) {
		item.(map[string]any)["sendBlockList"] = []any{map[string]any{
			"blockType": 2, "accountAddress": assetText, "toAddress": s.inbox.String(), "amount": 5, "tokenId": core.VITE.String(),
		}}
	}
	_, err = understand(t, nc, own, answer)
	require.ErrorIs(t, err, core.ErrBlockHash)
}

// eachMember changes each value below one in turn, calls back and puts it back. The name it gives
// has no places in lists.
func eachMember(v any, at string, changed func(at string)) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			eachValue(v[i], at, func(other any) { v[i] = other }, changed)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			eachValue(v[name], at+"."+name, func(other any) { v[name] = other }, changed)
			kept := v[name]
			delete(v, name)
			changed(at + "." + name)
			v[name] = kept
		}
	}
}

func eachValue(v any, at string, put func(any), changed func(at string)) {
	eachMember(v, at, changed)
	for _, other := range others(v) {
		put(other)
		changed(at)
	}
	put(v)
}

// others are values to put in place of one.
func others(v any) []any {
	switch v := v.(type) {
	case json.Number:
		return []any{json.Number("1" + v.String()), json.Number("0"), nil, json.Number("18446744073709551615")}
	case string:
		list := []any{"", nil}
		if v != "" {
			last := byte('0')
			if v[len(v)-1] == last {
				last = '1'
			}
			list = append(list, v[:len(v)-1]+string(last), "A"+v[1:], v+v)
		}
		return list
	case []any:
		if len(v) > 0 {
			return []any{nil, v[1:], v[:len(v)-1], append(slices.Clone(v), v[0])}
		}
	case map[string]any:
		return []any{nil, map[string]any{}}
	case nil:
		return []any{json.Number("1"), "AAAA", fmt.Sprintf("%064d", 1), []any{map[string]any{}}}
	}
	return nil
}
