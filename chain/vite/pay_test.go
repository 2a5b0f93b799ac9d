package vite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holiman/uint256"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	embedded "gatewayd/vite/node"
)

// slot is the payer's next place on the ledger.
func (l *ledger) slot(t testing.TB) chain.Slot {
	t.Helper()
	return l.slotOf(l.payer, payerPath)
}

func (l *ledger) slotOf(a core.Address, path string) chain.Slot {
	next := l.draft(a, core.SendCall)
	return chain.Slot{Account: a.String(), Key: path, Nonce: next.Height, Prev: next.PreviousHash.String()}
}

func (l *ledger) credit(id uint64, to core.Address, amount uint64) chain.Payment {
	return chain.Payment{
		ID: id, Purpose: chain.Credit, Asset: chain.Asset(core.VITE.String()), To: to.String(), Amount: chain.NewAmount(amount),
	}
}

// signed is a payment of the payer on its tip.
func (l *ledger) signed(t testing.TB) chain.Attempt {
	t.Helper()
	a, err := chaintest.Sign(t.Context(), l.open(t), l.keys, l.slot(t), l.credit(1, l.newUser(t), 5), nil)
	require.NoError(t, err)
	return a
}

func TestPaymentCarriesItsData(t *testing.T) {
	l := newLedger(t)
	c := l.openWith(t, Config{Tag: "gw07"})
	payee := l.newUser(t)
	for _, purpose := range []chain.Purpose{chain.Credit, chain.Refund, chain.Sweep} {
		pay := l.credit(4711, payee, 50)
		pay.Purpose = purpose
		slot := l.slot(t)
		a, err := chaintest.Sign(t.Context(), c, l.keys, slot, pay, nil)
		require.NoError(t, err)
		require.NoError(t, chaintest.Send(t.Context(), c, a))
		l.mine(t, 1)

		var onLedger *embedded.Block
		l.Read(func(v *embedded.View) { onLedger = v.BlockByHeight(l.payer, slot.Nonce) })
		require.NotNil(t, onLedger)
		require.Equal(t, a.Hash, onLedger.Hash.String())
		data, err := DecodePaymentData(onLedger.Data)
		require.NoError(t, err)
		require.Equal(t, PaymentData{Tag: "gw07", Purpose: purpose, ID: 4711}, data)
	}
	require.Equal(t, *uint256.NewInt(150), l.holding(payee, core.VITE))
}

