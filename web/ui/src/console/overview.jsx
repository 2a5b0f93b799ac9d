// Whether money moves, how much and how fast, what needs attention, and how long it goes on like this.
import { useMemo } from "preact/hooks";
import { Ago, Asked, lasted, Meter, Moment, Note, Segmented, Short, Stat, State, Table } from "../base/components.jsx";
import { cut, grouped, plain } from "../base/amount.js";
import { formatMessage } from "../base/messages.js";
import { Plot } from "../base/plot.jsx";
import { usePoll } from "../base/use.js";
import { get } from "./api.js";
import { channelState, codeLabel, useConsoleMessages } from "./labels.js";
import { assetOf, chainName, networkName, networks } from "./money.js";
import { Call, Chain, Heading, Health, Live, may, Money, Network, Standing, Unknown, useOutdated } from "./parts.jsx";
import { dust, go, to, usePlace } from "./route.js";

const often = 5_000;

export function Overview({ attention }) {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/overview", {}, signal), often, []);
  return <><Heading>{w.view_overview}</Heading><Live poll={poll} lines={8}>{(o, since) => <>
    <Figures o={o} silent={poll.error !== null && poll.error.code === undefined} since={since} attention={attention} />
    {o.state === "degraded" && <BlockedTokens o={o} />}
    {o.conditions.length > 0 && <Conditions list={o.conditions} chains={o.chains ?? []} />}
    {o.dust > 0 && <Note><div class="row spread" id="dust"><span>{formatMessage(w.dust, { n: o.dust < 100 ? o.dust : "100+" })}</span><a class="button" href={to("records", "", dust)}>{w.show}</a></div></Note>}
    <Charts />
    <Channels list={o.channels} conditions={o.conditions} halted={haltedNetworks(o.chains ?? [])} />
    {o.coverage.length > 0 && <Coverage list={o.coverage} />}
    <Chains list={o.chains ?? []} />
    {o.limits.length > 0 && <section class="card"><h2>{w.signerLimits}</h2><LimitTable list={o.limits} /></section>}
  </>}</Live></>;
}

// Conditions names what stands against normal, where and since when; Needs attention has what to do.
function Conditions({ list, chains }) {
  const w = useConsoleMessages();
  const stops = list.some((c) => c.stops);
  const kinds = [...new Set(list.map((c) => c.kind))];
  return <Note kind={stops ? "bad" : "warn"}><div class="row spread" id="conditions"><span class="row">{kinds.map((k) => <span class="row tight" key={k}><State kind={list.some((c) => c.kind === k && c.stops) ? "bad" : "warn"}>
    <span data-condition={k}><Call of="condition" word={k} /></span></State><WhereAndSince list={list.filter((c) => c.kind === k)} chains={chains} /></span>)}</span><a class="button" href={to("attention")}>{w.view_attention}</a></div></Note>;
}

// WhereAndSince names the chains of conditions of one kind, when the first began, and the blocks that a halted chain has unread.
function WhereAndSince({ list, chains }) {
  const w = useConsoleMessages();
  const known = networks.use(), ids = [...new Set(list.map((c) => c.chain).filter(Boolean))];
  const since = Math.min(...list.filter((c) => c.since).map((c) => Date.parse(c.since)));
  const unread = list[0].kind === "chain_halted" ? chains.filter((c) => ids.includes(c.chain)).reduce((n, c) => n + behind(c), 0) : 0;
  const [before, after] = w.sinceAt.split("{at}");
  const parts = [ids.map((id) => chainName(known, id)).join(", "), Number.isFinite(since) && <>{before}<Moment ms={since} />{after}</>, unread > 0 && formatMessage(w.unread, { n: grouped(String(unread)) })].filter(Boolean);
  return <span class="small">{parts.map((part, i) => <>{i > 0 && " · "}{part}</>)}</span>;
}

