// Records: found by what somebody knows of them.
import { useState } from "preact/hooks";
import { Asked, lasted, Pager, Short, Table, Time } from "../base/components.jsx";
import { Icon } from "../base/icons.jsx";
import { usePoll } from "../base/use.js";
import { get } from "./api.js";
import { chainsOf, networks } from "./money.js";
import { Call, Chain, Heading, Money, Reason, Standing, Tx } from "./parts.jsx";
import { dust, go, to, usePlace } from "./route.js";
import { codeLabel, useConsoleMessages } from "./labels.js";

const often = 5_000;

export function Records() {
  const w = useConsoleMessages();
  const { query } = usePlace();
  return <><Heading>{w.records}</Heading><Search key={JSON.stringify(query)} query={query} /><List query={query} empty={w.noRecord} id="records" /></>;
}

// choices are what a search can choose from; "" is all.
const choices = {
  state: ["", "seen", "pending", "sent", "done", "held", "refused", "refunding", "refunded", "orphaned"],
  direction: ["", "deposit", "withdrawal", "funding"],
  older: ["", "10", "60", "1440", "10080"], // minutes
};

function Search({ query }) {
  const w = useConsoleMessages();
  const list = networks.use();
  const [values, set] = useState(query), [open, setOpen] = useState(false);
  const n = Object.keys(query).filter((name) => name !== "before" && name !== "after").length;
  const entered = (name) => (e) => set({ ...values, [name]: e.currentTarget.value });
  const submit = (e) => {
    e.preventDefault();
    go("records", "", Object.fromEntries(Object.entries(values).filter(([name]) => name !== "before" && name !== "after")));
  };
  const Text = ({ name, label, ...more }) => <div class={more.wide ? "wide-field" : ""}><label for={"search-" + name}>{label}</label>
    <input id={"search-" + name} autocomplete="off" spellcheck={false} value={values[name] ?? ""} onInput={entered(name)} {...more} /></div>;
  const Choice = ({ name, label, options }) => <div><label for={"search-" + name}>{label}</label>
    <select id={"search-" + name} value={values[name] ?? ""} onChange={entered(name)}>{options.map(([value, text]) => <option key={value} value={value}>{text || w.all}</option>)}</select></div>;
  const tokens = [...new Set(list.flatMap((n) => n.tokens.map((t) => t.symbol)))];
  return <><button type="button" class="menu-button" id="filters" aria-expanded={open} aria-controls="filter" onClick={() => setOpen(!open)}><Icon name="search" />{w.filters}{n > 0 && ` (${n})`}</button>
  <form class={"card search" + (open ? " shown" : "")} id="filter" role="search" aria-label={w.records} onSubmit={submit}>
    {Text({ name: "hash", label: w.hashOf, class: "code", wide: true, placeholder: w.hashHint })}
    {Text({ name: "address", label: w.address, class: "code", wide: true, placeholder: w.addressHint })}
    {Text({ name: "amount", label: w.amountIn, inputMode: "decimal", placeholder: "1.5" })}
    {Choice({ name: "state", label: w.state, options: choices.state.map((s) => [s, codeLabel(w.language, "filter", s)]) })}
    {Choice({ name: "direction", label: w.direction, options: choices.direction.map((d) => [d, codeLabel(w.language, "direction", d)]) })}
    {Choice({ name: "token", label: w.token, options: ["", ...tokens].map((t) => [t, t]) })}
    {Choice({ name: "older", label: w.olderThan, options: choices.older.map((m) => [m, m && lasted(m * 60, w.language)]) })}
    {Text({ name: "from", label: w.seenFrom, type: "date" })}
    {Text({ name: "until", label: w.seenBefore, type: "date" })}
    <p class="row"><button class="main" id="search">{w.search}</button><a class="button" href={to("records")}>{w.allRecords}</a><a class="button" href={to("records", "", { unattributed: true })}>{w.onlyUnattributed}</a><a class="button" href={to("records", "", { unknownTokens: true })}>{w.unknownTokens}</a><a class="button" href={to("records", "", dust)}>{w.onlyDust}</a></p>
    {query.reason && <p class="small">{w.reason}{w.colon}<strong><Call of="reason" word={query.reason} /></strong></p>}
  </form></>;
}

function List({ query, empty, id }) {
  const poll = usePoll((signal) => get("/records", query, signal), often, [JSON.stringify(query)]);
  return <section class="card"><Asked poll={poll} empty={empty} none={(page) => page.records.length === 0}>{(page) => <>
    <RecordTable list={page.records} id={id} />
    <Turn query={query} page={page} />
  </>}</Asked></section>;
}

function Turn({ query, page }) {
  const { before, after, ...rest } = query;
  return <Pager newer={page.previous ? () => go("records", "", { ...rest, after: page.previous }) : null} older={page.next ? () => go("records", "", { ...rest, before: page.next }) : null} />;
}

// On is a transaction with its chain.
const On = ({ chain, hash }) => hash && <span class="row tight"><Chain id={chain} bare /><Tx chain={chain} hash={hash} /></span>;

export function RecordTable({ list, id }) {
  const w = useConsoleMessages();
  const known = networks.use();
  return <Table id={id} label={w.records} head={[w.record, w.seen, w.direction, ">" + w.amount, w.state, w.user, w.in, w.out]} rows={list.map((r) => {
    const { from, to: paid } = chainsOf(known, r);
    return { key: r.id, cells: [<a class="id num" href={to("records", r.id)}>{r.id}</a>, <Time ms={Date.parse(r.seen)} />, <Call of="direction" word={r.direction} />, <Money network={r.network} asset={r.asset} amount={r.amount} />,
      <><Standing of="record" state={r.status} direction={r.direction} /> {r.status !== "done" && r.reason && <div><Reason word={r.reason} /></div>}</>, r.wallet && <Short text={r.wallet} />, <On chain={from} hash={r.inTx} />, <On chain={r.refundTx ? from : paid} hash={r.refundTx || r.outTx} />] };
  })} />;
}
