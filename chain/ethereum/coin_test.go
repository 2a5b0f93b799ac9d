package ethereum_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev/ethnode"
)

// public is a node without the debug API.
func public(c *ethnode.Config) { c.Public = true }

// TestOneSourceOfCoinInABlock: a block in which the same coin is in a transaction's value, in a
// trace and in a log is reported once, whatever the node offers and whatever is configured.
func TestOneSourceOfCoinInABlock(t *testing.T) {
	for _, c := range []struct {
		name   string
		change []func(*ethnode.Config)
		modes  []string
		calls  bool // what contracts send is seen
	}{
		{"logs, and a node that traces", []func(*ethnode.Config){amsterdam}, []string{"auto", "on", "off"}, true},
		{"logs only", []func(*ethnode.Config){amsterdam, public}, []string{"auto", "off"}, true},
		{"traces only", nil, []string{"auto", "on"}, true},
		{"neither", []func(*ethnode.Config){public}, []string{"auto", "off"}, false},
		{"traces switched off", nil, []string{"off"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t, c.change...)
			at, forwarder := b.deploy(contracts.ForwarderMetaData.Bin), contracts.NewForwarder()
			inbox := addr(b.inbox)
			b.must(b.dev.SendETH(inbox, big.NewInt(7)))
			b.call(at, 7, forwarder.PackForward(inbox))
			b.call(b.dev.Contracts().BatchPayer, 14, contracts.NewBatchPayer().PackPayNative([]common.Address{inbox, inbox}, []*big.Int{big.NewInt(7), big.NewInt(7)}))
			b.call(inbox, 7, []byte("hello"))
			height := b.mine(1)
			want := 2
			if c.calls {
				want = 5
			}
			var first []chain.Transfer
			for _, mode := range c.modes {
				config := b.config()
				config.Traces = mode
				block, err := b.adapter(config).Block(t.Context(), height)
				require.NoError(t, err)
				require.Len(t, block.Transfers, want, mode)
				refs := map[string]bool{}
				for _, tr := range block.Transfers {
					require.Equal(t, chain.NewAmount(7), tr.Amount)
					refs[tr.Ref] = true
				}
				require.Len(t, refs, want)
				if first == nil {
					first = block.Transfers
				}
				require.Equal(t, first, block.Transfers, mode)
			}
		})
	}
}

// TestRefsOfForwardedCoinSurviveAReorg: the transaction is mined again in another block, at another
// place.
func TestRefsOfForwardedCoinSurviveAReorg(t *testing.T) {
	for name, fork := range map[string][]func(*ethnode.Config){"traces": nil, "logs": {amsterdam}} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, fork...)
			b.dev.HoldFinality(true)
			at := b.deploy(contracts.ForwarderMetaData.Bin)
			b.must(b.dev.SendETH(outsider("before it"), big.NewInt(1)))
			tx := b.call(at, 11, contracts.NewForwarder().PackForward(addr(b.inbox)))
			before := b.block(b.mine(1))
			require.Len(t, before.Transfers, 1)
			b.must(b.dev.Reorg(1, ethnode.Return))
			b.mine(1)
			var after []chain.Transfer
			for height := before.Height; height <= b.height(); height++ {
				after = append(after, b.block(height).Transfers...)
			}
			require.Equal(t, before.Transfers, after)
			require.Equal(t, tx.Hex(), after[0].Tx)
		})
	}
}

// TestReportsAddUpToBalances: the reported movements of an account, incoming and outgoing with
// fees, equal the change of its balance.
func TestReportsAddUpToBalances(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, _ bool) {
		m := newMix(b, 11)
		from := b.height()
		for i := range 15 {
			for range 1 + m.random.IntN(6) {
				m.act()
			}
			if i%5 == 4 { // a payment that fails, and a cancellation
				rejector := b.deploy(contracts.RejectorMetaData.Bin)
				m.mine(1)
				m.pay(0, chain.Payment{Purpose: chain.Refund, Asset: chain.Native, To: rejector.Hex(), Amount: chain.NewAmount(5)})
				m.pay(1, chain.Payment{Purpose: chain.Cancel})
			}
			b.mine(1)
		}
		b.mine(1)
		books := map[string]*big.Int{}
		add := func(account string, sign int, amounts ...chain.Amount) {
			for _, a := range amounts {
				if books[account] == nil {
					books[account] = new(big.Int)
				}
				n := a.Uint256().ToBig()
				books[account].Add(books[account], n.Mul(n, big.NewInt(int64(sign))))
			}
		}
		effects := 0
		for height := from + 1; height <= b.height(); height++ {
			block := b.block(height)
			for _, tr := range block.Transfers {
				if tr.Asset == chain.Native && !tr.Failed {
					add(tr.To, 1, tr.Amount)
				}
			}
			for _, e := range block.OwnTxs {
				add(e.Account, -1, e.Fee, e.Value)
				if e.To != "" {
					add(e.To, 1, e.Value)
				}
				effects++
			}
		}
		require.Greater(t, effects, 5)
		accounts := []string{b.hot.Account}
		for _, box := range m.boxes {
			accounts = append(accounts, box.Hex())
		}
		for _, account := range accounts {
			add(account, 1, chain.Amount{})
			then, err := b.dev.Client().BalanceAt(t.Context(), common.HexToAddress(account), new(big.Int).SetUint64(from))
			require.NoError(t, err)
			now, err := b.dev.Client().BalanceAt(t.Context(), common.HexToAddress(account), nil)
			require.NoError(t, err)
			require.Equal(t, now.Sub(now, then).String(), books[account].String(), account)
		}
	})
}

// pay signs and sends a payment of the hot account, of which nothing is in the pool but ahead
// payments.
func (m *mix) pay(ahead uint64, p chain.Payment) {
	m.Helper()
	slot := m.hot
	nonce, err := m.dev.Client().NonceAt(m.Context(), addr(slot), nil)
	require.NoError(m, err)
	slot.Nonce = nonce + ahead
	m.broadcast(m.sign(slot, p))
}
