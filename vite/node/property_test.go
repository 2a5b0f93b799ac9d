package node

import (
	"context"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// walk drives a node with random steps. Refused blocks are part of it: they must change nothing.
type walk struct {
	*testChain
	users []user
}

// step makes one random step. digests has the state at each snapshot height, without the count of
// rollbacks.
func (w *walk) step(t *rapid.T, digests map[uint64]core.Hash) {
	u := rapid.SampledFrom(w.users).Draw(t, "user")
	switch rapid.IntRange(0, 11).Draw(t, "step") {
	case 0, 1, 2:
		w.send(t, u)
	case 3, 4, 5:
		w.receiveOne(t, u)
	case 6:
		w.manage(t, u)
	case 7:
		w.stakeSome(t, u)
	case 8:
		require.NoError(t, w.Tick())
	case 9:
		_, err := w.Snapshot()
		require.NoError(t, err)
		digests[w.state.Height()] = w.plainDigest()
	case 10:
		w.dropOne(t)
	case 11:
		w.rollbackSome(t, digests)
	}
}

// submit signs and submits; whether the block is taken does not matter here.
func (w *walk) submit(t *rapid.T, u user, b *core.AccountBlock) {
	before := w.digest()
	b.SignWith(u.key)
	if err := w.Submit(context.Background(), b); err != nil {
		var refusal *ledger.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, before, w.digest())
	}
}

func (w *walk) anyToken(t *rapid.T) core.TokenID {
	return rapid.SampledFrom(ledger.SortedTokens(w.state.Tokens)).Draw(t, "token")
}

func (w *walk) send(t *rapid.T, u user) {
	to := rapid.SampledFrom(w.users).Draw(t, "to")
	b := w.transfer(u, to.addr, rapid.Uint64Range(0, 50).Draw(t, "amount"))
	b.TokenID = w.anyToken(t)
	w.submit(t, u, b)
}

func (w *walk) receiveOne(t *rapid.T, u user) {
	if list := w.unreceived(u.addr); len(list) > 0 {
		w.submit(t, u, w.receive(u, rapid.SampledFrom(list).Draw(t, "send").Hash))
	}
}

func (w *walk) manage(t *rapid.T, u user) {
	id := w.anyToken(t)
	amount := *uint256.NewInt(rapid.Uint64Range(0, 50).Draw(t, "amount"))
	call := func(m core.Method, args ...any) *core.AccountBlock { return w.call(u, core.AssetContract, m, args...) }
	var b *core.AccountBlock
	switch rapid.IntRange(0, 4).Draw(t, "method") {
	case 0:
		b = call(core.IssueToken, gtt.args()...)
	case 1:
		b = call(core.ReIssue, id, amount, w.users[0].addr)
	case 2:
		b = call(core.Burn)
		b.TokenID, b.Amount = id, amount
	case 3:
		b = call(core.TransferOwnership, id, w.users[1].addr)
	case 4:
		b = w.creation(u)
		b.Amount = amount
	}
	w.submit(t, u, b)
}

func (w *walk) stakeSome(t *rapid.T, u user) {
	to := rapid.SampledFrom(w.users).Draw(t, "beneficiary").addr
	amount := *vite(rapid.Uint64Range(134, 300).Draw(t, "stake"))
	var b *core.AccountBlock
	switch rapid.IntRange(0, 3).Draw(t, "method") {
	case 0:
		b = w.call(u, core.QuotaContract, core.StakeForQuota, to)
		b.Amount = amount
	case 1:
		b = w.call(u, core.QuotaContract, core.Stake, to)
		b.Amount = amount
	case 2:
		b = w.call(u, core.QuotaContract, core.CancelStake, to, amount)
	case 3:
		var id core.Hash
		if list := w.stakes(u.addr).Stakes; len(list) > 0 {
			id = rapid.SampledFrom(list).Draw(t, "old").ID
		}
		b = w.call(u, core.QuotaContract, core.CancelQuotaStaking, id)
	}
	w.submit(t, u, b)
}

func (w *walk) dropOne(t *rapid.T) {
	if len(w.state.Recent) > 0 {
		require.NoError(t, w.DropUnconfirmed(rapid.SampledFrom(w.state.Recent).Draw(t, "drop").Block.Hash))
	}
}

func (w *walk) rollbackSome(t *rapid.T, digests map[uint64]core.Hash) {
	if w.state.Height() < 3 {
		return
	}
	height := rapid.Uint64Range(2, w.state.Height()-1).Draw(t, "height")
	if err := w.Rollback(height); err != nil {
		require.ErrorIs(t, err, ledger.ErrTooDeep)
		require.NotEqual(t, ledger.DefaultRetention, w.rules.Retention)
		return
	}
	require.Equal(t, digests[height], w.plainDigest(), "a rollback restores the state")
}

// plainDigest leaves the count of rollbacks out.
func (w *walk) plainDigest() core.Hash {
	count := w.state.Rollbacks
	w.state.Rollbacks = 0
	defer func() { w.state.Rollbacks = count }()
	return stateHash(w.state)
}

// walkGenesis gives every user initial funds.
func walkGenesis(t testing.TB) ledger.Genesis {
	genesis := testGenesis(t)
	for i := uint64(2); i < 4; i++ {
		genesis.Accounts = append(genesis.Accounts, ledger.GenesisAccount{Address: newUser(t, i).addr, Balances: map[core.TokenID]uint256.Int{core.VITE: *vite(3000)}})
	}
	third := newUser(t, 3).addr
	genesis.Stakes = append(genesis.Stakes, ledger.GenesisStake{Staker: third, Beneficiary: third, Amount: *vite(100_000)})
	return genesis
}

// TestRandomWalks: after any sequence of steps, the books balance, the indexes follow from the
// blocks, a rollback restores the earlier state, and a replay of the log gives the same state.
func TestRandomWalks(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		dir := outer.TempDir()
		config := Config{Dir: dir, Genesis: walkGenesis(outer), SnapshotInterval: -1, StateEvery: 2000}
		l := open(outer, config)
		w := &walk{l, []user{l.rich, l.staked, l.poor}}
		digests := map[uint64]core.Hash{}
		for range 3 {
			l.snapshot()
			digests[l.state.Height()] = w.plainDigest()
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			w.step(t, digests)
			checkBooks(t, w.state, uint256.Int{})
		}
		checkLinks(t, w.state)
		want := w.digest()
		require.NoError(t, l.Close())
		again := open(outer, config)
		require.Equal(t, want, again.digest(), "replay")
		require.NoError(t, again.Close())
	})
}