func TestSignRefuses(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	source := l.deposit(t, l.inbox, 5, "")
	tests := []struct {
		name   string
		change func(s *chain.Slot, p *chain.Payment)
		is     error
		text   string
	}{
		{"zero address", func(_ *chain.Slot, p *chain.Payment) { p.To = zeroText }, chain.ErrAddress, "lost"},
		{"no address", func(_ *chain.Slot, p *chain.Payment) { p.To = "" }, chain.ErrAddress, ""},
		{"contract", func(_ *chain.Slot, p *chain.Payment) { p.To = assetText }, chain.ErrAddress, ""},
		{"itself", func(s *chain.Slot, p *chain.Payment) { p.To = s.Account }, chain.ErrAddress, "itself"},
		{"label", func(_ *chain.Slot, p *chain.Payment) { p.Label = "7" }, chain.ErrLabel, ""},
		{"nothing", func(_ *chain.Slot, p *chain.Payment) { p.Amount = chain.Amount{} }, chain.ErrAmount, ""},
		{"asset", func(_ *chain.Slot, p *chain.Payment) { p.Asset = chain.Native }, core.ErrTokenID, "asset"},
		{"zero token", func(_ *chain.Slot, p *chain.Payment) { p.Asset = "tti_000000000000000000004cfd" }, nil, "asset"},
		{"gas", func(_ *chain.Slot, p *chain.Payment) { p.Purpose = chain.Gas }, nil, "purpose"},
		{"cancel", func(_ *chain.Slot, p *chain.Payment) { p.Purpose = chain.Cancel }, nil, "purpose"},
		{"no source", func(_ *chain.Slot, p *chain.Payment) { p.Purpose = chain.Receive }, core.ErrHash, "source"},
		{"zero source", func(_ *chain.Slot, p *chain.Payment) {
			p.Purpose, p.Source = chain.Receive, strings.Repeat("0", 64)
		}, nil, "source"},
		{"account", func(s *chain.Slot, _ *chain.Payment) { s.Account = "nonsense" }, core.ErrAddress, "account"},
		{"contract account", func(s *chain.Slot, _ *chain.Payment) { s.Account = assetText }, nil, "account"},
		{"height", func(s *chain.Slot, _ *chain.Payment) { s.Nonce = 0 }, nil, "number"},
		{"no prev", func(s *chain.Slot, _ *chain.Payment) { s.Prev = "" }, nil, "prev"},
		{"prev of the first", func(s *chain.Slot, _ *chain.Payment) { s.Nonce = 1 }, nil, "prev"},
		{"prev no hash", func(s *chain.Slot, _ *chain.Payment) { s.Prev = "0x12" }, core.ErrHash, "prev"},
		{"send first", func(s *chain.Slot, _ *chain.Payment) {
			*s = l.slotOf(l.inbox, inboxPath)
		}, chain.ErrNotNow, "receive"},
		{"unknown key", func(s *chain.Slot, _ *chain.Payment) { s.Key = "m/9'" }, nil, "no such key"},
		{"foreign key", func(s *chain.Slot, _ *chain.Payment) { s.Key = inboxPath }, core.ErrBlockProducer, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			slot, pay := l.slot(t), l.credit(1, l.stranger.Address(), 5)
			tt.change(&slot, &pay)
			a, err := chaintest.Sign(t.Context(), c, l.keys, slot, pay, nil)
			require.Error(t, err)
			require.Zero(t, a)
			require.ErrorContains(t, err, tt.text)
			if tt.is != nil {
				require.ErrorIs(t, err, tt.is)
			}
		})
	}
	_, err := chaintest.Sign(t.Context(), c, l.keys, l.slotOf(l.inbox, inboxPath), chain.Payment{Purpose: chain.Receive, Source: source.String()}, nil)
	require.NoError(t, err, "the first block of an account receives")
}

func TestNoReplacement(t *testing.T) {
	l := newLedger(t)
	first := l.signed(t)
	_, err := chaintest.Sign(t.Context(), l.open(t), l.keys, l.slot(t), l.credit(1, l.newUser(t), 5), []chain.Attempt{first})
	require.ErrorIs(t, err, chain.ErrNoReplacement)
}

// TestNoQuota pays from an account that staked nothing.
func TestNoQuota(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	slot := l.slotOf(l.poor, poorPath)
	_, err := chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(1, l.newUser(t), 5), nil)
	require.ErrorIs(t, err, chain.ErrNotNow)
	require.ErrorContains(t, err, "quota")

	ahead := slot
	ahead.Nonce, ahead.Prev = slot.Nonce+1, strings.Repeat("ab", 32)
	for _, pow := range []bool{false, true} {
		_, err = chaintest.Sign(t.Context(), l.openWith(t, Config{PoW: pow}), l.keys, ahead, l.credit(2, l.newUser(t), 5), nil)
		require.ErrorIs(t, err, chain.ErrNotNow, "no work can be done before the block before is there")
	}

	c = l.openWith(t, Config{PoW: true, PoWTimeout: time.Nanosecond})
	_, err = chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(1, l.newUser(t), 5), nil)
	require.ErrorIs(t, err, chain.ErrNotNow, "the whole work takes longer than that")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// TestProofOfWork lets stake pay for most of a block, so that little work is left.
