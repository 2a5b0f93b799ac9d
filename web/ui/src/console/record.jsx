// One record's whole story, and what may be ordered of it.
import { useState } from "preact/hooks";
import { Asked, Blank, Copy, Facts, Note, Short, Table, Time, Timeline } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { messages as bridge } from "../bridge/messages.js";
import { get } from "./api.js";
import { Events } from "./events.jsx";
import { adviceOf, isDanger, orderLabel, useConsoleMessages, way } from "./labels.js";
import { chainName, chainsOf, networkOf, networks } from "./money.js";
import { Call, Chain, Depth, Heading, may, Money, Network, Reason, Standing, Tx } from "./parts.jsx";
import { RecordOrder } from "./recordorder.jsx";
import { to as linkTo, usePlace } from "./route.js";

const often = 3_000;

// clock reads the API's moments, which are UTC.
export const clock = (text) => Date.parse(text.includes("T") ? text : text.replace(" ", "T") + "Z");

export function RecordView() {
  const w = useConsoleMessages();
  const { name } = usePlace();
  const poll = usePoll((signal) => get("/records/" + encodeURIComponent(name), {}, signal), often, [name]);
  return <><Heading>{formatMessage(w.recordName, { name: name.length > 20 ? name.slice(0, 10) + "…" : name })}</Heading>
    <Asked poll={poll} empty={w.noHash}>{(list) => list.map((story) => <Story key={story.record.id} story={story} again={poll.again} />)}</Asked></>;
}

// shownAs is what a record's user reads of it, with the word that the API has for it.
function shownAs(r, language) {
  const words = bridge[language], word = words[`${r.direction === "deposit" ? "deposit" : "withdraw"}_${r.publicState}`] ?? words[r.publicState];
  return <>{word} <span class="faint small">{r.publicState}</span></>;
}

// unclear reports whether the sender's comment does not name the record's owner.
const unclear = (r) => r.fault !== "" || r.reason === "unknown_label";

function Story({ story, again }) {
  const w = useConsoleMessages();
  const { record: r } = story;
  const payments = story.payments ?? [];
  const known = networks.use();
  const refund = payments.findLast((p) => p.purpose === "refund" && p.state !== "void");
  const { to } = chainsOf(known, r), from = story.in.chain;
  return <>
    <div class="record">
      <section class="card" id="record">
        <div class="row spread"><strong class="large"><Money network={r.network} asset={r.asset} amount={r.amount} /></strong><Standing of="record" state={r.status} direction={r.direction} /></div>
        <p class="small faint"><Call of="direction" word={r.direction} /> · <Network name={r.network} /> · <Time ms={Date.parse(r.seen)} /></p>
        {story.note && unclear(r) && <Note>{story.note}</Note>}
        {r.incident && <Note kind="warn">{r.incident}</Note>}
        <Timeline label={w.progress} list={way(story.payments ? story : { ...story, payments }, to, w).map((step) => ({
          name: step.name, kind: step.kind, at: step.at && clock(step.at), detail: <Step step={step} />,
        }))} />
      </section>
      <div class="stack">
        <Actions record={r} orders={story.orders ?? []} proposed={story.proposed} advice={story.advice} commands={story.commands ?? []} again={again} />
        <section class="card"><h2>{w.details}</h2><Facts list={[
          [w.reason, r.reason && <Reason word={r.reason} />],
          [w.user, r.wallet && <Short text={r.wallet} />], [w.sender, r.from && <Short text={r.from} />], [w.cameTo, r.to && <Short text={r.to} />], [w.label, r.label],
          [w.payee, r.payee && <><code>{r.payee}</code><Copy text={r.payee} /></>], [w.net, r.token && <Money network={r.network} asset={r.token} amount={r.net} />], [w.fee, r.token && <Money network={r.network} asset={r.token} amount={r.fee} />],
          [w.inTx, <><Tx chain={from} hash={r.inTx} /> <span class="faint small">{formatMessage(w.block, { chain: chainName(known, from), height: story.in.height.toLocaleString("en") })}{w.comma}<Depth at={story.in} /></span></>], [w.outTx, r.outTx && <Tx chain={to} hash={r.outTx} />], [w.refund, refund && <><Money network={r.network} asset={refund.asset} amount={refund.amount} /> {w.toPayee} <code>{refund.payee}</code> <Copy text={refund.payee} /></>], [w.refundTx, r.refundTx && <Tx chain={from} hash={r.refundTx} />],
          [w.walletsShow, r.publicState && <>{shownAs(r, w.language)}{r.refundTx && r.publicState === "FAILED" && <div class="small">{w.walletsRefund}</div>}</>], [w.writtenOff, r.lost && <Money network={r.network} asset={r.lostAsset} amount={r.lost} />],
        ]} />{story.note && !unclear(r) && <details class="small"><summary>{w.technical}</summary><Facts list={[[w.comment, <code>{story.note}</code>]]} /></details>}</section>
      </div>
    </div>
    <section class="card" id="payments"><h2>{w.payments}</h2>
      {payments.length === 0 ? <Blank>{w.noPayments}</Blank> : payments.map((p) => <Payment key={p.id} payment={p} />)}</section>
    <section class="card" id="story"><div class="row spread"><h2>{w.whatHappened}</h2><a class="small" href={linkTo("audit", "", { record: r.id })}>{w.view_audit}</a></div>
      <Events label={w.whatHappened} own={r.id} list={(story.history ?? []).map((e) => ({ ...e, ...parts(e.what), about: aboutOf(e.what, r, payments) })).reverse()} /></section>
  </>;
}

