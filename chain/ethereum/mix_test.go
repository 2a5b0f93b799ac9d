package ethereum_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev/ethnode"
)

// mix sends transactions of every kind and remembers what each of them owes to us.
type mix struct {
	*bundle
	random    *rand.Rand
	boxes     []common.Address
	forwarder common.Address
	liar      common.Address
	want      map[string]string // "tx to asset" -> amounts in order
}

func newMix(b *bundle, seed uint64) *mix {
	m := &mix{bundle: b, random: rand.New(rand.NewPCG(seed, 1)), want: map[string]string{}}
	for n := range 5 {
		m.boxes = append(m.boxes, addr(b.keys.add(10+n)))
	}
	m.forwarder = b.deploy(contracts.ForwarderMetaData.Bin)
	m.liar = b.deploy(contracts.LyingTokenMetaData.Bin)
	b.call(b.dev.Contracts().USDT, 0, token().PackApprove(b.dev.Contracts().BatchPayer, ether(1)))
	b.mine(1)
	m.endow()
	return m
}

// endow makes all receivers exist, with coins and tokens: from Amsterdam on a batch to many new
// ones would run out of gas.
func (m *mix) endow() {
	receivers := slices.Clone(m.boxes)
	for n := range strangers {
		receivers = append(receivers, stranger(n))
	}
	for _, to := range receivers {
		m.call(to, 1, nil)
		m.must(m.dev.SendToken(m.dev.Contracts().USDT, to, big.NewInt(1)))
	}
	m.mine(2)
}

const strangers = 10

func stranger(n int) common.Address { return outsider(fmt.Sprint("mix ", n)) }

func key(tx, to string, of chain.Asset) string { return fmt.Sprint(tx, " ", to, " ", of) }

func (m *mix) owe(tx common.Hash, to common.Address, of chain.Asset, amount int64) {
	for _, box := range m.boxes {
		if box == to && amount > 0 {
			m.want[key(tx.Hex(), to.Hex(), of)] += fmt.Sprint(amount, " ")
		}
	}
}

// receiver is one of ours or a stranger.
func (m *mix) receiver() common.Address {
	if m.random.IntN(3) == 0 {
		return stranger(m.random.IntN(strangers))
	}
	return m.boxes[m.random.IntN(len(m.boxes))]
}

// act sends one random transaction.
func (m *mix) act() {
	to, amount, forwarder := m.receiver(), m.random.Int64N(1000), contracts.NewForwarder()
	switch m.random.IntN(9) {
	case 0:
		m.owe(m.call(to, amount, nil), to, chain.Native, amount)
	case 1:
		m.owe(m.must(m.dev.SendToken(m.dev.Contracts().USDT, to, big.NewInt(amount))), to, m.usdt, amount)
	case 2:
		m.owe(m.call(m.forwarder, amount, forwarder.PackForward(to)), to, chain.Native, amount)
	case 3:
		m.call(m.forwarder, amount, forwarder.PackForwardUndone(to))
	case 4:
		m.owe(m.call(m.forwarder, amount, forwarder.PackForwardByDestruction(to)), to, chain.Native, amount)
	case 5:
		m.owe(m.call(m.liar, 0, contracts.NewLyingToken().PackClaim(outsider("rich"), to, big.NewInt(amount))), to, asset(m.liar), amount)
	case 6:
		m.batch(m.random.IntN(2) == 0)
	case 7:
		m.call(m.dev.Contracts().BatchPayer, amount+1, contracts.NewBatchPayer().PackPayNative([]common.Address{to}, []*big.Int{big.NewInt(amount)}))
	case 8:
		m.topUp()
	}
}

// batch pays up to 50 receivers at once.
func (m *mix) batch(native bool) {
	var receivers []common.Address
	var amounts []*big.Int
	total := int64(0)
	for range 1 + m.random.IntN(50) {
		amount := m.random.Int64N(100)
		receivers, amounts, total = append(receivers, m.receiver()), append(amounts, big.NewInt(amount)), total+amount
	}
	payer, usdt, of := m.dev.Contracts().BatchPayer, m.dev.Contracts().USDT, m.usdt
	value, data := int64(0), contracts.NewBatchPayer().PackPayToken(usdt, receivers, amounts)
	if native {
		value, data, of = total, contracts.NewBatchPayer().PackPayNative(receivers, amounts), chain.Native
	}
	tx := m.must(m.dev.SendCall(payer, big.NewInt(value), data))
	for i, to := range receivers {
		m.owe(tx, to, of, amounts[i].Int64())
	}
}

// topUp moves coins between accounts of ours, which owes nothing to anybody.
func (m *mix) topUp() {
	pay := credit(chain.Native, m.boxes[0], 1000)
	pay.Purpose = chain.Gas
	slot := m.hot
	nonce, err := m.dev.Client().PendingNonceAt(m.Context(), addr(slot))
	require.NoError(m, err)
	slot.Nonce = nonce
	m.broadcast(m.sign(slot, pay))
}

// got returns the adapter's reports over a range of blocks.
func (m *mix) got(from uint64) map[string]string {
	got := map[string]string{}
	for height := from; height <= m.height(); height++ {
		refs := map[string]bool{}
		for _, t := range m.block(height).Transfers {
			require.False(m, refs[t.Ref], "the reference %s twice", t.Ref)
			refs[t.Ref] = true
			if !t.Failed {
				got[key(t.Tx, t.To, t.Asset)] += t.Amount.String() + " "
			}
		}
	}
	return got
}

func TestEverythingAndNothingElseIsReported(t *testing.T) {
	forks(t, func(t *testing.T, b *bundle, _ bool) {
		b.dev.HoldFinality(true)
		m := newMix(b, 7)
		from := b.height() + 1
		for range 40 {
			for range 1 + m.random.IntN(8) {
				m.act()
			}
			b.mine(1)
			if m.random.IntN(8) == 0 {
				b.must(b.dev.Reorg(1, ethnode.Return))
				b.mine(1)
			}
		}
		b.mine(3)
		got := m.got(from)
		for k, amounts := range m.want {
			require.Equal(t, amounts, got[k], k)
		}
		require.Len(t, got, len(m.want))
		require.Greater(t, len(got), 100)
	})
}
