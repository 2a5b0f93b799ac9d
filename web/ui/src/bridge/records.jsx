// What became of deposits and withdrawals: the newest one as progress, all of them as a table.
import { useState } from "preact/hooks";
import { Amount, Asked, Blank, Short, State, Steps, Time } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { depth, progress } from "./gateway.js";
import { messages } from "./messages.js";

const often = 1500; // milliseconds between questions for records
const pageSize = 10;

// Standing is a record's state as a word, with its refund where there is one.
function Standing({ record }) {
  const w = useMessages(messages);
  const { kind } = progress(record);
  return <>
    <State kind={kind}>{w[record.kind + "_" + record.state] ?? record.state}</State>
    {record.refundState && <div class="small"><State kind={record.refundState === "REFUNDED" ? "good" : "run"}>{w[record.refundState]}</State></div>}
  </>;
}

// Latest is the newest record of one kind, live. `id` names it for who looks from outside.
export function Latest({ gateway, wallet, kind, id }) {
  const w = useMessages(messages);
  const poll = usePoll((signal) => gateway.records(kind, wallet, 1, 1, signal), often, [gateway, wallet, kind]);
  return <section class="card" id={id}><h2>{kind === "deposit" ? w.recent : w.recentWithdraw}</h2>
    <Asked poll={poll}>{({ rows }) => (rows.length ? <Progress record={rows[0]} token={gateway.token} /> : <Blank>{w.none}</Blank>)}</Asked>
  </section>;
}

function Progress({ record, token }) {
  const w = useMessages(messages);
  const { at, kind } = progress(record);
  const letter = record.kind === "deposit" ? "d" : "w";
  const counting = at === 0 && kind === "run" && record.inTxConfirmationCount > 0;
  return <>
    <div class="row spread" data-state={record.state} data-tx={record.inTxHash}>
      <strong><Amount units={BigInt(record.amount)} decimals={token.decimals} unit={token.symbol} /></strong>
      <span><Standing record={record} /></span>
      <span class="faint small"><Time ms={Number(record.dateTime)} /></span>
    </div>
    <Steps at={kind === "good" ? 4 : at} failed={kind === "bad" || kind === "warn"} label={w.state} list={[0, 1, 2].map((i) => w[letter + "_step" + i]).concat(w[letter + "_done"])} />
    {counting && <p class="small faint">{formatMessage(w[depth(record)], { n: record.inTxConfirmedCount ?? 0, m: record.inTxConfirmationCount })}</p>}
    <p class="row small"><span>{w.inTx} <Short text={record.inTxHash} link={record.inLink} /></span>
      {record.outTxHash && <span>{w.outTx} <Short text={record.outTxHash} link={record.outLink} /></span>}
      {record.refundTxHash && <span>{w.refund} <Short text={record.refundTxHash} /></span>}</p>
  </>;
}

// History is all records of one kind, in pages.
export function History({ gateway, wallet }) {
  const w = useMessages(messages);
  return <div class="stack"><Table gateway={gateway} wallet={wallet} kind="deposit" title={w.deposit} /><Table gateway={gateway} wallet={wallet} kind="withdraw" title={w.withdraw} /></div>;
}

function Table({ gateway, wallet, kind, title }) {
  const w = useMessages(messages);
  const [page, turn] = useState(1);
  const poll = usePoll((signal) => gateway.records(kind, wallet, page, pageSize, signal), 2 * often, [gateway, wallet, kind, page]);
  const { decimals, symbol } = gateway.token;
  const amount = (text) => <Amount units={BigInt(text)} decimals={decimals} unit={symbol} />;
  return <section class="card" id={"history-" + kind}><h2>{title}</h2><Asked poll={poll} empty={w.none} none={(d) => d.rows.length === 0}>{({ rows, total }) => <>
    <div class="scroll" tabIndex={0} role="region" aria-label={title}><table>
      <thead><tr><th>{w.when}</th><th class="right">{w.sendAmount}</th><th class="right">{w.feeColumn}</th><th>{w.state}</th><th>{w.inTx}</th><th>{w.outTx}</th></tr></thead>
      <tbody>{rows.map((r) => <tr key={r.inTxHash + r.dateTime}>
        <td><Time ms={Number(r.dateTime)} /></td><td class="right">{amount(r.amount)}</td><td class="right">{amount(r.fee)}</td><td><Standing record={r} /></td>
        <td><Short text={r.inTxHash} link={r.inLink} /></td><td>{r.outTxHash && <Short text={r.outTxHash} link={r.outLink} />}{r.refundTxHash && <Short text={r.refundTxHash} />}</td>
      </tr>)}</tbody>
    </table></div>
    {total > pageSize && <div class="row spread"><button type="button" aria-disabled={page === 1} onClick={() => page > 1 && turn(page - 1)}>{w.newer}</button>
      <span class="small faint">{formatMessage(w.page, { n: page, m: Math.ceil(total / pageSize) })}</span>
      <button type="button" aria-disabled={page * pageSize >= total} onClick={() => page * pageSize < total && turn(page + 1)}>{w.older}</button></div>}
  </>}</Asked></section>;
}
