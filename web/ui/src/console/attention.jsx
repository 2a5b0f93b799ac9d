// Everything on which an operator can act, in one list: the cause, what to do, and the button that does it.
import { useState } from "preact/hooks";
import { Ago, Asked, Empty, Facts, Pager, Short, State, WithCode } from "../base/components.jsx";
import { formatMessage } from "../base/messages.js";
import { usePoll } from "../base/use.js";
import { get, post } from "./api.js";
import { shortened } from "./events.jsx";
import { adviceOf, capital, codeLabel, isDanger, orderLabel, unsigned, useConsoleMessages } from "./labels.js";
import { blockLink, chainName, networkName, networks } from "./money.js";
import { Call, Complete, Heading, may, Money, Order } from "./parts.jsx";
import { RecordOrder } from "./recordorder.jsx";
import { go, to, usePlace } from "./route.js";

export function Attention({ attention: first }) {
  const w = useConsoleMessages();
  const { query: { before } } = usePlace();
  const page = usePoll(before ? (signal) => get("/attention", { before }, signal) : null, 10_000, [before]);
  const poll = before ? page : first;
  const [ordered, order] = useState(null); // { id, order } of a record, or { condition }
  const end = () => { order(null); poll.again(); first.again(); };
  return <><Heading>{w.view_attention}</Heading>
    <p class="faint">{w.attentionLead}</p>
    <section class="card flush" id="attention"><Asked poll={poll}>{(a) => (a.conditions.length + a.records.length === 0 ? <Empty icon="done" title={w.attentionNone}>{w.allWell}</Empty> : <>
      <ul class="items" aria-label={w.view_attention}>
        {!before && a.conditions.map((c) => <Condition key={keyOf(c)} condition={c} order={() => order({ condition: c })} />)}
        {a.records.map((r) => <ActionableRecord key={r.id} record={r} order={(name) => order({ id: r.id, order: name })} />)}
      </ul>
      <Pager newer={before ? () => history.back() : null} older={a.next ? () => go("attention", "", { before: a.next }) : null} /></>)}</Asked></section>
    {ordered?.condition && <ConditionOrder condition={ordered.condition} done={end} cancel={() => order(null)} />}
    {ordered?.id && <RecordOrder id={ordered.id} order={ordered.order} done={end} cancel={() => order(null)} />}</>;
}

const keyOf = (c) => [c.kind, c.chain, c.network, c.token, c.direction, c.subject].join(" ");

// Item is one thing that needs attention.
function Item({ kind, name, about, since, advice, detail, children, ...rest }) {
  const w = useConsoleMessages();
  const [before, after] = w.forTime.split("{time}");
  return <li class="item" {...rest}>
    <div><div class="row"><State kind={kind}>{name}</State><span class="about">{about}</span>{since && <span class="faint small">{before}<Ago ms={since} />{after}</span>}</div>
      {detail && <div class="small wrap">{detail}</div>}
      {advice && <p class="advice"><WithCode>{advice}</WithCode></p>}</div>
    <div class="acts">{children}</div>
  </li>;
}

// places are the views that help with a condition which has no order of its own.
const places = {
  approvals_wanted: ["approvals"], no_funds: ["accounts"], no_coin: ["accounts"], hot_below: ["accounts"], hot_above: ["accounts"], no_quota: ["accounts"], funds_unswept: ["accounts"],
  nodes_unreachable: ["nodes"], nodes_disagree: ["nodes"], nodes_stale: ["nodes"], node_faulty: ["nodes"], node_mended: ["nodes"], tracing_lost: ["nodes"], follower_stuck: ["nodes"], follower_behind: ["nodes"],
  limit_reached: ["limits"], no_limits: ["limits"], fees_too_high: ["limits"], fees_high: ["limits"], config_refused: ["maintenance"],
  payments_held: ["records", { state: "held" }], payments_listed: ["records", { state: "held" }], payments_late: ["records", { state: "pending" }],
};

// orderOf is the order that resolves a condition.
const orderOf = (c) => ({ chain_halted: "resumeChain", account_stopped: "resumeAccount", account_idle: "resumeAccount", channel_closed: "openChannel", channel_stopped: "openChannel" })[c.kind];

// symbolOf is a token's symbol.
const symbolOf = (list, c) => list.flatMap((n) => n.tokens).find((t) => t.token === c.token && t.network === c.network)?.symbol ?? "";

function Where({ condition: c }) {
  const w = useConsoleMessages();
  const list = networks.use();
  return <>{[c.chain && chainName(list, c.chain), c.network && networkName(list, c.network) !== chainName(list, c.chain) && networkName(list, c.network), symbolOf(list, c), c.direction && codeLabel(w.language, "direction", c.direction)].filter(Boolean).join(" · ")} {c.subject && <Short text={c.subject} />}</>;
}

function Condition({ condition: c, order }) {
  const w = useConsoleMessages();
  const act = orderOf(c), [view, query] = places[c.kind] ?? [];
  const text = shortened(c.detail, networks.use());
  const detail = c.halt ? <HaltedBlocks chain={c.chain} halt={c.halt} text={text} /> : w.language === "zh" ? <details><summary>{w.daemonText}</summary><span lang="en">{text}</span></details> : <span title={c.detail}>{text}</span>;
  return <Item kind={c.stops ? "bad" : "warn"} name={<span data-condition={c.kind}><Call of="condition" word={c.kind} /></span>} about={<Where condition={c} />} since={c.since && Date.parse(c.since)}
    advice={[riskOf(c, w), asCode(sentence(adviceOf(w.language, "condition", c.kind), w))].filter(Boolean).join(" ")} detail={detail}>
    {act && may("operator") && <button type="button" class={act === "openChannel" ? "main" : "warn"} onClick={order}>{formatMessage(w[act], { chain: chainName(networks.use(), c.chain) })}<span class="unseen"> {c.chain} {c.subject}</span></button>}
    {view && <a class="button" href={to(view, "", query)}>{w["view_" + view]}</a>}
  </Item>;
}

