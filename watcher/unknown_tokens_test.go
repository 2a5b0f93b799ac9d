package watcher

import (
	"testing"

	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"
	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
	"gatewayd/view"
)

// TestUnknownTokensNeedNoOperator: what anybody sends of tokens that no network serves is stored
// and listed, needs no operator, and is a line a day in the log. Coin, and tokens that were served
// once, still need an operator.
func TestUnknownTokensNeedNoOperator(t *testing.T) {
	r := setup(t)
	r.update(func(tx *records.Tx) error { return tx.Transfers().ServeTokens(r.net) })
	log := logtest.NewLocal(r.w.Log.(*logrus.Logger))
	_, address := r.user()
	for range 3 {
		r.eth.Deposit(r.eth.Address("x"), address, "scam", units(1_000_000), chain.Memo{Type: -1})
	}
	owner, _ := r.user()
	r.order(owner, "tti_scam", 1000, chain.Memo{Type: 0, Address: r.eth.Address("payee")})
	coin := r.eth.Deposit(r.eth.Address("x"), address, chain.Native, units(1000), chain.Memo{Type: -1})
	r.rest()
	for range 2 {
		require.NoError(t, r.w.reportUnknownTokens(t.Context()))
	}

	count := func(f view.Filter) (n uint64) {
		r.view(func(tx *records.Tx) (err error) { n, err = view.CountRecords(tx, f); return err })
		return n
	}
	require.EqualValues(t, 4, count(view.Filter{UnknownTokens: true}))
	require.EqualValues(t, 4, count(view.Filter{Reason: records.ReasonUnknownToken}))
	require.EqualValues(t, 1, count(view.Filter{NeedsOperator: true}))
	r.requireState(coin, records.Held, records.ReasonWrongType)
	var held uint64
	r.view(func(tx *records.Tx) error {
		open, err := books.OpenTransfersOf(tx)
		for _, o := range open {
			held += o.Count
		}
		return err
	})
	require.EqualValues(t, 1, held)
	var lines []logrus.Fields
	steps := 0
	for _, e := range log.AllEntries() {
		switch {
		case e.Level > logrus.InfoLevel:
		case e.Data["tokens"] != nil:
			lines = append(lines, e.Data)
		case e.Message == "transfer seen" || e.Message == "transfer decided":
			steps++
		}
	}
	require.Equal(t, []logrus.Fields{{"transfers": uint64(4), "tokens": uint64(2)}}, lines, "one line a day")
	require.Equal(t, 2, steps, "of the coin")
}

// TestTokensServedOnceNeedAnOperator: what users send of a token that was taken out of the
// configuration is not lost among unknown ones.
func TestTokensServedOnceNeedAnOperator(t *testing.T) {
	r := setup(t)
	r.update(func(tx *records.Tx) error { return tx.Transfers().ServeTokens(r.net) })
	_, address := r.user()
	none := r.net
	none.Tokens = nil
	r.w.Reconfigure([]records.Network{none})
	hash := r.deposit(address, minimum*100)
	r.rest()
	r.requireState(hash, records.Held, records.ReasonUnknownToken)
	r.view(func(tx *records.Tx) error {
		n, err := view.CountRecords(tx, view.Filter{NeedsOperator: true})
		require.EqualValues(t, 1, n)
		return err
	})
}
