package main

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/records"
)

// makeFreezable gives a token of anvil an issuer who can freeze and pause it. Its balances stay.
func makeFreezable(t *testing.T, n *ethtest.Node, token common.Address) *contracts.FreezableToken {
	t.Helper()
	frozen := contracts.NewFreezableToken()
	code := append(common.FromHex(contracts.FreezableTokenMetaData.Bin), frozen.PackConstructor("Tether USD", "USDT", 6)...)
	at, err := n.Deploy(code)
	require.NoError(t, err)
	runtime, err := n.Client().CodeAt(t.Context(), at, nil)
	require.NoError(t, err)
	setCode(t, n, token, runtime)
	return frozen
}

// frozenRig is a gateway on anvil whose USDT has an issuer.
type frozenRig struct {
	*rig
	anvil *ethtest.Node
	token common.Address
	hot   common.Address
	issue *contracts.FreezableToken
}

func newFrozenRig(t *testing.T) *frozenRig {
	t.Helper()
	n := startAnvil(t, 0)
	require.NoError(t, n.SetMining(true))
	r := newRig(t, func(o *dev.Options) { o.Source, o.Operators = n.URL(), freeAddress(t) })
	mineOn(t, n)
	f := &frozenRig{rig: r, anvil: n, token: common.HexToAddress(r.token(t, "USDT").Asset), hot: common.HexToAddress(r.Daemon.Networks[0].Hot)}
	f.issue = makeFreezable(t, n, f.token)
	return f
}

// order sends an order of the token's issuer.
func (r *frozenRig) order(t *testing.T, data []byte) {
	t.Helper()
	_, err := r.anvil.SendCall(r.token, nil, data)
	require.NoError(t, err)
}

// withdraw sends a withdrawal to an address whatever the state of the channel.
func (r *frozenRig) withdraw(t *testing.T, u *testUser, to common.Address, net uint64) (sent string) {
	t.Helper()
	data, err := u.Token.Withdrawal(to.Hex(), "")
	require.NoError(t, err)
	hash, err := u.SendToGateway(t.Context(), r.Daemon.Networks[0].Gateway, u.Times(net+1), data)
	require.NoError(t, err)
	return hash.String()
}

// channelStates returns a token's states in the wallets' API.
func (r *frozenRig) channelStates(t *testing.T, u *testUser) [2]string {
	t.Helper()
	var meta struct{ DepositState, WithdrawState string }
	require.Equal(t, 0, getEnvelope(t, r.Info.Gateway+"/meta-info?tokenId="+u.Token.Token, &meta))
	return [2]string{meta.DepositState, meta.WithdrawState}
}

func (r *frozenRig) waitForStates(t *testing.T, u *testUser, want string) {
	t.Helper()
	waitFor(t, "channels that are "+want, func() bool { return r.channelStates(t, u) == [2]string{want, want} })
}

// TestFrozenHotAccountOnAnvil: while the token's issuer has frozen the hot account, or paused the
// token, withdrawals wait and nothing is refunded, deposits are not credited, every surface shows
// it, and other tokens are not affected. All payments leave when the freeze ends.
func TestFrozenHotAccountOnAnvil(t *testing.T) {
	t.Parallel()
	r := newFrozenRig(t)
	u, other := r.newCustomer(t, "USDT"), r.newCustomer(t, "DAI")
	for _, c := range []struct {
		name          string
		cause, remedy []byte
	}{
		{"the account is frozen", r.issue.PackFreeze(r.hot, true), r.issue.PackFreeze(r.hot, false)},
		{"the token is paused", r.issue.PackPause(true), r.issue.PackPause(false)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r.order(t, c.cause)
			sent := make([]string, 4)
			payees := make([]common.Address, len(sent))
			for i := range sent {
				var err error
				payees[i], err = dev.NewPayee()
				require.NoError(t, err)
				sent[i] = r.withdraw(t, u, payees[i], 2)
			}
			r.waitForStates(t, u, records.ChannelMaintain)
			r.requireFrozenEverywhere(t, u)
			to, paid := other.withdrawToPayee(t, other.Times(5))
			other.mustAwait(t, "/withdraw-records", paid, "OPPOSITE_CONFIRMED")
			other.requirePaid(t, to, other.Times(5))
			for _, hash := range sent {
				u.mustAwait(t, "/withdraw-records", hash, "TOT_CONFIRMED")
				require.Equal(t, string(records.Queued), paymentOf(t, r.recordDetail(t, hash), chain.Credit).State)
			}
			r.order(t, c.remedy)
			r.waitForStates(t, u, records.ChannelOpen)
			for i, hash := range sent {
				u.mustAwait(t, "/withdraw-records", hash, "OPPOSITE_CONFIRMED")
				u.requirePaid(t, payees[i].Hex(), u.Times(2))
			}
			r.waitUntilSettled(t)
		})
	}
}