func TestProofOfWork(t *testing.T) {
	l := newLedger(t)
	l.stakeFor(t, l.poor, 134)
	l.rest(t)
	c := l.openWith(t, Config{PoW: true})
	payee, slot := l.newUser(t), l.slotOf(l.poor, poorPath)
	_, err := chaintest.Sign(t.Context(), l.open(t), l.keys, slot, l.credit(1, payee, 5), nil)
	require.ErrorIs(t, err, chain.ErrNotNow)

	a, err := chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(1, payee, 5), nil)
	require.NoError(t, err)
	b, err := core.DecodeBlock(a.Raw)
	require.NoError(t, err)
	require.NotNil(t, b.Nonce)
	require.True(t, core.CheckPoW(core.PoWDataHash(b.Address, b.PreviousHash), b.Nonce, b.Difficulty))
	again, err := chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(1, payee, 5), nil)
	require.NoError(t, err)
	require.Equal(t, a, again)
	require.NoError(t, chaintest.Send(t.Context(), c, a))

	_, err = chaintest.Sign(t.Context(), c, l.keys, l.slotOf(l.poor, poorPath), l.credit(2, payee, 5), nil)
	require.ErrorIs(t, err, chain.ErrNotNow, "one block with work until the next snapshot")
	l.mine(t, 1)
	require.Equal(t, *uint256.NewInt(5), l.holding(payee, core.VITE))
}

// stakeFor lets the stranger stake VITE for an account.
func (l *ledger) stakeFor(t testing.TB, a core.Address, vite uint64) {
	t.Helper()
	data, err := core.StakeForQuota.Pack(a)
	require.NoError(t, err)
	b := l.draft(l.stranger.Address(), core.SendCall)
	b.ToAddress, b.TokenID, b.Data = core.QuotaContract, core.VITE, data
	b.Amount.Mul(oneVITE, uint256.NewInt(vite))
	b.SignWith(l.stranger)
	require.NoError(t, l.Submit(t.Context(), b))
	l.mine(t, 2)
}

// TestPipelineOnRestedStake signs ahead of the account's head once the stake gives enough for the
// blocks before, too.
func TestPipelineOnRestedStake(t *testing.T) {
	l := newLedger(t)
	l.stakeFor(t, l.poor, 1000)
	slot := l.slotOf(l.poor, poorPath)
	slot.Nonce, slot.Prev = slot.Nonce+1, strings.Repeat("ab", 32)
	for _, pow := range []bool{false, true} {
		_, err := chaintest.Sign(t.Context(), l.openWith(t, Config{PoW: pow}), l.keys, slot, l.credit(1, l.newUser(t), 5), nil)
		require.ErrorIs(t, err, chain.ErrNotNow)
	}
	l.rest(t)
	for _, pow := range []bool{false, true} {
		a, err := chaintest.Sign(t.Context(), l.openWith(t, Config{PoW: pow}), l.keys, slot, l.credit(1, l.newUser(t), 5), nil)
		require.NoError(t, err)
		b, err := core.DecodeBlock(a.Raw)
		require.NoError(t, err)
		require.Nil(t, b.Nonce)
	}
}

