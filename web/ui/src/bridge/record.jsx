// One deposit or withdrawal: its state, its steps with the transactions of both chains, the time that is left, and what to do where it stopped.
import { Amount, Asked, Button, Contact, Empty, Facts, lasted, linkTo, Note, Short, State, tell, Time, Timeline } from "../base/components.jsx";
import { ChainIcon, Icon, TokenIcon } from "../base/icons.jsx";
import { site, usePoll } from "../base/use.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { assetName } from "../base/names.js";
import { to } from "../base/route.js";
import { advice, ended, noBlock, progress, remaining, steps, sums } from "./gateway.js";
import { messages } from "./messages.js";
import { sentOf } from "./place.js";
import { worth } from "./rates.js";

const often = 1500; // milliseconds between questions for records

// wordOf is a record's state in a word, and its kind.
export function wordOf(record, w) {
  if (record.held) return ["warn", w.HELD];
  if (record.refundState) return [record.refundState === "REFUNDED" ? "good" : "run", w[record.refundState]];
  return [progress(record).kind, w[record.kind + "_" + record.state] ?? record.state];
}

export const Standing = ({ record, w }) => {
  const [kind, word] = wordOf(record, w);
  return <State kind={kind}>{word}</State>;
};

export const linkOf = (r, address) => to(["record", r.kind, r.network.name, r.token.tokenId, r.inTxHash], { address });

// Latest is the newest record of one direction, live. One from before `since` is called the previous one.
export function Latest({ gateway, address, kind, id, rate, since = 0 }) {
  const w = useMessages(messages);
  const poll = usePoll((signal) => gateway.records(kind, address, 1, 1, signal), often, [gateway, address, kind]);
  const record = poll.data?.rows[0];
  if (!record) return null;
  return <section class="card" id={id}><div class="row spread"><h2>{kind === "deposit" ? w.recent : Number(record.dateTime) < since ? w.previousWithdraw : w.recentWithdraw}</h2><a href={linkOf(record, address)}>{w.details}</a></div>
    <Progress record={record} rate={rate} /></section>;
}

// unitOf is the unit of a record's amount: that of the token where it is credited, else that of the asset on the source chain.
const unitOf = (r) => (r.kind === "deposit" && ["good", "run"].includes(progress(r).kind) ? r.token.symbol : assetName(r.token.symbol));

// Progress is a record with its steps. `more` adds what else is known of it.
function Progress({ record, rate, more = [] }) {
  const w = useMessages(messages);
  const { token, network } = record;
  const now = Date.now();
  const channel = record.kind === "deposit" ? token.depositState : token.withdrawState;
  const advise = advice(record, { now, open: channel === "OPEN" });
  const rest = advise === "late" ? null : remaining(record);
  const value = worth(BigInt(record.amount), token.decimals, rate, w.language);
  const [from, target] = record.kind === "deposit" ? [network.sourceName, network.exchangeName] : [network.exchangeName, network.sourceName];
  const detail = {
    sent: <Short text={record.inTxHash} link={record.inLink} what={w.inTx} />,
    confirm: <>{formatMessage(noBlock(record) ? w.pooled : w.counted, { n: record.inTxConfirmedCount ?? 0, m: record.inTxConfirmationCount })}</>,
    pay: record.outTxHash && <Short text={record.outTxHash} link={record.outLink} what={w.outTx} />,
    refund: record.refundTxHash && <Short text={record.refundTxHash} link={record.refundLink} what={w.refund} />,
  };
  const list = steps(record).map(({ name, kind }) => ({
    name: formatMessage(w["step_" + name], { source: from, target }), kind, at: name === "sent" ? Number(record.dateTime) : undefined,
    detail: (kind === "wait" && name !== "pay") || (kind === "bad" && name === "confirm") ? "" : <>{detail[name]}{kind === "now" && name !== "refund" && rest !== null && <span class="left"> {formatMessage(w.left, { time: lasted(Math.max(rest, 1), w.language) })}</span>}</>,
  }));
  return <div data-state={record.state} data-tx={record.inTxHash} data-held={record.held || undefined} data-refund={record.refundState}>
    <div class="head"><TokenIcon symbol={token.symbol} size={36} /><div><strong class="sum"><Amount units={BigInt(record.amount)} decimals={token.decimals} unit={unitOf(record)} most={token.decimals} /></strong>{value && <span class="small faint">{value}</span>}</div>
      <Standing record={record} w={w} /></div>
    {advise && <Note kind={{ noBlock: "", paused: "", refunding: "", refunded: "good", late: "warn", held: "warn", below: "warn" }[advise] ?? "bad"}><p data-advice={advise}>{formatMessage(w["advice_" + advise], { source: from, target })}{["held", "below", "failed", "late"].includes(advise) && <> <Contact about={record.inTxHash} /></>}</p></Note>}
    <Timeline label={w.progress} list={list} />
    <Facts list={more} />
  </div>;
}

