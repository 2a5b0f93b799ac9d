package node

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// What becomes of a call that a user sends.
const (
	works        = "works"
	contractOnly = "contracts only" // refused as unknown, as by a real node; another contract may call it
	refused      = "refused"        // refused as unknown by every sender
)

// publishedCalls maps each published method of the exchange's contracts to its result on this
// chain. Three kinds are refused. Market making is rewarded off the chain on a real exchange. The
// clean-up of expired orders no longer exists on a real chain. The older names of some calls belong
// to contracts only.
var publishedCalls = map[string]string{
	"dexFund.Deposit()":                                                                                     works,
	"dexFund.Withdraw(tokenId,uint256)":                                                                     works,
	"dexFund.OpenNewMarket(tokenId,tokenId)":                                                                works,
	"dexFund.PlaceOrder(tokenId,tokenId,bool,uint8,string,uint256)":                                         works,
	"dexFund.PlaceAgentOrder(address,tokenId,tokenId,bool,uint8,string,uint256)":                            works,
	"dexFund.CancelOrderBySendHash(bytes32,address,tokenId,tokenId)":                                        works,
	"dexFund.ConfigMarketAgents(uint8,address,tokenId[],tokenId[])":                                         works,
	"dexFund.MarketAdminConfig(uint8,tokenId,tokenId,address,int32,int32,bool)":                             works,
	"dexFund.TransferTokenOwnership(tokenId,address)":                                                       works,
	"dexFund.StakeForVIP(uint8)":                                                                            works,
	"dexFund.StakeForSVIP(uint8)":                                                                           works,
	"dexFund.StakeForPrincipalSVIP(address)":                                                                works,
	"dexFund.CancelStakeById(bytes32)":                                                                      works,
	"dexFund.CreateNewInviter()":                                                                            works,
	"dexFund.BindInviteCode(uint32)":                                                                        works,
	"dexFund.Transfer(address,tokenId,uint256)":                                                             works,
	"dexFund.LockVxForDividend(uint8,uint256)":                                                              works,
	"dexFund.NotifyTime(int64)":                                                                             works,
	"dexFund.SettleOrders(bytes)":                                                                           contractOnly,
	"dexFund.DexFundBindInviteCode(uint32)":                                                                 works,
	"dexFund.DexFundConfigMarketsAgent(uint8,address,tokenId[],tokenId[])":                                  works,
	"dexFund.DexFundEndorseVx()":                                                                            works,
	"dexFund.DexFundMarketOwnerConfig(uint8,tokenId,tokenId,address,int32,int32,bool)":                      works,
	"dexFund.DexFundNewAgentOrder(address,tokenId,tokenId,bool,uint8,string,uint256)":                       works,
	"dexFund.DexFundNewInviter()":                                                                           works,
	"dexFund.DexFundNewMarket(tokenId,tokenId)":                                                             works,
	"dexFund.DexFundNewOrder(tokenId,tokenId,bool,uint8,string,uint256)":                                    works,
	"dexFund.DexFundOwnerConfig(uint8,address,address,address,bool,address,address)":                        works,
	"dexFund.DexFundOwnerConfigTrade(uint8,tokenId,tokenId,bool,tokenId,uint8,uint8,uint256,uint8,uint256)": works,
	"dexFund.DexFundPeriodJob(uint64,uint8)":                                                                works,
	"dexFund.DexFundPledgeForSuperVip(uint8)":                                                               works,
	"dexFund.DexFundPledgeForVip(uint8)":                                                                    works,
	"dexFund.DexFundPledgeForVx(uint8,uint256)":                                                             works,
	"dexFund.DexFundSettleMakerMinedVx(bytes)":                                                              refused,
	"dexFund.DexFundSettleOrders(bytes)":                                                                    refused,
	"dexFund.DexFundTransferTokenOwner(tokenId,address)":                                                    works,
	"dexFund.DexFundUserDeposit()":                                                                          works,
	"dexFund.DexFundUserWithdraw(tokenId,uint256)":                                                          works,
	"dexTrade.PlaceOrder(bytes)":                                                                            contractOnly,
	"dexTrade.CancelOrder(bytes)":                                                                           works,
	"dexTrade.CancelOrderByTransactionHash(bytes32)":                                                        works,
	"dexTrade.InnerCancelOrderBySendHash(bytes32,address)":                                                  contractOnly,
	"dexTrade.SyncNewMarket(bytes)":                                                                         contractOnly,
	"dexTrade.ClearExpiredOrders(bytes)":                                                                    refused,
	"dexTrade.DexTradeCancelOrder(bytes)":                                                                   works,
	"dexTrade.DexTradeCancelOrderByHash(bytes32)":                                                           works,
	"dexTrade.DexTradeCleanExpireOrders(bytes)":                                                             refused,
	"dexTrade.DexTradeNewOrder(bytes)":                                                                      refused,
	"dexTrade.DexTradeNotifyNewMarket(bytes)":                                                               refused,
}

// selectors reads the published list: contract and signature, with the selector.
func selectors(t *testing.T) map[string][]byte {
	type row struct{ Signature, Selector string }
	var doc struct {
		DexFund, DexTrade []row
		LegacyFund        map[string]string `json:"legacy_dexFund"`
		LegacyTrade       map[string]string `json:"legacy_dexTrade"`
	}
	raw, err := os.ReadFile("../dex/testdata/abi.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &doc))
	found := map[string][]byte{}
	add := func(contract, signature, selector string) {
		data, err := hex.DecodeString(selector)
		require.NoError(t, err)
		found[contract+signature] = data
	}
	for contract, rows := range map[string][]row{"dexFund.": doc.DexFund, "dexTrade.": doc.DexTrade} {
		for _, r := range rows {
			add(contract, r.Signature, r.Selector)
		}
	}
	for contract, rows := range map[string]map[string]string{"dexFund.": doc.LegacyFund, "dexTrade.": doc.LegacyTrade} {
		for _, text := range rows {
			selector, signature, _ := strings.Cut(text, " ")
			add(contract, signature, selector)
		}
	}
	return found
}

// TestPublishedCalls walks the published methods. A call that works is taken here, or refused for
// its arguments, which are all zero.
func TestPublishedCalls(t *testing.T) {
	l := openExchange(t, Config{})
	list := selectors(t)
	require.Len(t, list, len(publishedCalls))
	for name, selector := range list {
		contract := core.DexFundContract
		if strings.HasPrefix(name, "dexTrade.") {
			contract = core.DexTradeContract
		}
		b := l.next(l.poor)
		b.BlockType, b.ToAddress, b.TokenID = core.SendCall, contract, core.VITE
		b.Data = append(append([]byte{}, selector...), make([]byte, 32*10)...)
		err := l.try(l.poor, b)
		switch publishedCalls[name] {
		case works:
			require.NotErrorIs(t, err, ledger.ErrNoMethod, name)
			require.NotNil(t, ledger.FindMethod(contract, selector), name)
		case contractOnly:
			require.NotNil(t, ledger.FindMethod(contract, selector), name)
			require.Error(t, err, name)
		case refused:
			require.Equal(t, error(ledger.ErrNoMethod), err, name)
			require.Nil(t, ledger.FindMethod(contract, selector), name)
		default:
			t.Errorf("%s is not in the table", name)
		}
	}
}