// TestRowOfSlotsAsksOnce signs as many blocks in a row as the quota pays for, and no more.
func TestRowOfSlotsAsksOnce(t *testing.T) {
	l := newLedger(t)
	l.stakeFor(t, l.poor, 5000)
	l.rest(t)
	p := newLiar(t, l)
	c := l.open(t, p.URL)
	quota, err := c.Quota(t.Context(), l.poor.String())
	require.NoError(t, err)
	const cost = 21_000 + 28*dataSize
	fits := int(quota.Current / cost)
	require.Greater(t, fits, 30)
	p.counted()
	slot := l.slotOf(l.poor, poorPath)
	var row []chain.Attempt
	for len(row) < fits {
		a, err := chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(uint64(len(row)+1), l.newUser(t), 5), nil)
		require.NoError(t, err)
		row = append(row, a)
		slot.Nonce, slot.Prev = slot.Nonce+1, a.Hash
	}
	require.Equal(t, map[string]int{"ledger_getLatestAccountBlock": 1, "contract_getQuotaByAccount": 1}, p.counted())
	_, err = chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(99, l.newUser(t), 5), nil)
	require.ErrorIs(t, err, chain.ErrNotNow, "out of quota, of which nothing is used on the ledger yet")
	for _, a := range row {
		require.NoError(t, chaintest.Send(t.Context(), c, a), "all that was signed is paid for")
	}
	_, err = chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(99, l.newUser(t), 5), nil)
	require.ErrorIs(t, err, chain.ErrNotNow)
	l.rest(t)
	_, err = chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(99, l.newUser(t), 5), nil)
	require.NoError(t, err)
}

// TestBudgetGrowsOld asks again after a snapshot block, and for a block that does not follow the
// one signed last.
func TestBudgetGrowsOld(t *testing.T) {
	l := newLedger(t)
	l.rest(t)
	p := newLiar(t, l)
	c := l.open(t, p.URL)
	slot := l.slot(t)
	first, err := chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(1, l.newUser(t), 5), nil)
	require.NoError(t, err)
	next := chain.Slot{Account: slot.Account, Key: slot.Key, Nonce: slot.Nonce + 1, Prev: first.Hash}
	p.counted()
	_, err = chaintest.Sign(t.Context(), c, l.keys, next, l.credit(2, l.newUser(t), 5), nil)
	require.NoError(t, err)
	require.Empty(t, p.counted())
	_, err = chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(1, l.newUser(t), 6), nil)
	require.NoError(t, err)
	require.NotEmpty(t, p.counted(), "a block at the place of the first")
	second, err := chaintest.Sign(t.Context(), c, l.keys, next, l.credit(2, l.newUser(t), 5), nil)
	require.NoError(t, err)
	require.NotEmpty(t, p.counted(), "a block after another one")
	l.clock.tick()
	_, err = chaintest.Sign(t.Context(), c, l.keys, chain.Slot{Account: slot.Account, Key: slot.Key, Nonce: next.Nonce + 1, Prev: second.Hash}, l.credit(3, l.newUser(t), 7), nil)
	require.NoError(t, err)
	require.NotEmpty(t, p.counted(), "a second later")
}

func TestDroppedBlockIsSentAgain(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	payee, slot := l.newUser(t), l.slot(t)
	first, err := chaintest.Sign(t.Context(), c, l.keys, slot, l.credit(1, payee, 5), nil)
	require.NoError(t, err)
	second, err := chaintest.Sign(t.Context(), c, l.keys, chain.Slot{Account: slot.Account, Key: slot.Key, Nonce: slot.Nonce + 1, Prev: first.Hash}, l.credit(2, payee, 6), nil)
	require.NoError(t, err)
	require.Error(t, chaintest.Send(t.Context(), c, second), "its predecessor is not there")
	for range 2 {
		require.NoError(t, chaintest.Send(t.Context(), c, first))
		require.NoError(t, chaintest.Send(t.Context(), c, second))
		require.NoError(t, chaintest.Send(t.Context(), c, first), "it is there already, and not at the tip")
	}
	hash, err := core.ParseHash(first.Hash)
	require.NoError(t, err)
	require.NoError(t, l.DropUnconfirmed(hash))
	l.mine(t, 1)
	require.Empty(t, ownTxsIn(line(t, c, 1)))

	require.NoError(t, chaintest.Send(t.Context(), c, first))
	require.NoError(t, chaintest.Send(t.Context(), c, second))
	l.mine(t, 1)
	require.Equal(t, []string{first.Hash, second.Hash}, ownTxsIn(line(t, c, 1)))
	require.Equal(t, *uint256.NewInt(11), l.holding(payee, core.VITE))
}

