// Maintenance: blocks that are read again, and the configuration.
import { useEffect, useRef, useState } from "preact/hooks";
import { Asked, Facts, Note, Short, State, Table, Time, trouble, WithCode } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { get, post } from "./api.js";
import { Actor } from "./events.jsx";
import { chainName, networkOf, networks } from "./money.js";
import { Call, Chain, Complete, Heading, may, Money, Order, Tx } from "./parts.jsx";
import { to } from "./route.js";
import { useConsoleMessages } from "./labels.js";

export function Maintenance() {
  const w = useConsoleMessages();
  return <><Heading>{w.view_maintenance}</Heading><p class="faint">{w.upkeepLead}</p>
    {may("operator") && <Rescan />}
    <Configuration /></>;
}

// readAll has a range read, as much in each request as there is time for. `progress` gets what is known so far, `end` ends it between two requests.
async function readAll(chain, order, progress, end) {
  const all = { chain, forgotten: 0, list: [] };
  for (let from = order.from; from && !end.aborted;) {
    const part = await post(`/chains/${encodeURIComponent(chain)}/rescan`, { ...order, from });
    all.from ??= part.from;
    all.to = part.next ? part.next - 1 : part.to;
    all.forgotten += part.forgotten;
    all.list = [...all.list, ...part.differences];
    order = { ...order, to: part.to }; // the newest of the first look, not of each
    from = part.next;
    progress({ ...all, whole: !from });
  }
}

function Rescan() {
  const w = useConsoleMessages();
  const known = networks.use(), chains = [...new Set(known.flatMap((n) => [n.source, n.exchange]))];
  const [values, set] = useState({ chain: chains[0] ?? "", from: "", to: "" }), [fault, setFault] = useState(""), [found, tellFound] = useState(null), [busy, setBusy] = useState(false), [booking, book] = useState(null); // booking is the range
  const running = useRef(null);
  useEffect(() => () => running.current?.abort(), []);
  const entered = (name) => (e) => set({ ...values, [name]: e.currentTarget.value });
  const number = (text) => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : null);
  const read = async (order) => {
    const end = running.current = new AbortController();
    setBusy(true);
    setFault("");
    tellFound(null);
    try {
      await readAll(values.chain, order, (part) => end.signal.aborted || tellFound(part), end.signal);
    } finally {
      setBusy(false);
    }
  };
  const range = () => {
    const from = number(values.from), until = values.to.trim() === "" ? undefined : number(values.to);
    return from === null || until === null ? null : { from, to: until };
  };
  const look = (e) => {
    e.preventDefault();
    if (busy) return;
    const order = range();
    if (!order) return setFault(w.numberWanted);
    read(order).catch((error) => setFault(trouble(error, w)));
  };
  return <section class="card" id="rescan"><h2>{w.rescan}</h2><p class="small">{w.rescanLead}</p>
    <form class="search shown" onSubmit={look} aria-label={w.rescan}>
      <div class="wide-field"><label for="rescan-chain">{w.chain}</label><select id="rescan-chain" value={values.chain} onChange={entered("chain")}>{chains.map((c) => <option key={c} value={c}>{chainName(known, c)}</option>)}</select></div>
      <div><label for="rescan-from">{w.fromBlock}</label><input id="rescan-from" inputMode="numeric" autocomplete="off" value={values.from} onInput={entered("from")} /></div>
      <div><label for="rescan-to">{w.toBlock}</label><input id="rescan-to" inputMode="numeric" autocomplete="off" placeholder={w.toNewest} value={values.to} onInput={entered("to")} /></div>
      <p class="row"><button class="main" id="rescan-look" aria-disabled={busy}>{busy ? w.reading : w.look}</button>
        {busy && <button type="button" onClick={() => running.current.abort()}>{w.stopLooking}</button>}</p></form>
    {fault && <Note kind="bad" live><WithCode>{fault}</WithCode></Note>}
    {found && <Found found={found} busy={busy} book={() => book({ from: found.from, to: found.to, list: found.list.filter((d) => d.mends && !d.booked) })} />}
    {booking && <Order title={w.book} lead={w.bookLead} action={w.book} facts={[[w.chain, <Chain id={values.chain} />], [w.blocks, `${booking.from.toLocaleString("en")} – ${booking.to.toLocaleString("en")}`]]} act={({ why }) => read({ from: booking.from, to: booking.to, book: true, why })} done={() => book(null)} cancel={() => book(null)}>
      <Bookable chain={values.chain} list={booking.list} /></Order>}
  </section>;
}

// shownBookable bounds the entries that the dialog lists.
const shownBookable = 50;

// Bookable lists the entries that will be booked, each with its user, and whether the daemon pays it afterwards.
function Bookable({ chain, list }) {
  const w = useConsoleMessages();
  const known = networks.use();
  return <div id="bookable">{list.slice(0, shownBookable).map((d, i) => <Facts key={i} list={[
    [w.height, <BlockOf row={d} />], [w.amount, <strong><Moved known={known} chain={chain} row={d} /></strong>], [w.user, d.user && <Complete text={d.user} />], [w.afterBooking, <After row={d} />]]} />)}
    {list.length > shownBookable && <p class="small">{formatMessage(w.more, { n: list.length - shownBookable })}</p>}</div>;
}

// BlockOf shows the block of a difference, and whether it is final.
function BlockOf({ row: d }) {
  const w = useConsoleMessages();
  return <><span class="num">{d.height.toLocaleString("en")}</span> <span class="small faint">{d.final ? w.isFinal : w.notFinal}</span></>;
}

const Moved = ({ known, chain, row: d }) => d.asset && <Money network={networkOf(known, chain, d.asset)} asset={d.asset} amount={d.amount} />;

