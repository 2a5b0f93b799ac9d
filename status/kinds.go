package status

import "slices"

// Kind names a condition. The names are the same in JSON, logs and docs/operations/alerts.md, which
// has the instructions for each; outsiders may see them.
type Kind string

// What keeps money from moving.
const (
	StoreDown      Kind = "store_down"        // the database does not answer
	DaemonDown     Kind = "daemon_down"       // no daemon has worked on the database for some seconds
	SignerAway     Kind = "signer_away"       // the signer does not answer, or is another one than the records go with
	ChainHalted    Kind = "chain_halted"      // the chain changed below a final block
	NodesDown      Kind = "nodes_unreachable" // too few of the nodes answer
	NodesDisagree  Kind = "nodes_disagree"    // they answer, and no majority agrees
	NodesStale     Kind = "nodes_stale"       // the latest block is too old
	FollowerStuck  Kind = "follower_stuck"    // the nodes advance and the records do not
	FollowerBehind Kind = "follower_behind"   // the records are behind the nodes, and catch up
	AccountStopped Kind = "account_stopped"   // an account that pays is halted or recovering
	NoFunds        Kind = "no_funds"          // the accounts that pay a token hold less than its smallest payment
	NoCoin         Kind = "no_coin"           // a paying account holds too little coin for the fees of its payouts
	NoQuota        Kind = "no_quota"          // no account of the gateway has a stake that pays for a credit
	PaymentRefused Kind = "payment_refused"   // the nodes refuse a signed transaction; it stops money if it is the next of a paying account
	FeesTooHigh    Kind = "fees_too_high"     // every payout would cost more than it may
	ChannelStopped Kind = "channel_stopped"   // the daemon found a reason to stop the channel: a shortage, books that do not fit
)

// What an operator should know before it does.
const (
	NodeFaulty    Kind = "node_faulty"    // one of several nodes is down, lies or is left out
	NodeMended    Kind = "node_mended"    // one of several nodes was wrong not long ago, and is right again
	TracingLost   Kind = "tracing_lost"   // no node traces blocks any more; with traces "on" that stops the chain
	FundsUnswept  Kind = "funds_unswept"  // payments wait for deposits to be swept
	FeesHigh      Kind = "fees_high"      // some payouts would cost more than they may, and wait
	PaymentsLate  Kind = "payments_late"  // a payment has waited for longer than it should
	AccountIdle   Kind = "account_idle"   // an account that pays no user is halted or recovering
	ChannelClosed Kind = "channel_closed" // an operator has set the channel to MAINTAIN or CLOSED
	NotTold       Kind = "not_told"       // a receiver of conditions or records does not accept them
	ConfigRefused Kind = "config_refused" // the configuration was to be read again and is wrong: the one before stays

	LimitReached    Kind = "limit_reached"    // a limit of the signer is used up or nearly so, or holds payments
	ApprovalsWanted Kind = "approvals_wanted" // payments wait for people to approve them
	PaymentsListed  Kind = "payments_listed"  // payments are held because of a list of addresses
	PaymentsHeld    Kind = "payments_held"    // the signer holds payments that nothing proves, or has refused some
	HotBelow        Kind = "hot_below"        // the hot accounts have less of a token than hot_min
	HotAbove        Kind = "hot_above"        // the hot accounts have more of a token than hot_max
	// a list, the screening service or a price that the signer checks by is not there, or balances
	// cannot be compared
	ChecksFail Kind = "checks_fail"
)

// KindInfo has the labels of a kind on the console. Its runbook is in docs/operations/alerts.
type KindInfo struct {
	Kind             Kind
	English, Chinese string
}

// kinds is the table of all kinds, those that stop money first.
var kinds = []KindInfo{
	{StoreDown, "database unreachable", "数据库无响应"},
	{DaemonDown, "daemon not running", "守护进程未运行"},
	{SignerAway, "signer unreachable", "签名器无响应"},
	{ChainHalted, "chain halted", "链已停止"},
	{NodesDown, "nodes unreachable", "节点无法访问"},
	{NodesDisagree, "nodes disagree", "节点不一致"},
	{NodesStale, "no new blocks", "节点停滞"},
	{FollowerStuck, "follower stuck", "跟随停滞"},
	{FollowerBehind, "catching up", "跟随落后"},
	{AccountStopped, "account stopped", "账户已停用"},
	{NoFunds, "no funds", "资金不足"},
	{NoCoin, "no coin for fees", "手续费币不足"},
	{NoQuota, "no quota", "配额不足"},
	{PaymentRefused, "transaction refused", "节点拒收付款"},
	{FeesTooHigh, "fees too high", "手续费过高"},
	{ChannelStopped, "channel stopped", "通道已停止"},
	{NodeFaulty, "node faulty", "节点故障"},
	{NodeMended, "node correct again", "节点已恢复"},
	{TracingLost, "tracing lost", "无法追踪区块"},
	{FundsUnswept, "deposits not swept", "资金未归集"},
	{FeesHigh, "fees high", "手续费偏高"},
	{PaymentsLate, "payments late", "付款延迟"},
	{AccountIdle, "account stopped, pays no user", "账户闲置"},
	{ChannelClosed, "channel closed", "通道已关闭"},
	{NotTold, "notification not delivered", "通知未送达"},
	{ConfigRefused, "configuration refused", "配置被拒绝"},
	{LimitReached, "limit reached", "达到限额"},
	{ApprovalsWanted, "approvals required", "等待审批"},
	{PaymentsListed, "payments to listed addresses", "付款命中名单"},
	{PaymentsHeld, "payments held", "付款被搁置"},
	{HotBelow, "hot account below minimum", "热账户低于下限"},
	{HotAbove, "hot account above maximum", "热账户高于上限"},
	{ChecksFail, "checks incomplete", "检查失效"},
}

// AllKinds returns the table of all kinds.
func AllKinds() []KindInfo { return slices.Clone(kinds) }

// Kinds returns all kinds, those that stop money first.
func Kinds() []Kind {
	list := make([]Kind, len(kinds))
	for i, k := range kinds {
		list[i] = k.Kind
	}
	return list
}
