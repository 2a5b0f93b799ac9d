package node

import (
	"strings"
	"testing"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// token is the usual description.
type token struct {
	reIssuable    bool
	name, symbol  string
	total         uint64
	decimals      uint8
	max           uint64
	ownerBurnOnly bool
}

func (k token) args() []any {
	return []any{
		k.reIssuable, k.name, k.symbol, *uint256.NewInt(k.total), k.decimals, *uint256.NewInt(k.max), k.ownerBurnOnly,
	}
}

// issue makes a token and receives its supply.
func (l *testChain) issue(u user, k token) core.TokenID {
	l.t.Helper()
	received := l.called(u, l.call(u, core.AssetContract, core.IssueToken, k.args()...))
	require.Equal(l.t, byte(ledger.StatusOK), received.Data[32])
	var id core.TokenID
	l.Read(func(v *View) {
		for _, t := range v.TokensOf(u.addr) {
			if t.Symbol == k.symbol {
				id = t.ID
			}
		}
	})
	l.receiveAll(u)
	return id
}

func (l *testChain) receiveAll(u user) {
	l.t.Helper()
	for _, b := range l.unreceived(u.addr) {
		l.do(u, l.receive(u, b.Hash))
	}
}

func (l *testChain) token(id core.TokenID) (k *ledger.TokenInfo) {
	l.Read(func(v *View) { k = v.Token(id) })
	return k
}

// quotas makes snapshots until the stake quota of the users is full.
func (l *testChain) quotas() {
	for range core.QuotaWindow {
		l.snapshot()
	}
}

var gtt = token{true, "Gateway Test Token", "GTT", 1000, 6, 2000, false}

func TestIssueRules(t *testing.T) {
	tests := []struct {
		name   string
		change func(k *token)
		want   error
	}{
		{"as it is", func(k *token) {}, nil},
		{"nothing at first", func(k *token) { k.total = 0 }, nil},
		{"all at first", func(k *token) { k.total = 2000 }, nil},
		{"fixed supply", func(k *token) { k.reIssuable, k.max = false, 0 }, nil},
		{"symbol of 10", func(k *token) { k.symbol = "ABCDEFGH12" }, nil},
		{"name of 40", func(k *token) { k.name = strings.Repeat("a", 40) }, nil},
		{"name with a digit", func(k *token) { k.name = "Token 2" }, ledger.ErrMethodParam},
		{"name with two blanks", func(k *token) { k.name = "A  B" }, ledger.ErrMethodParam},
		{"name with blank at the end", func(k *token) { k.name = "A " }, ledger.ErrMethodParam},
		{"no name", func(k *token) { k.name = "" }, ledger.ErrMethodParam},
		{"name of 41", func(k *token) { k.name = strings.Repeat("a", 41) }, ledger.ErrMethodParam},
		{"no symbol", func(k *token) { k.symbol = "" }, ledger.ErrMethodParam},
		{"symbol of 11", func(k *token) { k.symbol = "ABCDEFGH123" }, ledger.ErrMethodParam},
		{"symbol in lower case", func(k *token) { k.symbol = "gtt" }, ledger.ErrMethodParam},
		{"symbol VITE", func(k *token) { k.symbol = "VITE" }, ledger.ErrMethodParam},
		{"symbol VX", func(k *token) { k.symbol = "VX" }, ledger.ErrMethodParam},
		{"over the maximum", func(k *token) { k.total = 2001 }, ledger.ErrMethodParam},
		{"fixed supply of nothing", func(k *token) { k.reIssuable, k.max, k.total = false, 0, 0 }, ledger.ErrMethodParam},
		{"fixed supply with maximum", func(k *token) { k.reIssuable = false }, ledger.ErrMethodParam},
		{"fixed supply, owner burns", func(k *token) { k.reIssuable, k.max, k.ownerBurnOnly = false, 0, true }, ledger.ErrMethodParam},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, k := setup(t), gtt
			tt.change(&k)
			err := l.try(l.rich, l.call(l.rich, core.AssetContract, core.IssueToken, k.args()...))
			if tt.want == nil {
				require.NoError(t, err)
				return
			}
			require.Equal(t, tt.want, err)
		})
	}
}

