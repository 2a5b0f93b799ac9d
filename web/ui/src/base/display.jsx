// What pages show: amounts, times, addresses, states, progress, tables.
import { useMemo } from "preact/hooks";
import { encode } from "uqr";
import { shown } from "./amount.js";
import { Icon } from "./icons.jsx";
import { useMessages } from "./messages.js";
import { tell, trouble } from "./tell.js";

// Amount is a number of smallest units with its unit; hovering shows all its digits.
export function Amount({ units, decimals, unit, most = 8 }) {
  return <span class="num" title={shown(units, decimals) + (unit ? " " + unit : "")}>{shown(units, decimals, most)}{unit && <span class="unit">{unit}</span>}</span>;
}

const utc = (at) => at.toISOString().replace("T", " ").slice(0, 19) + " UTC";

// Time is a moment in the reader's zone; hovering shows it in UTC.
export function Time({ ms, only }) {
  const { language: lang } = useMessages();
  const at = new Date(ms);
  const style = only === "time" ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "medium" };
  return <time class="num" dateTime={at.toISOString()} title={utc(at)}>
    {new Intl.DateTimeFormat(lang === "zh" ? "zh-CN" : "en-GB", style).format(at)}
  </time>;
}

// Moment is the hour of a moment, with its day unless that is today.
export function Moment({ ms }) {
  const { language: lang } = useMessages();
  const at = new Date(ms), today = at.toDateString() === new Date().toDateString();
  return <time class="num" dateTime={at.toISOString()} title={utc(at)}>{new Intl.DateTimeFormat(lang === "zh" ? "zh-CN" : "en-GB", today ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" }).format(at)}</time>;
}

// spans are units of time, longest first, in seconds, with their names by language.
const spans = [[86_400, { en: "d", zh: "天" }], [3_600, { en: "h", zh: "小时" }], [60, { en: "min", zh: "分" }], [1, { en: "s", zh: "秒" }]];

// lasted is a length of time in its two greatest units: "3 min 12 s".
export function lasted(seconds, lang) {
  const whole = Math.max(0, Math.floor(seconds));
  const first = spans.findIndex(([size]) => whole >= size || size === 1);
  const [size, unit] = spans[first], next = spans[first + 1];
  const rest = next ? Math.floor((whole % size) / next[0]) : 0;
  return `${Math.floor(whole / size)} ${unit[lang]}` + (rest ? ` ${rest} ${next[1][lang]}` : "");
}

// Ago shows the time since a moment; hovering shows the moment in UTC.
export function Ago({ ms }) {
  const { language: lang } = useMessages();
  const at = new Date(ms);
  return <time class="num" dateTime={at.toISOString()} title={utc(at)}>{lasted((Date.now() - ms) / 1000, lang)}</time>;
}

// middle shortens a long text in its middle.
export const middle = (text, before = 10, after = 6) => (text.length > before + after + 1 ? text.slice(0, before) + "…" + text.slice(-after) : text);

// Short is an address or a hash, shortened in the middle, with a button that copies all of it, and a link to an explorer where there is one.
export function Short({ text, link, what }) {
  const w = useMessages();
  const name = <span title={text}>{middle(text)}</span>;
  return <span class="short">
    {link ? <a href={link} target="_blank" rel="noreferrer noopener" title={w.explorer}>{name}</a> : name}
    <Copy text={text} what={what} />
  </span>;
}

// Copy copies a text to the clipboard and confirms it.
export function Copy({ text, what = "", wide = false, id }) {
  const w = useMessages();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      tell(w.copied);
    } catch {
      tell(w.cannotCopy);
    }
  };
  return wide ? <button type="button" id={id} onClick={copy}>{w.copy}<span class="unseen"> {what}</span></button>
    : <button type="button" class="plain" onClick={copy} aria-label={w.copy + " " + (what || middle(text))} title={w.copy}><Icon name="copy" size={16} /></button>;
}

// Whole is a text to be used elsewhere, in full, with a button that copies it.
export function Whole({ text, what, id }) {
  return <div class="joined"><div class="whole" id={id} tabIndex={0} role="textbox" aria-readonly="true" aria-label={what}>{text}</div><Copy id={id && "copy-" + id} text={text} what={what} wide /></div>;
}

// shapes tell states apart without colour.
const shapes = {
  wait: <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="3 3" />,
  run: <path d="M8 2a6 6 0 1 1-6 6" fill="none" stroke="currentColor" stroke-width="2.5" />,
  rest: <circle cx="8" cy="8" r="4.5" fill="currentColor" />,
  good: <path d="M2.5 8.5l3.5 4 7.5-9" fill="none" stroke="currentColor" stroke-width="2.5" />,
  warn: <path d="M8 1.5 15 14H1z M8 6v4 M8 11.5v1.2" fill="none" stroke="currentColor" stroke-width="1.6" />,
  bad: <path d="M3 3l10 10M13 3L3 13" fill="none" stroke="currentColor" stroke-width="2.5" />,
};

// State shows a state: a word with a colour and a shape. Kinds: wait, run, rest, good, warn, bad.
export function State({ kind, children }) {
  return <span class={"state " + kind}><svg viewBox="0 0 16 16" aria-hidden="true">{shapes[kind]}</svg>{children}</span>;
}

// Steps shows progress: done, current, failed and coming steps. `at` is the index of the current one.
export function Steps({ list, at, failed = false, label }) {
  return <ol class="steps" aria-label={label}>{list.map((step, i) => {
    const kind = i < at ? "done" : i > at ? "" : failed ? "failed" : "now";
    return <li key={i} class={kind} aria-current={i === at ? "step" : undefined}>{step}</li>;
  })}</ol>;
}