// Damaged bytes hold up what follows them and nothing else: what is called sent was sent.
func TestBroadcastBeforeDamagedBytes(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	good := l.signed(t)
	errs := c.Broadcast(t.Context(), []chain.Attempt{good, {Hash: good.Hash, Raw: []byte("{")}, good})
	require.NoError(t, errs[0])
	require.ErrorContains(t, errs[1], "raw")
	require.ErrorIs(t, errs[2], chain.ErrNotSent)
	require.Equal(t, good.Hash, l.slot(t).Prev)
}

func TestBroadcast(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	a := l.signed(t)
	t.Run("damaged bytes are not sent", func(t *testing.T) {
		p := newLiar(t, l)
		c := l.open(t, p.URL)
		for name, bad := range map[string]chain.Attempt{
			"empty":     {Hash: a.Hash},
			"no JSON":   {Hash: a.Hash, Raw: []byte("{")},
			"too long":  {Hash: a.Hash, Raw: append(a.Raw, strings.Repeat(" ", maxRaw)...)},
			"hash":      {Hash: strings.Repeat("ab", 32), Raw: a.Raw},
			"amount":    {Hash: a.Hash, Raw: []byte(strings.Replace(string(a.Raw), `"amount":"5"`, `"amount":"6"`, 1))},
			"signature": {Hash: a.Hash, Raw: []byte(strings.Replace(string(a.Raw), `"signature":"`, `"signature":"AAAA`, 1))},
		} {
			require.Error(t, chaintest.Send(t.Context(), c, bad), name)
		}
		require.Empty(t, p.counted())
	})
	t.Run("one node that takes it is enough", func(t *testing.T) {
		dead := newLiar(t, l)
		dead.Close()
		require.NoError(t, chaintest.Send(t.Context(), l.open(t, dead.URL, l.ws), a))
	})
	t.Run("another block stands there", func(t *testing.T) {
		rival, err := chaintest.Sign(t.Context(), c, l.keys, l.slotBefore(t), l.credit(9, l.newUser(t), 1), nil)
		require.NoError(t, err)
		err = chaintest.Send(t.Context(), c, rival)
		require.ErrorIs(t, err, client.ErrPrevBlock)
		require.ErrorContains(t, err, "node 1")
	})
	t.Run("received already", func(t *testing.T) {
		source := l.deposit(t, l.payer, 5, "")
		receive := chain.Payment{ID: 2, Purpose: chain.Receive, Source: source.String()}
		first, err := chaintest.Sign(t.Context(), c, l.keys, l.slot(t), receive, nil)
		require.NoError(t, err)
		require.NoError(t, chaintest.Send(t.Context(), c, first))
		second, err := chaintest.Sign(t.Context(), c, l.keys, l.slot(t), receive, nil)
		require.NoError(t, err)
		require.NoError(t, chaintest.Send(t.Context(), c, second))
		require.Equal(t, first.Hash, l.slot(t).Prev)
	})
	t.Run("too poor", func(t *testing.T) {
		pay := l.credit(3, l.newUser(t), 1)
		pay.Amount = chain.MustAmount("2000000000000000000000000")
		much, err := chaintest.Sign(t.Context(), c, l.keys, l.slot(t), pay, nil)
		require.NoError(t, err)
		require.ErrorIs(t, chaintest.Send(t.Context(), c, much), &client.Error{Code: -35001})
	})
}

// slotBefore is the place of the payer's newest block.
func (l *ledger) slotBefore(t testing.TB) chain.Slot {
	t.Helper()
	slot := l.slot(t)
	l.Read(func(v *embedded.View) {
		newest := v.AccountHead(l.payer)
		slot.Nonce, slot.Prev = newest.Height, newest.PreviousHash.String()
	})
	return slot
}