// After shows whether the daemon pays a missing transfer after it is booked.
function After({ row: d }) {
  const w = useConsoleMessages();
  if (d.kind !== "missing_transfer") return <span class="small">{w.paysNothing}</span>;
  return <span class="small" data-pays={d.pays}>{d.pays ? w.paysAfter : <>{w.paysNothing} {d.reason && <Call of="reason" word={d.reason} />}</>}</span>;
}

// Found is how blocks and records differ.
function Found({ found, busy, book }) {
  const w = useConsoleMessages();
  const known = networks.use();
  const state = (d) => (d.booked ? <State kind={{ done: "good", open: "wait", failed: "bad" }[d.booked] ?? "wait"}><span data-booked={d.booked}>{w["booked_" + d.booked]}</span></State> : d.mends ? <State kind="warn">{w.mends}</State> : "–");
  const bookable = found.list.filter((d) => d.mends && !d.booked).length;
  const n = (height) => height.toLocaleString("en");
  return <div id="found" role="status">
    <p class="small">{found.whole || !busy ? formatMessage(w.readAll, { chain: chainName(known, found.chain), from: n(found.from), to: n(found.to) }) : formatMessage(w.readUpTo, { height: n(found.to) })}</p>
    {found.forgotten > 0 && <p class="small faint">{formatMessage(w.forgotten, { n: n(found.forgotten) })}</p>}
    {found.list.length === 0 ? !busy && <Note kind="good">{formatMessage(w.missNothing, { from: n(found.from), to: n(found.to) })}</Note>
      : <Table label={w.differences} head={[">" + w.height, w.what, ">" + w.amount, w.user, w.transaction, w.bookedState]} rows={found.list.map((d, i) => ({
        key: i, cells: [<BlockOf row={d} />, <><strong data-difference={d.kind}><Call of="difference" word={d.kind} /></strong>{d.record && <> <a href={to("records", d.record)}>{formatMessage(w.recordName, { name: d.record })}</a></>}</>, <Moved known={known} chain={found.chain} row={d} />, d.user && <Short text={d.user} />,
          <><Tx chain={found.chain} hash={d.tx} />{d.from && <div class="small">{w.from} <Short text={d.from} /></div>}{d.to && <div class="small">{w.to} <Short text={d.to} /></div>}</>, <>{state(d)}{d.mends && !d.booked && <div class="wrap"><After row={d} /></div>}{d.detail && <span class="wrap small">{d.detail}</span>}</>],
      }))} />}
    {!busy && bookable > 0 && <p class="after"><button type="button" id="rescan-book" onClick={book}>{formatMessage(w.bookN, { n: n(bookable) })}</button></p>}
    {!busy && found.list.length > 0 && !found.list.some((d) => d.mends) && <Note><WithCode>{w.noMend}</WithCode></Note>}
  </div>;
}

function Configuration() {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/configuration", {}, signal), 10_000, []);
  const [ordering, order] = useState(false), [done, set] = useState(null);
  const reload = async ({ why }) => set(await post("/configuration/reload", { why }));
  return <section class="card" id="configuration"><h2>{w.configuration}</h2>
    <Asked poll={poll} empty={w.notRead}>{([last]) => <Facts list={[
      [w.file, <code>{last.file}</code>], [w.lastRead, <Time ms={Date.parse(last.at)} />], [w.orderedBy, last.actor && <Actor name={last.actor} />],
      [w.waitRestart, (last.restart ?? []).length > 0 && last.restart.map((key, i) => <>{i > 0 && ", "}<code>{key}</code></>)]]} />}</Asked>
    {done && <Reloaded answer={done} />}
    {may("operator") && <p class="after"><button type="button" id="reload" onClick={() => { set(null); order(true); }}>{w.reload}</button></p>}
    {ordering && <Order title={w.reload} lead={w.reloadLead} action={w.reload} act={reload} done={() => { order(false); poll.again(); }} cancel={() => order(false)} />}
  </section>;
}

// Setting is a value of the configuration; an amount of a token also in whole units.
function Setting({ name, value }) {
  const [, network, symbol] = /^networks\.([^.]+)\.tokens\.(.+)\.(?:min_deposit|min_withdraw|max_withdraw|hot_min|hot_max)$/.exec(name) ?? [];
  const token = networks.use().find((n) => n.name === network)?.tokens.find((t) => t.symbol === symbol)?.token;
  if (!token || !/^\d+$/.test(value)) return <span class="wrap">{value || "–"}</span>;
  return <><Money network={network} asset={token} amount={value} /> <span class="faint small num">({value})</span></>;
}

// Reloaded is what came of an order to read it again.
function Reloaded({ answer: a }) {
  const w = useConsoleMessages();
  if (a.state === "open") return <Note kind="warn" live>{w.reloadOpen}</Note>;
  if (a.refused) return <Note kind="bad" live><span data-reload="refused">{formatMessage(w.reloadRefused, { why: a.refused })}</span></Note>;
  if (a.taken.length + a.restart.length === 0) return <Note live><span data-reload="same">{w.nothingChanged}</span></Note>;
  return <div class="after" data-reload="taken" role="status">{a.taken.length > 0 && <><h3>{w.taken}</h3><Table label={w.taken} head={[w.key, w.was, w.now]} rows={a.taken.map((c) => ({
    key: c.key, cells: [<code>{c.key}</code>, <Setting name={c.key} value={c.was} />, <Setting name={c.key} value={c.now} />],
  }))} /></>}{a.more > 0 && <p class="small">{formatMessage(w.more, { n: a.more })}</p>}</div>;
}