func TestIssuedToken(t *testing.T) {
	l := setup(t)
	id := l.issue(l.rich, gtt)
	require.Equal(t, &ledger.TokenInfo{
		ID: id, Name: "Gateway Test Token", Symbol: "GTT", Decimals: 6, Owner: l.rich.addr,
		TotalSupply: *uint256.NewInt(1000), MaxSupply: *uint256.NewInt(2000), ReIssuable: true,
	}, l.token(id))
	l.quotas()
	again := l.issue(l.rich, token{false, "Another", "OTHER", 5, 0, 0, false})
	require.Equal(t, uint16(0), l.token(again).Index)
	l.Read(func(v *View) {
		total, page := v.Tokens(0, 2)
		require.Equal(t, 3, total)
		require.Equal(t, []string{"Another", "Gateway Test Token"}, []string{page[0].Name, page[1].Name})
		_, page = v.Tokens(1, 2)
		require.Equal(t, "Vite Token", page[0].Name)
		_, page = v.Tokens(2, 2)
		require.Empty(t, page)
	})
	l.quotas()
	received := l.called(l.rich, l.call(l.rich, core.AssetContract, core.Mint, gtt.args()...))
	require.Equal(t, core.MintEvent.Topic(), l.logs(received)[0].Topics[0])
	l.Read(func(v *View) {
		for _, k := range v.TokensOf(l.rich.addr) {
			if k.Symbol == "GTT" && k.ID != id {
				require.Equal(t, uint16(1), k.Index)
				return
			}
		}
		require.Fail(t, "the second GTT is missing")
	})
}

func (l *testChain) logs(b *Block) (logs []ledger.VMLog) {
	l.Read(func(v *View) {
		var err error
		logs, err = v.Logs(b.Hash)
		require.NoError(l.t, err)
	})
	return logs
}

func TestReIssue(t *testing.T) {
	for _, method := range []core.Method{core.ReIssue, core.Issue} {
		t.Run(method.Name(), func(t *testing.T) {
			l := setup(t)
			id := l.issue(l.rich, gtt)
			l.quotas()
			call := func(u user, amount uint64) *Block {
				return l.called(u, l.call(u, core.AssetContract, method, id, *uint256.NewInt(amount), l.staked.addr))
			}
			received := call(l.rich, 1000)
			require.Equal(t, byte(ledger.StatusOK), received.Data[32])
			require.Equal(t, core.SendReissue, received.Triggered[0].BlockType)
			require.Equal(t, "2000", l.token(id).TotalSupply.Dec())
			require.Len(t, l.logs(received), 1)
			l.receiveAll(l.staked)
			require.Equal(t, "1000", l.balance(l.staked.addr, id))

			require.Equal(t, byte(ledger.StatusFailed), call(l.rich, 1).Data[32], "over the maximum")
			failed := call(l.staked, 1)
			require.Equal(t, byte(ledger.StatusFailed), failed.Data[32], "not the owner")
			require.Empty(t, failed.Triggered)
			require.Nil(t, failed.VMLogHash)
			require.Equal(t, make([]byte, 32), failed.Data[:32])
			require.Equal(t, "2000", l.token(id).TotalSupply.Dec())
		})
	}
}

// contracts returns the addresses to which a mint fails: built-in ones, one of which mints, and a
// user's.
func (l *testChain) contracts() map[string]core.Address {
	creation := l.creation(l.rich)
	l.called(l.rich, creation)
	return map[string]core.Address{"dexFund": core.DexFundContract, "asset": core.AssetContract, "a user's": creation.ToAddress}
}

// TestMintToContracts: contracts return amounts to users only, or two of them would send each other
// an amount forever.
func TestMintToContracts(t *testing.T) {
	for _, method := range []core.Method{core.ReIssue, core.Issue} {
		l := setup(t)
		id := l.issue(l.rich, gtt)
		l.quotas()
		for name, to := range l.contracts() {
			l.quotas()
			t.Run(method.Name()+" to "+name, func(t *testing.T) {
				h := l.do(l.rich, l.call(l.rich, core.AssetContract, method, id, *uint256.NewInt(1), to))
				for range 20 {
					l.state.Step()
				}
				require.Empty(t, l.state.Pending)
				received := l.block(l.block(h).Received.Hash)
				require.Equal(t, byte(ledger.StatusFailed), received.Data[32])
				require.Equal(t, "1000", l.token(id).TotalSupply.Dec())
				require.Equal(t, "0", l.balance(to, id))
			})
		}
		checkBooks(t, l.state, uint256.Int{})
	}
}

// TestLogsWithMintsToContracts: a log of a version in which contracts sent each other what was
// minted leads to where it led then; now it ends.
func TestLogsWithMintsToContracts(t *testing.T) {
	l := setup(t)
	id := l.issue(l.rich, gtt)
	l.quotas()
	for name, to := range l.contracts() {
		t.Run(name, func(t *testing.T) {
			l.quotas()
			l.do(l.rich, l.call(l.rich, core.AssetContract, core.ReIssue, id, *uint256.NewInt(1), to))
			require.NoError(t, l.state.Replay([]byte{ledger.LoopingStep}))
			require.Len(t, l.state.Pending, 1)
			require.Equal(t, core.SendCall, l.state.Pending[0].Block.BlockType)
			blocks := len(l.state.Recent)
			require.NoError(t, l.state.Replay([]byte{ledger.LoopingStep}))
			require.Greater(t, len(l.state.Recent), blocks)
			require.Len(t, l.state.Pending, 1)

			l.state.Step()
			require.Empty(t, l.state.Pending)
			checkBooks(t, l.state, uint256.Int{})
		})
	}
}

