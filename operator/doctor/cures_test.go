package doctor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/status"
)

// TestCuresAreGrouped: each act is listed once, in the order in which to act, with every finding
// that it resolves.
func TestCuresAreGrouped(t *testing.T) {
	n := records.Network{Name: "eth", Source: "eth", Exchange: "vite", Hot: "0xHot", Gas: "0xGas", Gateway: "vite_g", Tokens: []records.Token{{}}}
	n.Tokens[0].TokenID, n.Tokens[0].Symbol, n.Tokens[0].Asset = "tti_1", "ETH-000", chain.Native
	d := &Doctor{}
	d.add(false, "gateway listener", "0.0.0.0", "set gateway.tls")
	d.add(false, "status no_coin", "too little", "send coin")
	a, ok := actOn(status.Condition{Kind: status.NoCoin, Network: "eth"}, []records.Network{n})
	require.True(t, ok)
	d.resolves(a)
	d.add(false, "hot account", "0 ETH", "send some")
	d.resolves(toHot(n, chain.Native, forPayouts(n.Tokens[0])))
	d.add(false, "hot account", "0 ETH", "send some")
	d.add(false, "status node_faulty", "no answer", "start it")
	a, _ = actOn(status.Condition{Kind: status.NodeFaulty, Chain: "eth"}, nil)
	d.resolves(a)
	d.add(false, "chain eth node 1", "no answer", "start the node")
	d.resolves(atNodes("eth"))
	d.add(false, "wallet", "no file", "correct wallet.store")
	d.add(true, "fine", "is", "")
	d.needs(toHot(n, chain.Native, forFees), chain.NewAmount(1230), chain.Amount{}, false)
	d.needs(toHot(n, chain.Native, forPayouts(n.Tokens[0])), chain.NewAmount(1), chain.NewAmount(2000), true)
	d.has = map[holding]chain.Amount{{"eth", "0xHot", chain.Native}: chain.NewAmount(90)}

	r := d.report()
	require.Len(t, r.Findings, 7, "one was there twice")
	var done []string
	var cures [][]string
	for _, c := range r.Cures {
		done, cures = append(done, c.Do), append(cures, c.Cures)
	}
	require.Equal(t, []string{
		"Correct wallet.store", "Start the nodes of chain eth that do not answer, or correct their URLs",
		"Send 130000 coins to 0xHot (hot account of eth) from an address in `funders`: fees of payouts, withdrawals of ETH-000", "Set gateway.tls",
	}, done)
	require.Equal(t, [][]string{{"wallet"}, {"status node_faulty", "chain eth node 1"}, {"status no_coin", "hot account"}, {"gateway listener"}}, cures)
	require.Equal(t, "130000", r.Cures[2].Amount.String(), "100 fees and the minimum, less the balance, rounded up")
}

func TestRoundUp(t *testing.T) {
	for amount, want := range map[string]string{"7": "7", "99": "99", "100": "100", "101": "110", "995": "1000", "1200": "1200", "1201": "1300"} {
		a, err := chain.ParseAmount(amount)
		require.NoError(t, err)
		require.Equal(t, want, roundUp(a).String(), amount)
	}
}