// Coverage compares holdings and debts of each token, by the last balance sheets. A sheet that may be wrong about the present has no verdict.
function Coverage({ list }) {
  const w = useConsoleMessages();
  const symbol = (c) => networks.get().flatMap((n) => n.tokens).find((t) => t.token === c.token && t.network === c.network)?.symbol ?? c.token;
  const verdict = (c) => (c.state === "covered" ? <Health kind="good">{w.covered}</Health>
    : c.state === "missing" ? <State kind="bad">{w.missing} <Money network={c.network} asset={c.asset} amount={String(BigInt(c.owed) - BigInt(c.held))} /></State> : <State kind="wait">{w["coverage_" + c.state]}</State>);
  return <section class="card" id="coverage"><h2>{w.coverage}</h2><p class="small faint">{w.coverageLead}</p>
    <Table label={w.coverage} head={[w.token, w.state, ">" + w.owed, ">" + w.held, ">" + w.height, ">" + w.compared]} rows={list.map((c) => {
      const name = <><strong>{symbol(c)}</strong> <span class="faint"><Network name={c.network} /></span></>, state = <span data-coverage={c.state}>{verdict(c)}</span>;
      const figures = c.state === "uncompared" ? Array(4).fill(none) : [<Money network={c.network} asset={c.asset} amount={c.owed} />, <Money network={c.network} asset={c.asset} amount={c.held} />, <Height n={c.height} />, <Ago ms={Date.parse(c.at)} />];
      return { key: c.network + c.token, cells: [name, state, ...figures] };
    })} />
  </section>;
}

const none = <span class="faint">–</span>;

// haltedNetworks are the networks with a halted chain: the nodes of it may be wrong about balances.
const haltedNetworks = (chains) => networks.get().filter((n) => chains.some((c) => c.state === "halted" && [n.source, n.exchange].includes(c.chain))).map((n) => n.name);

// spans are the lengths of time of the charts, in hours.
const spans = ["1", "24", "168"];

function Charts() {
  const w = useConsoleMessages();
  const { query } = usePlace();
  const hours = spans.includes(query.hours) ? query.hours : "24";
  const poll = usePoll((signal) => get("/series", { hours }, signal), 30_000, [hours]);
  return <section class="card" id="charts" aria-label={w.charts}>
    <div class="row spread"><h2>{w.charts}</h2><Segmented label={w.span} list={spans.map((id) => ({ id, name: w["span_" + id] }))} now={hours} choose={(id) => go("overview", "", { ...query, hours: id }, { replace: true })} /></div>
    <Asked poll={poll} lines={8}>{(s) => <Plots s={s} chosen={query.flow} choose={(flow) => go("overview", "", { ...query, flow }, { replace: true })} />}</Asked></section>;
}

// pointsOf are the values of each step. A step without one is on the time axis, too.
const pointsOf = (s, values) => values.map((value, i) => ({ time: Date.parse(s.from) / 1000 + i * s.step, ...(value === null || value === undefined ? {} : { value }) }));

const flowName = (f) => f.network + " " + f.token;

function Plots({ s, chosen, choose }) {
  const w = useConsoleMessages();
  const list = networks.use();
  const { count, pairs, amounts, times, unit } = useMemo(() => drawn(s, chosen, list, w), [s, chosen, list, w.language]);
  const step = w["step_of_" + s.step];
  const tokens = <select class="pair" aria-label={w.token} value={chosen ?? pairs[0]?.id} onChange={(e) => choose(e.currentTarget.value)}>{pairs.map((p) => <option key={p.id} value={p.id}>{p.name}</option>)}</select>;
  const figure = (v) => grouped(String(Math.round(Math.abs(v) * 1e6) / 1e6));
  return <>
    {Date.parse(s.since) > Date.parse(s.from) && <p class="small faint">{w.seriesCut} <Ago ms={Date.parse(s.since)} /></p>}
    <div class="plots">
      <Plot label={formatMessage(w.chartCount, { step })} series={count} least={1} format={(v) => figure(v)} />
      <Plot label={pairs.length > 1 ? <>{tokens} {step}</> : formatMessage(w.chartAmount, { step, unit })} series={amounts} format={(v) => figure(v)} />
      <Plot label={w.chartLatency} least={0.1} series={times} format={(v) => (v < 10 ? (Math.round(v * 10) / 10).toFixed(1) + w.seconds : lasted(v, w.language))} />
    </div>
    <p class="small faint">{w.chartsLead}</p></>;
}

