// Labels of states and codes, and what may be ordered of a record.
import { isAddress } from "../base/names.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { messages } from "./messages.js";
import { codes } from "./codes.js";

export const useConsoleMessages = () => useMessages(messages);

// states are how things stand: how that is shown (wait, run, good, warn, bad), and its word in both languages. What is not in a list is shown as it is.
export const states = {
  record: {
    seen: ["run", "Confirming", "确认中"], received: ["good", "Received", "已收到"], final: ["run", "Final", "已终定"], pending: ["wait", "Pending", "待付款"], sent: ["run", "Sent", "已发送"], orphaned: ["warn", "Left the chain", "已脱离链"], held: ["warn", "Held", "已搁置"], refused: ["bad", "Refused", "已拒绝"],
    done: ["good", "Paid", "已付款"], refunding: ["run", "Refunding", "退款中"], refunded: ["good", "Refunded", "已退款"],
  },
  payment: { queued: ["wait", "Queued", "等待"], bound: ["run", "Signed", "已签名"], paid: ["good", "Paid", "已付款"], held: ["warn", "Held", "已搁置"], void: ["wait", "Void", "作废"] },
  channel: { OPEN: ["good", "Open", "开放"], STOPPED: ["bad", "Stopped", "已停止"], MAINTAIN: ["warn", "Paused", "暂停"], CLOSED: ["bad", "Closed", "关闭"] },
  account: { new: ["wait", "New", "新"], ok: ["good", "Active", "正常"], halted: ["bad", "Halted", "已停用"], recovering: ["run", "Recovering", "恢复中"] },
  chain: { following: ["good", "Following", "跟随中"], halted: ["bad", "Halted", "已停止"], "not started": ["wait", "Not started", "未开始"] },
};

// stateLabel is how a state is shown, and its word.
export function stateLabel(of, state, language = "en") {
  const [kind, en, zh] = states[of]?.[state] ?? ["wait", state, state];
  return [kind, language === "zh" ? zh : en];
}

// channelState is the state of a channel for people: an operator pauses it, the daemon stops it.
export const channelState = (state, byOperator) => (state === "MAINTAIN" && !byOperator ? "STOPPED" : state);

// spaced is a word of the program with spaces: "below_minimum" is "below minimum".
export const spaced = (word) => word.replaceAll("_", " ");

// capital begins with a capital letter.
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// chinese are labels of the program's codes, by what they are codes of. Reasons and conditions have their labels in the daemon's tables (records/reasons.go,
// status/kinds.go), which codes.js repeats.
export const chinese = {
  direction: { deposit: "充值", withdrawal: "提现", funding: "注资" },
  filter: { seen: "确认中", pending: "待付款", sent: "已发送", done: "已付款", held: "已搁置", refused: "已拒绝", refunding: "退款中", refunded: "已退款", orphaned: "已脱离链" },
  kind: { hot: "支付提现", gas: "支付归集手续费", gateway: "交易所链上的网关账户", cold: "离线保管" },
  purpose: { credit: "付给用户", refund: "退款", receive: "接收区块", sweep: "归集", gas: "手续费币", cancel: "替换另一笔", cold: "转入冷存储" },
  window: { hour: "每小时", day: "每天", user: "每用户每天", transfer: "每笔", gateway: "整个网关每天", fees: "每天手续费" },
  role: { viewer: "查看者", operator: "操作员", approver: "审批人" },
  attempt: { pay: "付款", replace: "加价替换", cancel: "取消" },
  difference: { missing_transfer: "缺少转账", missing_own: "缺少我方交易", other_block: "所在区块不同", other_facts: "内容不同", not_on_chain: "链上没有", other_line: "区块不同" },
};

