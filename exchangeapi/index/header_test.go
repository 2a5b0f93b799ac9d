package index

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// answers are blocks and events as the embedded node shows them.
func answers(t testing.TB) (blocks, events json.RawMessage) {
	r := newRig(t)
	sell := r.order(r.alice, dex.Sell, "10", coins(20))
	r.order(r.bob, dex.Buy, "10", coins(10))
	r.cancel(r.alice, sell)
	r.order(r.alice, dex.Sell, "10", coins(10_000_000))
	for _, c := range []contract{fund, trade} {
		var some, logs []json.RawMessage
		require.NoError(t, r.client.Call(t.Context(), &some, "ledger_getAccountBlocks", c.address(), nil, nil, 1000))
		filter := client.LogFilter{Ranges: map[core.Address]client.HeightRange{c.address(): {From: 1}}}
		require.NoError(t, r.client.Call(t.Context(), &logs, "ledger_getVmLogsByFilter", filter))
		blocks, events = glued(t, blocks, some), glued(t, events, logs)
	}
	return blocks, events
}

func glued(t testing.TB, list json.RawMessage, more []json.RawMessage) json.RawMessage {
	var all []json.RawMessage
	if list != nil {
		require.NoError(t, json.Unmarshal(list, &all))
	}
	list, err := json.Marshal(append(all, more...))
	require.NoError(t, err)
	return list
}

// TestHeaders: the members extracted from a node's answers equal those that package client decodes.
func TestHeaders(t *testing.T) {
	blocks, events := answers(t)
	var picked []wireBlock
	var full []client.AccountBlock
	require.NoError(t, json.Unmarshal(blocks, &picked))
	require.NoError(t, json.Unmarshal(blocks, &full))
	require.Greater(t, len(full), 20)
	for i := range full {
		h, err := picked[i].header()
		require.NoError(t, err)
		require.NoError(t, h.differs(&full[i]))
	}
	var pickedEvents []logEntry
	var fullEvents []struct {
		Log    client.VMLog `json:"vmlog"`
		Block  core.Hash    `json:"accountBlockHash"`
		Height uint64       `json:"accountBlockHeight,string"`
	}
	require.NoError(t, json.Unmarshal(events, &pickedEvents))
	require.NoError(t, json.Unmarshal(events, &fullEvents))
	require.Len(t, pickedEvents, len(fullEvents))
	for i, e := range fullEvents {
		log, err := pickedEvents[i].content()
		require.NoError(t, err)
		require.Equal(t, []any{e.Log, e.Block, e.Height}, []any{log, pickedEvents[i].Block, pickedEvents[i].height()})
	}
	var none []wireBlock
	require.NoError(t, json.Unmarshal([]byte("null"), &none))
	require.Empty(t, none)
}

// differs returns the difference to the complete block.
func (h *header) differs(b *client.AccountBlock) error {
	var sends []core.Hash
	var settled [][]byte
	for i := range b.Triggered {
		switch s := &b.Triggered[i]; s.ToAddress {
		case core.DexTradeContract:
			sends = append(sends, s.Hash)
		case core.DexFundContract:
			settled = append(settled, s.Data)
		}
	}
	logged := core.Hash{}
	if b.VMLogHash != nil {
		logged = *b.VMLogHash
	}
	same := h.height == b.Height && h.hash == b.Hash && h.previous == b.PreviousHash && h.send == b.SendBlockHash && h.from == b.FromAddress &&
		h.receive == (b.BlockType == core.Receive) && h.logged == logged && h.time == b.Timestamp && string(h.result) == string(b.Data) &&
		h.callAmount.Int == b.Amount && h.callToken == b.TokenID && len(h.settled) == len(settled) && h.relay.IsZero() == (len(sends) == 0)
	for i := range settled {
		same = same && string(settled[i]) == string(h.settled[i])
	}
	if same = same && (len(sends) == 0 || sends[0] == h.relay); !same {
		return errors.New("another block was read: " + b.Hash.String())
	}
	return nil
}

// TestOlderNames: old nodes have one generation of names, and null where there is nothing.
func TestOlderNames(t *testing.T) {
	id, to := core.Hash{7}, core.DexTradeContract
	h, err := readHeader(`{"blockType":4, "height":"12", "prevHash":"` + id.String() + `","fromBlockHash":"` + id.String() + `",
		"fromAddress":"` + to.String() + `","logHash":null,"amount":null,"data":null,"fee":"\"}","timestamp":0,
		"sendBlockList":[{"hash":"` + id.String() + `","toAddress":"` + to.String() + `","data":"AQI="}],"triggeredSendBlockList":null}`)
	require.NoError(t, err)
	require.Equal(t, []any{uint64(12), id, id, to, id, []byte{1, 2}, true}, []any{h.height, h.previous, h.send, h.from, h.relay, h.relayed, h.receive})
	var e logEntry
	require.NoError(t, json.Unmarshal([]byte(`{"log":{"topics":["`+id.String()+`"],"data":"AQI="},"accountHeight":"3"}`), &e))
	log, err := e.content()
	require.NoError(t, err)
	require.Equal(t, []any{client.VMLog{Topics: []core.Hash{id}, Data: []byte{1, 2}}, uint64(3)}, []any{log, e.height()})
	for text, want := range map[string]string{
		`{"height":"x"}`: "height", `{"hash":"00"}`: "hash", `{"data":"*"}`: "data", `{"fromAddress":"vite_"}`: "address",
		`{"sendBlockList":[{"toAddress":"vite_1"}]}`: "address", `{"amount":"-1"}`: "amount", `{"timestamp":"soon"}`: "timestamp",
		`[]`: "array", `{"sendBlockList":{}}`: "object",
	} {
		_, err := readHeader(text)
		require.ErrorContains(t, err, want, text)
	}
}

func readHeader(text string) (header, error) {
	var w wireBlock
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return header{}, err
	}
	return w.header()
}

// TestCallsNotAsked: what an order or a cancel asked for is seen from what dexFund passed on, so
// their sends are not read.
func TestCallsNotAsked(t *testing.T) {
	r := newRig(t)
	node := &counting{Client: r.client}
	x := r.openOn(sqliteURL(t), node)
	r.catchUp(x)
	node.asked = 0
	sell := r.order(r.alice, dex.Sell, "10", coins(20))
	r.cancel(r.alice, sell)
	r.catchUp(x)
	require.Zero(t, node.asked)
	r.order(r.alice, dex.Sell, "10", coins(10_000_000))
	r.catchUp(x)
	require.Equal(t, 1, node.asked, "one that failed")
	r.same(x)
}

// counting counts the sends that are asked for.
type counting struct {
	*client.Client
	asked int
}

func (c *counting) AccountBlocksByHash(ctx context.Context, hashes []core.Hash) ([]*client.AccountBlock, error) {
	c.asked += len(hashes)
	return c.Client.AccountBlocksByHash(ctx, hashes)
}

// FuzzHeader: nothing that a node answers makes reading it panic.
func FuzzHeader(f *testing.F) {
	blocks, events := answers(f)
	for _, list := range []json.RawMessage{blocks, events} {
		var each []json.RawMessage
		require.NoError(f, json.Unmarshal(list, &each))
		for _, one := range each[:5] {
			f.Add([]byte(one))
		}
	}
	f.Fuzz(func(_ *testing.T, text []byte) {
		_, _ = readHeader(string(text)) // must not panic, whatever it answers
		var e logEntry
		if json.Unmarshal(text, &e) == nil {
			_, _ = e.content()
		}
	})
}