func TestBurn(t *testing.T) {
	l := setup(t)
	open := l.issue(l.rich, gtt)
	l.quotas()
	closed := l.issue(l.rich, token{true, "Closed", "CLOSED", 1000, 6, 2000, true})
	l.quotas()
	for _, id := range []core.TokenID{open, closed} {
		b := l.transfer(l.rich, l.staked.addr, 10)
		b.TokenID = id
		l.do(l.rich, b)
	}
	l.receiveAll(l.staked)
	burn := func(u user, id core.TokenID) *Block {
		b := l.call(u, core.AssetContract, core.Burn)
		b.TokenID, b.Amount = id, *uint256.NewInt(7)
		return l.called(u, b)
	}
	received := burn(l.staked, open)
	require.Equal(t, byte(ledger.StatusOK), received.Data[32])
	require.Equal(t, "993", l.token(open).TotalSupply.Dec())
	require.Equal(t, "3", l.balance(l.staked.addr, open))
	topics, data, err := core.BurnEvent.Pack(open, l.staked.addr, *uint256.NewInt(7))
	require.NoError(t, err)
	require.Equal(t, []ledger.VMLog{{Topics: topics, Data: data}}, l.logs(received))

	refused := burn(l.staked, closed)
	require.Equal(t, byte(ledger.StatusFailed), refused.Data[32])
	require.Len(t, refused.Triggered, 1)
	require.Equal(t, core.SendCall, refused.Triggered[0].BlockType)
	require.Equal(t, "3", l.balance(l.staked.addr, closed))
	l.receiveAll(l.staked)
	require.Equal(t, "10", l.balance(l.staked.addr, closed))
	require.Equal(t, byte(ledger.StatusOK), burn(l.rich, closed).Data[32])
	checkBooks(t, l.state, uint256.Int{})
}

func TestOwnership(t *testing.T) {
	for _, methods := range [][2]core.Method{
		{core.TransferOwnership, core.DisableReIssue}, {core.TransferOwner, core.ChangeTokenType},
	} {
		t.Run(methods[0].Name(), func(t *testing.T) {
			l := setup(t)
			owned := gtt
			owned.ownerBurnOnly = true
			id := l.issue(l.rich, owned)
			l.do(l.staked, l.receive(l.staked, l.incoming(l.staked)))
			l.quotas()
			transfer := func(u user, to core.Address) *Block {
				return l.called(u, l.call(u, core.AssetContract, methods[0], id, to))
			}
			require.Equal(t, byte(ledger.StatusFailed), transfer(l.staked, l.poor.addr).Data[32])
			received := transfer(l.rich, l.staked.addr)
			require.Equal(t, core.TransferOwnershipEvent.Topic(), l.logs(received)[0].Topics[0])
			require.Equal(t, l.staked.addr, l.token(id).Owner)

			disable := func(u user) *Block { return l.called(u, l.call(u, core.AssetContract, methods[1], id)) }
			require.Equal(t, byte(ledger.StatusFailed), disable(l.rich).Data[32])
			require.Equal(t, byte(ledger.StatusOK), disable(l.staked).Data[32])
			require.False(t, l.token(id).ReIssuable)
			require.False(t, l.token(id).OwnerBurnOnly)
			require.Equal(t, "0", l.token(id).MaxSupply.Dec())
			require.Equal(t, byte(ledger.StatusFailed), disable(l.staked).Data[32], "only once")
		})
	}
}

func TestUnknownTokenAtTheContract(t *testing.T) {
	l := setup(t)
	received := l.called(l.rich, l.call(l.rich, core.AssetContract, core.DisableReIssue, core.TokenID{9}))
	require.Equal(t, byte(ledger.StatusFailed), received.Data[32])
}

// TestIssueFeeComesBack fills the indexes of a symbol, so that the contract refuses what the node
// has accepted.
func TestIssueFeeComesBack(t *testing.T) {
	l := setup(t)
	l.state.Symbols["GTT"] = ledger.MaxTokenIndex + 1
	received := l.called(l.rich, l.call(l.rich, core.AssetContract, core.IssueToken, gtt.args()...))
	require.Equal(t, byte(ledger.StatusFailed), received.Data[32])
	l.receiveAll(l.rich)
	require.Equal(t, vite(10_000_000).Dec(), l.balance(l.rich.addr, core.VITE))
	checkBooks(t, l.state, uint256.Int{})
}
