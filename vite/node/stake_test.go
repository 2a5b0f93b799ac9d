package node

import (
	"encoding/base64"
	"math/big"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

func (l *testChain) stakes(a core.Address) (list StakeList) {
	l.Read(func(v *View) { list = v.Stakes(a, 0, 1000) })
	return list
}

func (l *testChain) quota(a core.Address) (q QuotaInfo) {
	l.Read(func(v *View) { q = v.Quota(a) })
	return q
}

func (l *testChain) stakeCall(m core.Method, beneficiary core.Address, amount uint64) *core.AccountBlock {
	b := l.call(l.rich, core.QuotaContract, m, beneficiary)
	b.Amount = *vite(amount)
	return b
}

func TestStakeWithID(t *testing.T) {
	l := setup(t)
	before := l.stakes(l.rich.addr)
	require.Equal(t, 2, before.Count)
	stake := l.stakeCall(core.StakeForQuota, l.poor.addr, 1000)
	require.Equal(t, byte(ledger.StatusOK), l.called(l.rich, stake).Data[32])
	list := l.stakes(l.rich.addr)
	require.Equal(t, 3, list.Count)
	require.Equal(t, vite(2_001_000).Dec(), list.Total.Dec())
	got := list.Stakes[2]
	require.Equal(t, stake.Hash, got.ID)
	require.Equal(t, l.poor.addr, got.Beneficiary)
	require.Equal(t, uint64(1+5), got.ExpirationHeight)
	require.Equal(t, QuotaInfo{Current: 1960, Max: 147000, Stake: *vite(1000)}, l.quota(l.poor.addr))

	cancel := func(u user) byte {
		return l.called(u, l.call(u, core.QuotaContract, core.CancelQuotaStaking, stake.Hash)).Data[32]
	}
	require.Equal(t, byte(ledger.StatusFailed), cancel(l.rich), "locked")
	for range 5 {
		l.snapshot()
	}
	l.do(l.staked, l.receive(l.staked, l.incoming(l.staked)))
	require.Equal(t, byte(ledger.StatusFailed), cancel(l.staked), "a foreign stake")
	held := l.balance(l.rich.addr, core.VITE)
	require.Equal(t, byte(ledger.StatusOK), cancel(l.rich))
	require.Equal(t, held, l.balance(l.rich.addr, core.VITE), "comes as a send")
	l.receiveAll(l.rich)
	require.Equal(t, "9999999999999999999999999", l.balance(l.rich.addr, core.VITE))
	require.Equal(t, 2, l.stakes(l.rich.addr).Count)
	require.Equal(t, QuotaInfo{}, l.quota(l.poor.addr))
	require.Equal(t, byte(ledger.StatusFailed), cancel(l.rich), "only once")
}

func TestStakeMerged(t *testing.T) {
	l := setup(t)
	require.Equal(t, byte(ledger.StatusOK), l.called(l.rich, l.stakeCall(core.Stake, l.poor.addr, 200)).Data[32])
	l.snapshot()
	require.Equal(t, byte(ledger.StatusOK), l.called(l.rich, l.stakeCall(core.Pledge, l.poor.addr, 300)).Data[32])
	list := l.stakes(l.rich.addr)
	require.Equal(t, 3, list.Count)
	require.Equal(t, ledger.Stake{
		Staker: l.rich.addr, Beneficiary: l.poor.addr, Amount: *vite(500), ExpirationHeight: 7,
		ExpirationTime: list.Stakes[2].ExpirationTime,
	}, list.Stakes[2], "locked anew")

	cancel := func(amount uint64) byte {
		return l.called(l.rich, l.call(l.rich, core.QuotaContract, core.CancelStake, l.poor.addr, *vite(amount))).Data[32]
	}
	require.Equal(t, byte(ledger.StatusFailed), cancel(200), "locked")
	for range 5 {
		l.snapshot()
	}
	require.Equal(t, byte(ledger.StatusFailed), cancel(400), "a rest of 100 VITE")
	require.Equal(t, byte(ledger.StatusFailed), cancel(501), "more than there is")
	require.Equal(t, byte(ledger.StatusOK), cancel(200))
	require.Equal(t, vite(300).Dec(), l.stakes(l.rich.addr).Stakes[2].Amount.Dec())
	require.Equal(t, byte(ledger.StatusOK), cancel(300))
	require.Equal(t, 2, l.stakes(l.rich.addr).Count)
	l.receiveAll(l.rich)
	require.Equal(t, vite(10_000_000).Dec(), l.balance(l.rich.addr, core.VITE))
}

// TestQuotaWindow: quota accumulates over 75 snapshot blocks, and what was spent comes back when
// the window has passed.
func TestQuotaWindow(t *testing.T) {
	l := setup(t)
	per := core.QuotaForStake(*vite(1_000_000))
	require.Equal(t, QuotaInfo{Current: per, Max: 75 * per, Stake: *vite(1_000_000)}, l.quota(l.rich.addr))
	l.do(l.rich, l.transfer(l.rich, l.staked.addr, 1))
	require.Equal(t, per-21000, l.quota(l.rich.addr).Current)
	for range 74 {
		l.snapshot()
	}
	require.Equal(t, 75*per-21000, l.quota(l.rich.addr).Current)
	l.snapshot()
	require.Equal(t, 75*per, l.quota(l.rich.addr).Current)
}

// TestWork uses the nonce that a live node has taken: at height 1 it depends on the account alone.
func TestWork(t *testing.T) {
	l := setup(t)
	key, err := core.NewPrivateKey(unhex(t, "3aca2712c2e6c04b8761b414ff16b3ade0a2cd79ef33a29d62860a720876e002"))
	require.NoError(t, err)
	worker := user{key, key.Address()}
	h := l.do(l.rich, l.transfer(l.rich, worker.addr, 5))
	l.Read(func(v *View) {
		need, err := v.PoWDifficulty(Call{Address: worker.addr, BlockType: 4}, core.Hash{})
		require.NoError(t, err)
		require.Equal(t, PoWNeed{21000, big.NewInt(67108863)}, need)
		_, err = v.PoWDifficulty(Call{Address: worker.addr, BlockType: 4}, core.Hash{1})
		require.Equal(t, error(ledger.ErrForked), err)
	})
	b := l.receive(worker, h)
	b.Difficulty = big.NewInt(67108863)
	b.Nonce, err = base64.StdEncoding.DecodeString("AAAAAAVHSfg=")
	require.NoError(t, err)
	l.do(worker, b)
	got := l.block(b.Hash)
	require.Equal(t, [2]uint64{0, 21000}, [2]uint64{got.QuotaByStake, got.TotalQuota})

	second := l.transfer(worker, l.rich.addr, 1)
	easyWork(second, 1000)
	require.Equal(t, error(ledger.ErrPoWTwice), l.try(worker, second))
	send := Call{Address: worker.addr, BlockType: 2, To: l.rich.addr}
	l.Read(func(v *View) {
		_, err := v.PoWDifficulty(send, b.Hash)
		require.Equal(t, error(ledger.ErrPoWTwice), err)
	})
	l.snapshot()
	require.Equal(t, error(ledger.ErrQuota), l.try(worker, second), "allowed again, but worth too little")
	l.Read(func(v *View) {
		send.Data = make([]byte, 45)
		need, err := v.PoWDifficulty(send, b.Hash)
		require.NoError(t, err)
		require.Equal(t, PoWNeed{22260, big.NewInt(71584237)}, need)
		send.Data = make([]byte, 34965)
		_, err = v.PoWDifficulty(send, b.Hash)
		require.Equal(t, error(ledger.ErrBlockLimit), err)
	})
}

// TestWorkBesideStake: work counts first, the stake pays the rest.
func TestWorkBesideStake(t *testing.T) {
	l := setup(t)
	b := l.transfer(l.rich, l.staked.addr, 1)
	easyWork(b, 894_654) // 280 quota
	l.do(l.rich, b)
	got := l.block(b.Hash)
	require.Equal(t, [2]uint64{20720, 21000}, [2]uint64{got.QuotaByStake, got.TotalQuota})
	l.Read(func(v *View) {
		need, err := v.PoWDifficulty(Call{Address: l.rich.addr, BlockType: 2, To: l.poor.addr}, b.Hash)
		require.NoError(t, err, "the stake suffices, so the work does not matter")
		require.Equal(t, PoWNeed{RequiredQuota: 21000}, need)
	})
}

func TestCreateContract(t *testing.T) {
	l := setup(t)
	b := l.creation(l.rich)
	b.Amount = *uint256.NewInt(9)
	require.Equal(t, byte(ledger.StatusOK), l.called(l.rich, b).Data[32])
	require.Equal(t, uint64(31532), l.block(b.Hash).TotalQuota)
	l.Read(func(v *View) {
		require.Equal(t, &ledger.ContractInfo{Code: []byte{1}, GID: core.DelegateGID, QuotaMultiplier: 10}, v.Contract(b.ToAddress))
		require.Nil(t, v.Contract(l.rich.addr))
		require.True(t, v.Contract(core.AssetContract).Builtin)
		require.Nil(t, v.Contract(core.ContractAddress(l.rich.addr, 77, core.Hash{})))
	})
	require.Equal(t, "9", l.balance(b.ToAddress, core.VITE))

	call := l.transfer(l.rich, b.ToAddress, 5)
	refused := l.called(l.rich, call)
	require.Equal(t, byte(ledger.StatusFailed), refused.Data[32])
	require.Equal(t, "5", refused.Triggered[0].Amount.Dec())
	checkBooks(t, l.state, uint256.Int{})
}

func unhex(t testing.TB, s string) []byte {
	n, ok := new(big.Int).SetString(s, 16)
	require.True(t, ok)
	return n.FillBytes(make([]byte, len(s)/2))
}
