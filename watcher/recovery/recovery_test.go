package recovery

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
)

// The tests of whole recoveries run a whole gateway: they are the watcher's.

func TestPositionMoves(t *testing.T) {
	at := func(next uint64) records.Account { return records.Account{Chain: "eth", Account: "hot", Next: next} }
	for name, c := range map[string]struct {
		position Position
		want     string
	}{
		"at rest":                     {Position{Account: at(5), Tip: chain.AccountHead{Next: 5, Settled: true}, Signed: true, Number: 5}, ""},
		"not final":                   {Position{Account: at(5), Tip: chain.AccountHead{Next: 5}, Signed: true, Number: 5}, "wait for a final block"},
		"only the guard knows":        {Position{Account: at(5), Tip: chain.AccountHead{Next: 5, Settled: true}, Signed: true, Number: 7}, "signed up to number 6, the ledger is at 5"},
		"our records know":            {Position{Account: at(7), Tip: chain.AccountHead{Next: 5, Settled: true}, Signed: true, Number: 7}, ""},
		"linked blocks count nothing": {Position{Account: at(5), Tip: chain.AccountHead{Next: 5, Hash: "h5", Settled: true}, Signed: true, Number: 7}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == "" {
				require.Empty(t, c.position.moving())
				return
			}
			require.Contains(t, c.position.moving(), c.want)
		})
	}
}

func TestTransactionFitsAPayment(t *testing.T) {
	pays := records.Payment{Purpose: chain.Credit, Asset: "usd", Payee: "p", PayeeLabel: "7", Amount: chain.NewAmount(9)}
	did := chain.Outgoing{Asset: "usd", To: "p", Label: "7", Amount: chain.NewAmount(9)}
	require.True(t, fits(pays, did))
	for name, change := range map[string]func(*chain.Outgoing){
		"asset": func(o *chain.Outgoing) { o.Asset = "eur" }, "payee": func(o *chain.Outgoing) { o.To = "q" }, "label": func(o *chain.Outgoing) { o.Label = "" },
		"amount": func(o *chain.Outgoing) { o.Amount = chain.NewAmount(8) }, "a receive": func(o *chain.Outgoing) { o.Source = "h" },
	} {
		other := did
		change(&other)
		require.False(t, fits(pays, other), name)
	}
	receive := records.Payment{Purpose: chain.Receive, Source: "h"}
	require.True(t, fits(receive, chain.Outgoing{Source: "h"}))
	require.False(t, fits(receive, chain.Outgoing{Source: "i"}))
	require.False(t, fits(receive, did))
}

func TestForkInWords(t *testing.T) {
	f := Fork{Common: chain.Point{Height: 7, Hash: "h7"}}
	require.Equal(t, "the last common block is 7 h7; no decided transfer is lost", f.String())
	f.Lost = []uint64{3, 5}
	require.Contains(t, f.String(), "2 records: 3, 5")
	f.Lost = make([]uint64, maxNamed+1)
	require.Contains(t, f.String(), "21 records: 0, 0")
	require.Contains(t, f.String(), "and more")
}
