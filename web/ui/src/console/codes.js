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
      "en": "operator",
      "zh": "操作员"
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
  }
};