// HaltedBlocks shows the blocks of a halted chain with their complete hashes, which an operator compares elsewhere. Ours has no button that copies it: the
// dialog wants the hash that an explorer shows. A halt of an older version has our block alone.
function HaltedBlocks({ chain, halt: h, text }) {
  const w = useConsoleMessages();
  const known = networks.use(), complete = Boolean(h.theirs || h.commonHeight);
  const at = (name, height) => formatMessage(name, { height: height.toLocaleString("en") });
  const block = (height, hash) => hash && <Complete text={hash} link={blockLink(known, chain, height)} />;
  return <><Facts list={[
    [at(w.ourBlock, h.height), <code>{h.ours}</code>], [at(w.theirBlock, h.height), complete && (block(h.height, h.theirs) || w.endsBelow)],
    [at(w.commonBlock, h.commonHeight ?? 0), complete && (block(h.commonHeight, h.common) || w.belowRecords)], [w.lostRecords, h.lost > 0 && <span class="num">{h.lost}</span>],
  ]} />{complete || w.language === "zh" ? <details><summary>{w.daemonText}</summary><span lang="en">{text}</span></details> : <span>{text}</span>}</>;
}

// riskOf returns the risk of resuming an account or a chain too early, in one sentence.
const riskOf = (c, w) => (c.kind === "chain_halted" ? w.riskChain : unsigned(c.detail) ? w.riskKey : "");

// asCode marks paths of documents.
const asCode = (text) => text.replace(/docs\/[\w/-]+\.md/g, "`$&`");

// sentence begins with a capital letter and ends with a full stop.
function sentence(text, w) {
  if (!text) return "";
  const whole = capital(text);
  return /[.。]$/.test(whole) ? whole : whole + (w.language === "zh" ? "。" : ".");
}

function ConditionOrder({ condition: c, done, cancel }) {
  const w = useConsoleMessages();
  const known = networks.use();
  const act = orderOf(c), chain = chainName(known, c.chain), name = formatMessage(w[act], { chain });
  const halt = act === "resumeChain" && c.halt, height = halt && halt.height.toLocaleString("en"), link = halt && blockLink(known, c.chain, halt.height);
  const path = { resumeChain: `/chains/${c.chain}/resume`, resumeAccount: `/accounts/${c.chain}/${c.subject}/resume`, openChannel: `/channels/${c.network}/${c.token}/${c.direction}` }[act];
  const body = act === "openChannel" ? { state: "OPEN", clear: true } : {};
  return <Order title={name} lead={halt ? formatMessage(w.resumeChainLead, { height }) : w[{ resumeAccount: "resumeLead", openChannel: "channelLead_OPEN" }[act]]} action={name} risk={riskOf(c, w)}
    chain={c.chain} facts={[[w.what, <Call of="condition" word={c.kind} />], [w.where, <Where condition={c} />], [w.explorer, link && <a href={link} target="_blank" rel="noreferrer noopener">{link}</a>]]}
    fields={halt ? [{ name: "hash", label: formatMessage(w.verifiedHash, { height, chain }), required: true, maxLength: 80 }] : []}
    act={({ why, hash }) => post(path, { ...body, why, ...(halt ? { hash } : {}) })} done={done} cancel={cancel} />;
}

function ActionableRecord({ record: r, order }) {
  const w = useConsoleMessages();
  const cause = r.incident && !r.lost ? "incident" : r.cause;
  const name = cause === "incident" ? w.step_incident : <Call of="reason" word={cause || "operator"} />;
  const others = r.orders.filter((o) => o !== r.proposed && ["credit", "refund", "reject"].includes(o)).slice(0, 1);
  return <Item data-record={r.id} kind={r.state === "refused" ? "wait" : "warn"} name={name} since={Date.parse(r.seen)}
    about={<><strong><Money network={r.network} asset={r.asset} amount={r.amount} /></strong> <Call of="direction" word={r.direction} /> <a href={to("records", r.id)}>{formatMessage(w.recordName, { name: r.id })}</a>{r.wallet && <> · {w.user} <Short text={r.wallet} /></>}</>}
    advice={adviceOf(w.language, "reason", r.advice)}>
    {["approval", "unproven"].includes(cause) && <a class="button" href={to("approvals")}>{w.view_approvals}</a>}
    {may("operator") && [r.proposed, ...others].filter(Boolean).map((o) => <button type="button" key={o} class={isDanger(o) ? "danger quiet" : o === r.proposed ? "main" : ""} data-order={o} onClick={() => order(o)}>{orderLabel(o, r, w)}<span class="unseen"> {formatMessage(w.recordName, { name: r.id })}</span></button>)}
    <a class="button" href={to("records", r.id)}>{w.details}<span class="unseen"> {formatMessage(w.recordName, { name: r.id })}</span></a>
  </Item>;
}