// english are labels of codes that do not tell well what they mean.
const english = {
  filter: { seen: "Confirming", pending: "Pending", sent: "Sent", done: "Paid", held: "Held", refused: "Refused", refunding: "Refunding", refunded: "Refunded", orphaned: "Left the chain" },
  direction: { deposit: "Deposit", withdrawal: "Withdrawal", funding: "Funding" },
  window: { hour: "Per hour", day: "Per day", user: "Per user and day", transfer: "Per payment", gateway: "All tokens per day", fees: "Fees per day" },
  role: { viewer: "Viewer", operator: "Operator", approver: "Approver" },
  kind: { hot: "Hot: pays withdrawals", gas: "Gas: pays sweep fees", gateway: "Gateway on the exchange chain", cold: "Cold storage" },
  purpose: { credit: "Payout", refund: "Refund", receive: "Receive block", sweep: "Sweep", gas: "Coin for fees", cancel: "Cancellation", cold: "To cold storage" },
};

// adviceOf is what to do about a reason or a condition, in one sentence; "" where there is nothing to do.
export const adviceOf = (language, of, code) => codes[of + "Advice"][code]?.[language] ?? "";

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

// events are lines of the history in both languages, by subject and event.
const events = {
  "transfer seen": ["Transfer seen", "发现转账"], "transfer final": ["Transfer final", "转账已终定"], "transfer held": ["Transfer held", "转账被搁置"], "transfer refused": ["Transfer refused", "转账被拒绝"],
  "transfer orphaned": ["Transfer left its chain", "转账脱离其链"], "transfer ordered": ["Command", "指令"], "transfer replaced": ["Transfer changed on its chain", "转账在链上变更"], "transfer incident": ["Left its chain after the decision", "判定后脱离其链"],
  "transfer incident_over": ["Back on its chain", "已回到其链"], "transfer written_off": ["Written off", "已核销"], "transfer owned": ["Owner named", "已确定归属"],
  "payment queued": ["Payment queued", "付款已排队"], "payment bound": ["Payment prepared", "付款已准备"], "payment held": ["Payment held", "付款被搁置"], "payment void": ["Payment cancelled", "付款已作废"], "payment paid": ["Payment paid", "付款已到账"],
  "payment attempt_pay": ["Transaction signed", "交易已签名"], "payment attempt_replace": ["Signed again with a higher fee", "加价重新签名"], "payment attempt_cancel": ["Cancellation signed", "取消交易已签名"],
  "payment signer": ["Answer of the signer", "签名器答复"], "payment approval": ["Approval", "审批"], "payment approved": ["Approved", "已审批"], "payment nothing_moved": ["Nothing was moved", "未转移资产"], "payment slot_void": ["Number used by another transaction", "序号被其他交易使用"], "payment slot_forked": ["Set aside by a fork", "因分叉搁置"],
  "account added": ["Account added", "账户已添加"], "account adopted": ["Account checked", "账户已核对"], "account ok": ["Account active", "账户正常"], "account halted": ["Account stopped", "账户已停用"], "account recovering": ["Account recovers", "账户恢复中"],
  "account resumed": ["Account resumed", "账户已恢复"], "account accepted": ["Transaction explained", "交易已解释"], "account ordered": ["Command for account", "账户指令"], "account branched": ["Account continued after a fork", "账户在分叉后继续"], "account shortage_accepted": ["Shortage accepted", "已接受短缺"], "account coin_counted": ["Coin found by balance", "按余额发现原生币"], "account coin_short": ["Coin missing by balance", "按余额缺少原生币"], "account new": ["Account new", "新账户"], "account cancels": ["Cancellation signed", "取消交易已签名"],
  "chain started": ["Chain started", "链已开始"], "chain halted": ["Chain halted", "链已停止"], "chain resumed": ["Chain resumed", "链已恢复"], "chain stepped_back": ["Chain reorganised", "链已重组"], "chain ordered": ["Command for chain", "链的指令"], "chain tokens_counted": ["Tokens counted", "代币已清点"], "chain rescan_ordered": ["Rescan ordered", "已下达重新扫描"], "chain rescan_done": ["Rescan done", "重新扫描完成"], "chain rescan_failed": ["Rescan failed", "重新扫描失败"], "chain shortage_accepted": ["Shortage accepted", "已接受短缺"], "chain following": ["Chain followed", "链跟随中"],
  "channel OPEN": ["Channel open", "通道已开放"], "channel MAINTAIN": ["Channel paused", "通道已暂停"], "channel CLOSED": ["Channel closed", "通道已关闭"],
  "binding bound": ["Deposit address given", "已分配充值地址"], "configuration ordered": ["Command for configuration", "配置指令"], "configuration refused": ["Configuration refused", "配置被拒绝"], "configuration done": ["Configuration read", "配置已读取"],
  "console signed in": ["Signed in", "登录"], "console set": ["User set", "用户已设置"], "payment swept": ["Swept", "已归集"], "payment ordered": ["Command for payment", "付款指令"], "payment operator": ["Settled by order", "按指令结清"], "console removed": ["User removed", "用户已移除"],
};