// requireFrozenEverywhere checks what pages and commands show.
func (r *frozenRig) requireFrozenEverywhere(t *testing.T, u *testUser) {
	t.Helper()
	query := "?tokenId=" + u.Token.Token + "&walletAddress=" + u.Vite.Address().String()
	require.Equal(t, 2, getEnvelope(t, r.Info.Gateway+"/withdraw-info"+query, nil))
	var deposit struct{ NoticeMsg string }
	require.Equal(t, 0, getEnvelope(t, r.Info.Gateway+"/deposit-info"+query, &deposit))
	require.NotEmpty(t, deposit.NoticeMsg)
	code, body := fetch(t, dev.RootOf(r.Info.Gateway)+"/health")
	require.Equal(t, 200, code, "other tokens are possible")
	require.Contains(t, body, `"status":"degraded"`)
	require.Contains(t, body, "channel_stopped")
	for _, command := range []string{"channel list", "status", "doctor"} {
		out, _ := r.command(t, strings.Fields(command)...)
		require.Contains(t, strings.Join(strings.Fields(out), " "), "cannot pay USDT", "%s:\n%s", command, out)
	}
}

// TestFrozenPayeeOnAnvil: a payee whom the issuer has frozen is refunded at once, and no other
// payment waits for it.
func TestFrozenPayeeOnAnvil(t *testing.T) {
	t.Parallel()
	r := newFrozenRig(t)
	u := r.newCustomer(t, "USDT")
	payee, err := dev.NewPayee()
	require.NoError(t, err)
	r.order(t, r.issue.PackFreeze(payee, true))
	sent := r.withdraw(t, u, payee, 2)
	u.mustAwait(t, "/withdraw-records", sent, "FAILED")
	require.Equal(t, records.ReasonPayeeRefuses, r.recordDetail(t, sent).Record.Reason)
	to, paid := u.withdrawToPayee(t, u.Times(3))
	u.mustAwait(t, "/withdraw-records", paid, "OPPOSITE_CONFIRMED")
	u.requirePaid(t, to, u.Times(3))
	require.Equal(t, [2]string{records.ChannelOpen, records.ChannelOpen}, r.channelStates(t, u))
}

// TestFreezeOfPaymentsUnderWayOnAnvil: payments that are signed when the freeze begins fail on the
// chain, by a revert or by returning false. They are made again after their final block, once the
// account is free; no user is refunded and no operator is needed.
func TestFreezeOfPaymentsUnderWayOnAnvil(t *testing.T) {
	t.Parallel()
	for name, quiet := range map[string]bool{"reverts": false, "answers false": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startAnvil(t, 0)
			require.NoError(t, n.SetMining(true))
			r := newRig(t, func(o *dev.Options) { o.Source, o.BalanceAudit = n.URL(), time.Hour })
			stop := mineOn(t, n)
			f := &frozenRig{rig: r, anvil: n, token: common.HexToAddress(r.token(t, "USDT").Asset), hot: common.HexToAddress(r.Daemon.Networks[0].Hot)}
			f.issue = makeFreezable(t, n, f.token)
			f.order(t, f.issue.PackSetQuiet(quiet))
			u := r.newCustomer(t, "USDT")
			stop()
			require.NoError(t, n.SetMining(false))
			to, sent := u.withdrawToPayee(t, u.Times(5))
			r.pooled(t, n, 1)
			f.freezeNow(t)
			require.NoError(t, n.SetMining(true))
			mineOn(t, n)
			waitFor(t, "the payment to be made again", func() bool {
				p := findPayment(r.recordDetail(t, sent), chain.Credit)
				return p.State == string(records.Queued) && len(p.Attempts) == 1
			})
			f.waitForStates(t, u, records.ChannelMaintain)
			require.Empty(t, r.needingOperator(t))
			f.order(t, f.issue.PackFreeze(f.hot, false))
			u.mustAwait(t, "/withdraw-records", sent, "OPPOSITE_CONFIRMED")
			u.requirePaid(t, to, u.Times(5))
			require.Len(t, paymentOf(t, r.recordDetail(t, sent), chain.Credit).Attempts, 2)
			r.waitUntilSettled(t)
		})
	}
}

// freezeNow freezes the hot account in the state, while no block is made.
func (r *frozenRig) freezeNow(t *testing.T) {
	t.Helper()
	const mapping = 5 // its place in the contract's storage, behind those of TestToken
	at := crypto.Keccak256Hash(common.LeftPadBytes(r.hot[:], 32), common.BigToHash(big.NewInt(mapping)).Bytes())
	require.NoError(t, r.anvil.Client().Client().CallContext(t.Context(), nil, "anvil_setStorageAt", r.token, at, common.BigToHash(big.NewInt(1))))
}
