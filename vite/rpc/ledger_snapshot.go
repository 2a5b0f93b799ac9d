package rpc

import (
	"context"
	"math/big"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// GetSnapshotChainHeight is text.
func (l *ledgerAPI) GetSnapshotChainHeight() string { return decimal(l.head().Height) }

// GetLatestSnapshotHash of the newest snapshot block.
func (l *ledgerAPI) GetLatestSnapshotHash() core.Hash { return l.head().Hash }

func (l *ledgerAPI) head() ledger.Point {
	return read(l.node, func(v *node.View) ledger.Point { return v.Head() })
}

// GetLatestSnapshotBlock is the newest snapshot block.
func (l *ledgerAPI) GetLatestSnapshotBlock() *shownSnapshot {
	return showSnapshot(read(l.node, func(v *node.View) *node.SnapshotBlock { return v.SnapshotByHash(v.Head().Hash) }))
}

// GetSnapshotBlockByHash is null for an unknown hash.
func (l *ledgerAPI) GetSnapshotBlockByHash(h hashArg) (*shownSnapshot, error) {
	return recallSnapshot(l.node, func(v *node.View) *node.SnapshotBlock { return v.SnapshotByHash(h.Hash) })
}

// GetSnapshotBlockByHeight is null beyond the end.
func (l *ledgerAPI) GetSnapshotBlockByHeight(at heightArg) (*shownSnapshot, error) {
	height, err := at.height()
	if err != nil {
		return nil, err
	}
	return recallSnapshot(l.node, func(v *node.View) *node.SnapshotBlock { return v.SnapshotByHeight(height) })
}

// GetSnapshotBlocks lists blocks from a height downwards.
func (l *ledgerAPI) GetSnapshotBlocks(from heightArg, count int) ([]*shownSnapshot, error) {
	height, err := from.height()
	if err != nil {
		return nil, err
	}
	if ok, err := page(0, count); !ok {
		return nil, err
	}
	list, err := recall(l.node, func(v *node.View) []*node.SnapshotBlock { return v.Snapshots(height, count) })
	return showSnapshots(list), err
}

// GetSnapshotBlockBeforeTime is the newest block that is older than a time in Unix seconds; null
// without one.
func (l *ledgerAPI) GetSnapshotBlockBeforeTime(seconds int64) (*shownSnapshot, error) {
	at := time.Unix(seconds, 0)
	return recallSnapshot(l.node, func(v *node.View) *node.SnapshotBlock { return v.SnapshotBefore(at) })
}

// GetVmLogs is null for a block without events and an error for an unknown one.
func (l *ledgerAPI) GetVmLogs(h hashArg) ([]*vmLog, error) {
	var refused error
	logs, err := recall(l.node, func(v *node.View) (list []ledger.VMLog) { list, refused = v.Logs(h.Hash); return list })
	if err == nil {
		err = onWire(refused)
	}
	var shown []*vmLog
	for i := range logs {
		shown = append(shown, showLog(&logs[i]))
	}
	return shown, err
}

// logFilter chooses events.
type logFilter struct {
	AddressHeightRange map[addressKey]heightRange `json:"addressHeightRange"`
	Topics             [][]hashArg                `json:"topics"`
	PageIndex          int                        `json:"pageIndex"`
	PageSize           int                        `json:"pageSize"`
}

// addressKey is an address as a member name.
type addressKey core.Address

func (k *addressKey) UnmarshalText(b []byte) error {
	a, err := core.ParseAddress(string(b))
	if err != nil {
		return jsonrpc.ErrAddress
	}
	*k = addressKey(a)
	return nil
}

type heightRange struct {
	FromHeight heightArg `json:"fromHeight"`
	ToHeight   heightArg `json:"toHeight"`
}

// filter is the node's form of the filter; a filter without an address chooses nothing and is
// refused.
func (f *logFilter) filter() (node.LogFilter, error) {
	if len(f.AddressHeightRange) == 0 {
		return node.LogFilter{}, jsonrpc.Other("addressHeightRange is nil")
	}
	if f.PageSize > maxCount || len(f.AddressHeightRange) > maxCount {
		return node.LogFilter{}, errCount
	}
	chosen := node.LogFilter{
		Ranges: make(map[core.Address]node.HeightRange, len(f.AddressHeightRange)),
		Page:   max(f.PageIndex, 0), Size: max(f.PageSize, 0),
	}
	for account, r := range f.AddressHeightRange {
		from, err := r.FromHeight.height()
		if err != nil {
			return chosen, err
		}
		to, err := r.ToHeight.height()
		if err != nil {
			return chosen, err
		}
		chosen.Ranges[core.Address(account)] = node.HeightRange{From: from, To: to}
	}
	for _, choice := range f.Topics {
		topics := make([]core.Hash, len(choice))
		for i := range choice {
			topics[i] = choice[i].Hash
		}
		chosen.Topics = append(chosen.Topics, topics)
	}
	return chosen, nil
}

// shownLogEntry is an event with its place.
type shownLogEntry struct {
	VMLog              *vmLog       `json:"vmlog"`
	AccountBlockHash   core.Hash    `json:"accountBlockHash"`
	AccountBlockHeight string       `json:"accountBlockHeight"`
	Address            core.Address `json:"address"`
}

// GetVmLogsByFilter lists events by contract and height; null when there is none.
func (l *ledgerAPI) GetVmLogsByFilter(ctx context.Context, f logFilter) ([]shownLogEntry, error) {
	chosen, err := f.filter()
	if err != nil {
		return nil, err
	}
	entries, err := search(ctx, l, func(ctx context.Context, v *node.View) ([]node.LogEntry, error) {
		fromNewest(v, chosen.Ranges)
		return v.FindLogs(ctx, chosen)
	})
	var shown []shownLogEntry
	for i := range entries {
		e := &entries[i]
		shown = append(shown, shownLogEntry{showLog(&e.VMLog), e.Block.Hash, decimal(e.Block.Height), e.Address})
	}
	return shown, err
}

// fromNewest puts the newest block for a height 0 that a range begins with. A stream of events has
// no bound there instead.
func fromNewest(v *node.View, ranges map[core.Address]node.HeightRange) {
	for a, r := range ranges {
		if r.From == 0 {
			ranges[a] = node.HeightRange{From: v.HeadID(a).Height, To: r.To}
		}
	}
}

// GetVmlogsByFilter is the same under the name that the JavaScript client uses.
func (l *ledgerAPI) GetVmlogsByFilter(ctx context.Context, f logFilter) ([]shownLogEntry, error) {
	return l.GetVmLogsByFilter(ctx, f)
}

// GetConfirmedBalances gives balances as of a snapshot block. These amounts are JSON numbers of any
// size, and accounts that hold none of the tokens are left out.
func (l *ledgerAPI) GetConfirmedBalances(snapshot hashArg, accounts []addressArg, tokens []tokenArg) (map[core.Address]map[core.TokenID]*big.Int, error) {
	if len(accounts)*len(tokens) > maxCount {
		return nil, errCount
	}
	ids := make([]core.TokenID, len(tokens))
	for i := range tokens {
		ids[i] = tokens[i].TokenID
	}
	shown := make(map[core.Address]map[core.TokenID]*big.Int)
	var refused error
	err := l.node.Read(func(v *node.View) {
		for i := 0; i < len(accounts) && refused == nil; i++ {
			var held map[core.TokenID]uint256.Int
			if held, refused = v.ConfirmedBalances(snapshot.Hash, accounts[i].Address, ids); len(held) > 0 {
				shown[accounts[i].Address] = numbers(held)
			}
		}
	})
	if err == nil {
		err = refused
	}
	if err != nil {
		return nil, onWire(err)
	}
	return shown, nil
}

func numbers(amounts map[core.TokenID]uint256.Int) map[core.TokenID]*big.Int {
	shown := make(map[core.TokenID]*big.Int, len(amounts))
	for id, n := range amounts {
		shown[id] = n.ToBig()
	}
	return shown
}

// upgrade is a rule change; its members are capitalised on the wire.
type upgrade struct {
	Name    string
	Height  uint64
	Version uint32
}

// GetUpgradeInfo lists the rule changes.
func (l *ledgerAPI) GetUpgradeInfo() []upgrade {
	var shown []upgrade
	for _, u := range read(l.node, func(v *node.View) []node.Upgrade { return v.Upgrades() }) {
		shown = append(shown, upgrade(u))
	}
	return shown
}