// drawn are the series of the charts: deposits upwards, withdrawals downwards.
function drawn(s, chosen, list, w) {
  const sum = (direction) => Array.from({ length: s.steps }, (_, i) => s.flows.filter((f) => f.direction === direction).reduce((n, f) => n + f.count[i], 0));
  const both = (values) => [
    { name: w.deposits, kind: "bars", colour: "accent", points: pointsOf(s, values("deposit")) }, { name: w.withdrawals, kind: "bars", colour: "warn", points: pointsOf(s, values("withdrawal").map((v) => -v)) },
  ];
  const several = new Set(s.flows.map((f) => f.network)).size > 1;
  const pairs = [...new Map(s.flows.map((f) => [flowName(f), { id: flowName(f), name: f.symbol + (several ? " · " + networkName(list, f.network) : "") }])).values()];
  const now = pairs.some((p) => p.id === chosen) ? chosen : pairs[0]?.id;
  const of = s.flows.filter((f) => flowName(f) === now);
  const amounts = (direction) => {
    const f = of.find((one) => one.direction === direction), known = f && assetOf(list, f.network, f.asset);
    return Array.from({ length: s.steps }, (_, i) => (f && known ? Number(cut(plain(BigInt(f.amount[i]), known.decimals), 8)) : 0));
  };
  const times = s.latency.map((l) => ({ name: l.direction === "deposit" ? w.deposits : w.withdrawals, kind: "line", colour: l.direction === "deposit" ? "accent" : "warn", points: pointsOf(s, l.median) }));
  return { count: both(sum), pairs, amounts: both(amounts), times, unit: of[0]?.symbol ?? "" };
}

// runwayOf is the time for which a balance lasts, in words. Without a number it does not decrease.
export const runwayOf = (hours, w) => (hours === undefined || hours === null || hours > 24 * 365 ? w.overAYear : lasted(hours * 3600, w.language));

// payments are the states of payments, as the headline of the server has them: how each is shown, and its words.
const payments = { flowing: ["good", "flowing"], idle: ["good", "idle"], degraded: ["warn", "degraded"], blocked: ["bad", "blocked"], unknown: ["bad", "unknown"] };

// Tile is one figure, or unknown since its answer is too old.
const Tile = ({ since, ...figure }) => (since ? <Stat name={figure.name} value={<span class="faint">–</span>} detail={<Unknown since={since} />} /> : <Stat {...figure} />);

