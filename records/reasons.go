package records

import (
	"slices"

	"gatewayd/chain"
)

// Reason is the cause for which a transfer or a payment is held or refused, or a queued payment
// waits. It is stored, and part of the operators' API.
type Reason string

// Reasons of held and refused transfers.
const (
	ReasonBelowMinimum  Reason = "below_minimum"
	ReasonOverMaximum   Reason = "over_maximum"
	ReasonWrongAddress  Reason = "wrong_address"
	ReasonWrongComment  Reason = "wrong_comment"
	ReasonFailed        Reason = "failed_on_chain"
	ReasonPayoutFailed  Reason = "payout_failed"
	ReasonPayeeRefuses  Reason = "payee_refuses"  // the payee takes no payment; asked before one was made
	ReasonPayeeGas      Reason = "payee_gas"      // the payee wants more gas than a payment may use; asked before one was made
	ReasonPayoutDiffers Reason = "payout_differs" // the payout's transaction moved something other than its fields
	ReasonUnknownLabel  Reason = "unknown_label"
	ReasonUnbound       Reason = "unbound_address"
	ReasonUnknownToken  Reason = "unknown_token"
	ReasonUnknownSender Reason = "unknown_sender" // a contract: no refund address
	ReasonWrongType     Reason = "wrong_type"     // a known user's address or label, and a token that is deposited the other way
	ReasonOperator      Reason = "operator"
	ReasonInternal      Reason = "internal" // it came from another account of ours: owed to no user
	ReasonDust          Reason = "dust"     // a withdrawal too small for an automatic refund

	// Of coin that only balances show.
	ReasonBeforeAddress Reason = "before_address" // it came before the address was given to a user: no user's deposit
	ReasonUnproven      Reason = "time_unproven"  // no node can prove whether it came before or after that
	ReasonFoundByAudit  Reason = "found_by_audit" // a block shows what the comparison of balances has found and credited already
)

// Reasons of queued payments that wait.
const (
	WaitsNoCoin     Reason = "no_coin"     // the paying account holds too little coin for the fee
	WaitsFeeCeiling Reason = "fee_ceiling" // the fee would be above the payment's ceiling or the chain's
	WaitsSigner     Reason = "signer"      // the signer cannot decide yet whether it may be paid: a final block must show it
	WaitsFrozen     Reason = "frozen"      // the token refuses every payment of the account: its channels are stopped
	WaitsTokenLimit Reason = "token_limit" // the token refuses payments of this amount, to any payee
	WaitsAsset      Reason = "asset"       // the nodes answer, but cannot return its asset's balance or fee, or the asset is not configured
)

// Reasons of payments that the signer holds.
const (
	HeldLimit    Reason = chain.ReasonLimit
	HeldApproval Reason = chain.ReasonApproval
	HeldListed   Reason = chain.ReasonListed
	HeldUnproven Reason = chain.ReasonUnproven
	HeldRefused  Reason = chain.ReasonRefused
)

// ReasonInfo is everything that depends on a reason alone. docs/operations/held.md has the
// remedies.
type ReasonInfo struct {
	Reason Reason
	// Outcome is the state of a final transfer with the reason. Empty: only later events cause it,
	// or it belongs to payments.
	Outcome TransferState
	// Payment: payments have it and transfers do not.
	Payment bool
	// AskedAgain: the signer is asked again about a payment that is held for it.
	AskedAgain bool
	// Condition is the predicate of the condition about payments held for it: "3 payments wait for
	// approvals". Empty: such payments make no condition.
	Condition string
	// English and Chinese are its labels on the console.
	English, Chinese string
	Advice           Advice
}

// Advice for an operator about a record, on the console and by command: a sentence, and the orders
// that fit, the best first. The zero value: there is nothing to do.
type Advice struct {
	English, Chinese string
	Orders           []string // of transfers.OrderName, or Approve
}

// Approve is the advice that an approver signs. It is no order.
const Approve = "approve"

// IncidentAdvice is that of a decided transfer whose block has left its chain.
var IncidentAdvice = Advice{
	"Retry once the block is back. Write the payment off if the block is lost.", "区块恢复后重试；若区块不再恢复，则核销已付款项。", []string{"retry", "write-off"},
}

// RefundAdvice is that of a transfer whose refund is held.
var RefundAdvice = Advice{
	"The refund is held. Retry it once the cause is resolved, or refund another address.", "退款已暂停。解决原因后重试，或退至其他地址。", []string{"retry", "refund"},
}

