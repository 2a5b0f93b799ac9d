// One record's whole story, and what may be ordered of it.
import { useState } from "preact/hooks";
import { Asked, Blank, Facts, Note, Short, State, Steps, Table, Time } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { messages as bridge } from "../bridge/messages.js";
import { get, post } from "./api.js";
import { chainsOf, networkOf, networks } from "./money.js";
import { Call, Heading, may, Money, Order, Reason, Standing, Told, Tx } from "./parts.jsx";
import { route } from "./route.js";
import { asks, boxesOf, steps, useConsoleMessages } from "./labels.js";

const often = 3_000;

// clock reads the API's moments, which are UTC.
export const clock = (text) => Date.parse(text.includes("T") ? text : text.replace(" ", "T") + "Z");

export function RecordView() {
  const w = useConsoleMessages();
  const { name } = route.use();
  const poll = usePoll((signal) => get("/records/" + encodeURIComponent(name), {}, signal), often, [name]);
  return <><Heading>{formatMessage(w.recordName, { name: name.length > 20 ? name.slice(0, 10) + "…" : name })}</Heading>
    <Asked poll={poll} empty={w.noHash}>{(list) => list.map((story) => <Story key={story.record.id} story={story} again={poll.again} />)}</Asked></>;
}

// shownAs is what a record's user reads of it, with the word that the API has for it.
function shownAs(r, language) {
  const words = bridge[language], word = words[`${r.direction === "deposit" ? "deposit" : "withdraw"}_${r.publicState}`] ?? words[r.publicState];
  return <>{word} <span class="faint small">{r.publicState}</span></>;
}

function Story({ story, again }) {
  const w = useConsoleMessages();
  const { record: r } = story;
  const payments = story.payments ?? [];
  const { to } = chainsOf(networks.use(), r), from = story.in.chain;
  const way = steps(r, payments, w);
  return <>
    <section class="card" id="record">
      <div class="row spread"><strong class="large"><Money network={r.network} asset={r.asset} amount={r.amount} /></strong><Standing of="record" state={r.status} /></div>
      <Steps list={way.list} at={way.at} failed={way.failed} label={w.progress} />
      {!story.in.final && <p class="small faint" id="depth"><Depth at={story.in} /></p>}
      {story.note && <Note>{story.note}</Note>}
      {r.incident && <Note kind="warn">{r.incident}</Note>}
      <Facts list={[
        [w.direction, <Call of="direction" word={r.direction} />], [w.network, r.network], [w.seen, <Time ms={Date.parse(r.seen)} />], [w.reason, r.reason && <Reason word={r.reason} />],
        [w.user, r.wallet && <Short text={r.wallet} />], [w.from, r.from && <Short text={r.from} />], [w.cameTo, r.to && <Short text={r.to} />], [w.label, r.label],
        [w.paidTo, r.payee && <Short text={r.payee} />], [w.net, r.token && <Money network={r.network} asset={r.token} amount={r.net} />], [w.fee, r.token && <Money network={r.network} asset={r.token} amount={r.fee} />],
        [w.in, <><Tx chain={from} hash={r.inTx} /> <span class="faint small">{formatMessage(w.block, { chain: from, height: story.in.height.toLocaleString("en") })}, <Depth at={story.in} /></span></>], [w.out, r.outTx && <Tx chain={to} hash={r.outTx} />], [w.refund, r.refundTx && <Tx chain={from} hash={r.refundTx} />],
        [w.walletsShow, r.publicState && shownAs(r, w.language)], [w.writtenOff, r.lost && <Money network={r.network} asset={r.lostAsset} amount={r.lost} />],
      ]} />
    </section>
    <Orders record={r} orders={story.orders ?? []} payments={payments} advice={story.advice} again={again} />
    <section class="card" id="payments"><h2>{w.payments}</h2>
      {payments.length === 0 ? <Blank>{w.noPayments}</Blank> : payments.map((p) => <Payment key={p.id} payment={p} />)}</section>
    <History list={story.history ?? []} />
  </>;
}

