package node

import (
	"bytes"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

func hashes(list []*Block) (out []core.Hash) {
	for _, b := range list {
		out = append(out, b.Hash)
	}
	return out
}

func TestBlockLists(t *testing.T) {
	l := setup(t)
	genesis := l.head(l.rich.addr).Hash
	var sent []core.Hash
	for i := range 4 {
		sent = append(sent, l.do(l.rich, l.transfer(l.rich, l.staked.addr, uint64(i))))
	}
	l.Read(func(v *View) {
		all, err := v.Blocks(t.Context(), l.rich.addr, nil, nil, 10)
		require.NoError(t, err)
		require.Equal(t, []core.Hash{sent[3], sent[2], sent[1], sent[0], genesis}, hashes(all))
		some, err := v.Blocks(t.Context(), l.rich.addr, &sent[2], nil, 2)
		require.NoError(t, err)
		require.Equal(t, []core.Hash{sent[2], sent[1]}, hashes(some))
		vite := core.VITE
		some, err = v.Blocks(t.Context(), l.rich.addr, nil, &vite, 10)
		require.NoError(t, err)
		require.Len(t, some, 5, "the genesis receive counts: it credits VITE")
		some, err = v.Blocks(t.Context(), l.rich.addr, nil, &core.VX, 10)
		require.NoError(t, err)
		require.Empty(t, some)
		some, err = v.Blocks(t.Context(), l.poor.addr, nil, nil, 10)
		require.NoError(t, err)
		require.Empty(t, some)
		_, err = v.Blocks(t.Context(), l.poor.addr, &sent[2], nil, 10)
		require.Equal(t, error(ledger.ErrNoBlock), err)

		require.Equal(t, []core.Hash{sent[3], sent[2]}, hashes(v.BlockPage(l.rich.addr, 0, 2)))
		require.Equal(t, []core.Hash{genesis}, hashes(v.BlockPage(l.rich.addr, 2, 2)))
		require.Empty(t, v.BlockPage(l.rich.addr, 3, 2))
		require.Empty(t, v.BlockPage(l.rich.addr, -1, 2))
		require.Empty(t, v.BlockPage(l.rich.addr, 1<<62, 1<<62))
		require.Empty(t, v.BlockPage(l.poor.addr, 0, 2))

		require.Equal(t, sent[0], v.BlockByHeight(l.rich.addr, 2).Hash)
		require.Nil(t, v.BlockByHeight(l.rich.addr, 0))
		require.Nil(t, v.BlockByHeight(l.rich.addr, 6))
		require.Nil(t, v.BlockByHeight(l.poor.addr, 1))
		require.Nil(t, v.BlockByHash(core.Hash{1}))
		require.Nil(t, v.AccountHead(l.poor.addr))
	})
}

func TestUnreceivedIsOrderedByHash(t *testing.T) {
	l := setup(t)
	id := l.issue(l.rich, gtt)
	l.quotas()
	for range 5 {
		l.do(l.rich, l.transfer(l.rich, l.poor.addr, 3))
	}
	b := l.transfer(l.rich, l.poor.addr, 9)
	b.TokenID = id
	l.do(l.rich, b)
	zero := l.transfer(l.rich, l.poor.addr, 0)
	zero.TokenID = core.TokenID{}
	l.do(l.rich, zero)
	l.Read(func(v *View) {
		all := hashes(v.Unreceived(l.poor.addr, 0, 1000))
		require.Len(t, all, 7)
		require.True(t, isSorted(all))
		paged := append(hashes(v.Unreceived(l.poor.addr, 0, 4)), hashes(v.Unreceived(l.poor.addr, 1, 4))...)
		require.Equal(t, all, paged)
		require.Empty(t, v.Unreceived(l.poor.addr, 2, 4))
		require.Empty(t, v.Unreceived(core.Address{5}, 0, 4))

		sum := v.UnreceivedSummary(l.poor.addr)
		require.Equal(t, uint64(7), sum.BlockCount)
		require.Len(t, sum.Balances, 2, "a send without a token only counts")
		for _, balance := range sum.Balances {
			want := Balance{v.Token(core.VITE), *uint256.NewInt(15), 5}
			if balance.Token.ID == id {
				want = Balance{v.Token(id), *uint256.NewInt(9), 1}
			}
			require.Equal(t, want, balance)
		}
		require.Equal(t, AccountInfo{Address: core.Address{5}}, v.UnreceivedSummary(core.Address{5}))
		require.Equal(t, AccountInfo{Address: core.Address{5}}, v.AccountInfo(core.Address{5}))
		info := v.AccountInfo(l.rich.addr)
		require.Equal(t, v.AccountHead(l.rich.addr).Height, info.BlockCount)
		require.Len(t, info.Balances, 2)
	})
}

func isSorted(list []core.Hash) bool {
	for i := 1; i < len(list); i++ {
		if bytes.Compare(list[i-1][:], list[i][:]) >= 0 {
			return false
		}
	}
	return true
}

func TestFindLogs(t *testing.T) {
	l := setup(t)
	id := l.issue(l.rich, gtt)
	l.quotas()
	l.called(l.rich, l.call(l.rich, core.AssetContract, core.ReIssue, id, *uint256.NewInt(1), l.rich.addr))
	asset := func(from, to uint64) map[core.Address]HeightRange {
		return map[core.Address]HeightRange{core.AssetContract: {from, to}}
	}
	issued, reissued := core.IssueTokenEvent.Topic(), core.ReIssueEvent.Topic()
	tests := []struct {
		name   string
		filter LogFilter
		want   []uint64 // heights
	}{
		{"all", LogFilter{Ranges: asset(0, 0)}, []uint64{1, 2, 3}},
		{"range", LogFilter{Ranges: asset(2, 2)}, []uint64{2}},
		{"to beyond the end", LogFilter{Ranges: asset(3, 99)}, []uint64{3}},
		{"from beyond the end", LogFilter{Ranges: asset(4, 0)}, nil},
		{"upside down", LogFilter{Ranges: asset(3, 2)}, nil},
		{"no contract", LogFilter{Ranges: map[core.Address]HeightRange{{1}: {}}}, nil},
		{"one topic", LogFilter{Ranges: asset(1, 0), Topics: [][]core.Hash{{reissued}}}, []uint64{3}},
		{"either topic", LogFilter{Ranges: asset(1, 0), Topics: [][]core.Hash{{reissued, issued}}}, []uint64{2, 3}},
		{"any first topic", LogFilter{Ranges: asset(1, 0), Topics: [][]core.Hash{{}, {word(id)}}}, []uint64{2, 3}},
		{"too many topics", LogFilter{Ranges: asset(1, 0), Topics: [][]core.Hash{{}, {}, {issued}}}, nil},
		{"second page", LogFilter{Ranges: asset(1, 0), Page: 1, Size: 2}, []uint64{3}},
		{"page beyond", LogFilter{Ranges: asset(1, 0), Page: 2, Size: 2}, nil},
		{"page beyond all numbers", LogFilter{Ranges: asset(1, 0), Page: 1 << 62, Size: 4}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var heights []uint64
			l.Read(func(v *View) {
				list, err := v.FindLogs(t.Context(), tt.filter)
				require.NoError(t, err)
				for _, e := range list {
					require.Equal(t, core.AssetContract, e.Address)
					heights = append(heights, e.Block.Height)
				}
			})
			require.Equal(t, tt.want, heights)
		})
	}
	l.Read(func(v *View) {
		for _, f := range []LogFilter{{Size: 1001}, {Size: -1}, {Page: -1}} {
			_, err := v.FindLogs(t.Context(), f)
			require.Equal(t, error(ledger.ErrBadPageSize), err)
		}
		_, err := v.Logs(core.Hash{1})
		require.Equal(t, error(ledger.ErrNoBlock), err)
		logs, err := v.Logs(v.AccountHead(l.rich.addr).Hash)
		require.NoError(t, err)
		require.Empty(t, logs)
	})
}