function Figures({ o, silent, since, attention }) {
  const w = useConsoleMessages();
  const [kind, word] = payments[silent || since ? "unknown" : o.state];
  const channels = o.channels ?? [];
  const rate = channels.reduce((sum, c) => sum + c.perMinute, 0);
  const oldest = channels.filter((c) => c.oldest).sort((x, y) => Date.parse(x.oldest) - Date.parse(y.oldest))[0];
  const doubt = haltedNetworks(o.chains ?? []), sure = channels.filter((c) => !doubt.includes(c.network));
  const shortest = sure.map((c) => c.runwayHours).filter((h) => h !== undefined).sort((x, y) => x - y)[0];
  const waiting = channels.reduce((sum, c) => sum + c.waiting, 0);
  const a = attention.data, needs = a ? a.total + a.conditions.length : 0, unasked = useOutdated(attention);
  return <section class="card stats" aria-label={w.glance}>
    <Stat name={w.money} kind={kind} value={<span id="headline" title={silent ? w.silentDaemon : o.headline}>{w[word]}</span>} detail={since ? <Unknown since={since} /> : formatMessage(w.waitingNow, { n: waiting })} />
    <Tile since={unasked} name={w.view_attention} kind={needs ? "warn" : silent ? "" : "good"} value={<a href={to("attention")} id="needs-you">{a && !silent ? (needs ? grouped(String(needs)) : w.nothing) : "–"}</a>}
      detail={needs > 0 && formatMessage(w.needsOf, { records: a.total, conditions: a.conditions.length })} />
    <Tile since={since} name={w.aMinute} value={rate.toFixed(1)} detail={w.lastTenMinutes} />
    <Tile since={since} name={w.oldest} kind={oldest && Date.now() - Date.parse(oldest.oldest) > late ? "warn" : ""} value={oldest ? <Oldest channel={oldest} /> : <span class="faint">{w.nothing}</span>}
      detail={oldest?.oldestRecord && formatMessage(w.recordName, { name: oldest.oldestRecord })} />
    <Tile since={since} name={w.shortest} kind={runwayKind(shortest)} value={doubt.length > 0 && sure.length === 0 ? none : <span title={w.runwayHint}>{runwayOf(shortest, w)}</span>} detail={doubt.length > 0 && w.coverage_halted} />
  </section>;
}

// Oldest is the age of a channel's oldest pending payment, with a link to its record.
function Oldest({ channel: { oldest, oldestRecord: id } }) {
  const age = <Ago ms={Date.parse(oldest)} />;
  return id ? <a href={to("records", id)} data-oldest={id}>{age}</a> : age;
}

// late is the age of a pending payment, in milliseconds, from which it is shown as late; the daemon's own condition comes later.
const late = 10 * 60_000;

// runwayKind warns below a day, and more below six hours.
const runwayKind = (hours) => (hours === undefined || hours === null || hours >= 24 ? "" : hours < 6 ? "bad" : "warn");

// BlockedTokens lists the tokens whose payments are blocked while all others are possible.
function BlockedTokens({ o }) {
  const w = useConsoleMessages();
  return <section class="card" id="blocked"><h2>{w.blockedTokens}</h2><p>{formatMessage(w.othersFlow, { n: o.blocked.length, m: new Set((o.channels ?? []).map((c) => c.network + " " + c.token)).size })}</p>
    <Table label={w.blockedTokens} head={[w.network, w.token, w.channel, w.why]} rows={o.blocked.map((b) => ({
      key: b.network + b.token, cells: [<Network name={b.network} />, <strong>{b.symbol}</strong>, <>{b.directions.map((d) => <span key={d}><Call of="direction" word={d} /> </span>)}</>, <>{b.reasons.map((k) => <span key={k}><Call of="condition" word={k} /> </span>)}</>],
    }))} />
  </section>;
}

// behind is the number of blocks that a chain has unread.
const behind = (c) => (c.head > c.read ? c.head - c.read : 0);

function Chains({ list }) {
  const w = useConsoleMessages();
  return <section class="card" id="chains"><h2>{w.chains}</h2>
    <Table label={w.chains} head={[w.chain, w.state, ">" + w.read, ">" + w.final, ">" + w.newestOfNodes, ">" + w.behind, ">" + w.age, w.nodes]} rows={list.map((c) => ({
      key: c.chain, cells: [<strong><Chain id={c.chain} /></strong>, <Standing of="chain" state={c.state} since={c.since && Date.parse(c.since)} />, <Height n={c.read} />, <Height n={c.final} />, c.fault ? <State kind="bad">{c.fault}</State> : <Height n={c.head} />,
        <Height n={behind(c)} />, c.headTime ? <Ago ms={Date.parse(c.headTime)} /> : "–", <a href={to("nodes")}><Health kind={c.state !== "halted" && c.nodesUp === c.nodes ? "good" : "warn"}>{formatMessage(c.state === "halted" ? w.nodesInDoubt : w.of, { n: c.nodesUp, m: c.nodes })}</Health></a>],
    }))} />
  </section>;
}

const Height = ({ n }) => <span class="num">{n.toLocaleString("en")}</span>;

