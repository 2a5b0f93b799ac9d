package watcher

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/records"
	"gatewayd/watcher/frozen"
)

// issued is a ledger whose token has an issuer that freezes accounts and bounds amounts.
type issued struct {
	*chaintest.Chain
	frozen map[string]bool
	limit  chain.Amount // zero: none
	quiet  bool         // it refuses by the answer false, which no estimate shows
	empty  bool         // nobody holds any of it
}

func (c *issued) refuses(account string, pay chain.Payment) bool {
	above := !c.limit.IsZero() && c.limit.Less(pay.Amount)
	return pay.Asset == usdEth && (c.frozen[account] || c.frozen[pay.To] || above)
}

func (c *issued) Estimate(ctx context.Context, account string, pay chain.Payment) (chain.Amount, error) {
	if c.refuses(account, pay) && !c.quiet {
		return chain.Amount{}, chain.ErrRefused
	}
	return c.Chain.Estimate(ctx, account, pay)
}

func (c *issued) Try(_ context.Context, _ uint64, account string, pays []chain.Payment) ([]error, error) {
	results := make([]error, len(pays))
	for i, pay := range pays {
		switch {
		case c.empty, c.Holding(account, pay.Asset).Less(pay.Amount):
			results[i] = chain.ErrNotNow
		case c.refuses(account, pay) && c.quiet:
			results[i] = chain.ErrFalse
		case c.refuses(account, pay):
			results[i] = chain.ErrRefused
		}
	}
	return results, nil
}

func (r *rig) issue() *issued {
	r.t.Helper()
	c := &issued{Chain: r.eth, frozen: map[string]bool{}}
	r.parts.Chains["eth"] = c
	r.restart()
	return c
}

// requireChannels is the automatic state of a token's withdrawals and deposits.
func (r *rig) requireChannels(token, withdrawals, deposits string) (why string) {
	r.t.Helper()
	r.view(func(tx *records.Tx) error {
		w, err := records.ChannelOf(tx, "main", token, records.Withdrawal)
		require.NoError(r.t, err)
		d, err := records.ChannelOf(tx, "main", token, records.Deposit)
		require.Equal(r.t, []string{withdrawals, deposits}, []string{w.Automatic, d.Automatic})
		why = w.Why
		return err
	})
	return why
}

func (r *rig) tryTokens() { r.t.Helper(); require.NoError(r.t, r.w.tokens.Try(r.t.Context())) }

const (
	opened = records.ChannelOpen
	closed = records.ChannelMaintain
)

// A hot account that the token's issuer has frozen refunds nobody: its token's channels stop with
// the reason, what is owed waits, and leaves when the account is free again. Coin of the same
// account is paid as ever.
func TestFrozenAccountPaysLater(t *testing.T) {
	r := setup(t)
	token := r.issue()
	owner, address := r.user()
	token.frozen[r.net.Hot] = true
	stuck := []string{r.withdraw(owner, r.eth.Address("payee"), 1000), r.withdraw(owner, r.eth.Address("other"), 500)}
	other := r.withdrawCoin(owner, 1000)
	r.rest()
	why := r.requireChannels(usd, closed, closed)
	require.True(t, strings.HasPrefix(why, frozen.Prefix+"hot account "+r.net.Hot), why)
	r.requireChannels(coin, opened, opened)
	require.Equal(t, records.Paid, r.payment(other).State)
	deposited := r.deposit(address, minimum*100)
	late := r.withdraw(owner, r.eth.Address("third"), 700)
	r.rest()
	for _, hash := range append(stuck, deposited, late) {
		require.Equal(t, records.Queued, r.payment(hash).State)
	}
	require.Equal(t, records.WaitsFrozen, r.payment(stuck[0]).Reason)
	r.tryTokens()
	r.requireChannels(usd, closed, closed)

	token.frozen[r.net.Hot] = false
	r.tryTokens()
	r.requireChannels(usd, opened, opened)
	r.rest()
	for _, hash := range append(stuck, deposited, late) {
		require.Equal(t, []any{records.Paid, records.Reason(""), chain.Credit}, []any{r.payment(hash).State, r.payment(hash).Reason, r.payment(hash).Purpose})
	}
	r.requireSound()
}

