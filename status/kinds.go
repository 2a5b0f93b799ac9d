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

// KindInfo has the labels of a kind on the console, and the instructions for operators in one
// sentence; empty where there is nothing to do. Its runbook is in docs/operations/alerts.
type KindInfo struct {
	Kind                  Kind
	English, Chinese      string
	Remedy, RemedyChinese string
}

// kinds is the table of all kinds, those that stop money first.
var kinds = []KindInfo{
	{StoreDown, "database unreachable", "数据库无响应",
		"start the database server, or correct database.url",
		"启动数据库服务器，或更正 `database.url`"},
	{DaemonDown, "daemon not running", "守护进程未运行",
		"start `gatewayd run`; its log shows why it ended",
		"启动 `gatewayd run`；其日志说明退出原因"},
	{SignerAway, "signer unreachable", "签名器无响应",
		"start `gatewayd signer`; its log shows why it ended. Payments then resume automatically",
		"启动 `gatewayd signer`；其日志说明退出原因。之后付款自动恢复"},
	{ChainHalted, "chain halted", "链已停止",
		"find out which nodes are right, then resume the chain: docs/operations/alerts/halted-chain.md",
		"查明哪些节点正确，然后恢复该链：docs/operations/alerts/halted-chain.md"},
	{NodesDown, "nodes unreachable", "节点无法访问",
		"start the node, correct its URL, or use another node",
		"启动节点、更正其 URL，或改用其他节点"},
	{NodesDisagree, "nodes disagree", "节点不一致",
		"find out which node is wrong, for example with a block explorer, and remove it from the configuration",
		"查明哪个节点有误（例如对照区块浏览器），并将其移出配置"},
	{NodesStale, "no new blocks", "节点停滞",
		"the node is stalled or not synchronised, or a clock is wrong; a development node that creates blocks only for transactions needs on_demand: true",
		"节点停滞、未同步，或时钟有误；只为交易出块的开发节点需设置 `on_demand: true`"},
	{FollowerStuck, "follower stuck", "跟随停滞",
		"the daemon's log shows the reason; a node may answer heads and refuse blocks",
		"守护进程日志说明原因；节点可能回应链头却拒绝返回区块"},
	{FollowerBehind, "catching up", "跟随落后",
		"wait; if it persists, the node is slow or requests_per_second is too low",
		"请等待；若持续存在，则节点过慢或 `requests_per_second` 过低"},
	{AccountStopped, "account stopped", "账户已停用",
		"`gatewayd account list`, then docs/operations/recovery.md",
		"查看账户的停用原因，按 docs/operations/recovery.md 处理后恢复"},
	{NoFunds, "no funds", "资金不足",
		"send some to the account from an address in `funders` (Bitcoin, Litecoin: from any); a new gateway's channels open automatically once both sides have funds",
		"从 `funders` 中的地址向该账户转入资金（比特币、莱特币可来自任意地址）；新网关两侧均有资金后，通道自动开放"},
	{NoCoin, "no coin for fees", "手续费币不足",
		"send coin to the account from an address in `funders` (Bitcoin, Litecoin: from any); pending payments are then paid automatically",
		"从 `funders` 中的地址向该账户转入原生币（比特币、莱特币可来自任意地址）；之后待付款项自动支付"},
	{NoQuota, "no quota", "配额不足",
		"stake VITE with the gateway's account as the beneficiary, or set pow: true; the channels then open automatically",
		"以网关账户为受益人抵押 VITE，或设置 `pow: true`；之后通道自动开放"},
	{PaymentRefused, "transaction refused", "节点拒收付款",
		"correct the node's setting named in the text (a cap of fees or gas, a full pool, no replacement), or add a node that accepts the transaction; it is sent again with each block",
		"更正文中所述的节点设置（手续费或 gas 上限、交易池已满、不允许替换），或添加接受该交易的节点；每个新区块都会重新发送"},
	{FeesTooHigh, "fees too high", "手续费过高",
		"wait until fees fall, or raise the token's fee.ceiling or the chain's max_fee_gwei or max_fee_rate",
		"等待手续费回落，或提高代币的 `fee.ceiling`、链的 `max_fee_gwei` 或 `max_fee_rate`"},
	{ChannelStopped, "channel stopped", "通道已停止",
		"`gatewayd channel list` shows the cause; the channel opens automatically once it is resolved",
		"查看通道的停止原因；原因解决后通道自动开放"},
	{NodeFaulty, "node faulty", "节点故障",
		"start the node, correct its URL, or use another node",
		"启动节点、更正其 URL，或改用其他节点"},
	{NodeMended, "node correct again", "节点已恢复",
		"nothing; if it recurs use another node",
		"无需处理；若再次出现，请改用其他节点"},
	{TracingLost, "tracing lost", "无法追踪区块",
		"enable the node's debug API (debug_traceBlockByHash) or add a node that has it, or set traces: off to rely on balances",
		"启用节点的调试接口（debug_traceBlockByHash），或添加具备该接口的节点；也可设置 `traces: off`，改以余额核对"},
	{FundsUnswept, "deposits not swept", "资金未归集",
		"the next sweep delivers it (watcher.sweep); if that takes too long, keep a larger balance on the account, or coin on the gas account",
		"下次归集会转入（`watcher.sweep`）；若耗时过长，请提高该账户余额，或在 gas 账户保留原生币"},
	{FeesHigh, "fees high", "手续费偏高",
		"wait until fees fall, or raise the token's fee.ceiling or the chain's max_fee_gwei or max_fee_rate",
		"等待手续费回落，或提高代币的 `fee.ceiling`、链的 `max_fee_gwei` 或 `max_fee_rate`"},
	{PaymentsLate, "payments late", "付款延迟",
		"`gatewayd channel list` shows the capacity, and `gatewayd records show` the reason of the payment's delay",
		"通道页显示处理能力，记录页显示付款延迟的原因"},
	{AccountIdle, "account stopped, pays no user", "账户闲置",
		"`gatewayd account list`, then docs/operations/recovery.md",
		"查看账户的停用原因，按 docs/operations/recovery.md 处理后恢复"},
	{Kind: ChannelClosed, English: "channel closed", Chinese: "通道已关闭"},
	{NotTold, "notification not delivered", "通知未送达",
		"`gatewayd alerts test` tests it; correct the section alerts, or the receiver; pending events are sent then",
		"用 `gatewayd alerts test` 测试；更正配置的 alerts 部分或接收方，之后待发事件会送出"},
	{ConfigRefused, "configuration refused", "配置被拒绝",
		"correct the file, then `gatewayd reload`",
		"更正文件，然后重新加载配置"},
	{LimitReached, "limit reached", "达到限额",
		"`gatewayd limits` shows the use and when it frees; held payments are paid then, or once signer.limits allows more",
		"限额页显示使用量；额度恢复或提高 `signer.limits` 后，被搁置的付款会支付"},
	{ApprovalsWanted, "approvals required", "等待审批",
		"`gatewayd records list --needs-operator`, then `gatewayd approve ID --key FILE`, or `gatewayd records reject ID --why …`",
		"由审批人在“审批”页审批，或拒绝该付款"},
	{PaymentsListed, "payments to listed addresses", "付款命中名单",
		"`gatewayd records show ID` names the list; `gatewayd records reject ID --why …`, or remove the address from the list",
		"记录页说明所命中的名单；拒绝该付款，或将地址移出名单"},
	{PaymentsHeld, "payments held", "付款被搁置",
		"`gatewayd records list --needs-operator`, then `gatewayd records show ID` for the reason and the possible commands. " +
			"An unproven record is credited once an approver signs it: `gatewayd approve ID --key FILE`, with the approver's key in signer.approvals " +
			"of the signer's configuration (`gatewayd approver new FILE`). Or `gatewayd records reject ID --why ...`",
		"记录页说明搁置原因与可执行的操作。无法证明的记录由审批人签名后入账，或拒绝后退款"},
	{HotBelow, "hot account below minimum", "热账户低于下限",
		"send the stated amount to the hot account, from the cold address or another funder",
		"从冷地址或其他注资地址向热账户转入所述金额"},
	{HotAbove, "hot account above maximum", "热账户高于上限",
		"configure the token's `cold` address, here and for the signer, or raise hot_max; `gatewayd account move CHAIN ADDRESS AMOUNT TOKEN --to cold` sends an amount immediately",
		"在此处及签名器中配置代币的 `cold` 地址，或提高 `hot_max`；`gatewayd account move CHAIN ADDRESS AMOUNT TOKEN --to cold` 可立即转出"},
	{ChecksFail, "checks incomplete", "检查失效",
		"repair the named file, service or node: until then limits, lists, screening or comparisons are incomplete, or hold more payments",
		"修复所述文件、服务或节点：此前限额、名单、筛查或核对不完整，或会搁置更多付款"},
}

// Remedy returns the instructions for a kind of condition, in English.
func Remedy(k Kind) string {
	all := AllKinds()
	i := slices.IndexFunc(all, func(info KindInfo) bool { return info.Kind == k })
	if i < 0 {
		return "see docs/operations/alerts.md"
	}
	return all[i].Remedy
}

// Kinds returns the kinds that monitoring reports, those that stop money first.
func Kinds() []Kind {
	list := make([]Kind, len(kinds))
	for i, k := range kinds {
		list[i] = k.Kind
	}
	return list
}
