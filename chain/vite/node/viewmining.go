package node

import (
	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// Mining is what the cycle that runs will give to those who trade.
type Mining struct {
	Period int64
	Mined  uint256.Int // VX, in all cycles before
	Pool   uint256.Int // VX that is still to be mined
	Total  uint256.Int // VX that the cycle sets free, by trading and otherwise; at most the pool
	Shares dex.Shares  // VX for who has traded or staked
	Staked uint256.Int // VITE staked to mine
	// Fees are the base fees of the markets that mine, in the decimals of the quote type, as they were paid.
	Fees map[dex.QuoteType]uint256.Int
}

// Mining is what the cycle that runs will give.
func (v *View) Mining() Mining {
	m := &v.s.exchange.mining
	info := Mining{
		Period: m.period, Mined: m.mined, Pool: m.pool, Total: dex.Released(m.period), Shares: dex.SharesOf(m.period, m.pool),
		Staked: m.stakes.sum, Fees: map[dex.QuoteType]uint256.Int{},
	}
	if info.Total.Gt(&m.pool) {
		info.Total = m.pool
	}
	for _, q := range dex.QuoteTypes() {
		info.Fees[q] = m.book(q).fees
	}
	return info
}

// DividendPools are the base fees that dividends are paid from, by quote token.
func (v *View) DividendPools() map[core.TokenID]uint256.Int {
	pools := map[core.TokenID]uint256.Int{}
	for id, f := range v.s.exchange.fees {
		if !f.base.IsZero() {
			pools[id] = f.base
		}
	}
	return pools
}

// AutoLocksVX tells whether VX that the account mines is locked at once.
func (v *View) AutoLocksVX(a core.Address) bool {
	_, auto := v.s.exchange.autoLocks[a]
	return auto
}

// LockedVX is the VX that an account has locked for dividends.
func (v *View) LockedVX(a core.Address) uint256.Int {
	c, _ := v.s.exchange.locks.credits.Get(credit{address: a})
	return c.weight
}

// Unlocking is what an account has unlocked of a token and not got back yet.
func (v *View) Unlocking(a core.Address, token core.TokenID) (sum uint256.Int) {
	for _, u := range v.s.exchange.unlocking {
		if u.owner == a && u.token == token {
			sum.Add(&sum, &u.amount)
		}
	}
	return sum
}

// InviteCode is the code that the account invites with, 0 for none.
func (v *View) InviteCode(a core.Address) uint32 { return v.s.exchange.codes[a] }

// InvitedBy is the code that the account was invited with, 0 for none.
func (v *View) InvitedBy(a core.Address) uint32 {
	return v.s.exchange.codes[v.s.exchange.inviters[a]]
}

// totals are sums by token.
type totals map[core.TokenID]uint256.Int

func (t totals) add(id core.TokenID, n uint256.Int) {
	if !n.IsZero() {
		sum := t[id]
		t[id] = *sum.Add(&sum, &n)
	}
}

// sumPools adds what is to be shared out.
func (e *exchange) sumPools(sums map[core.TokenID]ExchangeTotals) {
	pools := totals{}
	pools.add(dex.VX, e.mining.pool)
	for _, p := range e.mining.payouts {
		pools.add(p.token, p.left)
	}
	for id, n := range pools {
		t := sums[id]
		t.Pools = n
		sums[id] = t
	}
}

// sumStakes adds what accounts have staked or locked, and what is on its way back to them.
func (e *exchange) sumStakes(sums map[core.TokenID]ExchangeTotals) {
	held := totals{}
	for _, k := range e.feeStakes {
		held.add(core.VITE, stakeOf(k.vip.super))
	}
	held.add(core.VITE, e.mining.stakes.sum)
	held.add(dex.VX, e.locks.sum)
	for _, u := range e.unlocking {
		held.add(u.token, u.amount)
	}
	for id, n := range held {
		t := sums[id]
		t.Stakes = n
		sums[id] = t
	}
}
