// Whether money moves, what needs somebody, and how long it goes on like this.
import { useState } from "preact/hooks";
import { Ago, Asked, Blank, lasted, Meter, Short, State, Table } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { get, post } from "./api.js";
import { Call, Heading, may, Money, Order, Standing } from "./parts.jsx";
import { to } from "./route.js";
import { codeLabel, useConsoleMessages } from "./labels.js";

const often = 5_000;

export function Status() {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/overview", {}, signal), often, []);
  return <><Heading>{w.view_status}</Heading><Asked poll={poll}>{(o) => <>
    <Figures o={o} silent={poll.error !== null} />
    {o.state === "degraded" && <BlockedTokens o={o} />}
    <Conditions list={o.conditions} />
    <Chains list={o.chains ?? []} again={poll.again} />
    <Channels list={o.channels} conditions={o.conditions} />
    {o.limits.length > 0 && <section class="card"><h2>{w.signerLimits}</h2><LimitTable list={o.limits} /></section>}
  </>}</Asked></>;
}

// runwayOf is how long money lasts, in words; none is longer than anybody plans.
export const runwayOf = (hours, w) => (hours === undefined || hours === null ? w.noEnd : hours > 24 * 365 ? w.overAYear : lasted(hours * 3600, w.language));

// payments are the states of payments, as the headline of the server has them: how each is shown, and its words.
const payments = { flowing: ["good", "flowing"], idle: ["good", "idle"], degraded: ["warn", "degraded"], blocked: ["bad", "blocked"], unknown: ["bad", "unknown"] };

function Figures({ o, silent }) {
  const w = useConsoleMessages();
  const [kind, word] = payments[silent ? "unknown" : o.state];
  const channels = o.channels ?? [];
  const rate = channels.reduce((sum, c) => sum + c.perMinute, 0);
  const oldest = channels.map((c) => c.oldest).filter(Boolean).sort()[0];
  const shortest = channels.map((c) => c.runwayHours).filter((h) => h !== undefined).sort((a, b) => a - b)[0];
  return <section class="tiles" aria-label={w.glance}>
    <Tile name={w.money}><span id="headline" title={silent ? w.silentDaemon : o.headline}><State kind={kind}>{w[word]}</State></span></Tile>
    <Tile name={w.view_held}><a href={to("held")} id="needs-you">{o.needsOperator === 0 ? <State kind="good">{w.nothing}</State> : <State kind="warn">{formatMessage(o.needsOperator === 1 ? w.oneRecord : w.someRecords, { n: o.needsOperator })}</State>}</a></Tile>
    <Tile name={w.aMinute}><span class="num">{rate.toFixed(1)}</span></Tile>
    <Tile name={w.oldest}>{oldest ? <Ago ms={Date.parse(oldest)} /> : <span class="faint">{w.noneWaits}</span>}</Tile>
    <Tile name={w.shortest}><span class="num" title={w.runwayHint}>{runwayOf(shortest, w)}</span></Tile>
  </section>;
}

// BlockedTokens lists the tokens whose payments are blocked while all others are possible.
function BlockedTokens({ o }) {
  const w = useConsoleMessages();
  return <section class="card" id="blocked"><h2>{w.blockedTokens}</h2><p>{formatMessage(w.othersFlow, { n: o.blocked.length, m: new Set((o.channels ?? []).map((c) => c.network + " " + c.token)).size })}</p>
    <Table label={w.blockedTokens} head={[w.network, w.token, w.channel, w.why]} rows={o.blocked.map((b) => ({
      key: b.network + b.token, cells: [b.network, <strong>{b.symbol}</strong>, <>{b.directions.map((d) => <span key={d}><Call of="direction" word={d} /> </span>)}</>, <>{b.reasons.map((k) => <span key={k}><Call of="condition" word={k} /> </span>)}</>],
    }))} />
  </section>;
}

const Tile = ({ name, children }) => <div class="card tile"><h2>{name}</h2><div>{children}</div></div>;

function Conditions({ list }) {
  const w = useConsoleMessages();
  const where = (c) => [c.chain, c.network, c.direction && codeLabel(w.language, "direction", c.direction)].filter(Boolean).join(" ");
  return <section class="card" id="conditions"><h2>{w.conditions}</h2>
    {list.length === 0 ? <Blank>{w.allWell}</Blank>
      : <Table label={w.conditions} head={[w.what, w.where, w.meaning, w.since]} rows={list.map((c, i) => ({
        key: c.kind + where(c) + (c.subject ?? "") + i,
        cells: [<State kind={c.stops ? "bad" : "warn"}><span data-condition={c.kind}><Call of="condition" word={c.kind} /></span></State>, <>{where(c)} {c.subject && <Short text={c.subject} />}</>, <span class="wrap">{c.detail}</span>,
          c.since ? <Ago ms={Date.parse(c.since)} /> : "–"],
      }))} />}
  </section>;
}

