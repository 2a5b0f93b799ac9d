// One record's whole story, and what may be ordered of it.
import { useState } from "preact/hooks";
import { Asked, Blank, Facts, Note, Short, State, Steps, Table, Time } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { get, post } from "./api.js";
import { chainsOf, networkOf, networks } from "./money.js";
import { Heading, may, Money, Order, Reason, Standing, Tx } from "./parts.jsx";
import { route } from "./route.js";
import { orders, ordersFor, plainly, purposes, stateOf, steps } from "./words.js";

const often = 3_000;

// clock reads the API's moments, which are UTC.
export const clock = (text) => Date.parse(text.includes("T") ? text : text.replace(" ", "T") + "Z");

export function RecordView() {
  const { name } = route.use();
  const poll = usePoll((signal) => get("/records/" + encodeURIComponent(name), {}, signal), often, [name]);
  return <><Heading>Record {name.length > 20 ? name.slice(0, 10) + "…" : name}</Heading>
    <Asked poll={poll} empty="No record has this hash.">{(list) => list.map((story) => <Story key={story.record.id} story={story} again={poll.again} />)}</Asked></>;
}

function Story({ story, again }) {
  const { record: r } = story;
  const payments = story.payments ?? [];
  const { to } = chainsOf(networks.use(), r), from = story.in.chain;
  const way = steps(r, payments);
  return <>
    <section class="card" id="record">
      <div class="row spread"><strong class="large"><Money network={r.network} asset={r.asset} amount={r.amount} /></strong><Standing of="record" state={stateOf(r)} /></div>
      <Steps list={way.list} at={way.at} failed={way.failed} label="Progress" />
      {!story.in.final && <p class="small faint" id="depth"><Depth at={story.in} /></p>}
      {story.note && <Note>{story.note}</Note>}
      {r.incident && <Note kind="warn">{r.incident}</Note>}
      <Facts list={[
        ["Direction", r.direction], ["Network", r.network], ["Seen", <Time ms={Date.parse(r.seen)} />], ["Reason", r.reason && <Reason word={r.reason} />],
        ["User", r.wallet && <Short text={r.wallet} />], ["From", r.from && <Short text={r.from} />], ["Came to", r.to && <Short text={r.to} />], ["Label", r.label],
        ["Paid to", r.payee && <Short text={r.payee} />], ["Net", r.token && <Money network={r.network} asset={r.token} amount={r.net} />], ["Fee", r.token && <Money network={r.network} asset={r.token} amount={r.fee} />],
        ["In", <><Tx chain={from} hash={r.inTx} /> <span class="faint small">on {from}, block {story.in.height.toLocaleString("en")}, <Depth at={story.in} /></span></>], ["Out", r.outTx && <Tx chain={to} hash={r.outTx} />], ["Refund", r.refundTx && <Tx chain={from} hash={r.refundTx} />],
        ["What wallets show", r.publicState && plainly(r.publicState.toLowerCase())], ["Written off", r.lost && <Money network={r.network} asset={r.lostAsset} amount={r.lost} />],
      ]} />
    </section>
    <Orders record={r} payments={payments} advice={story.advice} again={again} />
    <section class="card" id="payments"><h2>Payments</h2>
      {payments.length === 0 ? <Blank>Nothing is paid for it yet.</Blank> : payments.map((p) => <Payment key={p.id} payment={p} />)}</section>
    <History list={story.history ?? []} />
  </>;
}

// Depth is how deep a transaction stands in its chain, and how deep it has to.
const Depth = ({ at }) => <span class="num">{at.confirmations.toLocaleString("en")}{at.wanted > 0 && ` of ${at.wanted.toLocaleString("en")}`} {at.confirmations === 1 && !at.wanted ? "confirmation" : "confirmations"}{at.final ? ", final" : ""}</span>;

function Payment({ payment: p }) {
  const network = networkOf(networks.use(), p.chain, p.asset);
  const attempts = p.attempts ?? [];
  return <article class="payment" data-payment={p.id} aria-label={"Payment " + p.id}>
    <div class="row spread"><h3>{purposes[p.purpose] ?? p.purpose} <span class="faint small">payment {p.id} on {p.chain}</span></h3><span><Standing of="payment" state={p.state} /> <Reason word={p.reason} /></span></div>
    <Facts list={[["Amount", p.purpose !== "receive" && <Money network={network} asset={p.asset} amount={p.amount} />], ["From our account", <Short text={p.account} />], ["To", p.payee && <Short text={p.payee} />],
      ["Label", p.label], ["Transaction", (p.tx || p.mined) && <><Tx chain={p.chain} hash={p.tx || p.mined.tx} /> {p.mined && <span class="faint small">block {p.mined.height.toLocaleString("en")}, <Depth at={p.mined} /></span>}</>]]} />
    {attempts.length > 0 && <Table label={"Attempts of payment " + p.id} head={["Signed", ">Number", ">Attempt", "Kind", "Hash"]} rows={attempts.map((a) => ({
      key: a.hash, cells: [<Time ms={clock(a.at)} />, <span class="num">{a.number}</span>, <span class="num">{a.seq}</span>, a.kind, <Tx chain={p.chain} hash={a.hash} />],
    }))} />}
  </article>;
}

function History({ list }) {
  return <section class="card" id="story"><h2>What happened</h2>
    <Table label="What happened" head={["When", "Who", "What", "Detail"]} rows={list.map((e, i) => ({
      key: i, cells: [<Time ms={clock(e.at)} />, e.actor, e.what, e.detail && <span class="wrap long">{e.detail}</span>],
    }))} /></section>;
}

// fields are what an order asks besides the reason.
const fields = {
  wallet: { name: "to", label: "User's address" },
  address: { name: "to", label: "Address (empty: back to the sender)" },
  hash: { name: "hash", label: "Hash of the transaction" },
};

const trimmed = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value.trim()]));

// Orders are the buttons that may fit, for who has the role.
function Orders({ record, payments, advice, again }) {
  const [open, set] = useState("");
  const fitting = ordersFor(record, payments);
  if (fitting.length === 0) return null;
  if (!may("operator")) return <Note>{advice ? <>An operator is needed: {advice}.</> : "An operator can act on this record."}</Note>;
  const order = orders[open];
  return <section class="card" id="orders"><h2>What you can do</h2>
    {advice && <p class="small faint">By command: {advice}.</p>}
    {order ? <Order key={open} title={order.name + ": record " + record.id} lead={order.lead} action={order.name} danger={open === "write-off" || open === "reject"}
      fields={order.to ? [{ ...fields[order.to], class: "code" }] : []} act={(values) => post(`/records/${record.id}/${open}`, trimmed(values))} done={() => { set(""); again(); }} cancel={() => set("")} />
      : <p class="row">{fitting.map((name) => <button type="button" key={name} id={"order-" + name} onClick={() => set(name)}>{orders[name].name}</button>)}</p>}
    <p class="small faint"><State kind="wait">No button pays by hand: each order makes the daemon decide and pay by its rules.</State></p>
  </section>;
}
