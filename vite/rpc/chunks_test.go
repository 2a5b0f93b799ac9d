package rpc

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// blockMembers are all members of a block in a chunk of the first generation.
var blockMembers = []string{
	"accountAddress", "amount", "blockType", "data", "difficulty", "fee", "fromBlockHash", "hash", "height", "logHash", "nonce",
	"prevHash", "publicKey", "quota", "quotaUsed", "sendBlockList", "signature", "toAddress", "tokenId",
}

// line makes a chain whose 13th snapshot block has a transfer of more than 2^64 and a contract's
// receive with a send in it.
func (f *fixture) line() {
	f.advance(12) // quota for both blocks
	data, err := core.IssueToken.Pack(true, "Gateway Test Token", "GTT", *uint256.NewInt(1000), uint8(6), *uint256.NewInt(2000), false)
	require.NoError(f.t, err)
	for _, b := range []*core.AccountBlock{
		{ToAddress: f.bob.Address(), Amount: vite(1_000_000)},
		{ToAddress: core.AssetContract, Data: data, Fee: vite(1000)},
	} {
		b.BlockType, b.Address, b.TokenID = core.SendCall, f.alice.Address(), core.VITE
		b.Height, b.PreviousHash = f.next(f.alice.Address())
		b.SignWith(f.alice)
		require.NoError(f.t, f.node.Submit(f.t.Context(), b))
	}
	f.advance(14)
}

func namesOf(t testing.TB, v any) (names []string) {
	for name := range v.(map[string]any) {
		names = append(names, name)
	}
	return names
}

func TestChunkShapes(t *testing.T) {
	f := start(t, nil)
	f.line()
	list := f.invoke("ledger_getChunks", `["12",14]`).Result.([]any)
	require.Len(t, list, 3)
	empty := list[0].(map[string]any)
	require.ElementsMatch(t, []string{"AccountBlocks", "SnapshotBlock"}, namesOf(t, empty))
	require.Nil(t, empty["AccountBlocks"])
	require.Equal(t, json.Number("12"), empty["SnapshotBlock"].(map[string]any)["height"])

	full := list[1].(map[string]any)
	blocks := full["AccountBlocks"].([]any)
	require.ElementsMatch(t, blockMembers, namesOf(t, blocks[0]))
	send := blocks[0].(map[string]any)
	require.Equal(t, json.Number("1000000000000000000000000"), send["amount"])
	require.Equal(t, json.Number("0"), send["fee"])
	require.Equal(t, json.Number("2"), send["height"])
	require.Equal(t, json.Number("21000"), send["quota"])
	content := full["SnapshotBlock"].(map[string]any)["snapshotContent"].(map[string]any)
	require.Len(t, content, 2)
	last := blocks[1].(map[string]any)
	require.Equal(t, map[string]any{"height": json.Number("3"), "hash": last["hash"]}, content[f.alice.Address().String()])

	received := blocks[2].(map[string]any)
	require.Nil(t, received["amount"])
	inside := received["sendBlockList"].([]any)[0].(map[string]any)
	require.ElementsMatch(t, blockMembers, namesOf(t, inside))
	require.Equal(t, json.Number("0"), inside["height"])
	require.Nil(t, inside["signature"])
	requireV1Hash(t, received)
}

