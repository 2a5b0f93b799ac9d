package node

import (
	"github.com/holiman/uint256"
	"github.com/tidwall/btree"

	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/dex"
)

// mining is what dexFund keeps to share out: the VX that is still to be mined, the fees of the day that runs, and what of
// the days before is being paid. A cycle ends with the first tick of the clock in a later one.
type mining struct {
	pool      uint256.Int // VX to mine
	mined     uint256.Int // VX mined so far
	period    int64       // the cycle whose fees the books hold
	books     [4]feeBook  // by quote type, from 1
	leasts    map[dex.QuoteType]uint256.Int
	payouts   []payout                // the first is paid first
	dividends int64                   // the latest cycle that dividends were paid for
	stakes    lockup                  // VITE staked to mine
	until     map[core.Address]uint64 // snapshot height from which such a stake may be taken back
	earned    map[uint32]uint256.Int  // operators' fees not paid yet, by market
}

// feeBook is what was paid in a cycle against one type of quote token, in the type's decimals.
type feeBook struct {
	fees    uint256.Int // base fees
	least   uint256.Int // credits below it do not count
	sum     uint256.Int // of the credits that count
	credits *credits
}

// credits are accounts with a weight each, by address. A credit that is put in again counts instead of the one before.
type credits = btree.BTreeG[credit]

type credit struct {
	address core.Address
	weight  uint256.Int
}

func newCredits() *credits {
	less := func(a, b credit) bool { return compareAddresses(a.address, b.address) < 0 }
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true, Degree: 16})
}

func newMining() mining {
	m := mining{
		leasts: map[dex.QuoteType]uint256.Int{}, earned: map[uint32]uint256.Int{}, stakes: lockup{credits: newCredits()},
		until: map[core.Address]uint64{},
	}
	for i := range m.books {
		m.books[i].credits = newCredits()
	}
	return m
}

// setCredit puts a credit in; without weight it takes it out.
func (s *state) setCredit(in *credits, c credit) {
	old, had := in.Get(c)
	if c.weight.IsZero() {
		in.Delete(c)
	} else {
		in.Set(c)
	}
	s.journal.add(func() {
		if had {
			in.Set(old)
		} else {
			in.Delete(c)
		}
	})
}

// endow puts VX into the pool that is mined from. No one gets it back in another way than by mining.
func endow(x *execution, _ []any) error {
	m := &x.state.exchange.mining
	var pool uint256.Int
	pool.Add(&m.pool, &x.send.Amount)
	set(&x.state.journal, &m.pool, pool)
	return nil
}

func checkEndow(b *core.AccountBlock, _ []any) error {
	if b.TokenID != dex.VX || b.Amount.IsZero() {
		return ErrDexParam
	}
	return nil
}

// book is where the fees of a quote type are added up.
func (m *mining) book(q dex.QuoteType) *feeBook { return &m.books[q-1] }

// mine counts a base fee, in the market's quote token, for its payer and for who invited him.
func (s *state) mine(market *dex.Market, payer core.Address, base uint256.Int) {
	fee := market.QuoteType.FeeIn(base, market.QuoteDecimals)
	if !market.AllowMining || fee.IsZero() {
		return
	}
	book := s.exchange.mining.book(market.QuoteType)
	var fees uint256.Int
	fees.Add(&book.fees, &fee)
	set(&s.journal, &book.fees, fees)
	if inviter, invited := s.exchange.inviters[payer]; invited {
		var commission uint256.Int
		fee, commission = dex.InvitedFee(fee)
		s.addCredit(book, inviter, commission)
	}
	s.addCredit(book, payer, fee)
}

// addCredit adds to an account's credit. The sums stay far below 2^256: a fee is below 2^220.
func (s *state) addCredit(book *feeBook, a core.Address, more uint256.Int) {
	if more.IsZero() {
		return
	}
	c, _ := book.credits.Get(credit{address: a})
	counted := c.counted(book.least)
	c.address = a
	c.weight.Add(&c.weight, &more)
	s.setCredit(book.credits, c)
	sum, counts := book.sum, c.counted(book.least)
	sum.Sub(&sum, &counted)
	sum.Add(&sum, &counts)
	set(&s.journal, &book.sum, sum)
}

// counted is the weight, or zero if it is below the least that counts.
func (c credit) counted(least uint256.Int) uint256.Int {
	if c.weight.Lt(&least) {
		return uint256.Int{}
	}
	return c.weight
}

// closeCycle begins the cycle of the clock, if that is another one, and has the VX of the one before paid to those who
// traded and those who have staked. What no one has mined stays in the pool.
func (s *state) closeCycle() {
	m, now := &s.exchange.mining, dex.PeriodOf(s.exchange.clock)
	if now == m.period {
		return
	}
	shares := dex.SharesOf(m.period, m.pool)
	for _, q := range dex.QuoteTypes() {
		book := m.book(q)
		s.openMining(payout{
			kind: payMining, quote: q, amount: shares.Trade, least: book.least, sum: book.sum, credits: book.credits,
		})
		set(&s.journal, book, feeBook{least: m.leasts[q], credits: newCredits()})
	}
	s.openMining(payout{kind: payStaking, amount: shares.Staking, sum: m.stakes.sum, credits: m.stakes.credits.Copy()})
	set(&s.journal, &m.period, now)
}

// openMining takes what a payout of the cycle's VX gives out of the pool, if there is anyone to give it to.
func (s *state) openMining(p payout) {
	m := &s.exchange.mining
	if p.amount.IsZero() || p.sum.IsZero() {
		return
	}
	p.token, p.period, p.left = dex.VX, m.period, p.amount
	var pool uint256.Int
	pool.Sub(&m.pool, &p.amount)
	set(&s.journal, &m.pool, pool)
	set(&s.journal, &m.payouts, append(m.payouts[:len(m.payouts):len(m.payouts)], p))
}