// moneyOf are the facts of a record: what was sent, the fee, what arrives, and what comes back, each with its unit and its account.
function moneyOf(record, address, w) {
  const { token, network, kind } = record, symbol = assetName(token.symbol), out = kind === "withdraw";
  const { sent, fee, received, refund } = sums(record);
  const amount = (units, unit) => <Amount units={units} decimals={token.decimals} unit={unit} most={token.decimals} />;
  const [source, target] = out ? [token.symbol, symbol] : [symbol, token.symbol];
  const to = out && sentOf(record.inTxHash)?.to;
  return [
    [out ? w.debited : w.sentAmount, amount(sent, source)], [w.gatewayFee, fee === 0n ? w.noFee : amount(fee, token.symbol)],
    [progress(record).kind === "good" ? w.received : w.youReceive, received !== null && amount(received, target)],
    [w.maximum, record.state === "TOT_EXCEED_THE_LIMIT" && amount(BigInt(token.maximumWithdrawAmount), symbol)],
    [record.refundState === "REFUNDED" ? w.refundedAmount : w.refundAmount, refund !== null && amount(refund, token.symbol)],
    [w.refundTo, record.refundState && (out ? <code>{address}</code> : formatMessage(w.refundSender, { chain: network.sourceName }))],
    [w.when, <Time ms={Number(record.dateTime)} />],
    [formatMessage(out ? w.sentFrom : received === null ? w.walletOf : w.arrivesOn, { chain: network.exchangeName }), <code>{address}</code>], [w.paidTo, to && <code id="paid-to">{to}</code>],
  ];
}

// RecordPage is the page of one record, by its transaction. It survives a reload, and its link can be shared.
export function RecordPage({ gateway, address, kind, hash, network, token, rate }) {
  const w = useMessages(messages), { trade } = site.use();
  const poll = usePoll(address ? async (signal) => ({ row: await gateway.find(kind, address, hash, signal) }) : null, often, [gateway, address, kind, hash]);
  const title = formatMessage(kind === "deposit" ? w.depositOf : w.withdrawalOf, { symbol: assetName(token.symbol) });
  const ends = kind === "deposit" ? [network.sourceName, network.exchangeName] : [network.exchangeName, network.sourceName];
  const copyLink = () => navigator.clipboard.writeText(location.origin + location.pathname + to(["record", kind, network.name, token.tokenId, hash], { address })).then(() => tell(w.copied), () => tell(w.cannotCopy));
  return <div class="narrow-page">
    <section class="card" id="record"><div class="row spread"><h2 class="title">{title}</h2><Button kind="plain" id="copy-link" icon="link" onClick={copyLink}>{w.copyLink}</Button></div>
      <p class="path"><ChainIcon name={ends[0]} size={20} /> {ends[0]} <Icon name="arrow" size={16} /> <ChainIcon name={ends[1]} size={20} /> {ends[1]}</p>
      {!address ? <Empty icon="info" title={w.noAddress}>{w.noAddressLead}</Empty> : <Asked poll={poll} lines={8}>{({ row }) => (row
        ? <><Progress record={row} rate={rate} more={moneyOf(row, address, w)} />
        {ended(row) && <p class="acts"><a class="button main" id="new-transfer" href={to([kind, network.name, token.tokenId], { address })}>{kind === "deposit" ? w.newDeposit : w.newWithdrawal}</a>
          {trade && kind === "deposit" && progress(row).kind === "good" && <a class="button" id="to-exchange" href={linkTo(trade) + to([], { move: token.symbol })}>{w.toExchange}</a>}</p>}</>
        : <Unseen kind={kind} hash={hash} network={network} token={token} ends={ends} />)}</Asked>}
    </section>
  </div>;
}

// Unseen is a payment that the gateway has not seen yet.
function Unseen({ kind, hash, network, token, ends }) {
  const w = useMessages(messages);
  const sent = sentOf(hash);
  const format = kind === "deposit" ? network.sourceExplorer : network.exchangeExplorer;
  const waited = sent ? (Date.now() - sent.at) / 1000 : 0;
  const usual = 600 + 10 * ((kind === "deposit" ? network.sourceBlockSeconds : network.exchangeBlockSeconds) ?? 0);
  return <div data-state="UNSEEN">
    {sent && <div class="head"><TokenIcon symbol={token.symbol} size={36} /><div><strong class="sum"><Amount units={BigInt(sent.amount)} decimals={token.decimals} unit={token.symbol} /></strong></div><State kind="run">{w.unseen}</State></div>}
    <Timeline label={w.progress} list={[
      { name: formatMessage(w.step_sent, { source: ends[0] }), kind: "done", at: sent?.at, detail: <Short text={hash} link={format ? format.replaceAll("{$tx}", encodeURIComponent(hash)) : ""} /> },
      { name: w.step_block, kind: "now", detail: w.unseenLead }, { name: formatMessage(w.step_pay, { target: ends[1] }), kind: "wait" }]} />
    {(waited > usual || !sent) && <Note kind="warn">{sent ? w.unseenLong : w.unseenOther}</Note>}
  </div>;
}
