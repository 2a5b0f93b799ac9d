package rpc

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

func snapshotEvents(n int) []node.Event {
	events := make([]node.Event, n)
	for i := range events {
		events[i] = node.Event{Kind: node.EventSnapshot, Block: ledger.BlockID{Height: uint64(i) + 1}}
	}
	return events
}

// The members of each topic in both generations, removals included: a chain of one producer shows
// them on roll-back only.
func TestTopicMembers(t *testing.T) {
	a := core.AssetContract
	zero := core.Hash{}.String()
	log := &ledger.VMLog{Topics: []core.Hash{{}}}
	all := node.LogFilter{Ranges: map[core.Address]node.HeightRange{a: {}}}
	for _, c := range []struct {
		topic topic
		event node.Event
		want  string
	}{
		{snapshotBlocks, node.Event{Kind: node.EventSnapshot, Block: ledger.BlockID{Height: 7}}, `{"hash":"` + zero + `","height":"7","removed":false}`},
		{v1SnapshotBlocks, node.Event{Kind: node.EventSnapshot, Block: ledger.BlockID{Height: 7}, Removed: true}, `{"hash":"` + zero + `","height":7,"heightStr":"7","removed":true}`},
		{accountBlocks, node.Event{Kind: node.EventBlock, Address: a}, `{"hash":"` + zero + `","removed":false}`},
		{blocksOf(a), node.Event{Kind: node.EventBlock, Address: a, Block: ledger.BlockID{Height: 2}}, `{"hash":"` + zero + `","height":"2","removed":false}`},
		{v1BlocksOf(a), node.Event{Kind: node.EventBlock, Address: a, Block: ledger.BlockID{Height: 2}}, `{"hash":"` + zero + `","height":2,"heightStr":"2","removed":false}`},
		{unreceivedOf(a), node.Event{Kind: node.EventUnreceived, Address: a, Received: true}, `{"hash":"` + zero + `","received":true,"removed":false}`},
		{v1UnreceivedOf(a), node.Event{Kind: node.EventUnreceived, Address: a, Removed: true}, `{"hash":"` + zero + `","closed":false,"removed":true}`},
		{logsOf(all), node.Event{Kind: node.EventLog, Address: a, Log: log, Block: ledger.BlockID{Height: 4}}, `{"vmlog":{"topics":["` + zero + `"],"data":null},"accountBlockHash":"` + zero + `","accountBlockHeight":"4","address":"` + a.String() + `","removed":false}`},
		{v1LogsOf(all), node.Event{Kind: node.EventLog, Address: a, Log: log, Block: ledger.BlockID{Height: 4}}, `{"log":{"topics":["` + zero + `"],"data":null},"accountBlockHash":"` + zero + `","accountHeight":"4","addr":"` + a.String() + `","removed":false}`},
	} {
		raw, err := json.Marshal(c.topic.items([]node.Event{{}, c.event}))
		require.NoError(t, err)
		require.JSONEq(t, "["+c.want+"]", string(raw))
	}
}

func TestLogTopicsChoose(t *testing.T) {
	a, one, two := core.AssetContract, core.Hash{1}, core.Hash{2}
	event := node.Event{Kind: node.EventLog, Address: a, Block: ledger.BlockID{Height: 5}, Log: &ledger.VMLog{Topics: []core.Hash{one, two}}}
	for _, c := range []struct {
		heights node.HeightRange
		topics  [][]core.Hash
		want    bool
	}{
		{node.HeightRange{}, nil, true},
		{node.HeightRange{From: 5, To: 5}, nil, true},
		{node.HeightRange{From: 6}, nil, false},
		{node.HeightRange{From: 1, To: 4}, nil, false},
		{node.HeightRange{}, [][]core.Hash{{one}}, true},
		{node.HeightRange{}, [][]core.Hash{{two, one}, {two}}, true},
		{node.HeightRange{}, [][]core.Hash{{}, {two}}, true},
		{node.HeightRange{}, [][]core.Hash{{two}}, false},
		{node.HeightRange{}, [][]core.Hash{{}, {}, {one}}, false},
	} {
		f := node.LogFilter{Ranges: map[core.Address]node.HeightRange{a: c.heights}, Topics: c.topics}
		require.Equal(t, c.want, chosen(&event, &f), "%+v", c)
	}
	require.False(t, chosen(&event, &node.LogFilter{Ranges: map[core.Address]node.HeightRange{core.QuotaContract: {}}}))
}
