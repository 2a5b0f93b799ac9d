// Labels of states and codes, and what may be ordered of a record.
import { formatMessage, useMessages } from "../base/messages.js";
import { messages } from "./messages.js";
import { codes } from "./codes.js";

export const useConsoleMessages = () => useMessages(messages);

// states are how things stand: how that is shown (wait, run, good, warn, bad), and its word in both languages. What is not in a list is shown as it is.
export const states = {
  record: {
    seen: ["run", "Seen", "已发现，未终定"], final: ["run", "Final", "已终定"], pending: ["wait", "Pending", "待付款"], sent: ["run", "Sent", "已发送"], orphaned: ["warn", "Left the chain", "已脱离链"], held: ["warn", "Held", "已搁置"], refused: ["bad", "Refused", "已拒绝"],
    done: ["good", "Done", "已完成"], refunding: ["run", "Refunding", "退款中"], refunded: ["good", "Refunded", "已退款"],
  },
  payment: { queued: ["wait", "Queued", "等待"], bound: ["run", "Signed", "已签名"], paid: ["good", "Paid", "已付款"], held: ["warn", "Held", "已搁置"], void: ["wait", "Void", "作废"] },
  channel: { OPEN: ["good", "OPEN", "开放"], MAINTAIN: ["warn", "MAINTAIN", "维护"], CLOSED: ["bad", "CLOSED", "关闭"] },
  account: { new: ["wait", "New", "新"], ok: ["good", "Active", "正常"], halted: ["bad", "Halted", "已停用"], recovering: ["run", "Recovering", "恢复中"] },
  chain: { following: ["good", "Following", "跟随中"], halted: ["bad", "Halted", "已停止"], "not started": ["wait", "Not started", "未开始"] },
};

// stateLabel is how a state is shown, and its word.
export function stateLabel(of, state, language = "en") {
  const [kind, en, zh] = states[of]?.[state] ?? ["wait", state, state];
  return [kind, language === "zh" ? zh : en];
}

// spaced is a word of the program with spaces: "below_minimum" is "below minimum".
export const spaced = (word) => word.replaceAll("_", " ");

// chinese are labels of the program's codes, by what they are codes of. Reasons and conditions have their labels in the daemon's tables (records/reasons.go,
// status/kinds.go), which codes.js repeats.
export const chinese = {
  direction: { deposit: "充值", withdrawal: "提现", funding: "注资" },
  filter: { seen: "已发现", pending: "待付款", sent: "已发送", done: "已完成", held: "已搁置", refused: "已拒绝", refunding: "退款中", refunded: "已退款", orphaned: "已脱离链" },
  kind: { hot: "支付提现", gas: "支付归集手续费", gateway: "交易所链上的网关账户", cold: "离线保管" },
  purpose: { credit: "付给用户", refund: "退款", receive: "接收区块", sweep: "归集", gas: "手续费币", cancel: "替换另一笔", cold: "转入冷存储" },
  window: { hour: "每小时", day: "每天", user: "每用户每天", transfer: "每笔", gateway: "整个网关每天", fees: "每天手续费" },
  role: { viewer: "查看者", operator: "操作员", approver: "审批人" },
  attempt: { pay: "付款", replace: "加价替换", cancel: "取消" },
  difference: { missing_transfer: "缺少转账", missing_own: "缺少我方交易", other_block: "所在区块不同", other_facts: "内容不同", not_on_chain: "链上没有", other_line: "区块不同" },
};

// english are labels of codes that do not tell well what they mean.
const english = {
  kind: { hot: "Hot: pays withdrawals", gas: "Gas: pays sweep fees", gateway: "Gateway on the exchange chain", cold: "Cold storage" },
  purpose: { credit: "Payout", refund: "Refund", receive: "Receive block", sweep: "Sweep", gas: "Coin for fees", cancel: "Cancellation", cold: "To cold storage" },
};

// codeLabel is a word of the program in the reader's language; one that has none there stays as it is.
export const codeLabel = (language, of, word) => codes[of]?.[word]?.[language] ?? (language === "zh" ? chinese : english)[of]?.[word] ?? spaced(word ?? "");

// refusals are what the server says often, in Chinese. What else it says is told in its own words.
export const refusals = {
  "name, password or code is wrong": "名称、密码或验证码错误", "too many attempts: try again later": "尝试次数过多，请稍候", "sign in first": "请先登录",
  "this passkey is not registered": "没有人用此通行密钥在这里登录", "the challenge is unknown, used or expired: start again": "请求无效、已使用或已超时：请重新开始",
  "this code or passkey response was already used: use the next code, or the passkey again": "已用于登录：请使用下一个验证码，或再次使用通行密钥",
  "the database is not open: try again later": "数据库未打开：请稍后重试", "another process has the lease: give the order there, or by command": "由另一进程主导：请在那里或用命令下达",
  "the request failed; see the daemon's log": "未能完成；原因见守护进程日志", "there is no such record": "没有这条记录", "the history is being verified: try again afterwards": "正在验证日志，请稍后再试",
  "this is not one of your passkeys": "这不是您的通行密钥", "this passkey cannot approve: it is not in signer.approvals.approvers": "此通行密钥不能审批：它不在 signer.approvals.approvers 中",
};

// asks is what an order asks besides the reason.
export const asks = { credit: "wallet", refund: "address", settle: "hash" };

// boxesOf are what an order may allow besides: of a payment whose transaction differs from it, people say that it moved nothing.
export function boxesOf(order, payments) {
  if (order === "credit") return ["belowMinimum"];
  const differs = payments.some((p) => p.state === "held" && p.reason === "payout_differs");
  return differs && ["retry", "refund", "reject"].includes(order) ? ["nothingMoved"] : [];
}

// steps is a record's way: the steps, and the index of the one that is going on; as many as there are when it is over.
export function steps(record, payments, w) {
  const back = payments.some((p) => p.purpose === "refund" && p.state !== "void");
  const payment = payments.filter((p) => p.purpose === (back ? "refund" : "credit") && p.state !== "void").at(-1);
  const decided = ["held", "refused"].includes(record.state) ? formatMessage(w["step_" + record.state], { reason: codeLabel(w.language, "reason", record.reason) }) : w.step_final;
  const list = [w.step_seen, decided, back ? w.step_refundSigned : w.step_paymentSigned, back ? w.step_refundFinal : w.step_paymentFinal];
  const failed = Boolean(record.incident) || ["held", "refused", "orphaned"].includes(record.state) && !payment;
  if (!payment) return { list, at: ["seen", "orphaned"].includes(record.state) || failed ? 1 : 2, failed };
  return { list, at: { queued: 2, held: 2, bound: 3, paid: 4 }[payment.state] ?? 2, failed: payment.state === "held" };
}