func word(id core.TokenID) (h core.Hash) {
	copy(h[len(h)-len(id):], id[:])
	return h
}

func TestConfirmedBalances(t *testing.T) {
	l := setup(t)
	first := l.snapshot()
	h := l.do(l.rich, l.transfer(l.rich, l.staked.addr, 5))
	l.do(l.staked, l.receive(l.staked, h))
	second := l.snapshot()
	third := l.snapshot()
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 7))
	at := func(p ledger.Point, a core.Address) (out map[core.TokenID]uint256.Int) {
		l.Read(func(v *View) {
			var err error
			out, err = v.ConfirmedBalances(p.Hash, a, []core.TokenID{core.VITE, core.VX})
			require.NoError(t, err)
		})
		return out
	}
	require.Equal(t, map[core.TokenID]uint256.Int{core.VITE: *vite(10_000_000)}, at(first, l.rich.addr))
	require.Empty(t, at(first, l.staked.addr))
	require.Equal(t, map[core.TokenID]uint256.Int{core.VITE: *uint256.NewInt(5)}, at(second, l.staked.addr))
	less := new(uint256.Int).SubUint64(vite(10_000_000), 5)
	require.Equal(t, map[core.TokenID]uint256.Int{core.VITE: *less}, at(third, l.rich.addr), "what is in no snapshot does not count")
	require.Empty(t, at(third, core.Address{9}))
	l.Read(func(v *View) {
		_, err := v.ConfirmedBalances(core.Hash{1}, l.rich.addr, nil)
		require.Equal(t, error(ledger.ErrNoSnapshot), err)
		require.Len(t, v.Upgrades(), ledger.ChainVersion)
	})
}

