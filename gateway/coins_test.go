package gateway

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gatewayd/chain"
	"gatewayd/internal/testing/recordstest"
	"gatewayd/records"
)

// coins is a ledger of coins, with links for wallets and pools to look into.
type coins struct {
	ledger
	chain.PoolReader
}

func (coins) SpendsCoins()                     {}
func (coins) PaymentURI(address string) string { return "coin:" + address }

func setupCoins(t *testing.T) *rig {
	return setup(t, func(_ *Config, p *Parts) { p.Routes[0].Source = coins{ledger: ledger{"0x"}} })
}

// TestDepositOfCoins: deposit-info of a ledger of coins has a link and a notice about missing
// senders.
func TestDepositOfCoins(t *testing.T) {
	r := setupCoins(t)
	const notice = "Payments of this coin show no sender, so the gateway cannot return them by itself. Send at least the minimum."
	info := func(base, id string) map[string]any {
		return r.get(at(base, "/deposit-info", "tokenId", id, "walletAddress", alice)).data(t)
	}
	require.Equal(t, []any{"0xin0", "coin:0xin0", notice}, []any{info(eth, token)["depositAddress"], info(eth, token)["paymentUri"], info(eth, token)["noticeMsg"]})
	require.NotContains(t, info(eth, costly), "paymentUri", "a token")
	require.NotContains(t, info(bsc, token), "paymentUri")
	require.NotContains(t, info(bsc, token), "noticeMsg")
}

// TestDepositsInAPool: they come before the records, on whatever page that is.
func TestDepositsInAPool(t *testing.T) {
	r := setupCoins(t)
	for range 3 {
		r.Receive(records.Deposit, 1000)
	}
	pooled := func(tx string) records.Pooled {
		return records.Pooled{Network: recordstest.Network, Token: token, Owner: alice, Ref: tx + ":0", Tx: tx, Net: amount(7), SeenAt: r.Now()}
	}
	r.Do(func(tx *records.Tx) error {
		return records.NotePooled(tx, recordstest.Source, []records.Pooled{pooled("b"), pooled("a")})
	})
	page := func(num, size int) string {
		data := r.get(list("/deposit-records", alice, num, size)).data(t)
		text := fmt.Sprint(data["totalCount"])
		for _, item := range data["depositRecords"].([]any) {
			text += " " + item.(map[string]any)["inTxHash"].(string)
		}
		return text
	}
	require.Equal(t, []string{"5 b a 0xin3 0xin2 0xin1", "5 b", "5 a", "5 0xin3", "5 0xin1", "5"},
		[]string{page(1, 30), page(1, 1), page(2, 1), page(3, 1), page(5, 1), page(6, 1)})
	require.Equal(t, []string{"5 b a", "5 0xin3 0xin2", "5 0xin1"}, []string{page(1, 2), page(2, 2), page(3, 2)})
	require.Equal(t, []string{"5 b a 0xin3", "5 0xin2 0xin1"}, []string{page(1, 3), page(2, 3)})

	first := r.get(list("/deposit-records", alice, 1, 1)).data(t)["depositRecords"].([]any)[0]
	require.Equal(t, map[string]any{
		"inTxHash": "b", "inTxConfirmedCount": 0.0, "inTxConfirmationCount": 12.0, "amount": "7", "fee": "0", "state": "OPPOSITE_PROCESSING",
		"dateTime": fmt.Sprint(r.Now().UnixMilli()),
	}, first)
	require.Equal(t, 0.0, r.get(list("/withdraw-records", alice, 1, 10)).data(t)["totalCount"])
	require.Equal(t, 0.0, r.get(list("/deposit-records", bob, 1, 10)).data(t)["totalCount"])
	r.Pass(time.Hour)
	require.Equal(t, "3 0xin3 0xin2 0xin1", page(1, 30))
}