func TestTipAndBalance(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	vite := chain.Asset(core.VITE.String())
	tip, err := c.AccountHead(t.Context(), l.inbox.String())
	require.NoError(t, err)
	require.Equal(t, chain.AccountHead{Next: 1, Hash: core.Hash{}.String(), Settled: true}, tip)

	send := l.deposit(t, l.inbox, 40, "")
	balance, err := c.Balance(t.Context(), l.inbox.String(), vite)
	require.NoError(t, err)
	require.True(t, balance.IsZero(), "what waits cannot be spent")
	taken := l.receive(t, l.keys[inboxPath], send)
	tip, err = c.AccountHead(t.Context(), l.inbox.String())
	require.NoError(t, err)
	require.Equal(t, chain.AccountHead{Next: 2, Hash: taken.String()}, tip)
	balance, err = c.Balance(t.Context(), l.inbox.String(), vite)
	require.NoError(t, err)
	require.Equal(t, chain.NewAmount(40), balance)

	l.mine(t, depth-1)
	tip, err = c.AccountHead(t.Context(), l.inbox.String())
	require.NoError(t, err)
	require.False(t, tip.Settled)
	l.mine(t, 1)
	tip, err = c.AccountHead(t.Context(), l.inbox.String())
	require.NoError(t, err)
	require.True(t, tip.Settled)

	_, err = c.Balance(t.Context(), "nonsense", vite)
	require.ErrorIs(t, err, core.ErrAddress)
	_, err = c.Balance(t.Context(), l.inbox.String(), chain.Native)
	require.ErrorIs(t, err, core.ErrTokenID)
	_, err = c.AccountHead(t.Context(), "nonsense")
	require.ErrorIs(t, err, core.ErrAddress)
}

func TestProbes(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	gold, err := c.TokenInfo(t.Context(), chain.Asset(goldID().String()))
	require.NoError(t, err)
	require.Equal(t, Token{ID: goldID(), Symbol: "GOLD-000", Decimals: 6}, gold)
	vite, err := c.TokenInfo(t.Context(), chain.Asset(core.VITE.String()))
	require.NoError(t, err)
	require.Equal(t, Token{ID: core.VITE, Symbol: "VITE", Decimals: 18}, vite)
	vx, err := c.TokenInfo(t.Context(), chain.Asset(core.VX.String()))
	require.NoError(t, err)
	require.Equal(t, Token{ID: core.VX, Symbol: "VX", Decimals: 18}, vx, "it has no namesakes, so no index")
	_, err = c.TokenInfo(t.Context(), chain.Asset(core.TokenID{1}.String()))
	require.ErrorIs(t, err, chain.ErrNotFound)
	_, err = c.TokenInfo(t.Context(), "nonsense")
	require.ErrorIs(t, err, core.ErrTokenID)

	quota, err := c.Quota(t.Context(), l.payer.String())
	require.NoError(t, err)
	require.NotZero(t, quota.Current)
	require.Equal(t, "3000000000000000000000000", quota.Stake.String())
	quota, err = c.Quota(t.Context(), l.poor.String())
	require.NoError(t, err)
	require.Equal(t, Quota{}, quota)
	dead := newLiar(t, l)
	dead.Close()
	_, err = l.open(t, dead.URL).Quota(t.Context(), l.poor.String())
	require.ErrorIs(t, err, chain.ErrUnavailable)
	_, err = l.open(t, dead.URL, l.ws).Quota(t.Context(), l.poor.String())
	require.NoError(t, err)
}

func TestSignerThatFails(t *testing.T) {
	l := newLedger(t)
	c := l.open(t)
	locked := errors.New("the wallet is locked")
	_, err := chaintest.Sign(t.Context(), c, failing{locked}, l.slot(t), l.credit(1, l.newUser(t), 5), nil)
	require.ErrorIs(t, err, locked)
}

type failing struct{ err error }

func (f failing) Sign(context.Context, string, []byte) (pub, sig []byte, err error) {
	return nil, nil, f.err
}
