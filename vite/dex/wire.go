package dex

import (
	"errors"
	"fmt"

	"github.com/holiman/uint256"
	"google.golang.org/protobuf/encoding/protowire"

	"gatewayd/vite/core"
)

// ErrWire marks bytes that are not the message they should be.
var ErrWire = errors.New("invalid exchange message")

// message builds a protobuf message: numbers as varints, amounts as big-endian bytes without leading zeros; zero and empty
// members are left out (docs/exchange-rules.md 3.2).
type message []byte

func (m *message) bytes(field protowire.Number, b []byte) {
	if len(b) > 0 {
		*m = protowire.AppendTag(*m, field, protowire.BytesType)
		*m = protowire.AppendBytes(*m, b)
	}
}

// item appends an element of a list, which may be empty.
func (m *message) item(field protowire.Number, b []byte) {
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendBytes(*m, b)
}

func (m *message) amount(field protowire.Number, n *uint256.Int) { m.bytes(field, n.Bytes()) }

func (m *message) uint(field protowire.Number, n uint64) {
	if n != 0 {
		*m = protowire.AppendTag(*m, field, protowire.VarintType)
		*m = protowire.AppendVarint(*m, n)
	}
}

func (m *message) bool(field protowire.Number, v bool) { m.uint(field, protowire.EncodeBool(v)) }

// value is one member of a message being read. After the first fault err is set.
type value struct {
	name string
	kind protowire.Type
	n    uint64
	b    []byte
	err  *error
}

func (v value) fail(rule string) {
	if *v.err == nil {
		*v.err = fmt.Errorf("%w: %s is %s", ErrWire, v.name, rule)
	}
}

// parse calls f for each member whose number has a name; others are skipped, as protobuf wants.
func parse(data []byte, names []string, f func(field protowire.Number, v value)) error {
	return each(data, func(field protowire.Number, v value) {
		if int(field) <= len(names) {
			v.name = names[field-1]
			f(field, v)
		}
	})
}

// each calls f for each member of a message until one is faulty.
func each(data []byte, f func(field protowire.Number, v value)) error {
	var err error
	for len(data) > 0 && err == nil {
		field, kind, size := protowire.ConsumeTag(data)
		if size < 0 {
			return fmt.Errorf("%w: tag: %w", ErrWire, protowire.ParseError(size))
		}
		data = data[size:]
		v := value{name: "a member", kind: kind, err: &err}
		switch kind {
		case protowire.VarintType:
			v.n, size = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			v.b, size = protowire.ConsumeBytes(data)
		default:
			size = protowire.ConsumeFieldValue(field, kind, data)
		}
		if size < 0 {
			return fmt.Errorf("%w: member %d: %w", ErrWire, field, protowire.ParseError(size))
		}
		data = data[size:]
		f(field, v)
	}
	return err
}

func (v value) bytes() []byte {
	if v.kind != protowire.BytesType {
		v.fail("no byte string")
	}
	return v.b
}

// fixed fills dst, or leaves it when the member has another size.
func (v value) fixed(dst []byte) {
	if b := v.bytes(); len(b) == len(dst) {
		copy(dst, b)
	} else {
		v.fail(fmt.Sprintf("%d bytes long, not %d", len(b), len(dst)))
	}
}

func (v value) amount() (n uint256.Int) {
	b := v.bytes()
	if len(b) > 32 {
		v.fail("above 2^256")
		return n
	}
	return *n.SetBytes(b)
}

// uint reads a number of at most max.
func (v value) uint(max uint64) uint64 {
	if v.kind != protowire.VarintType || v.n > max {
		v.fail(fmt.Sprintf("no number up to %d", max))
		return 0
	}
	return v.n
}

func (v value) bool() bool { return v.uint(1) == 1 }

func (v value) address() (a core.Address) { v.fixed(a[:]); return a }
func (v value) token() (t core.TokenID)   { v.fixed(t[:]); return t }
func (v value) hash() (h core.Hash)       { v.fixed(h[:]); return h }
func (v value) text() string              { return string(v.bytes()) }
func (v value) rate() uint32              { return uint32(v.uint(RateUnit)) }
func (v value) orderID() (id OrderID) {
	id, err := OrderIDFromBytes(v.bytes())
	if err != nil {
		v.fail("no order id")
	}
	return id
}

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
	// FundTokenInfo is the asset contract's answer: the token's id, whether it exists, decimals, symbol, index, owner.
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