const signs = { done: "check", now: "clock", wait: "clock", warn: "warning", bad: "close" };

// Timeline is the way of one thing: [{ name, kind, detail, at }], oldest first. Kinds: done, now, wait, warn, bad; `at` is in milliseconds.
export function Timeline({ list, label }) {
  const w = useMessages();
  return <ol class="timeline" aria-label={label}>{list.map(({ name, kind, detail, at }, i) => <li key={i} class={kind} aria-current={kind === "now" ? "step" : undefined}>
    <span class="sign" title={w["step_" + kind]}><Icon name={signs[kind]} size={14} /></span>
    <div><strong>{name}</strong><span class="unseen"> ({w["step_" + kind]})</span>{at ? <span class="small faint"> <Time ms={at} /></span> : null}{detail && <div class="small">{detail}</div>}</div></li>)}</ol>;
}

// Note is a remark of one kind: plain, good, warn, bad.
export function Note({ kind = "", live, children }) {
  return <div class={"note " + kind} role={live ? "status" : undefined}>{children}</div>;
}

// WithCode shows the parts of a text between backticks as code.
export const WithCode = ({ children }) => children.split("`").map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part));

// Blank stands where there is nothing yet.
export const Blank = ({ children }) => <p class="blank">{children}</p>;

// Skeleton keeps the place of something that is on its way, so that the page does not jump.
export function Skeleton({ lines = 3 }) {
  const w = useMessages();
  return <div class="skeleton" role="status"><span class="unseen">{w.loading}</span>{Array.from({ length: lines }, (_, i) => <i key={i} />)}</div>;
}

// Loading is shown while something small is on its way.
export function Loading() {
  const w = useMessages();
  return <p class="blank" role="status"><State kind="run">{w.loading}</State></p>;
}

// Empty is shown where there is nothing yet, with what to do about it.
export const Empty = ({ icon = "info", title, children }) => <div class="empty"><Icon name={icon} size={28} /><p><strong>{title}</strong></p>{children && <p class="faint">{children}</p>}</div>;

// Stat is one figure at a glance. Kinds: none, good, warn, bad.
export const Stat = ({ name, value, detail, kind = "" }) => <div class={"stat " + kind}><span class="label">{name}</span><strong class="num">{value}</strong>{detail && <span class="small faint">{detail}</span>}</div>;

// Fault shows an error, with a button to try again.
export function Fault({ error, again }) {
  const w = useMessages();
  return <div class="note bad" role="alert"><div class="row spread"><span>{trouble(error, w)}</span>
    {again && <button type="button" onClick={again}>{w.again}</button>}</div></div>;
}

// Asked shows the state of a usePoll: loading, failed, empty, or its data. While the server is away the frame reports it, and the last data stays.
export function Asked({ poll, empty, none = (data) => data.length === 0, lines, children }) {
  const refused = poll.error && poll.error.code !== undefined;
  if (poll.data === null) return refused ? <Fault error={poll.error} again={poll.again} /> : poll.loading || poll.error ? <Skeleton lines={lines} /> : null;
  return <>
    {refused && <Fault error={poll.error} again={poll.again} />}
    {empty && none(poll.data) ? <Blank>{empty}</Blank> : children(poll.data)}
  </>;
}

// Table shows rows of cells below the columns' names; a name that begins with ">" is of figures. On a narrow screen each row is a card of its own. What
// is wider than its place scrolls by itself.
export function Table({ label, head, rows, id }) {
  const names = head.map((name) => ({ name: name.replace(/^>/, ""), side: name.startsWith(">") ? "right" : undefined }));
  return <div class="scroll" tabIndex={0} role="region" aria-label={label}><table class="cards" id={id}>
    <thead><tr>{names.map(({ name, side }) => <th key={name} class={side}>{name}</th>)}</tr></thead>
    <tbody>{rows.map(({ key, cells }) => <tr key={key}>{cells.map((cell, i) =>
      <td key={i} class={names[i].side} data-label={names[i].name}>{cell && <div>{cell}</div>}</td>)}</tr>)}</tbody>
  </table></div>;
}

// Pager turns to newer and older rows; null is a way that does not go.
export function Pager({ newer, older }) {
  const w = useMessages();
  return (newer || older) && <div class="row spread after">
    <button type="button" aria-disabled={!newer} onClick={() => newer?.()}>{w.newer}</button>
    <button type="button" aria-disabled={!older} onClick={() => older?.()}>{w.older}</button></div>;
}

// Facts are names with their values; those without a value are left out.
export const Facts = ({ list }) => <dl class="facts">{list.filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false).map(([name, value]) =>
  <><dt>{name}</dt><dd>{value}</dd></>)}</dl>;

// Meter shows the used share of something: a bar and its words. From 90 % on it is a warning.
export function Meter({ ratio, children }) {
  const kind = ratio >= 1 ? "bad" : ratio >= 0.9 ? "warn" : "good";
  return <div class="meter"><svg class={kind} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="4" class="all" /><rect width={Math.min(100, ratio * 100)} height="4" /></svg>
    <span class="num">{children}</span></div>;
}

// Qr is a text for a phone's camera.
export function Qr({ text, label }) {
  const code = useMemo(() => encode(text, { ecc: "M", border: 0 }), [text]);
  const path = code.data.map((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : "")).join("")).join("");
  return <figure><svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${code.size} ${code.size}`} shape-rendering="crispEdges"><path d={path} /></svg>
    <figcaption class="small faint" aria-hidden="true">{label}</figcaption></figure>;
}