// Depth is how deep a transaction stands in its chain, and how deep it has to.
function Depth({ at }) {
  const w = useConsoleMessages();
  const n = at.confirmations.toLocaleString("en");
  const what = at.wanted > 0 ? formatMessage(w.confirmationsOf, { n, m: at.wanted.toLocaleString("en") }) : formatMessage(at.confirmations === 1 ? w.confirmation : w.confirmations, { n });
  return <span class="num">{at.final ? formatMessage(w.andFinal, { what }) : what}</span>;
}

function Payment({ payment: p }) {
  const w = useConsoleMessages();
  const network = networkOf(networks.use(), p.chain, p.asset);
  const attempts = p.attempts ?? [];
  return <article class="payment" data-payment={p.id} aria-label={formatMessage(w.paymentName, { id: p.id })}>
    <div class="row spread"><h3><Call of="purpose" word={p.purpose} /> <span class="faint small">{formatMessage(w.paymentOn, { id: p.id, chain: p.chain })}</span></h3><span><Standing of="payment" state={p.state} /> <Reason word={p.reason} /></span></div>
    <Facts list={[[w.amount, p.purpose !== "receive" && <Money network={network} asset={p.asset} amount={p.amount} />], [w.ourAccount, <Short text={p.account} />], [w.to, p.payee && <Short text={p.payee} />],
      [w.label, p.label], [w.transaction, (p.tx || p.mined) && <><Tx chain={p.chain} hash={p.tx || p.mined.tx} /> {p.mined && <span class="faint small">{formatMessage(w.blockOf, { height: p.mined.height.toLocaleString("en") })}<Depth at={p.mined} /></span>}</>]]} />
    {attempts.length > 0 && <Table label={formatMessage(w.attempts, { id: p.id })} head={[w.signed, ">" + w.number, ">" + w.attempt, w.kind, w.hash]} rows={attempts.map((a) => ({
      key: a.hash, cells: [<Time ms={clock(a.at)} />, <span class="num">{a.number}</span>, <span class="num">{a.seq}</span>, <Call of="attempt" word={a.kind} />, <Tx chain={p.chain} hash={a.hash} />],
    }))} />}
  </article>;
}

function History({ list }) {
  const w = useConsoleMessages();
  return <section class="card" id="story"><h2>{w.whatHappened}</h2>
    <Table label={w.whatHappened} head={[w.when, w.who, w.what, w.detail]} rows={list.map((e, i) => ({
      key: i, cells: [<Time ms={clock(e.at)} />, e.actor, e.what, e.detail && <span class="wrap long">{e.detail}</span>],
    }))} /></section>;
}

// fields are what an order asks besides the reason.
const fields = (name, w) => (asks[name] ? [{ name: asks[name] === "hash" ? "hash" : "to", label: w["field_" + asks[name]], class: "code" }] : []);

const trimmed = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === "string" ? value.trim() : value]));

// Orders are the buttons of the orders that the record's state permits, for operators.
function Orders({ record, orders, payments, advice, again }) {
  const w = useConsoleMessages();
  const [open, set] = useState("");
  if (orders.length === 0) return null;
  if (!may("operator")) return <Note>{advice ? <Told>{formatMessage(w.operatorNeeded, { advice })}</Told> : w.operatorCan}</Note>;
  const name = w["order_" + open];
  return <section class="card" id="orders"><h2>{w.youCan}</h2>
    {advice && <p class="small faint"><Told>{formatMessage(w.byCommand, { advice })}</Told></p>}
    {open ? <Order key={open} title={formatMessage(w.orderOf, { order: name, id: record.id })} lead={w["lead_" + open]} action={name} danger={open === "write-off" || open === "reject"}
      fields={fields(open, w)} boxes={boxesOf(open, payments).map((box) => ({ name: box, label: w["box_" + box] }))} act={(values) => post(`/records/${record.id}/${open}`, trimmed(values))} done={() => { set(""); again(); }} cancel={() => set("")} />
      : <p class="row">{orders.map((order) => <button type="button" key={order} id={"order-" + order} onClick={() => set(order)}>{w["order_" + order]}</button>)}</p>}
    <p class="small faint"><State kind="wait">{w.noHand}</State></p>
  </section>;
}