function Chains({ list, again }) {
  const w = useConsoleMessages();
  const [resumed, set] = useState(""); // a chain
  const behind = (c) => (c.head > c.read ? c.head - c.read : 0);
  return <section class="card" id="chains"><h2>{w.chains}</h2>
    <Table label={w.chains} head={[w.chain, w.state, ">" + w.read, ">" + w.final, ">" + w.newestOfNodes, ">" + w.behind, ">" + w.age, w.nodes]} rows={list.map((c) => ({
      key: c.chain, cells: [<strong>{c.chain}</strong>, <Standing of="chain" state={c.state} />, <Height n={c.read} />, <Height n={c.final} />, c.fault ? <State kind="bad">{c.fault}</State> : <Height n={c.head} />,
        <Height n={behind(c)} />, c.headTime ? <Ago ms={Date.parse(c.headTime)} /> : "–", <a href={to("nodes")}><State kind={c.nodesUp === c.nodes ? "good" : "warn"}>{formatMessage(w.of, { n: c.nodesUp, m: c.nodes })}</State></a>],
    }))} />
    {may("operator") && !resumed && list.filter((c) => c.state === "halted").map((c) => <p key={c.chain} class="after"><button type="button" onClick={() => set(c.chain)}>{formatMessage(w.resumeChain, { chain: c.chain })}</button></p>)}
    {resumed && <Order title={formatMessage(w.resumeChain, { chain: resumed })} action={w.resume} lead={w.resumeChainLead} act={({ why }) => post(`/chains/${resumed}/resume`, { why })} done={() => { set(""); again(); }} cancel={() => set("")} />}
  </section>;
}

const Height = ({ n }) => <span class="num">{n.toLocaleString("en")}</span>;

// notTold is the part of a channel's reasons that no condition tells already.
const notTold = (why, conditions) => conditions.reduce((left, c) => left.replace(c.detail, ""), why ?? "").split("; ").filter(Boolean).join("; ");

function Channels({ list, conditions }) {
  const w = useConsoleMessages();
  return <section class="card" id="flows"><h2>{w.channels}</h2>
    <Table label={w.channels} head={[w.channel, w.state, ">" + w.holds, ">" + w.pending, ">" + w.waiting, ">" + w.lastDay, ">" + w.perMinute, ">" + w.runway]} rows={(list ?? []).map((c) => ({
      key: c.network + c.token + c.direction, cells: [<><strong>{c.symbol}</strong> <span class="faint"><Call of="direction" word={c.direction} /></span></>,
        <><Standing of="channel" state={c.state} />{notTold(c.why, conditions) && <div class="small wrap">{notTold(c.why, conditions)}</div>}</>, <Money network={c.network} asset={c.asset} amount={c.holds} />,
        <Money network={c.network} asset={c.asset} amount={c.pending} />, <><span class="num">{c.waiting}</span>{c.oldest && <> <span class="faint small">{w.sinceAgo.split("{ago}")[0]}<Ago ms={Date.parse(c.oldest)} /></span></>}</>,
        <><Money network={c.network} asset={c.asset} amount={c.dayOut} /> <span class="faint small">{formatMessage(w.inPayments, { n: c.dayPayments })}</span></>,
        <span class="num">{c.perMinute.toFixed(1)}{c.possiblePerMinute !== undefined && <span class="faint"> {formatMessage(w.of, { n: "", m: c.possiblePerMinute }).trim()}</span>}</span>, <span class="num" title={w.runwayHint}>{runwayOf(c.runwayHours, w)}</span>],
    }))} />
  </section>;
}

// LimitTable is how much of the signer's limits is used.
export function LimitTable({ list }) {
  const w = useConsoleMessages();
  return <Table label={w.limits} head={[w.limit, w.ofWhat, w.used]} rows={list.map((l, i) => ({
    key: i, cells: [<strong><Call of="window" word={l.window} /></strong>, <>{[l.network, l.chain, l.token].filter(Boolean).join(" ")}{l.user && <> <Short text={l.user} /></>}</>,
      <Meter ratio={l.ratio}>{formatMessage(w.of, { n: l.used, m: l.limit })}</Meter>],
  }))} />;
}