// requireV1Hash recomputes the hash of a contract's receive from what is shown.
func requireV1Hash(t testing.TB, shown map[string]any) {
	block := func(m map[string]any) *core.AccountBlock {
		b := &core.AccountBlock{
			BlockType: core.BlockType(number(m["blockType"])), Height: number(m["height"]), PreviousHash: hash(t, m["prevHash"]),
			Address: address(m["accountAddress"].(string)), ToAddress: address(m["toAddress"].(string)), SendBlockHash: hash(t, m["fromBlockHash"]),
		}
		if data, ok := m["data"].(string); ok {
			b.Data, _ = base64.StdEncoding.DecodeString(data)
		}
		if amount, ok := m["amount"].(json.Number); ok {
			n, _ := new(big.Int).SetString(amount.String(), 10)
			b.Amount.SetFromBig(n)
		}
		id, err := core.ParseTokenID(m["tokenId"].(string))
		require.NoError(t, err)
		b.TokenID = id
		if m["logHash"] != nil {
			h := hash(t, m["logHash"])
			b.VMLogHash = &h
		}
		return b
	}
	host := block(shown)
	for i, s := range shown["sendBlockList"].([]any) {
		inside := block(s.(map[string]any))
		require.Equal(t, s.(map[string]any)["hash"], inside.ComputeTriggeredHash(host, uint8(i)).String())
		inside.Hash = inside.ComputeTriggeredHash(host, uint8(i))
		host.Triggered = append(host.Triggered, inside)
	}
	require.Equal(t, shown["hash"], host.ComputeHash().String())
	host.Triggered = nil
	require.NotEqual(t, shown["hash"], host.ComputeHash().String(), "the sends are part of the hash")
}

func hash(t testing.TB, v any) core.Hash {
	h, err := core.ParseHash(v.(string))
	require.NoError(t, err)
	return h
}

// TestChunksV2 has the same blocks as the other methods show them.
func TestChunksV2(t *testing.T) {
	f := start(t, nil)
	f.line()
	list := f.invoke("ledger_getChunksV2", `[13,"13"]`).Result.([]any)
	require.Len(t, list, 1)
	c := list[0].(map[string]any)
	require.ElementsMatch(t, []string{"accountBlocks", "snapshotBlock"}, namesOf(t, c))
	for _, b := range c["accountBlocks"].([]any) {
		require.Equal(t, f.post(call{Method: "ledger_getAccountBlockByHash", Params: []any{b.(map[string]any)["hash"]}}).Result, b)
	}
	require.Equal(t, f.invoke("ledger_getSnapshotBlockByHeight", `[13]`).Result, c["snapshotBlock"])
	require.Nil(t, f.invoke("ledger_getChunksV2", `[12,12]`).Result.([]any)[0].(map[string]any)["accountBlocks"])
}

func TestChunkRanges(t *testing.T) {
	f := start(t, nil)
	f.advance(1100)
	for _, method := range []string{"ledger_getChunks", "ledger_getChunksV2"} {
		for _, c := range []struct {
			params string
			count  int
			first  string
		}{
			{`[1,1]`, 1, "1"}, {`[0,1]`, 1, "1"}, {`["5","9"]`, 5, "5"}, {`[100,1100]`, 1001, "100"}, {`[1090,1200]`, 11, "1090"}, {`[1101,1200]`, 0, ""},
		} {
			list := f.invoke(method, c.params).Result.([]any)
			require.Len(t, list, c.count, c.params)
			if c.count > 0 {
				require.Contains(t, call{Result: list[0]}.shown(t), `"height":`+c.first+`,`, c.params)
			}
		}
		for params, message := range map[string]string{
			`[1,1002]`: "height range must be less than 1000", `[9,8]`: "startHeight must be less than endHeight",
			`["x",8]`: `strconv.ParseUint: parsing "x": invalid syntax`,
		} {
			require.JSONEq(t, fmt.Sprintf(`{"code":-32002,"message":%q}`, message), f.invoke(method, params).shown(t))
		}
	}
}

// BenchmarkChunks reads a thousand snapshot blocks, of which one in twenty has blocks, from the
// disk's part of the chain.
func BenchmarkChunks(b *testing.B) {
	for _, method := range []string{"ledger_getChunks", "ledger_getChunksV2"} {
		b.Run(method, func(b *testing.B) {
			s, alice := benchServer(b)
			c := dial(b, s)
			for i := range 2500 {
				if i%20 == 0 {
					ask(b, c, sends(b, s, alice, 1)[0])
				}
				_, err := s.node.Snapshot()
				require.NoError(b, err)
			}
			request := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":[101,1100]}`, method)
			b.ReportAllocs()
			for b.Loop() {
				ask(b, c, request)
			}
		})
	}
}
