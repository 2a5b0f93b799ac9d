package bitcoin_test

import (
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/dev/bitcoinnode"
	"gatewayd/internal/testing/faults"
)

// TestHoldings: a majority of three nodes decides what addresses held at a block. Later blocks do
// not change it. A coin that only the records have does not count.
func TestHoldings(t *testing.T) {
	for _, k := range payKinds {
		t.Run(string(k.kind), func(t *testing.T) {
			t.Parallel()
			p := newPayer(t, k, nil, 1_000_000, 90_000, 80_000)
			var nodes []*faults.Node
			p.config.Nodes = nil
			for range 3 {
				n, err := faults.Open(bitcoinnode.WithPassword(p.proxy.URL))
				require.NoError(t, err)
				defer n.Close()
				nodes, p.config.Nodes = append(nodes, n), append(p.config.Nodes, bitcoinnode.WithPassword(n.URL))
			}
			p.reopen()
			addresses := []string{p.address(network.External, 1).Text, p.pool.Text, p.address(network.External, 7).Text, p.address(network.External, 2).Text}
			holdings := func(height uint64) (list []int64) {
				all, err := p.HoldingsAt(t.Context(), height, chain.Native, addresses)
				require.NoError(t, err)
				for _, a := range all {
					list = append(list, number(a))
				}
				return list
			}
			before := p.read
			want := []int64{90_000, 1_000_000, 0, 80_000}
			require.Equal(t, want, holdings(before))
			require.Equal(t, []int64{0, 0, 0, 0}, holdings(before-1))

			a := p.sent(p.slot(1), p.pay(1, 1, 300_000))
			require.Equal(t, want, holdings(before), "a pool's spending does not count")
			mine(t, p.node, 1, p.miner.address)
			require.Equal(t, want, holdings(before), "the records do not know the block yet")
			p.mine()
			require.Equal(t, want, holdings(before))
			after := slices.Clone(want)
			after[1] -= 300_000 + number(a.FeeCap)
			require.Equal(t, after, holdings(p.read))

			one := []json.RawMessage{[]byte("null"), []byte(`{"value":500,"scriptPubKey":{"hex":"00"}}`)}
			for _, answer := range one {
				nodes[0].Fail(faults.Fault{Habit: &faults.Habit{After: func(_ *faults.Upstream, c faults.Call, a *faults.Answer) {
					if c.Method == "gettxout" {
						a.Return(answer)
					}
				}}})
				require.Equal(t, after, holdings(p.read), "one node of three decides nothing")
			}
			nodes[1].Fail(faults.Fault{Dead: true})
			_, err := p.HoldingsAt(t.Context(), p.read, chain.Native, addresses)
			require.ErrorIs(t, err, chain.ErrUnavailable)
			for _, n := range nodes {
				n.Fail(faults.Fault{})
			}
			p.reopen()

			stray := chain.Coin{Out: a.Coins[0][:64] + ":77", Address: addresses[0], Amount: chain.NewAmount(5)}
			p.store(chain.Block{Point: chain.Point{Height: p.read}, Coins: []chain.Coin{stray}})
			require.Equal(t, after, holdings(p.read))
			nodes[0].Fail(faults.Fault{Habit: &faults.Habit{After: func(_ *faults.Upstream, c faults.Call, a *faults.Answer) {
				if c.Method == "gettxout" && string(a.Result) == "null" {
					script := p.address(network.External, 1).Script
					a.Return(map[string]any{"value": json.Number("0.00000005"), "scriptPubKey": map[string]any{"hex": hex.EncodeToString(script)}})
				}
			}}})
			require.Equal(t, after, holdings(p.read), "one node alone shows it")
			nodes[0].Fail(faults.Fault{})
			_, err = p.HoldingsAt(t.Context(), p.read, "0x1", addresses)
			require.ErrorContains(t, err, "its coin alone")

			p.config.Nodes = p.config.Nodes[:1] // a node makes one search at a time
			p.reopen()
			cold := p.pay(1, 1, 1).To // that of the payout
			sum, err := p.HoldingsAt(t.Context(), p.read, chain.Native, []string{cold})
			if k.kind == bitcoinnode.Btcd {
				require.ErrorIs(t, err, chain.ErrUnavailable)
				return
			}
			require.NoError(t, err)
			require.EqualValues(t, 300_000, number(sum[0]))
			sum, err = p.HoldingsAt(t.Context(), before, chain.Native, []string{cold})
			require.NoError(t, err)
			require.True(t, sum[0].IsZero())
		})
	}
}

// TestManyHoldings: 10,000 coins of the pool take few requests.
func TestManyHoldings(t *testing.T) {
	t.Parallel()
	p := newPayer(t, payKinds[1], nil, 1_000_000)
	for range 4 {
		coin, err := p.node.Coinbase(p.mined[0])
		require.NoError(t, err)
		p.mined = p.mined[1:]
		outs := []*wire.TxOut{output(t, p.of, p.miner.address, coin.Amount-1_000_000-2_500*50_000)}
		for range 2_500 {
			outs = append(outs, output(t, p.of, p.pool.Text, 50_000))
		}
		tx, err := p.miner.Spend([]bitcoinnode.Coin{coin}, outs...)
		require.NoError(t, err)
		require.NoError(t, p.node.Send(tx))
	}
	p.mine()
	requests := 0
	p.proxy.Fail(faults.Fault{Refuses: func(request []byte) bool { requests++; return false }})
	sums, err := p.HoldingsAt(t.Context(), p.read, chain.Native, []string{p.pool.Text})
	require.NoError(t, err)
	require.EqualValues(t, 1_000_000+10_000*50_000, number(sums[0]))
	require.Less(t, requests, 20)
}