// eventLabel is a line of the history in the reader's language; one that has none there stays as it is.
export const eventLabel = (language, subject, event) => events[`${subject} ${event}`]?.[language === "zh" ? 1 : 0] ?? capital(spaced(`${subject} ${event}`));

// ruleOf is why the signer asks for approvals of a payment, and how many it needs; its own words where they are others.
export function ruleOf({ verdict = "" }, w) {
  const [, amount, above, payee, needed, faults] = /^(.+) are above (.+?)(?:, and (\S+) was never paid before)?: \d+ of (\d+) approvals(.*)$/.exec(verdict) ?? [];
  return amount ? { text: formatMessage(payee ? w.ruleFirst : w.ruleAbove, { amount, above }) + faults, needed } : { text: verdict };
}

// unsigned reports whether an account has stopped because of a transaction that this daemon did not sign.
export const unsigned = (text) => /was not signed by this daemon/.test(text ?? "");

// unexplainedIn reads the refusal to resume an account because of a transaction that no record explains; null for any other text.
function unexplainedIn(text) {
  const [, hash, account, did, to, what] = /^transaction (\S+) of (\S+) moved (.+) to (\S+) and is not explained(?: \(it was signed for (.+)\))?: settle or accept it$/.exec(text) ?? [];
  return hash ? { hash, account, did, to, what } : null;
}

// chainRefusal is the refusal to resume a halted chain; "" for any other text.
function chainRefusal(text, w) {
  const [, height] = /^block (\d+) of \S+ has another hash in our records than the one that you verified: the chain stays halted$/.exec(text) ?? [];
  if (height) return formatMessage(w.otherHash, { height });
  const [, other] = /^the chain differs from our final blocks: \S+ at block (\d+)$/.exec(text) ?? [];
  return other ? formatMessage(w.forked, { height: other }) : "";
}

// refusalOf returns the text of a refusal with the next step, translated where the page knows it.
export function refusalOf(text, w) {
  const chain = chainRefusal(text, w);
  if (chain) return chain;
  const found = unexplainedIn(text);
  return found ? [formatMessage(w.unexplained, found), found.what && formatMessage(w.signedFor, found)].filter(Boolean).join(" ") : text;
}

// acceptCommand returns the command that accepts the transaction of a refusal; "" for other refusals.
export function acceptCommand(text, chain, why) {
  const found = unexplainedIn(text);
  return found ? `gatewayd account resume ${chain} ${found.account} --accept ${found.hash} --why '${why.replaceAll("'", "'\\''")}'` : "";
}

// asks is what an order asks besides the reason.
export const asks = { credit: "wallet", refund: "address", settle: "hash" };

// boxesOf are what an order may allow besides: of a payment whose transaction differs from it, people say that it moved nothing.
export function boxesOf(order, payments) {
  if (order === "credit") return ["belowMinimum"];
  const differs = payments.some((p) => p.state === "held" && p.reason === "payout_differs");
  return differs && ["retry", "refund", "reject"].includes(order) ? ["nothingMoved"] : [];
}

// orderLabel is an order's name: to retry what was not paid for its size or its time is to credit it.
export const orderLabel = (order, record, w) => w["order_" + (order === "retry" && sizeOf(record) ? "creditSmall" : order)];

// orderLead is an order's effect in one sentence.
export const orderLead = (order, record, w) => w["lead_" + (order === "retry" && sizeOf(record) ? "creditSmall" : order)];

const sizeOf = (record) => record.direction === "deposit" && ["below_minimum", "time_unproven"].includes(record.reason);

// isDanger reports whether an order cannot be taken back and pays nobody what was meant.
export const isDanger = (order) => ["write-off", "reject"].includes(order);

