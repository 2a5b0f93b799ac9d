// Labels of the daemon's codes, written by `go test ./operator/console -run TestCodesOfThePage -update`.
export const codes = {
  "condition": {
    "account_idle": {
      "en": "account stopped, pays no user",
      "zh": "账户闲置"
    },
    "account_stopped": {
      "en": "account stopped",
      "zh": "账户已停用"
    },
    "approvals_wanted": {
      "en": "approvals required",
      "zh": "等待审批"
    },
    "chain_halted": {
      "en": "chain halted",
      "zh": "链已停止"
    },
    "channel_closed": {
      "en": "channel closed",
      "zh": "通道已关闭"
    },
    "channel_stopped": {
      "en": "channel stopped",
      "zh": "通道已停止"
    },
    "checks_fail": {
      "en": "checks incomplete",
      "zh": "检查失效"
    },
    "config_refused": {
      "en": "configuration refused",
      "zh": "配置被拒绝"
    },
    "daemon_down": {
      "en": "daemon not running",
      "zh": "守护进程未运行"
    },
    "fees_high": {
      "en": "fees high",
      "zh": "手续费偏高"
    },
    "fees_too_high": {
      "en": "fees too high",
      "zh": "手续费过高"
    },
    "follower_behind": {
      "en": "catching up",
      "zh": "跟随落后"
    },
    "follower_stuck": {
      "en": "follower stuck",
      "zh": "跟随停滞"
    },
    "funds_unswept": {
      "en": "deposits not swept",
      "zh": "资金未归集"
    },
    "hot_above": {
      "en": "hot account above maximum",
      "zh": "热账户高于上限"
    },
    "hot_below": {
      "en": "hot account below minimum",
      "zh": "热账户低于下限"
    },
    "limit_reached": {
      "en": "limit reached",
      "zh": "达到限额"
    },
    "no_coin": {
      "en": "no coin for fees",
      "zh": "手续费币不足"
    },
    "no_funds": {
      "en": "no funds",
      "zh": "资金不足"
    },
    "no_limits": {
      "en": "no limits",
      "zh": "未设限额"
    },
    "no_quota": {
      "en": "no quota",
      "zh": "配额不足"
    },
    "node_faulty": {
      "en": "node faulty",
      "zh": "节点故障"
    },
    "node_mended": {
      "en": "node correct again",
      "zh": "节点已恢复"
    },
    "nodes_disagree": {
      "en": "nodes disagree",
      "zh": "节点不一致"
    },
    "nodes_stale": {
      "en": "no new blocks",
      "zh": "节点停滞"
    },
    "nodes_unreachable": {
      "en": "nodes unreachable",
      "zh": "节点无法访问"
    },
    "not_told": {
      "en": "notification not delivered",
      "zh": "通知未送达"
    },
    "payment_refused": {
      "en": "transaction refused",
      "zh": "节点拒收付款"
    },
    "payments_held": {
      "en": "payments held",
      "zh": "付款被搁置"
    },
    "payments_late": {
      "en": "payments late",
      "zh": "付款延迟"
    },
    "payments_listed": {
      "en": "payments to listed addresses",
      "zh": "付款命中名单"
    },
    "signer_away": {
      "en": "signer unreachable",
      "zh": "签名器无响应"
    },
    "store_down": {
      "en": "database unreachable",
      "zh": "数据库无响应"
    },
    "tracing_lost": {
      "en": "tracing lost",
      "zh": "无法追踪区块"
    }
  },
  "conditionAdvice": {
    "account_idle": {
      "en": "`gatewayd account list`, then docs/operations/recovery.md",
      "zh": "查看账户的停用原因，按 docs/operations/recovery.md 处理后恢复"
    },
    "account_stopped": {
      "en": "`gatewayd account list`, then docs/operations/recovery.md",
      "zh": "查看账户的停用原因，按 docs/operations/recovery.md 处理后恢复"
    },
    "approvals_wanted": {
      "en": "`gatewayd records list --needs-operator`, then `gatewayd approve ID --key FILE`, or `gatewayd records reject ID --why …`",
      "zh": "由审批人在“审批”页审批，或拒绝该付款"
    },
    "chain_halted": {
      "en": "find out which nodes are right, then resume the chain: docs/operations/alerts/halted-chain.md",
      "zh": "查明哪些节点正确，然后恢复该链：docs/operations/alerts/halted-chain.md"
    },
    "channel_stopped": {
      "en": "`gatewayd channel list` shows the cause; the channel opens automatically once it is resolved",
      "zh": "查看通道的停止原因；原因解决后通道自动开放"
    },
    "checks_fail": {
      "en": "repair the named file, service or node: until then limits, lists, screening or comparisons are incomplete, or hold more payments",
      "zh": "修复所述文件、服务或节点：此前限额、名单、筛查或核对不完整，或会搁置更多付款"
    },
    "config_refused": {
      "en": "correct the file, then `gatewayd reload`",
      "zh": "更正文件，然后重新加载配置"
    },
    "daemon_down": {
      "en": "start `gatewayd run`; its log shows why it ended",
      "zh": "启动 `gatewayd run`；其日志说明退出原因"
    },
    "fees_high": {
      "en": "wait until fees fall, or raise the token's fee.ceiling or the chain's max_fee_gwei or max_fee_rate",
      "zh": "等待手续费回落，或提高代币的 `fee.ceiling`、链的 `max_fee_gwei` 或 `max_fee_rate`"
    },
    "fees_too_high": {
      "en": "wait until fees fall, or raise the token's fee.ceiling or the chain's max_fee_gwei or max_fee_rate",
      "zh": "等待手续费回落，或提高代币的 `fee.ceiling`、链的 `max_fee_gwei` 或 `max_fee_rate`"
    },
    "follower_behind": {
      "en": "wait; if it persists, the node is slow or requests_per_second is too low",
      "zh": "请等待；若持续存在，则节点过慢或 `requests_per_second` 过低"
    },
    "follower_stuck": {
      "en": "the daemon's log shows the reason; a node may answer heads and refuse blocks",
      "zh": "守护进程日志说明原因；节点可能回应链头却拒绝返回区块"
    },
    "funds_unswept": {
      "en": "the next sweep delivers it (watcher.sweep); if that takes too long, keep a larger balance on the account, or coin on the gas account",
      "zh": "下次归集会转入（`watcher.sweep`）；若耗时过长，请提高该账户余额，或在 gas 账户保留原生币"
    },
    "hot_above": {
      "en": "configure the token's `cold` address, here and for the signer, or raise hot_max; `gatewayd account move CHAIN ADDRESS AMOUNT TOKEN --to cold` sends an amount immediately",
      "zh": "在此处及签名器中配置代币的 `cold` 地址，或提高 `hot_max`；`gatewayd account move CHAIN ADDRESS AMOUNT TOKEN --to cold` 可立即转出"
    },
    "hot_below": {
      "en": "send the stated amount to the hot account, from the cold address or another funder",
      "zh": "从冷地址或其他注资地址向热账户转入所述金额"
    },
    "limit_reached": {
      "en": "`gatewayd limits` shows the use and when it frees; held payments are paid then, or once signer.limits allows more",
      "zh": "限额页显示使用量；额度恢复或提高 `signer.limits` 后，被搁置的付款会支付"
    },
    "no_coin": {
      "en": "send coin to the account from an address in `funders` (Bitcoin, Litecoin: from any); pending payments are then paid automatically",
      "zh": "从 `funders` 中的地址向该账户转入原生币（比特币、莱特币可来自任意地址）；之后待付款项自动支付"
    },
    "no_funds": {
      "en": "send some to the account from an address in `funders` (Bitcoin, Litecoin: from any); a new gateway's channels open automatically once both sides have funds",
      "zh": "从 `funders` 中的地址向该账户转入资金（比特币、莱特币可来自任意地址）；新网关两侧均有资金后，通道自动开放"
    },
    "no_limits": {
      "en": "set `signer.limits` in the signer's configuration: per payment, user, hour and day (docs/operations/limits.md)",
      "zh": "在签名器配置中设置 `signer.limits`：按每笔、每用户、每小时和每天限额（docs/operations/limits.md）"
    },
    "no_quota": {
      "en": "stake VITE with the gateway's account as the beneficiary, or set pow: true; the channels then open automatically",
      "zh": "以网关账户为受益人抵押 VITE，或设置 `pow: true`；之后通道自动开放"
    },
    "node_faulty": {
      "en": "start the node, correct its URL, or use another node",
      "zh": "启动节点、更正其 URL，或改用其他节点"
    },
    "node_mended": {
      "en": "nothing; if it recurs use another node",
      "zh": "无需处理；若再次出现，请改用其他节点"
    },
    "nodes_disagree": {
      "en": "find out which node is wrong, for example with a block explorer, and remove it from the configuration",
      "zh": "查明哪个节点有误（例如对照区块浏览器），并将其移出配置"
    },
    "nodes_stale": {
      "en": "the node is stalled or not synchronised, or a clock is wrong; a development node that creates blocks only for transactions needs on_demand: true",
      "zh": "节点停滞、未同步，或时钟有误；只为交易出块的开发节点需设置 `on_demand: true`"
    },
    "nodes_unreachable": {
      "en": "start the node, correct its URL, or use another node",
      "zh": "启动节点、更正其 URL，或改用其他节点"
    },
    "not_told": {
      "en": "`gatewayd alerts test` tests it; correct the section alerts, or the receiver; pending events are sent then",
      "zh": "用 `gatewayd alerts test` 测试；更正配置的 alerts 部分或接收方，之后待发事件会送出"
    },
    "payment_refused": {
      "en": "correct the node's setting named in the text (a cap of fees or gas, a full pool, no replacement), or add a node that accepts the transaction; it is sent again with each block",
      "zh": "更正文中所述的节点设置（手续费或 gas 上限、交易池已满、不允许替换），或添加接受该交易的节点；每个新区块都会重新发送"
    },
    "payments_held": {
      "en": "`gatewayd records list --needs-operator`, then `gatewayd records show ID` for the reason and the possible commands. An unproven record is credited once an approver signs it: `gatewayd approve ID --key FILE`, with the approver's key in signer.approvals of the signer's configuration (`gatewayd approver new FILE`). Or `gatewayd records reject ID --why ...`",
      "zh": "记录页说明搁置原因与可执行的操作。无法证明的记录由审批人签名后入账，或拒绝后退款"
    },
    "payments_late": {
      "en": "`gatewayd channel list` shows the capacity, and `gatewayd records show` the reason of the payment's delay",
      "zh": "通道页显示处理能力，记录页显示付款延迟的原因"
    },
    "payments_listed": {
      "en": "`gatewayd records show ID` names the list; `gatewayd records reject ID --why …`, or remove the address from the list",
      "zh": "记录页说明所命中的名单；拒绝该付款，或将地址移出名单"
    },
    "signer_away": {
      "en": "start `gatewayd signer`; its log shows why it ended. Payments then resume automatically",
      "zh": "启动 `gatewayd signer`；其日志说明退出原因。之后付款自动恢复"
    },
    "store_down": {
      "en": "start the database server, or correct database.url",
      "zh": "启动数据库服务器，或更正 `database.url`"
    },
    "tracing_lost": {
      "en": "enable the node's debug API (debug_traceBlockByHash) or add a node that has it, or set traces: off to rely on balances",
      "zh": "启用节点的调试接口（debug_traceBlockByHash），或添加具备该接口的节点；也可设置 `traces: off`，改以余额核对"
    }
  },
  "reason": {
    "approval": {
      "en": "approval",
      "zh": "待审批"
    },
    "asset": {
      "en": "asset cannot be read",
      "zh": "无法读取资产"
    },
    "before_address": {
      "en": "before the address was given",
      "zh": "早于地址分配"
    },
    "below_minimum": {
      "en": "below minimum",
      "zh": "低于最低金额"
    },
    "dust": {
      "en": "too small to refund",
      "zh": "金额过小"
    },
    "failed_on_chain": {
      "en": "failed on chain",
      "zh": "链上失败"
    },
    "fee_ceiling": {
      "en": "waits for lower fees",
      "zh": "等待手续费回落"
    },
    "found_by_audit": {
      "en": "found by audit before",
      "zh": "审计发现"
    },
    "frozen": {
      "en": "account frozen by the token",
      "zh": "账户被代币冻结"
    },
    "internal": {
      "en": "internal transfer",
      "zh": "内部转账"
    },
    "limit": {
      "en": "limit",
      "zh": "限额"
    },
    "listed": {
      "en": "listed address",
      "zh": "命中名单"
    },
    "no_coin": {
      "en": "waits for coin for the fee",
      "zh": "等待手续费币"
    },
    "operator": {
      "en": "by an operator",
      "zh": "由操作员决定"
    },
    "over_maximum": {
      "en": "over maximum",
      "zh": "超过最高金额"
    },
    "payee_gas": {
      "en": "payee needs too much gas",
      "zh": "收款方耗费过高"
    },
    "payee_refuses": {
      "en": "payee refuses",
      "zh": "收款方拒收"
    },
    "payout_differs": {
      "en": "payout differs",
      "zh": "付款内容不符"
    },
    "payout_failed": {
      "en": "payout failed",
      "zh": "付款失败"
    },
    "signer": {
      "en": "waits for a final block",
      "zh": "等待最终区块"
    },
    "signer_refuses": {
      "en": "signer refuses",
      "zh": "签名器拒绝"
    },
    "time_unproven": {
      "en": "time not proven",
      "zh": "时间无法证明"
    },
    "token_limit": {
      "en": "token refuses the amount",
      "zh": "代币拒绝该金额"
    },
    "unbound_address": {
      "en": "address not given to a user",
      "zh": "地址未绑定"
    },
    "unknown_label": {
      "en": "unknown label",
      "zh": "未知标签"
    },
    "unknown_sender": {
      "en": "sender is a contract",
      "zh": "未知付款人"
    },
    "unknown_token": {
      "en": "unknown token",
      "zh": "未知代币"
    },
    "unproven": {
      "en": "not proven",
      "zh": "无法证明"
    },
    "wrong_address": {
      "en": "wrong address",
      "zh": "地址错误"
    },
    "wrong_comment": {
      "en": "wrong comment",
      "zh": "备注错误"
    },
    "wrong_type": {
      "en": "wrong way of deposit",
      "zh": "充值方式错误"
    }
  },
  "reasonAdvice": {
    "approval": {
      "en": "An approver approves it, or you reject it to refund the sender.",
      "zh": "由审批人审批；拒绝则退回付款人。"
    },
    "before_address": {
      "en": "Find the owner and credit the deposit to their address, or refund the sender.",
      "zh": "查明归属后入账到其地址，或退回付款人。"
    },
    "below_minimum": {
      "en": "Credit it to its owner, or refund the sender on request. A refund may cost more than its value.",
      "zh": "入账给其所有者，或应付款人要求退款；退款成本可能高于其价值。"
    },
    "dust": {
      "en": "Refund it if the sender asks. The refund may cost more than its value.",
      "zh": "付款人要求时退款；退款成本可能高于其价值。"
    },
    "heldRefund": {
      "en": "The refund is held. Retry it once the cause is resolved, or refund another address.",
      "zh": "退款已暂停。解决原因后重试，或退至其他地址。"
    },
    "incident": {
      "en": "Retry once the block is back. Write the payment off if the block is lost.",
      "zh": "区块恢复后重试；若区块不再恢复，则核销已付款项。"
    },
    "limit": {
      "en": "It is paid when the limit frees. Reject it to refund the sender now.",
      "zh": "额度恢复后自动支付；如需立即退款则拒绝。"
    },
    "listed": {
      "en": "Reject it, or remove the address from the list that the events name.",
      "zh": "拒绝付款，或将地址移出事件中所述的名单。"
    },
    "operator": {
      "en": "Retry releases the payment. Reject it to refund the sender.",
      "zh": "重试即放行付款；拒绝则退回付款人。"
    },
    "payee_gas": {
      "en": "Retry once the payee needs less gas, or refund the sender.",
      "zh": "收款方耗费降低后重试，或退回付款人。"
    },
    "payee_refuses": {
      "en": "Retry once the payee accepts payments, or refund the sender.",
      "zh": "收款方可收款后重试，或退回付款人。"
    },
    "payout_differs": {
      "en": "Check the transaction in the explorer. Settle the record if it paid; retry only if it moved nothing.",
      "zh": "在区块浏览器中核对交易：若已付款则结清；仅在确未转移资产时重试。"
    },
    "payout_failed": {
      "en": "Retry the payment, or reject it to refund the sender.",
      "zh": "重试付款，或拒绝并退回付款人。"
    },
    "signer_refuses": {
      "en": "Read the signer's refusal in the events. Retry once its cause is resolved, or reject it.",
      "zh": "在事件中查看签名器的拒绝原因；解决后重试，或拒绝。"
    },
    "time_unproven": {
      "en": "Credit it if it can be the user's, or refund the sender.",
      "zh": "若可能属于该用户则入账，否则退回付款人。"
    },
    "unbound_address": {
      "en": "Find the owner and credit the deposit to their address, or refund the sender.",
      "zh": "查明归属后入账到其地址，或退回付款人。"
    },
    "unknown_label": {
      "en": "Find the owner and credit the deposit to their address, or refund the sender.",
      "zh": "查明归属后入账到其地址，或退回付款人。"
    },
    "unknown_sender": {
      "en": "Ask the contract's owner for an address, and refund to it.",
      "zh": "向合约所有者索取地址，并退款至该地址。"
    },
    "unknown_token": {
      "en": "Refund the sender if the token can be sent back. No network serves it.",
      "zh": "没有网络支持此代币；若可转回，则退回付款人。"
    },
    "unproven": {
      "en": "Check the incoming transaction. An approver approves it, or you reject it.",
      "zh": "核对转入交易；由审批人审批，或拒绝。"
    },
    "wrong_type": {
      "en": "Credit it to its owner, or refund the sender.",
      "zh": "入账给其所有者，或退回付款人。"
    }
  }
};
