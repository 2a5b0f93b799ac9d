package watcher

import (
	"errors"
	"fmt"
	"slices"

	"gatewayd/chain"
	"gatewayd/internal/testing/chaintest"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
	"gatewayd/records/books"
)

// due is what each payee may have by now (final transfers only), or in the end (all of them).
func (m *model) due(inTheEnd bool) map[*chaintest.Chain]map[string]map[chain.Asset]uint64 {
	due := map[*chaintest.Chain]map[string]map[chain.Asset]uint64{m.eth: {}, m.vite: {}}
	for _, c := range m.claims {
		if !c.final {
			_, c.final, _ = c.source.Find(c.hash)
			c.final = c.final && c.source.Final() >= c.reward
		}
		if due[c.ledger][c.payee] == nil {
			due[c.ledger][c.payee] = map[chain.Asset]uint64{}
		}
		if c.final || inTheEnd && m.stands(c) {
			due[c.ledger][c.payee][c.asset] += c.amount
		}
	}
	return due
}

// check is what must hold at every moment: nobody has more than is due to him (I1, I3), no payment
// stands twice on its ledger, and nothing was sent that is not stored (R1).
func (m *model) check() error {
	for ledger, payees := range m.due(false) {
		have := ledger.Balances()
		for payee, assets := range payees {
			for asset, most := range assets {
				if units(most).Less(have[payee][asset]) {
					return fmt.Errorf("%s has %s of %s on %s, %d is due", payee, have[payee][asset], asset, ledger.ID(), most)
				}
			}
			for asset := range have[payee] {
				if _, ok := assets[asset]; !ok {
					return fmt.Errorf("%s has %s of %s on %s, nothing is due", payee, have[payee][asset], asset, ledger.ID())
				}
			}
		}
		for id, n := range ledger.Paid() {
			if n > 1 && !m.restored {
				return fmt.Errorf("payment %d stands %d times on %s", id, n, ledger.ID())
			}
		}
		if broken := m.chains[ledger.ID()].faults; len(broken) > 0 {
			return fmt.Errorf("on %s: %s", ledger.ID(), broken[0])
		}
	}
	return nil
}

// settle lets everything come to rest under honest nodes, then asks for exactness: each payee has
// what is due, our accounts have the rest, numbers are dense, attempts are all still there, the
// books fit (I1-I8).
func (m *model) settle() error {
	m.eth.Lie(chaintest.Honest)
	m.vite.Lie(chaintest.Honest)
	m.eth.SetBaseFee(10)
	m.restart(neverCrashes, "")
	m.eth.LoseDropped() // the daemon itself must send again what was dropped
	m.vite.LoseDropped()
	for i := range patienceOf(m.pool) {
		if err := m.level(i); err != nil {
			return err
		}
		m.eth.Gossip()
		m.vite.Gossip()
		m.eth.Mine(1)
		m.vite.Mine(1)
		for _, w := range m.watchers() {
			if err := w.Step(m.t.Context()); err != nil {
				return fmt.Errorf("with honest nodes: %w", err)
			}
		}
		if err := m.check(); err != nil {
			return err
		}
		if m.atRest() {
			break
		}
	}
	if err := m.checkPayees(); err != nil {
		return err
	}
	return m.checkBooks()
}

// patienceOf is how many blocks a model may take to come to rest. The accounts of a pool may have
// to wait for each other's money several times.
func patienceOf(accounts int) int { return 150 + 300*(accounts-1) }

// atRest reports whether every claim is final, paid, and the payments themselves are final.
func (m *model) atRest() bool {
	if m.checkPayees() != nil {
		return false
	}
	for _, c := range []*chaintest.Chain{m.eth, m.vite} {
		for _, a := range m.paying(c.ID()) {
			tip, err := c.AccountHead(m.t.Context(), a)
			if err != nil || !tip.Settled {
				return false
			}
		}
	}
	busy := true
	err := m.inner.View(m.t.Context(), func(tx *records.Tx) error {
		source, err := tx.Accounts().Busy(m.eth.ID())
		if err != nil {
			return err
		}
		vite, err := tx.Accounts().Busy("vite")
		busy = len(source)+len(vite) > 0
		for _, account := range m.paying(m.eth.ID()) { // a ledger of coins does not know what is not final
			open, err := tx.Slots().Open(m.eth.ID(), account)
			if err != nil {
				return err
			}
			busy = busy || slices.ContainsFunc(open, func(s records.OpenSlot) bool { return s.Coin != "" })
		}
		return err
	})
	return err == nil && !busy
}

func (m *model) paying(id chain.ID) []string {
	n := m.parts.Networks[0]
	if id == n.Exchange {
		return n.Gateways
	}
	if m.coins {
		return n.Hots
	}
	return append(slices.Clone(n.Hots), n.Gas)
}

func (m *model) checkPayees() error {
	for ledger, payees := range m.due(true) {
		have := ledger.Balances()
		for payee, assets := range payees {
			for asset, want := range assets {
				if have[payee][asset] != units(want) {
					return fmt.Errorf("%s has %s of %s on %s in the end, %d is due", payee, have[payee][asset], asset, ledger.ID(), want)
				}
			}
		}
	}
	return nil
}