// HeldRefundAdvice returns the advice for a transfer whose refund is held for a reason.
func HeldRefundAdvice(r Reason) Advice {
	a := RefundAdvice
	if slices.Contains(AdviceOf(r).Orders, Approve) {
		a.Orders = append([]string{Approve}, a.Orders...)
	}
	return a
}

// AdviceOf returns the advice for a transfer that has a reason, or a payment held for it.
func AdviceOf(r Reason) Advice {
	info, _ := ReasonOf(r)
	return info.Advice
}

// reasons is the table of all reasons. A new reason needs its line here, the code that sets it, and
// its line in docs/operations/held.md.
var reasons = []ReasonInfo{
	{Reason: ReasonBelowMinimum, Outcome: Refused, English: "below minimum", Chinese: "低于最低金额",
		Advice: Advice{"Credit it to its owner, or refund the sender on request. A refund may cost more than its value.", "入账给其所有者，或应付款人要求退款；退款成本可能高于其价值。", []string{"retry", "refund"}}},
	{Reason: ReasonOverMaximum, Outcome: Refused, English: "over maximum", Chinese: "超过最高金额"},
	{Reason: ReasonWrongAddress, Outcome: Refused, English: "wrong address", Chinese: "地址错误"},
	{Reason: ReasonWrongComment, Outcome: Refused, English: "wrong comment", Chinese: "备注错误"},
	{Reason: ReasonFailed, Outcome: Refused, English: "failed on chain", Chinese: "链上失败"},
	{Reason: ReasonPayoutFailed, Condition: "have failed on their chain, and none of them was a payout", English: "payout failed", Chinese: "付款失败",
		Advice: Advice{"Retry the payment, or reject it to refund the sender.", "重试付款，或拒绝并退回付款人。", []string{"retry", "reject"}}},
	// decided again after a write-off, when its block returns
	{Reason: ReasonPayeeRefuses, Outcome: Refused, English: "payee refuses", Chinese: "收款方拒收",
		Advice: Advice{"Retry once the payee accepts payments, or refund the sender.", "收款方可收款后重试，或退回付款人。", []string{"retry", "refund"}}},
	// likewise
	{Reason: ReasonPayeeGas, Outcome: Refused, English: "payee needs too much gas", Chinese: "收款方耗费过高",
		Advice: Advice{"Retry once the payee needs less gas, or refund the sender.", "收款方耗费降低后重试，或退回付款人。", []string{"retry", "refund"}}},
	{Reason: ReasonPayoutDiffers, Condition: "may be paid: their transactions differ from the payments", English: "payout differs", Chinese: "付款内容不符",
		Advice: Advice{"Check the transaction in the explorer. Settle the record if it paid; retry only if it moved nothing.", "在区块浏览器中核对交易：若已付款则结清；仅在确未转移资产时重试。", []string{"settle", "retry", "refund"}}},
	{Reason: ReasonUnknownLabel, Outcome: Held, English: "unknown label", Chinese: "未知标签",
		Advice: Advice{"Find the owner and credit the deposit to their address, or refund the sender.", "查明归属后入账到其地址，或退回付款人。", []string{"credit", "refund"}}},
	{Reason: ReasonUnbound, Outcome: Held, English: "address not given to a user", Chinese: "地址未绑定",
		Advice: Advice{"Find the owner and credit the deposit to their address, or refund the sender.", "查明归属后入账到其地址，或退回付款人。", []string{"credit", "refund"}}},
	{Reason: ReasonUnknownToken, Outcome: Held, English: "unknown token", Chinese: "未知代币",
		Advice: Advice{"Refund the sender if the token can be sent back. No network serves it.", "没有网络支持此代币；若可转回，则退回付款人。", []string{"refund"}}},
	{Reason: ReasonUnknownSender, Outcome: Held, English: "sender is a contract", Chinese: "未知付款人",
		Advice: Advice{"Ask the contract's owner for an address, and refund to it.", "向合约所有者索取地址，并退款至该地址。", []string{"refund"}}},
	{Reason: ReasonWrongType, Outcome: Held, English: "wrong way of deposit", Chinese: "充值方式错误",
		Advice: Advice{"Credit it to its owner, or refund the sender.", "入账给其所有者，或退回付款人。", []string{"credit", "refund"}}},
	{Reason: ReasonOperator, English: "by an operator", Chinese: "由操作员决定",
		Advice: Advice{"Retry releases the payment. Reject it to refund the sender.", "重试即放行付款；拒绝则退回付款人。", []string{"retry", "reject"}}},
	{Reason: ReasonInternal, Outcome: Final, English: "internal transfer", Chinese: "内部转账"},
	{Reason: ReasonDust, English: "too small to refund", Chinese: "金额过小",
		Advice: Advice{"Refund it if the sender asks. The refund may cost more than its value.", "付款人要求时退款；退款成本可能高于其价值。", []string{"refund"}}},
	{Reason: ReasonBeforeAddress, Outcome: Held, English: "before the address was given", Chinese: "早于地址分配",
		Advice: Advice{"Find the owner and credit the deposit to their address, or refund the sender.", "查明归属后入账到其地址，或退回付款人。", []string{"credit", "refund"}}},
	{Reason: ReasonUnproven, Outcome: Held, English: "time not proven", Chinese: "时间无法证明",
		Advice: Advice{"Credit it if it can be the user's, or refund the sender.", "若可能属于该用户则入账，否则退回付款人。", []string{"retry", "refund"}}},
	{Reason: ReasonFoundByAudit, English: "found by audit before", Chinese: "审计发现"},

	{Reason: WaitsNoCoin, Payment: true, English: "waits for coin for the fee", Chinese: "等待手续费币"},
	{Reason: WaitsFeeCeiling, Payment: true, English: "waits for lower fees", Chinese: "等待手续费回落"},
	{Reason: WaitsSigner, Payment: true, English: "waits for a final block", Chinese: "等待最终区块"},
	{Reason: WaitsFrozen, Payment: true, English: "account frozen by the token", Chinese: "账户被代币冻结"},
	{Reason: WaitsTokenLimit, Payment: true, English: "token refuses the amount", Chinese: "代币拒绝该金额"},
	{Reason: WaitsAsset, Payment: true, English: "asset cannot be read", Chinese: "无法读取资产"},

	{Reason: HeldLimit, Payment: true, AskedAgain: true, Condition: "are held by a limit", English: "limit", Chinese: "限额",
		Advice: Advice{"It is paid when the limit frees. Reject it to refund the sender now.", "额度恢复后自动支付；如需立即退款则拒绝。", []string{"reject"}}},
	{Reason: HeldApproval, Payment: true, AskedAgain: true, Condition: "wait for approvals", English: "approval", Chinese: "待审批",
		Advice: Advice{"An approver approves it, or you reject it to refund the sender.", "由审批人审批；拒绝则退回付款人。", []string{Approve, "reject"}}},
	{Reason: HeldListed, Payment: true, AskedAgain: true, Condition: "are held because of a list of addresses", English: "listed address", Chinese: "命中名单",
		Advice: Advice{"Reject it, or remove the address from the list that the events name.", "拒绝付款，或将地址移出事件中所述的名单。", []string{"reject"}}},
	{Reason: HeldUnproven, Payment: true, AskedAgain: true, Condition: "are held because the signer cannot prove them", English: "not proven", Chinese: "无法证明",
		Advice: Advice{"Check the incoming transaction. An approver approves it, or you reject it.", "核对转入交易；由审批人审批，或拒绝。", []string{Approve, "reject"}}},
	{Reason: HeldRefused, Payment: true, English: "signer refuses", Chinese: "签名器拒绝",
		Advice: Advice{"Read the signer's refusal in the events. Retry once its cause is resolved, or reject it.", "在事件中查看签名器的拒绝原因；解决后重试，或拒绝。", []string{"retry", "reject"}}},
}

// AllReasons returns the table of all reasons.
func AllReasons() []ReasonInfo { return slices.Clone(reasons) }

// ReasonOf returns the table's line of a reason.
func ReasonOf(r Reason) (info ReasonInfo, known bool) {
	i := slices.IndexFunc(reasons, func(info ReasonInfo) bool { return info.Reason == r })
	if i < 0 {
		return info, false
	}
	return reasons[i], true
}

// Reasons returns the reasons that a transfer can have.
func Reasons() []Reason {
	return pick(func(info ReasonInfo) bool { return !info.Payment })
}

// AskedAgain returns the reasons of held payments that the signer is asked about again.
func AskedAgain() []Reason {
	return pick(func(info ReasonInfo) bool { return info.AskedAgain })
}

func pick(is func(ReasonInfo) bool) (list []Reason) {
	for _, info := range reasons {
		if is(info) {
			list = append(list, info.Reason)
		}
	}
	return list
}