// parts takes "payment 17 queued" apart.
function parts(what) {
  const [subject, id, ...event] = what.split(" ");
  return { subject, id, event: event.join(" ") };
}

// aboutOf is the record or the payment that a line is about.
function aboutOf(what, r, payments) {
  const { subject, id } = parts(what), p = subject === "payment" && payments.find((one) => String(one.id) === id);
  if (!p) return { record: r.id, direction: r.direction, network: r.network, asset: r.asset, amount: r.amount };
  return { record: r.id, purpose: p.purpose, network: r.network, asset: p.asset, amount: p.amount, payee: p.payee };
}

// Step is what a step of the way is known by: its transaction, its depth, a remark.
function Step({ step: { tx, depth, text } }) {
  return <>{tx?.hash && <div class="row"><span class="faint"><Chain id={tx.chain} /></span><Tx chain={tx.chain} hash={tx.hash} />{tx.depth && <Depth at={tx.depth} />}</div>}
    {depth && <div id="depth"><Depth at={depth} /></div>}{text && <div>{text}</div>}</>;
}

function Payment({ payment: p }) {
  const w = useConsoleMessages();
  const known = networks.use(), network = networkOf(known, p.chain, p.asset);
  const attempts = p.attempts ?? [];
  return <article class="payment" data-payment={p.id} aria-label={formatMessage(w.paymentName, { id: p.id })}>
    <div class="row spread"><h3><Call of="purpose" word={p.purpose} /> <span class="faint small">{formatMessage(w.paymentOn, { id: p.id, chain: chainName(known, p.chain) })}</span></h3><span><Standing of="payment" state={p.state} /> <Reason word={p.reason} /></span></div>
    <Facts list={[[w.amount, p.purpose !== "receive" && <Money network={network} asset={p.asset} amount={p.amount} />], [w.ourAccount, <Short text={p.account} />], [w.to, p.payee && <><code>{p.payee}</code> <Copy text={p.payee} /></>],
      [w.label, p.label], [w.transaction, (p.tx || p.mined) && <><Tx chain={p.chain} hash={p.tx || p.mined.tx} /> {p.mined && <span class="faint small">{formatMessage(w.blockOf, { height: p.mined.height.toLocaleString("en") })}<Depth at={p.mined} /></span>}</>],
      [w.networkFee, p.mined && p.mined.fee !== "0" && <Money network={network} asset="native" amount={p.mined.fee} />]]} />
    {attempts.length > 0 && <Table label={formatMessage(w.attempts, { id: p.id })} head={[w.signed, ">" + w.number, ">" + w.attempt, w.kind, w.hash]} rows={attempts.map((a) => ({
      key: a.hash, cells: [<Time ms={clock(a.at)} />, <span class="num">{a.number}</span>, <span class="num">{a.seq + 1}</span>, <Call of="attempt" word={a.kind} />, <Tx chain={p.chain} hash={a.hash} />],
    }))} />}
  </article>;
}

// Actions are the buttons of the orders that the record's state permits, for operators, with what fits.
function Actions({ record, orders, proposed, advice, commands, again }) {
  const w = useConsoleMessages();
  const [open, set] = useState("");
  if (orders.length === 0) return null;
  const sentence = adviceOf(w.language, "reason", advice);
  return <section class="card" id="orders"><h2>{w.youCan}</h2>
    {sentence && <p>{sentence}</p>}
    {may("operator") ? <p class="row">{orders.map((order) => <button type="button" key={order} id={"order-" + order} class={isDanger(order) ? "danger quiet" : order === proposed ? "main" : ""} onClick={() => set(order)}>{orderLabel(order, record, w)}</button>)}</p> : <Note>{w.operatorCan}</Note>}
    {commands.length > 0 && <details class="small"><summary>{w.byCommandTitle}</summary>{commands.map((command) => <p key={command}><code>{command}</code> <Copy text={command} /></p>)}</details>}
    <p class="small faint">{w.noHand}</p>
    {open && <RecordOrder key={open} id={record.id} order={open} done={() => { set(""); again(); }} cancel={() => set("")} />}
  </section>;
}
