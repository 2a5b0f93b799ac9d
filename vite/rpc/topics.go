package rpc

import (
	"slices"

	"gatewayd/vite/core"
	"gatewayd/vite/node"
)

// topic picks from the chain's events what a subscriber asked for and shows it; ok is false for
// what does not concern him. Members by topic: docs/exchange-chain-rpc.md 5.7.
type topic func(e *node.Event) (item any, ok bool)

// items converts one change of the chain for a subscriber.
func (t topic) items(change []node.Event) []any {
	var shown []any
	for i := range change {
		if item, ok := t(&change[i]); ok {
			shown = append(shown, item)
		}
	}
	return shown
}

type hashEvent struct {
	Hash    core.Hash `json:"hash"`
	Removed bool      `json:"removed"`
}

type heightEvent struct {
	Hash    core.Hash `json:"hash"`
	Height  string    `json:"height"`
	Removed bool      `json:"removed"`
}

type v1HeightEvent struct {
	Hash      core.Hash `json:"hash"`
	Height    uint64    `json:"height"`
	HeightStr string    `json:"heightStr"`
	Removed   bool      `json:"removed"`
}

type unreceivedEvent struct {
	Hash     core.Hash `json:"hash"`
	Received bool      `json:"received"`
	Removed  bool      `json:"removed"`
}

type v1UnreceivedEvent struct {
	Hash    core.Hash `json:"hash"`
	Closed  bool      `json:"closed"`
	Removed bool      `json:"removed"`
}

type logEvent struct {
	VMLog              *vmLog       `json:"vmlog"`
	AccountBlockHash   core.Hash    `json:"accountBlockHash"`
	AccountBlockHeight string       `json:"accountBlockHeight"`
	Address            core.Address `json:"address"`
	Removed            bool         `json:"removed"`
}

type v1LogEvent struct {
	Log              *vmLog       `json:"log"`
	AccountBlockHash core.Hash    `json:"accountBlockHash"`
	AccountHeight    string       `json:"accountHeight"`
	Addr             core.Address `json:"addr"`
	Removed          bool         `json:"removed"`
}

func snapshotBlocks(e *node.Event) (any, bool) {
	return heightEvent{e.Block.Hash, decimal(e.Block.Height), e.Removed}, e.Kind == node.EventSnapshot
}

func v1SnapshotBlocks(e *node.Event) (any, bool) {
	return v1HeightEvent{e.Block.Hash, e.Block.Height, decimal(e.Block.Height), e.Removed}, e.Kind == node.EventSnapshot
}

func accountBlocks(e *node.Event) (any, bool) {
	return hashEvent{e.Block.Hash, e.Removed}, e.Kind == node.EventBlock
}

func blocksOf(a core.Address) topic {
	return func(e *node.Event) (any, bool) {
		return heightEvent{e.Block.Hash, decimal(e.Block.Height), e.Removed}, e.Kind == node.EventBlock && e.Address == a
	}
}

func v1BlocksOf(a core.Address) topic {
	return func(e *node.Event) (any, bool) {
		return v1HeightEvent{e.Block.Hash, e.Block.Height, decimal(e.Block.Height), e.Removed}, e.Kind == node.EventBlock && e.Address == a
	}
}

func unreceivedOf(a core.Address) topic {
	return func(e *node.Event) (any, bool) {
		return unreceivedEvent{e.Block.Hash, e.Received, e.Removed}, e.Kind == node.EventUnreceived && e.Address == a
	}
}

func v1UnreceivedOf(a core.Address) topic {
	return func(e *node.Event) (any, bool) {
		return v1UnreceivedEvent{e.Block.Hash, e.Received, e.Removed}, e.Kind == node.EventUnreceived && e.Address == a
	}
}

func logsOf(f node.LogFilter) topic {
	return func(e *node.Event) (any, bool) {
		if !chosen(e, &f) {
			return nil, false
		}
		return logEvent{showLog(e.Log), e.Block.Hash, decimal(e.Block.Height), e.Address, e.Removed}, true
	}
}

func v1LogsOf(f node.LogFilter) topic {
	return func(e *node.Event) (any, bool) {
		if !chosen(e, &f) {
			return nil, false
		}
		return v1LogEvent{showLog(e.Log), e.Block.Hash, decimal(e.Block.Height), e.Address, e.Removed}, true
	}
}

// chosen reports whether an event is a log that the filter lets through: its contract, its height
// (0 is no bound), and each topic that the filter names.
func chosen(e *node.Event, f *node.LogFilter) bool {
	if e.Kind != node.EventLog || e.Log == nil {
		return false
	}
	heights, ok := f.Ranges[e.Address]
	if !ok || e.Block.Height < heights.From || heights.To > 0 && e.Block.Height > heights.To {
		return false
	}
	for i, choice := range f.Topics {
		if len(choice) > 0 && (i >= len(e.Log.Topics) || !slices.Contains(choice, e.Log.Topics[i])) {
			return false
		}
	}
	return true
}