// checkBooks compares our own accounts and the database with the ledgers.
func (m *model) checkBooks() error {
	n := m.parts.Networks[0]
	in, out, paid := uint64(0), uint64(0), uint64(0)
	for _, c := range m.claims {
		switch {
		case !m.stands(c):
		case c.ledger == m.eth:
			in += c.amount/100 + fee
			paid += c.amount
		case c.source == m.vite: // a refund: in and out again, but for its fee
			in += c.chargedFee
		default:
			out += c.amount
		}
	}
	if have := m.holding(m.vite, n.Gateways, usd); have != units(stock+in-out) {
		return fmt.Errorf("the gateway account has %s, %d wanted", have, stock+in-out)
	}
	have := m.holding(m.eth, append(slices.Clone(n.Hots), m.deposits...), m.asset)
	cold := m.eth.Holding(n.Tokens[0].Cold, m.asset)
	want := m.stock - paid + m.deposited + m.rewards()
	if m.coins {
		want -= m.eth.Burnt().Uint256().Uint64()
	}
	if all, err := have.Add(cold); err != nil || all != units(want) {
		return fmt.Errorf("the hot account, the deposit addresses and the cold one have %s, %d wanted", all, want)
	}
	if err := m.checkCold(cold); err != nil {
		return err
	}
	return m.inner.View(m.t.Context(), m.checkRecords)
}

// checkCold asks that the cold address has what was sent there, each payment once.
func (m *model) checkCold(have chain.Amount) error {
	return m.inner.View(m.t.Context(), func(tx *records.Tx) error {
		totals, err := books.TotalsOf(tx, m.parts.Networks[0].Name, usd)
		if err != nil {
			return err
		}
		sent, err := recordstest.Pays(totals, chain.Cold, m.eth.ID(), records.Paid)
		if err == nil && sent != have {
			err = fmt.Errorf("the cold address has %s, %s were sent there", have, sent)
		}
		return err
	})
}

// level lets the accounts of a pool share what they have now and then.
func (m *model) level(round int) error {
	if m.pool == 1 || round%8 != 0 {
		return nil
	}
	for _, w := range m.watchers() {
		if err := w.Treasury().Level(m.t.Context()); err != nil {
			return err
		}
	}
	return nil
}

// holding is what accounts have together.
func (m *model) holding(c *chaintest.Chain, accounts []string, asset chain.Asset) (sum chain.Amount) {
	for _, a := range accounts {
		sum, _ = sum.Add(c.Holding(a, asset))
	}
	return sum
}

func (m *model) checkRecords(tx *records.Tx) error {
	breaches, _, err := books.Breaches(tx, 0)
	if err != nil {
		return err
	}
	if len(breaches) > 0 {
		return fmt.Errorf("the books: %v", breaches)
	}
	for id, c := range m.chains {
		for hash := range c.sent {
			if slots, _, err := tx.Slots().AttemptByHash(id, hash); err != nil || len(slots) == 0 {
				return errors.Join(fmt.Errorf("attempt %s was sent and is gone", hash), err)
			}
		}
		for _, account := range m.paying(id) {
			if err := m.checkAccount(tx, id, account); err != nil {
				return err
			}
		}
	}
	return tx.VerifyHistory()
}

// checkAccount asks that the numbers given are the numbers used: dense, and no more.
func (m *model) checkAccount(tx *records.Tx, id chain.ID, account string) error {
	a, err := tx.Accounts().Get(id, account)
	if err != nil || a.State == records.AccountNew {
		return err
	}
	if a.State != records.AccountOK {
		return fmt.Errorf("account %s is %s: %s", account, a.State, a.Why)
	}
	tip, err := m.chains[id].Chain.AccountHead(m.t.Context(), account)
	if err != nil {
		return err
	}
	if m.coins && id == m.eth.ID() {
		tip.Next, err = m.checkCoins(tx)
	}
	if err != nil {
		return err
	}
	if tip.Next != a.Next {
		return fmt.Errorf("account %s: the ledger is at %d, the records at %d", account, tip.Next, a.Next)
	}
	cur, err := tx.Chains().Cursor(id)
	if err == nil && cur.Halted {
		err = fmt.Errorf("chain %s is halted: %s", id, cur.Why)
	}
	return err
}

// dump is the state of everything, for the log of a failed run.
func (m *model) dump() {
	for _, c := range []*chaintest.Chain{m.eth, m.vite} {
		head, _ := c.Head(m.t.Context())
		m.t.Logf("%s: head %d, final %d, %d waiting", c.ID(), head.Latest.Height, head.Final.Height, len(c.Waiting()))
		for _, account := range m.paying(c.ID()) {
			tip, err := c.AccountHead(m.t.Context(), account)
			m.t.Logf("  tip of %s: %+v %v", account, tip, err)
			err = m.inner.View(m.t.Context(), func(tx *records.Tx) error {
				a, err := tx.Accounts().Get(c.ID(), account)
				if err != nil {
					return err
				}
				cur, err := tx.Chains().Cursor(c.ID())
				m.t.Logf("  cursor %d %s, final %d %v", cur.Height, cur.Why, cur.Final.Height, err)
				m.t.Logf("  records: %s %s, base %d, next %d", a.State, a.Why, a.Base, a.Next)
				unpaid, err := tx.Recovery().Unpaid(c.ID(), account)
				for _, p := range unpaid {
					m.t.Logf("  unpaid %d: %s %s of %s to %s, %s %s, coin %s, usd %s", p.ID, p.Purpose, p.Amount, p.Asset, p.Payee, p.State, p.Reason, c.Holding(account, chain.Native), c.Holding(account, p.Asset))
				}
				if err != nil {
					return err
				}
				slots, err := tx.Slots().Open(c.ID(), account)
				for _, s := range slots {
					m.t.Logf("  slot %d: payment %d %s %s, %d attempts, mined %t", s.Nonce, s.PaymentID, s.Payment.Purpose, s.Payment.Amount, len(s.Attempts), s.Mined)
				}
				return err
			})
			m.t.Logf("  %v", err)
		}
	}
}
