package dex

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
)

// methods are those of the published list, by contract.
var methods = map[string][]core.Method{
	"dexFund": {
		FundDeposit, FundWithdraw, FundOpenMarket, FundPlaceOrder, FundPlaceAgentOrder, FundCancelBySendHash, FundConfigAgents,
		FundMarketAdmin, FundTransferTokenOwner, FundStakeForVIP, FundStakeForSVIP, FundTransfer, FundNotifyTime, FundSettleOrders,
		FundStakeForPrincipal, FundCancelStake, FundCreateInviter, FundBindInvite, FundLockVX,
	},
	"dexTrade": {TradePlaceOrder, TradeCancel, TradeCancelByHash, TradeInnerCancel, TradeSyncMarket},
	"legacy": {
		OldFundDeposit, OldFundWithdraw, OldFundOpenMarket, OldFundPlaceOrder, OldFundPlaceAgentOrder, OldFundConfigAgents,
		OldFundMarketAdmin, OldFundTransferTokenOwner, OldFundStakeForVIP, OldFundStakeForSVIP, OldFundDexAdmin,
		OldFundTradeAdmin, OldTradeCancel, OldTradeCancelByHash, FundEndorseVX, FundPeriodJob, OldFundStakeForMining, OldFundCreateInviter, OldFundBindInvite,
	},
}

func TestSelectors(t *testing.T) {
	type row struct{ Signature, Selector string }
	var doc struct {
		DexFund, DexTrade []row
		LegacyFund        map[string]string `json:"legacy_dexFund"`
		LegacyTrade       map[string]string `json:"legacy_dexTrade"`
	}
	load(t, "abi.json", &doc)
	want := map[string]string{}
	for _, r := range append(doc.DexFund, doc.DexTrade...) {
		want[r.Signature] = r.Selector
	}
	for _, m := range []map[string]string{doc.LegacyFund, doc.LegacyTrade} {
		for _, text := range m {
			selector, signature, _ := strings.Cut(text, " ")
			want[signature] = selector
		}
	}
	for contract, list := range methods {
		for _, m := range list {
			selector := m.Selector()
			require.Equal(t, want[m.Signature()], hex.EncodeToString(selector[:]), "%s.%s", contract, m.Signature())
		}
	}
	for m, recorded := range map[string]core.Method{"98c627da": FundDexAdmin, "41afe576": FundTradeAdmin} {
		selector := recorded.Selector()
		require.Equal(t, m, hex.EncodeToString(selector[:]), recorded.Signature())
	}
}

func TestTopics(t *testing.T) {
	var doc struct {
		Topics map[string]string `json:"log_topics"`
	}
	load(t, "abi.json", &doc)
	for _, name := range []string{
		NewOrderEvent, OrderUpdateEvent, TradeEvent, MarketEvent, TokenEvent, GrantEvent, RevokeEvent, TransferEvent, FailureEvent,
	} {
		require.Equal(t, doc.Topics[name], Topic(name).String(), name)
	}
}