// unlisted returns the part of a channel's reasons that no condition contains.
const unlisted = (why, conditions) => conditions.reduce((left, c) => left.replace(c.detail, ""), why ?? "").split("; ").filter(Boolean).join("; ");

// closed reports whether an operator has set a channel to another state than open.
const closed = (conditions, c) => conditions.some((o) => o.kind === "channel_closed" && o.network === c.network && o.token === c.token && o.direction === c.direction);

function Channels({ list, conditions, halted }) {
  const w = useConsoleMessages();
  const several = networks.use().length > 1;
  return <section class="card" id="flows"><div class="row spread"><h2>{w.balancesAndRunway}</h2>{may("operator") && <a class="button" href={to("channels")}>{w.pauseAll}</a>}</div>
    <Table label={w.balancesAndRunway} head={[w.channel, w.state, ">" + w.holds, ">" + w.runway, ">" + w.pending, ">" + w.waiting, ">" + w.lastDay, ">" + w.perMinute]} rows={(list ?? []).map((c) => ({
      key: c.network + c.token + c.direction, cells: [<><strong>{c.symbol}</strong> <span class="faint"><Call of="direction" word={c.direction} /></span>{several && <div class="small faint"><Network name={c.network} /></div>}</>,
        <><Standing of="channel" state={channelState(c.state, closed(conditions, c))} />{c.state !== "OPEN" && unlisted(c.why, conditions) && <div class="small wrap">{unlisted(c.why, conditions)}</div>}</>, <Money network={c.network} asset={c.asset} amount={c.holds} />, halted.includes(c.network) ? <span data-runway="halted"><State kind="wait">{w.coverage_halted}</State></span> : <Runway hours={c.runwayHours} />,
        <Money network={c.network} asset={c.asset} amount={c.pending} />, <><span class="num">{c.waiting}</span>{c.oldest && <> <span class="faint small">{w.sinceAgo.split("{ago}")[0]}<Oldest channel={c} /></span></>}</>,
        <><Money network={c.network} asset={c.asset} amount={c.dayOut} /><div class="faint small">{formatMessage(w.inPayments, { n: c.dayPayments })}</div></>,
        <span class="num">{c.perMinute.toFixed(1)}{c.possiblePerMinute !== undefined && <span class="faint"> {formatMessage(w.of, { n: "", m: grouped(String(c.possiblePerMinute)) }).trim()}</span>}</span>],
    }))} />
  </section>;
}

// Runway shows the time for which a balance lasts: the bar is full at a week.
function Runway({ hours }) {
  const w = useConsoleMessages();
  const kind = runwayKind(hours) || "good";
  const full = hours === undefined || hours === null ? 100 : Math.min(100, (hours / 168) * 100);
  return <span class="runway" title={w.runwayHint}><svg class={kind} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="4" class="all" /><rect width={full} height="4" /></svg><span class="num">{runwayOf(hours, w)}</span></span>;
}

// ofLimit names the network, the chain and the token of a limit, each name once.
const ofLimit = (known, { network, chain, token }) => [...new Set([network && networkName(known, network), chain && chainName(known, chain)]), token && (known.flatMap((n) => n.tokens).find((t) => t.token === token)?.symbol ?? token)].filter(Boolean).join(" · ");

// LimitTable shows the use of the signer's limits.
export function LimitTable({ list }) {
  const w = useConsoleMessages();
  const known = networks.use();
  return <Table label={w.limits} head={[w.limit, w.ofWhat, w.used]} rows={list.map((l, i) => ({
    key: i, cells: [<strong><Call of="window" word={l.window} /></strong>, <>{ofLimit(known, l)}{l.user && <> <Short text={l.user} /></>}</>,
      <Meter ratio={l.ratio}>{formatMessage(w.of, { n: l.used.replace(/^[\d.]+/, grouped), m: l.limit.replace(/^[\d.]+/, grouped) })}</Meter>],
  }))} />;
}