// payeeOf is whom an order pays: the address that is typed or, without one, whom the record names.
export function payeeOf(order, record, payments, typed = "") {
  if (typed.trim()) return typed.trim();
  const waits = payments.find((p) => ["held", "queued"].includes(p.state) && p.purpose !== "receive");
  if (["refund", "reject"].includes(order)) return record.from;
  if (order === "retry" || order === "hold") return waits?.payee ?? (record.payee || record.wallet);
  return order === "credit" ? record.wallet : "";
}

// way is what happened to a record and what comes: { name, kind, at, tx: { chain, hash, depth }, text }, in the kinds of Timeline.
export function way({ record: r, in: came, payments, history }, chains, w) {
  const at = (subject, id, ...events) => history?.find((e) => events.some((event) => e.what === `${subject} ${id} ${event}`))?.at;
  const reason = (word) => codeLabel(w.language, "reason", word);
  const list = [{ name: w.step_seen, kind: "done", at: r.seen, tx: { chain: came.chain, hash: r.inTx, depth: came } }];
  if (r.incident) list.push({ name: w.step_incident, kind: "bad", text: r.incident });
  else if (r.state === "orphaned") list.push({ name: w.step_orphaned, kind: "warn" });
  else if (r.state === "seen") list.push({ name: w.step_confirming, kind: "now", depth: came });
  else list.push({ name: w.step_final, kind: "done", at: at("transfer", r.id, "final", "held", "refused") });
  const paying = payments.filter((p) => ["credit", "refund"].includes(p.purpose) && p.state !== "void").at(-1);
  if (r.state === "held") list.push({ name: formatMessage(w.step_held, { reason: reason(r.reason) }), kind: "warn", at: at("transfer", r.id, "held") });
  const before = r.state !== "held" && history?.find((e) => e.what === `transfer ${r.id} held`);
  if (before) list.push({ name: formatMessage(w.step_held, { reason: reason(before.detail) }), kind: "warn", at: before.at });
  if (r.state === "refused") list.push({ name: formatMessage(w.step_refused, { reason: reason(r.reason) }), kind: paying ? "warn" : "bad", at: at("transfer", r.id, "refused") });
  if (r.direction === "funding" || r.state === "refused" && !paying || r.incident && !paying) return list;
  const of = paying?.purpose === "refund" ? "refund" : "payment";
  const [signed, paid] = [w[`step_${of}Signed`], w[`step_${of}Final`]];
  if (!paying || paying.state === "queued") {
    const waits = ["seen", "held", "orphaned"].includes(r.state) ? "wait" : "now";
    return [...list, { name: signed, kind: waits, text: paying?.reason ? reason(paying.reason) : "" }, { name: paid, kind: "wait" }];
  }
  if (paying.state === "held") return [...list, { name: formatMessage(w[`step_${of}Held`], { reason: reason(paying.reason) }), kind: "warn", at: at("payment", paying.id, "held") }, { name: paid, kind: "wait" }];
  const hash = paying.tx || paying.mined?.tx || paying.attempts?.at(-1)?.hash;
  const tx = { chain: paying.chain, hash, depth: paying.mined };
  const first = paying.attempts?.[0]?.at;
  if (paying.state === "paid") return [...list, { name: signed, kind: "done", at: first }, { name: paid, kind: "done", at: at("payment", paying.id, "paid"), tx }];
  return [...list, { name: signed, kind: "now", at: first, tx }, { name: paid, kind: "wait" }];
}

// kindsOf are the kinds of things that a text in the search may name.
export function kindsOf(text) {
  if (/^\d{1,18}$/.test(text)) return ["id", "amount"];
  if (/^\d*\.\d+$/.test(text)) return ["amount"];
  if (isAddress(text) || /^0x[0-9a-fA-F]{40}$/.test(text)) return ["address"];
  if (/^(0x)?[0-9a-fA-F]{6,64}(…|\.\.\.)?[0-9a-fA-F]*$/.test(text)) return ["hash"];
  return /^[A-Za-z0-9:]{25,90}$/.test(text) ? ["address"] : []; // of Bitcoin, and its like
}