func TestRequiredQuota(t *testing.T) {
	l := setup(t)
	tests := []struct {
		name string
		call Call
		want uint64
		err  error
	}{
		{"transfer", Call{BlockType: 2}, 21000, nil},
		{"transfer with data", Call{BlockType: 2, Data: make([]byte, 40)}, 22120, nil},
		{"over the limit", Call{BlockType: 2, Data: make([]byte, 34965)}, 1000020, nil},
		{"receive", Call{BlockType: 4}, 21000, nil},
		{"burn", Call{BlockType: 2, To: core.AssetContract, Data: unhex(t, "b7bf21b4")}, 115500, nil},
		{"unknown method", Call{BlockType: 2, To: core.AssetContract}, 0, ledger.ErrNoMethod},
		{"unknown contract", Call{BlockType: 2, To: core.ContractAddress(core.Address{}, 1, core.Hash{})}, 0, ledger.ErrNoContract},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l.Read(func(v *View) {
				got, err := v.RequiredQuota(tt.call)
				require.Equal(t, tt.err, err)
				require.Equal(t, tt.want, got)
			})
		})
	}
}

// TestRecordedLogHash: the rule for the hash of logs, on a block of a live node.
func TestRecordedLogHash(t *testing.T) {
	topics, data, err := core.IssueTokenEvent.Pack(core.TokenID(unhex(t, "6b894977b69ad0b7f2e8")))
	require.NoError(t, err)
	got := ledger.LogHash([]ledger.VMLog{{Topics: topics, Data: data}}, &core.AccountBlock{
		Address:      core.AssetContract,
		PreviousHash: core.Hash(unhex(t, "d519bd49599df00b6a5992a50065af7945c4b6af269af8791cca5688f3277e37")),
	})
	require.Equal(t, "1cf8e8d6f2f3a67886c76d6b2855faab82856f631c8379625abd281273eb7830", got.String())
}

func TestSnapshotBefore(t *testing.T) {
	l := setup(t)
	for range 5 {
		l.snapshot()
	}
	list := view(t, l.Node, func(v *View) []*SnapshotBlock { return v.Snapshots(100, 100) })
	before := func(at time.Time) *SnapshotBlock {
		return view(t, l.Node, func(v *View) *SnapshotBlock { return v.SnapshotBefore(at) })
	}
	for i, n := range list {
		require.Equal(t, n, before(n.Time.Add(time.Second)))
		if i+1 < len(list) {
			require.Equal(t, list[i+1], before(n.Time))
		}
	}
	require.Nil(t, before(list[len(list)-1].Time))
}
