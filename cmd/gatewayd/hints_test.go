package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/contracts"
	"gatewayd/dev"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/records"
)

// advised are the commands of a text in backquotes.
var advised = regexp.MustCompile("`gatewayd ([^`]+)`")

// hint returns the advice of `records show` for a record.
func (r *rig) hint(t *testing.T, name string) (commands []string) {
	t.Helper()
	out := r.mustCommand(t, "records", "show", name)
	for _, m := range advised.FindAllStringSubmatch(findLine(out, "  next     "), -1) {
		commands = append(commands, m[1])
	}
	return commands
}

// TestHintsWork makes each kind of held record several times and runs each of the commands that
// `records show` advises, as they are printed: none is refused.
func TestHintsWork(t *testing.T) {
	t.Parallel()
	n := startAnvil(t, 0)
	require.NoError(t, n.SetMining(true))
	r := newRig(t, func(o *dev.Options) { o.Source = n.URL() })
	mineOn(t, n)
	u, dai := r.newCustomer(t, "USDT"), r.newCustomer(t, "DAI")
	var shared dev.DepositInfo
	query := map[string]string{"tokenId": dai.Token.Token, "walletAddress": dai.Vite.Address().String()}
	require.NoError(t, dai.Gateway.Get(t.Context(), "/deposit-info", query, &shared))
	refuses, err := n.Deploy(common.FromHex(contracts.RejectorMetaData.Bin))
	require.NoError(t, err)
	stray := func(data string) func() string {
		return func() string { return dai.pay(t, dai.Token.Asset, shared.DepositAddress, dai.Times(2), data) }
	}
	held := func(hash string) bool { return r.needingOperator(t)[hash].State == string(records.Held) }
	taxed := r.taxedWithdrawals(t, n, u)
	for _, c := range []struct {
		name     string
		make     func() string // the hash of a new one
		ready    func(hash string) bool
		commands []string // in order, without the record's number
	}{
		{"unknown_label", stray("NOBODY99"), held, []string{"records credit", "records refund"}},
		{"wrong_type", func() string { return dai.pay(t, dai.Token.Asset, depositAddress(t, u), dai.Times(2), "") }, held, []string{"records credit", "records refund"}},
		{"payout_differs", taxed, func(hash string) bool { return r.heldFor(t, hash, records.ReasonPayoutDiffers) }, []string{"records settle", "records retry", "records refund"}},
		{"payee_refuses", func() string {
			hash := dai.pay(t, "native", shared.DepositAddress, units(dev.Token{Decimals: 17}, 1), "NOBODY99")
			waitFor(t, "a stray", func() bool { return held(hash) })
			r.mustCommand(t, "records", "refund", recordName(r.needingOperator(t)[hash]), "--to", refuses.Hex())
			return hash
		}, func(hash string) bool { return r.heldFor(t, hash, records.ReasonPayeeRefuses) }, []string{"records retry", "records refund"}},
		{"operator", func() string { return r.heldByOperator(t, dai) }, func(hash string) bool { return r.heldFor(t, hash, records.ReasonOperator) }, []string{"records retry", "records reject"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for i, want := range c.commands {
				hash := c.make()
				waitFor(t, "a held record", func() bool { return c.ready(hash) })
				hints := r.hint(t, hash)
				require.Len(t, hints, len(c.commands))
				require.True(t, strings.HasPrefix(hints[i], want), hints[i])
				args := strings.ReplaceAll(hints[i], "--to ADDR", "--to "+dai.Eth.Address().Hex())
				args = strings.ReplaceAll(args, "ADDR", dai.Vite.Address().String())
				r.mustCommand(t, strings.Fields(args)...)
			}
		})
	}
}

// taxedWithdrawals makes the token of a user take a fee of each transfer, and returns what makes a
// withdrawal of it.
func (r *rig) taxedWithdrawals(t *testing.T, n *ethtest.Node, u *testUser) func() string {
	t.Helper()
	at, err := n.Deploy(common.FromHex(contracts.FeeTokenMetaData.Bin))
	require.NoError(t, err)
	code, err := n.Client().CodeAt(t.Context(), at, nil)
	require.NoError(t, err)
	setCode(t, n, common.HexToAddress(u.Token.Asset), code)
	return func() string {
		_, sent := u.withdrawToPayee(t, u.Times(2))
		return sent
	}
}

// heldFor is true when a payment of a record is held for a reason.
func (r *rig) heldFor(t *testing.T, hash string, reason records.Reason) bool {
	t.Helper()
	for _, row := range r.listRecords(t, "--hash", hash) {
		for _, p := range r.recordDetail(t, row.InTx).Payments {
			if p.State == string(records.HeldPayment) && p.Reason == reason {
				return true
			}
		}
	}
	return false
}

// heldByOperator is a withdrawal that waits because its channel is closed, and that an operator
// holds.
func (r *rig) heldByOperator(t *testing.T, u *testUser) string {
	t.Helper()
	set := func(state string) {
		r.mustCommand(t, "channel", "set", "eth", u.Token.Symbol, "withdrawal", state, "--why", "a test")
	}
	to, err := dev.NewPayee()
	require.NoError(t, err)
	data, err := u.Token.Withdrawal(to.Hex(), "")
	require.NoError(t, err)
	set("MAINTAIN")
	sent, err := u.SendToGateway(t.Context(), r.Daemon.Networks[0].Gateway, u.Times(3), data)
	require.NoError(t, err)
	waitFor(t, "a queued payout", func() bool {
		return len(r.listRecords(t, "--hash", sent.String())) > 0 && findPayment(r.recordDetail(t, sent.String()), chain.Credit).State == string(records.Queued)
	})
	r.mustCommand(t, "records", "hold", recordName(r.recordDetail(t, sent.String()).Record), "--why", "a test")
	set("OPEN")
	return sent.String()
}