// A freeze shows before anybody withdraws, and deposits go on where the token's policy says so.
func TestFrozenAccountIsFoundUnasked(t *testing.T) {
	r := setup(t)
	token := r.issue()
	r.tryTokens()
	r.requireChannels(usd, opened, opened)
	token.frozen[r.net.Hot] = true
	r.tryTokens()
	r.requireChannels(usd, closed, closed)
	r.net.Tokens[0].FrozenDeposits = true
	r.w.Reconfigure([]records.Network{r.net})
	r.tryTokens()
	r.requireChannels(usd, closed, opened)
	_, address := r.user()
	deposited := r.deposit(address, minimum*100)
	r.rest()
	require.Equal(t, records.Paid, r.payment(deposited).State)
}

// An account that holds nothing of a token tells nothing of it: its channels stay as they are.
func TestEmptyFrozenAccountStaysClosed(t *testing.T) {
	r := setup(t)
	token := r.issue()
	token.frozen[r.net.Hot] = true
	r.tryTokens()
	r.requireChannels(usd, closed, closed)
	token.empty, token.frozen[r.net.Hot] = true, false
	r.tryTokens()
	r.requireChannels(usd, closed, closed)
	token.empty = false
	r.tryTokens()
	r.requireChannels(usd, opened, opened)
}

// A payee whom the issuer has frozen is refunded, and stops nobody.
func TestFrozenPayeeIsRefunded(t *testing.T) {
	r := setup(t)
	token := r.issue()
	owner, _ := r.user()
	token.frozen[r.eth.Address("payee")] = true
	refunded, paid := r.withdraw(owner, r.eth.Address("payee"), 1000), r.withdraw(owner, r.eth.Address("other"), 500)
	r.rest()
	r.requireState(refunded, records.Refused, records.ReasonPayeeRefuses)
	require.Equal(t, records.Paid, r.payment(paid).State)
	r.requireChannels(usd, opened, opened)
	r.requireSound()
}

// What is above the token's own limit waits for people, and delays nobody.
func TestTokenLimitDelaysOnlyWhatIsAbove(t *testing.T) {
	r := setup(t)
	token := r.issue()
	owner, _ := r.user()
	token.limit = units(500 * 100)
	large, small := r.withdraw(owner, r.eth.Address("payee"), 1000), r.withdraw(owner, r.eth.Address("payee"), 400)
	r.rest()
	require.Equal(t, []any{records.Queued, records.WaitsTokenLimit}, []any{r.payment(large).State, r.payment(large).Reason})
	require.Equal(t, records.Paid, r.payment(small).State)
	r.requireChannels(usd, opened, opened)
	token.limit = chain.Amount{}
	r.rest()
	require.Equal(t, records.Paid, r.payment(large).State)
	r.requireSound()
}

// A payment that fails on its chain because the account is frozen by then is neither refunded nor
// held, however often that happens: it is made again after each final block once the account is
// free.
func TestPaymentsUnderWayOutliveAFreeze(t *testing.T) {
	for name, quiet := range map[string]bool{"reverts": false, "answers false": true} {
		t.Run(name, func(t *testing.T) {
			r := setup(t)
			token := r.issue()
			token.quiet = quiet
			owner, _ := r.user()
			payee := r.eth.Address("payee")
			hash := r.withdraw(owner, payee, 1000)
			for gen := 1; gen <= 3; gen++ {
				r.eth.RejectUnseen(payee, true)
				for range 20 {
					if r.run(1); len(r.payments(hash)) == 1 && r.payment(hash).State == records.Bound {
						break
					}
				}
				require.Equal(t, records.Bound, r.payment(hash).State)
				token.frozen[r.net.Hot] = true
				r.rest()
				require.Equal(t, []any{records.Queued, gen}, []any{r.payment(hash).State, r.payment(hash).Gen})
				r.requireChannels(usd, closed, closed)
				r.tryTokens()
				r.requireChannels(usd, closed, closed)
				token.frozen[r.net.Hot] = false
				r.eth.RejectUnseen(payee, false)
				r.eth.Hold(r.net.Hot, true)
				r.tryTokens()
				r.requireChannels(usd, opened, opened)
				r.eth.Hold(r.net.Hot, false)
			}
			r.rest()
			require.Equal(t, records.Paid, r.payment(hash).State)
			r.requireHolding(r.eth, payee, usdEth, (1000-fee)*100)
			r.requireSound()
		})
	}
}
