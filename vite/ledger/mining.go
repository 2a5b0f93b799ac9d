package ledger

import (
	"github.com/holiman/uint256"
	"github.com/tidwall/btree"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// mining is dexFund's state for distributions: the VX that is still to be mined, the fees of the
// current day, and the unpaid rest of the days before. A cycle ends with the first tick of the
// clock in a later one.
type mining struct {
	_         struct{}    `cbor:",toarray"`
	Pool      uint256.Int // VX to mine
	Mined     uint256.Int // VX mined so far
	Period    int64       // the cycle whose fees the books hold
	Books     [4]feeBook  // by quote type, from 1
	Leasts    map[dex.QuoteType]uint256.Int
	Payouts   []payout                // the first is paid first
	Dividends int64                   // the latest cycle that dividends were paid for
	Stakes    lockup                  // VITE staked to mine
	Until     map[core.Address]uint64 // snapshot height from which such a stake may be taken back
	Earned    map[uint32]uint256.Int  // operators' fees not paid yet, by market
	Cycles    map[int64]Cycle         // the cycles that are over, for queries
}

// Cycle is the VX that a cycle gave.
type Cycle struct {
	_      struct{}    `cbor:",toarray"`
	Total  uint256.Int // released, at most the pool
	Mined  uint256.Int // in all cycles before
	Shares dex.Shares
}

// cycle is the VX that a cycle gives out of the present pool.
func (m *mining) cycle(period int64) Cycle {
	c := Cycle{Total: dex.Released(period), Mined: m.Mined, Shares: dex.SharesOf(period, m.Pool)}
	if c.Total.Gt(&m.Pool) {
		c.Total = m.Pool
	}
	return c
}

// Cycle is the VX that a cycle gave or will give. It is zero for a cycle before the first one.
func (m *mining) Cycle(period int64) Cycle {
	if period >= m.Period {
		return m.cycle(period)
	}
	return m.Cycles[period]
}

// feeBook contains the fees of a cycle against one type of quote token, in the type's decimals.
type feeBook struct {
	_       struct{}    `cbor:",toarray"`
	Fees    uint256.Int // base fees
	Least   uint256.Int // credits below it do not count
	Sum     uint256.Int // of the credits that count
	Credits credits
}

// credits are accounts with a weight each, by address. A credit that is put in again counts instead
// of the one before.
type credits struct{ *btree.BTreeG[Credit] }

// Credit is the weight of an account.
type Credit struct {
	Address core.Address
	Weight  uint256.Int
}

func newCredits() credits {
	less := func(a, b Credit) bool { return CompareAddresses(a.Address, b.Address) < 0 }
	return credits{btree.NewBTreeGOptions(less, btree.Options{NoLocks: true, Degree: 16})}
}

// MarshalCBOR lists the credits.
func (c credits) MarshalCBOR() ([]byte, error) {
	if c.BTreeG == nil {
		return encoding.Marshal([]Credit{})
	}
	return encoding.Marshal(c.Items())
}

// UnmarshalCBOR reads such a list.
func (c *credits) UnmarshalCBOR(data []byte) error {
	var list []Credit
	if err := decoding.Unmarshal(data, &list); err != nil {
		return err
	}
	*c = newCredits()
	for _, credit := range list {
		c.Set(credit)
	}
	return nil
}

func newMining() mining {
	m := mining{
		Leasts: map[dex.QuoteType]uint256.Int{}, Earned: map[uint32]uint256.Int{}, Stakes: lockup{Credits: newCredits()},
		Until: map[core.Address]uint64{}, Cycles: map[int64]Cycle{},
	}
	for i := range m.Books {
		m.Books[i].Credits = newCredits()
	}
	return m
}

// setCredit puts a credit in; without weight it takes it out.
func (s *State) setCredit(in credits, c Credit) {
	old, had := in.Get(c)
	if c.Weight.IsZero() {
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

// endow puts VX into the pool that is mined from. No one gets it back in another way than by
// mining.
func endow(x *execution, _ []any) error {
	m := &x.state.Exchange.Mining
	var pool uint256.Int
	pool.Add(&m.Pool, &x.send.Amount)
	set(&x.state.journal, &m.Pool, pool)
	return nil
}

func checkEndow(b *core.AccountBlock, _ []any) error {
	if b.TokenID != dex.VX || b.Amount.IsZero() {
		return ErrDexParam
	}
	return nil
}

// Book returns the fee book of a quote type.
func (m *mining) Book(q dex.QuoteType) *feeBook { return &m.Books[q-1] }

// mine counts a base fee, in the market's quote token, for its payer and for who invited him.
func (s *State) mine(market *dex.Market, payer core.Address, base uint256.Int) {
	fee := market.QuoteType.FeeIn(base, market.QuoteDecimals)
	if !market.AllowMining || fee.IsZero() {
		return
	}
	book := s.Exchange.Mining.Book(market.QuoteType)
	var fees uint256.Int
	fees.Add(&book.Fees, &fee)
	set(&s.journal, &book.Fees, fees)
	if inviter, invited := s.Exchange.Inviters[payer]; invited {
		var commission uint256.Int
		fee, commission = dex.InvitedFee(fee)
		s.AddCredit(book, inviter, commission)
	}
	s.AddCredit(book, payer, fee)
}

// AddCredit adds to an account's credit. The sums stay far below 2^256: a fee is below 2^220.
func (s *State) AddCredit(book *feeBook, a core.Address, more uint256.Int) {
	if more.IsZero() {
		return
	}
	c, _ := book.Credits.Get(Credit{Address: a})
	counted := c.counted(book.Least)
	c.Address = a
	c.Weight.Add(&c.Weight, &more)
	s.setCredit(book.Credits, c)
	sum, counts := book.Sum, c.counted(book.Least)
	sum.Sub(&sum, &counted)
	sum.Add(&sum, &counts)
	set(&s.journal, &book.Sum, sum)
}

// counted is the weight, or zero if it is below the least that counts.
func (c Credit) counted(least uint256.Int) uint256.Int {
	if c.Weight.Lt(&least) {
		return uint256.Int{}
	}
	return c.Weight
}

// closeCycle starts the cycle of the clock, if it is a new one. The VX of the previous cycle is
// then paid to its traders and stakers. Unmined VX stays in the pool.
func (s *State) closeCycle() {
	m, now := &s.Exchange.Mining, dex.PeriodOf(s.Exchange.Clock)
	if now == m.Period {
		return
	}
	ended := m.cycle(m.Period)
	put(&s.journal, m.Cycles, m.Period, ended)
	shares := ended.Shares
	for _, q := range dex.QuoteTypes() {
		book := m.Book(q)
		s.openMining(payout{
			Kind: PayMining, Quote: q, Amount: shares.Trade, Least: book.Least, Sum: book.Sum, Credits: book.Credits,
		})
		set(&s.journal, book, feeBook{Least: m.Leasts[q], Credits: newCredits()})
	}
	s.openMining(payout{Kind: payStaking, Amount: shares.Staking, Sum: m.Stakes.Sum, Credits: credits{m.Stakes.Credits.Copy()}})
	set(&s.journal, &m.Period, now)
}

// openMining takes what a payout of the cycle's VX gives out of the pool, if there is anyone to
// give it to.
func (s *State) openMining(p payout) {
	m := &s.Exchange.Mining
	if p.Amount.IsZero() || p.Sum.IsZero() {
		return
	}
	p.Token, p.Period, p.Left = dex.VX, m.Period, p.Amount
	var pool uint256.Int
	pool.Sub(&m.Pool, &p.Amount)
	set(&s.journal, &m.Pool, pool)
	set(&s.journal, &m.Payouts, append(m.Payouts[:len(m.Payouts):len(m.Payouts)], p))
}
