package treasury

import (
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
)

// member is an account of a pool and one asset.
type member struct {
	account records.Account
	retired bool
	owes    chain.Amount // what it must keep
	has     chain.Amount // on its ledger, less what is leaving
	gets    chain.Amount // has, and what is coming
}

func (m member) short() bool { return m.gets.Less(m.owes) }

// level shares one asset among the accounts of a pool. Stopped accounts take no part: their
// signatures are unknown.
type level struct {
	members []member
	worth   chain.Amount // nothing smaller is moved, unless an account is short
}

// moves returns the payments that bring each account its liabilities and its part of the rest. A
// giver keeps its full part and a taker has less than half of its own, so nothing moves back and
// forth.
func (l level) moves() ([]records.Payment, error) {
	part, err := l.part()
	if err != nil {
		return nil, err
	}
	half, _, err := part.MulDiv(1, 2)
	if err != nil {
		return nil, err
	}
	var out []records.Payment
	for _, to := range l.takers() {
		low, err := to.owes.Add(half)
		if err != nil {
			return nil, err
		}
		if !to.gets.Less(low) {
			continue
		}
		full, err := to.owes.Add(part)
		if err != nil {
			return nil, err
		}
		out = append(out, l.moveFromRichest(to, full.Excess(to.gets), part)...)
	}
	return append(out, l.emptyRetired()...), nil
}

// part is each account's balance in excess of its liabilities when all have the same.
func (l level) part() (part chain.Amount, err error) {
	var sum, owes chain.Amount
	count := uint64(0)
	for _, m := range l.members {
		if m.account.Stopped() {
			continue
		}
		if sum, err = sum.Add(m.gets); err != nil {
			return part, err
		}
		if owes, err = owes.Add(m.owes); err != nil {
			return part, err
		}
		if !m.retired {
			count++
		}
	}
	if count == 0 {
		return part, nil
	}
	part, _, err = sum.Excess(owes).MulDiv(1, count)
	return part, err
}

// takers are the accounts that may get something: first those that are short. One that is retired
// gets nothing.
func (l level) takers() (list []member) {
	for _, m := range l.members {
		if !m.account.Stopped() && !m.retired {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b member) int {
		if a.short() == b.short() {
			return 0
		} else if a.short() {
			return -1
		}
		return 1
	})
	return list
}

// moveFromRichest moves what an account lacks to it, from the richest accounts first.
func (l level) moveFromRichest(to member, want, part chain.Amount) (out []records.Payment) {
	for !want.IsZero() {
		i, most := l.richest(part)
		amount := smaller(want, most)
		if i < 0 || amount.IsZero() || (amount.Less(l.worth) && !to.short()) {
			return out
		}
		out = append(out, l.move(i, to.account, amount))
		want = want.Excess(amount)
	}
	return out
}

// richest returns the account with the highest balance in excess of its liabilities and its part.
func (l level) richest(part chain.Amount) (at int, most chain.Amount) {
	at = -1
	for i, m := range l.members {
		spare := m.has.Excess(m.owes)
		if !m.retired {
			spare = spare.Excess(part)
		}
		if !m.account.Stopped() && most.Less(spare) {
			at, most = i, spare
		}
	}
	return at, most
}

func (l level) move(from int, to records.Account, amount chain.Amount) records.Payment {
	m := &l.members[from]
	m.has = m.has.Excess(amount)
	return records.Payment{Chain: m.account.Chain, Account: m.account.Account, Payee: to.Account, Amount: amount}
}

// emptyRetired moves what retired accounts do not owe to the first account that pays and is not
// stopped.
func (l level) emptyRetired() (out []records.Payment) {
	at := slices.IndexFunc(l.members, func(m member) bool { return !m.retired && !m.account.Stopped() })
	if at < 0 {
		return nil
	}
	for i, m := range l.members {
		rest := m.has.Excess(m.owes)
		if m.retired && !m.account.Stopped() && !rest.IsZero() && !rest.Less(l.worth) {
			out = append(out, l.move(i, l.members[at].account, rest))
		}
	}
	return out
}
