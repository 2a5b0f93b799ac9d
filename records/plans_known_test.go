package records_test

import "strings"

// knownScan is a reason why statements of a method may visit more rows as payments accumulate. An
// empty field means all.
type knownScan struct {
	by            string // the method
	with, without string // what is in their texts, and what is not
	step          string // what is in the step of the plan
	why           string
}

func (e knownScan) covers(v visit) bool {
	return e.by == v.by && strings.Contains(v.text, e.with) && strings.Contains(v.step, e.step) && (e.without == "" || !strings.Contains(v.text, e.without))
}

var knownScans = []knownScan{
	{by: "(*Tx).VerifyHistory", why: "operators ask for it; it reads the history in batches"},
	{by: "books.TotalsOf", why: "operators ask for it"},
	{by: "books.SheetOf", why: "once a day, and when operators ask for it"},
	{by: "books.Breaches", with: " >= ", why: "a window between two ids; all of them only when operators ask for it"},
	{by: "books.Breaches", with: "FROM history WHERE seq > ", why: "reads what is new since the last check, ten thousand lines at most"},
	{by: "(*Watch).Owned", with: "seq > ", why: "reads what is new since the last call"},
	{by: "Bindings.FreeIndexes", with: "MAX(path_index)", why: "both engines look at the end of the index only, once for each chain"},
	{by: "Bindings.FreeIndexes", with: "MIN(network)", why: "both engines step from network to network, of which there are few, by the begin of an index"},
	{by: "Slots.ForkUnsigned", with: "state IN ('paid','void')", why: "slots at and above an unsigned number, of which there are few; once when a payment leaves its slot"},
	{by: "HaltLacking", with: "ORDER BY number DESC LIMIT 1", why: "both engines look at the end of the index only, once when a daemon begins to lead"},
	{by: "AdoptGuard", with: "ORDER BY number DESC LIMIT 1", why: "the same, when a sign-guard is adopted"},
	{by: "Accounts.List", without: "kind <> 'deposit'", why: "asked for all addresses of users, it answers them; nothing asks in the course of things"},
	{by: "books.SignedSince", why: "a day's slots at the end of an account's line; where they begin is found by halving, a row at a time"},
	{by: "OwnTxs.Inclusion", with: "ORDER BY number DESC LIMIT ?", why: "the newest 64 transactions of an account, at the end of the index"},
	{by: "(*Tx).HistoryAfter", why: "reads what is new since the last call, a thousand lines at most"},
	{by: "(*Tx).HistoryBefore", why: "a page of a thousand lines at most"},
	{by: "books.CreditsSince", with: "FROM payments WHERE id >= ", why: "the payments of a bounded time, of which the newest are read"},
	{by: "Payments.Moves", why: "a page of a thousand payments at most"},
	{by: "Treasury.Moved", why: "a page of fifty payments at most"},
	{by: "Chains.Prune", why: "visits what it deletes"},
	{by: "view.Records", with: "WHERE id > 0", without: "g.incident", why: "newest first up to a limit, by one of the filters; what others leave out of that is passed over"},
	{by: "view.CountRecords", without: "g.incident", why: "operators ask for it, by one of the filters"},
	{by: "view.HashesWith", why: "a range of hashes with the same six digits"},
	{by: "Orders.MarkLost", why: "when a chain has halted; it visits what may be lost"},
	{by: "Transfers.From", why: "a page from a height on"},
	{by: "OwnTxs.From", why: "a page from a height on"},
	{by: "books.UnknownTokensBetween", with: "seq > ", why: "reads what is new since the last metrics"},
	{by: "OwnTxs.Of", why: "a page of one deposit address from a number on, when coin there waits for a proof"},
	{by: "books.EventsSince", with: "seq > ", why: "reads what is new since the last look, ten thousand lines at most"},
	{by: "books.CreditTimesBetween", with: "seq > ", why: "the same"},
	{by: "books.FeesBetween", with: "height > ", why: "reads the blocks between two looks"},
	{by: "Balances.Fold", with: "height <= ", why: "reads the blocks that have become final since the last call"},
	{by: "books.HoldingsAt", with: "height <= ", why: "reads the blocks between two comparisons"},
	{by: "Balances.NewHoldings", why: "a page of accounts"},
	{by: "Bindings.List", why: "a page of bindings"},
	{by: "Accounts.Busy", step: "accounts_new", why: "PostgreSQL reads a table of a few addresses whole, and one of many by its key"},
	{by: "Slots.NewBranch", with: "number >= ", why: "from a number near the end of the account's line on"},
	{by: "Recovery.Resume", with: "COUNT(DISTINCT number)", why: "operators ask for it; it counts what the account did since it was adopted"},
	{by: "Coins.At", why: "all unspent coins, and the blocks that are not final; once a day, and when operators ask for it"},
	{by: "Coins.Head", with: "DISTINCT e.number", why: "of an account that recovers: the numbers that only the sign-guard knows"},
}
