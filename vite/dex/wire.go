package dex

import "gatewayd/vite/core"

// Methods of dexFund that users and administrators call (docs/exchange-rules.md 3.1).
var (
	FundDeposit            = core.MustMethod("Deposit()")
	FundAgentDeposit       = core.MustMethod("AgentDeposit(address)")
	FundWithdraw           = core.MustMethod("Withdraw(tokenId,uint256)")
	FundAssignedWithdraw   = core.MustMethod("AssignedWithdraw(address,tokenId,uint256,bytes)")
	FundTransfer           = core.MustMethod("Transfer(address,tokenId,uint256)")
	FundOpenMarket         = core.MustMethod("OpenNewMarket(tokenId,tokenId)")
	FundPlaceOrder         = core.MustMethod("PlaceOrder(tokenId,tokenId,bool,uint8,string,uint256)")
	FundPlaceAgentOrder    = core.MustMethod("PlaceAgentOrder(address,tokenId,tokenId,bool,uint8,string,uint256)")
	FundCancelBySendHash   = core.MustMethod("CancelOrderBySendHash(bytes32,address,tokenId,tokenId)")
	FundConfigAgents       = core.MustMethod("ConfigMarketAgents(uint8,address,tokenId[],tokenId[])")
	FundMarketAdmin        = core.MustMethod("MarketAdminConfig(uint8,tokenId,tokenId,address,int32,int32,bool)")
	FundTransferTokenOwner = core.MustMethod("TransferTokenOwnership(tokenId,address)")
	FundStakeForVIP        = core.MustMethod("StakeForVIP(uint8)")
	FundStakeForSVIP       = core.MustMethod("StakeForSVIP(uint8)")
	FundStakeForPrincipal  = core.MustMethod("StakeForPrincipalSVIP(address)")
	FundCancelStake        = core.MustMethod("CancelStakeById(bytes32)")
	FundCreateInviter      = core.MustMethod("CreateNewInviter()")
	FundBindInvite         = core.MustMethod("BindInviteCode(uint32)")
	FundStakeForMining     = core.MustMethod("StakeForMining(uint8,uint256)")
	FundSwitch             = core.MustMethod("SwitchConfig(uint8,bool)")
	FundLockVX             = core.MustMethod("LockVxForDividend(uint8,uint256)")
	FundNotifyTime         = core.MustMethod("NotifyTime(int64)")
	FundDexAdmin           = core.MustMethod("DexAdminConfig(uint8,address,address,address,bool,address,address)")
	FundTradeAdmin         = core.MustMethod(
		"TradeAdminConfig(uint8,tokenId,tokenId,bool,tokenId,uint8,uint8,uint256,uint8,uint256)")
)

// Methods of dexFund that only other contracts call.
var (
	FundSettleOrders = core.MustMethod("SettleOrders(bytes)")
	// FundTokenInfo is the asset contract's answer: the token's id, whether it exists, decimals,
	// symbol, index, owner.
	FundTokenInfo = core.MustMethod("GetTokenInformationCallback(tokenId,bool,uint8,string,uint16,address)")
)

// Methods of dexTrade that users call.
var (
	TradeCancel       = core.MustMethod("CancelOrder(bytes)")
	TradeCancelByHash = core.MustMethod("CancelOrderByTransactionHash(bytes32)")
)

// Methods of dexTrade that only dexFund calls.
var (
	TradePlaceOrder  = core.MustMethod("PlaceOrder(bytes)")
	TradeInnerCancel = core.MustMethod("InnerCancelOrderBySendHash(bytes32,address)")
	TradeSyncMarket  = core.MustMethod("SyncNewMarket(bytes)")
)

// Methods of dexFund that are known by their older names only.
var (
	FundEndorseVX = core.MustMethod("DexFundEndorseVx()")
	FundPeriodJob = core.MustMethod("DexFundPeriodJob(uint64,uint8)")
)

// Older names of methods, equal in everything but the selector.
var (
	OldFundDeposit            = core.MustMethod("DexFundUserDeposit()")
	OldFundWithdraw           = core.MustMethod("DexFundUserWithdraw(tokenId,uint256)")
	OldFundOpenMarket         = core.MustMethod("DexFundNewMarket(tokenId,tokenId)")
	OldFundPlaceOrder         = core.MustMethod("DexFundNewOrder(tokenId,tokenId,bool,uint8,string,uint256)")
	OldFundPlaceAgentOrder    = core.MustMethod("DexFundNewAgentOrder(address,tokenId,tokenId,bool,uint8,string,uint256)")
	OldFundConfigAgents       = core.MustMethod("DexFundConfigMarketsAgent(uint8,address,tokenId[],tokenId[])")
	OldFundMarketAdmin        = core.MustMethod("DexFundMarketOwnerConfig(uint8,tokenId,tokenId,address,int32,int32,bool)")
	OldFundTransferTokenOwner = core.MustMethod("DexFundTransferTokenOwner(tokenId,address)")
	OldFundStakeForVIP        = core.MustMethod("DexFundPledgeForVip(uint8)")
	OldFundStakeForSVIP       = core.MustMethod("DexFundPledgeForSuperVip(uint8)")
	OldFundStakeForMining     = core.MustMethod("DexFundPledgeForVx(uint8,uint256)")
	OldFundCreateInviter      = core.MustMethod("DexFundNewInviter()")
	OldFundBindInvite         = core.MustMethod("DexFundBindInviteCode(uint32)")
	OldFundDexAdmin           = core.MustMethod("DexFundOwnerConfig(uint8,address,address,address,bool,address,address)")
	OldFundTradeAdmin         = core.MustMethod(
		"DexFundOwnerConfigTrade(uint8,tokenId,tokenId,bool,tokenId,uint8,uint8,uint256,uint8,uint256)")
	OldTradeCancel       = core.MustMethod("DexTradeCancelOrder(bytes)")
	OldTradeCancelByHash = core.MustMethod("DexTradeCancelOrderByHash(bytes32)")
)
