// Whether money moves, what needs somebody, and how long it goes on like this.
import { useState } from "preact/hooks";
import { Ago, Asked, Blank, lasted, Meter, Short, State, Table } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { get, post } from "./api.js";
import { Heading, may, Money, Order, Standing } from "./parts.jsx";
import { to } from "./route.js";
import { plainly } from "./words.js";

const often = 5_000;

export function Status() {
  const poll = usePoll((signal) => get("/overview", {}, signal), often, []);
  return <><Heading>Status</Heading><Asked poll={poll}>{(o) => <>
    <Figures o={o} />
    <Conditions list={o.conditions} />
    <Chains list={o.chains ?? []} again={poll.again} />
    <Channels list={o.channels} />
    {o.limits.length > 0 && <section class="card"><h2>Limits of the signer</h2><LimitTable list={o.limits} /></section>}
  </>}</Asked></>;
}

// runwayOf is how long money lasts, in words; null is longer than anybody plans.
export const runwayOf = (hours) => (hours === undefined || hours === null ? "no end" : hours > 24 * 365 ? "over a year" : lasted(hours * 3600));

function Figures({ o }) {
  const channels = o.channels ?? [];
  const rate = channels.reduce((sum, c) => sum + c.perMinute, 0);
  const oldest = channels.map((c) => c.oldest).filter(Boolean).sort()[0];
  const shortest = channels.map((c) => c.runwayHours).filter((h) => h !== undefined).sort((a, b) => a - b)[0];
  return <section class="tiles" aria-label="At a glance">
    <Tile name="Money">{o.flows ? <State kind="good">Moves</State> : <State kind="bad">Does not all move</State>}</Tile>
    <Tile name="Needs you"><a href={to("held")} id="needs-you">{o.needsOperator === 0 ? <State kind="good">Nothing</State> : <State kind="warn">{o.needsOperator} {o.needsOperator === 1 ? "record" : "records"}</State>}</a></Tile>
    <Tile name="Payments a minute"><span class="num">{rate.toFixed(1)}</span></Tile>
    <Tile name="Oldest waiting">{oldest ? <Ago ms={Date.parse(oldest)} /> : <span class="faint">none waits</span>}</Tile>
    <Tile name="Shortest runway"><span class="num">{runwayOf(shortest)}</span></Tile>
  </section>;
}

const Tile = ({ name, children }) => <div class="card tile"><h2>{name}</h2><div>{children}</div></div>;

function Conditions({ list }) {
  const where = (c) => [c.chain, c.network, c.direction].filter(Boolean).join(" ");
  return <section class="card" id="conditions"><h2>Conditions</h2>
    {list.length === 0 ? <Blank>Nothing stops money, and nothing is unusual.</Blank>
      : <Table label="Conditions" head={["What", "Where", "What it means", "Since"]} rows={list.map((c, i) => ({
        key: c.kind + where(c) + (c.subject ?? "") + i,
        cells: [<State kind={c.stops ? "bad" : "warn"}>{plainly(c.kind)}</State>, <>{where(c)} {c.subject && <Short text={c.subject} />}</>, <span class="wrap">{c.detail}</span>,
          c.since ? <Ago ms={Date.parse(c.since)} /> : "–"],
      }))} />}
  </section>;
}

function Chains({ list, again }) {
  const [resumed, set] = useState(""); // a chain
  const behind = (c) => (c.head > c.read ? c.head - c.read : 0);
  return <section class="card" id="chains"><h2>Chains</h2>
    <Table label="Chains" head={["Chain", "State", ">Read", ">Final", ">Newest of the nodes", ">Behind", ">Age", "Nodes"]} rows={list.map((c) => ({
      key: c.chain, cells: [<strong>{c.chain}</strong>, <Standing of="chain" state={c.state} />, <Height n={c.read} />, <Height n={c.final} />, c.fault ? <State kind="bad">{c.fault}</State> : <Height n={c.head} />,
        <Height n={behind(c)} />, c.headTime ? <Ago ms={Date.parse(c.headTime)} /> : "–", <a href={to("nodes")}><State kind={c.nodesUp === c.nodes ? "good" : "warn"}>{c.nodesUp} of {c.nodes}</State></a>],
    }))} />
    {may("operator") && !resumed && list.filter((c) => c.state === "halted").map((c) => <p key={c.chain} class="after"><button type="button" onClick={() => set(c.chain)}>Resume {c.chain}</button></p>)}
    {resumed && <Order title={"Resume " + resumed} action="Resume" lead="Follows it again, if its nodes agree with our final blocks." act={({ why }) => post(`/chains/${resumed}/resume`, { why })} done={() => { set(""); again(); }} cancel={() => set("")} />}
  </section>;
}

const Height = ({ n }) => <span class="num">{n.toLocaleString("en")}</span>;

function Channels({ list }) {
  return <section class="card" id="flows"><h2>Channels</h2>
    <Table label="Channels" head={["Channel", "State", ">Holds", ">Owed", ">Waiting", ">Last day", ">A minute", ">Runway"]} rows={(list ?? []).map((c) => ({
      key: c.network + c.token + c.direction, cells: [<><strong>{c.symbol}</strong> <span class="faint">{c.direction}</span></>,
        <><Standing of="channel" state={c.state} />{c.why && <div class="small wrap">{c.why}</div>}</>, <Money network={c.network} asset={c.asset} amount={c.holds} />,
        <Money network={c.network} asset={c.asset} amount={c.owed} />, <><span class="num">{c.waiting}</span>{c.oldest && <> <span class="faint small">since <Ago ms={Date.parse(c.oldest)} /></span></>}</>,
        <><Money network={c.network} asset={c.asset} amount={c.dayOut} /> <span class="faint small">in {c.dayPayments}</span></>,
        <span class="num">{c.perMinute.toFixed(1)}{c.possiblePerMinute !== undefined && <span class="faint"> of {c.possiblePerMinute}</span>}</span>, <span class="num">{runwayOf(c.runwayHours)}</span>],
    }))} />
  </section>;
}

// LimitTable is how much of the signer's limits is used.
export function LimitTable({ list }) {
  return <Table label="Limits" head={["Limit", "Of", "Used"]} rows={list.map((l, i) => ({
    key: i, cells: [<strong>{plainly(l.window)}</strong>, <>{[l.network, l.chain, l.token].filter(Boolean).join(" ")}{l.user && <> <Short text={l.user} /></>}</>,
      <Meter ratio={l.ratio}>{l.used} of {l.limit}</Meter>],
  }))} />;
}
