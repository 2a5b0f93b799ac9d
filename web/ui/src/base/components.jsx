// What all pages are made of. Each component shows one kind of thing, the same everywhere.
import { render } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { encode } from "uqr";
import { shown } from "./amount.js";
import { base } from "./http.js";
import { remembered, store } from "./store.js";
import { loadSite, site } from "./use.js";
import { language, useMessages } from "./messages.js";
import "./style.css";

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

// Ago is how long ago a moment was; hovering shows it in UTC.
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

// Copy puts a text onto the clipboard and says so.
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
    : <button type="button" class="plain" onClick={copy} aria-label={w.copy + " " + (what || middle(text))} title={w.copy}><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M5.5 5.5h8v8h-8zM10.5 5V2.5h-8v8H5" fill="none" stroke="currentColor" stroke-width="1.4" /></svg></button>;
}

// Whole is a text that somebody has to take elsewhere: all of it, with a button that copies it.
export function Whole({ text, what, id }) {
  return <div class="joined"><div class="whole" id={id} tabIndex={0} role="textbox" aria-readonly="true" aria-label={what}>{text}</div><Copy text={text} what={what} wide /></div>;
}

// shapes tell states apart without colour.
const shapes = {
  wait: <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" stroke-width="2" stroke-dasharray="3 3" />,
  run: <path d="M8 2a6 6 0 1 1-6 6" fill="none" stroke="currentColor" stroke-width="2.5" />,
  good: <path d="M2.5 8.5l3.5 4 7.5-9" fill="none" stroke="currentColor" stroke-width="2.5" />,
  warn: <path d="M8 1.5 15 14H1z M8 6v4 M8 11.5v1.2" fill="none" stroke="currentColor" stroke-width="1.6" />,
  bad: <path d="M3 3l10 10M13 3L3 13" fill="none" stroke="currentColor" stroke-width="2.5" />,
};

// State is how something stands: a word with a colour and a shape. Kinds: wait, run, good, warn, bad.
export function State({ kind, children }) {
  return <span class={"state " + kind}><svg viewBox="0 0 16 16" aria-hidden="true">{shapes[kind]}</svg>{children}</span>;
}

// Steps is progress: what is done, what is going on, what failed, what comes. `at` is the index of the step that is going on.
export function Steps({ list, at, failed = false, label }) {
  return <ol class="steps" aria-label={label}>{list.map((step, i) => {
    const kind = i < at ? "done" : i > at ? "" : failed ? "failed" : "now";
    return <li key={i} class={kind} aria-current={i === at ? "step" : undefined}>{step}</li>;
  })}</ol>;
}

// Note is a remark of one kind: plain, good, warn, bad.
export function Note({ kind = "", live, children }) {
  return <div class={"note " + kind} role={live ? "status" : undefined}>{children}</div>;
}

// Blank stands where there is nothing yet.
export const Blank = ({ children }) => <p class="blank">{children}</p>;

// Loading stands where something is on its way.
export function Loading() {
  const w = useMessages();
  return <p class="blank" role="status"><State kind="run">{w.loading}</State></p>;
}

// trouble is an error in words for people.
export function trouble(error, w) {
  if (error.name === "Error" && error.code === undefined && !error.message) return w.broken;
  return error.code === undefined ? w.offline : error.message || w.broken;
}

// Fault says that something could not be had, and offers to try again.
export function Fault({ error, again }) {
  const w = useMessages();
  return <div class="note bad" role="alert"><div class="row spread"><span>{trouble(error, w)}</span>
    {again && <button type="button" onClick={again}>{w.again}</button>}</div></div>;
}

// Asked shows what usePoll has: that it loads, failed, is empty, or the thing itself with a remark while newer answers fail.
export function Asked({ poll, empty, none = (data) => data.length === 0, children }) {
  if (poll.data === null) return poll.error ? <Fault error={poll.error} again={poll.again} /> : poll.loading ? <Loading /> : null;
  return <>
    {poll.error && <Fault error={poll.error} again={poll.again} />}
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

// Meter is how much of something is used: a bar, and the words that say so. Nearly all of it is a warning.
export function Meter({ ratio, children }) {
  const kind = ratio >= 1 ? "bad" : ratio >= 0.9 ? "warn" : "good";
  return <div class="meter"><svg class={kind} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="4" class="all" /><rect width={Math.min(100, ratio * 100)} height="4" /></svg>
    <span class="num">{children}</span></div>;
}

// Tabs lets choose one of several views; arrow keys move.
export function Tabs({ list, now, choose, label }) {
  const move = (e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const next = list[(list.findIndex((t) => t.id === now) + step + list.length) % list.length];
    choose(next.id);
    e.currentTarget.querySelector(`[data-tab="${next.id}"]`)?.focus();
  };
  return <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>{list.map((t) =>
    <button type="button" key={t.id} role="tab" data-tab={t.id} aria-selected={t.id === now} tabIndex={t.id === now ? 0 : -1} onClick={() => choose(t.id)}>{t.name}</button>)}
  </div>;
}

// Field is something to fill in with a label and a hint that says what is wrong with it.
export function Field({ id, label, hint, fault, fine, children, ...input }) {
  return <div>
    <label for={id}>{label}</label>
    <div class="joined"><input id={id} autocomplete="off" spellcheck={false} aria-invalid={fault ? "true" : undefined} aria-describedby={id + "-hint"} {...input} />{children}</div>
    <p class={"hint" + (fault ? " bad" : fine ? " good" : "")} id={id + "-hint"} role={fault ? "alert" : undefined}>{fault || fine || hint}</p>
  </div>;
}

// Qr is a text for a phone's camera.
export function Qr({ text, label }) {
  const code = useMemo(() => encode(text, { ecc: "M", border: 0 }), [text]);
  const path = code.data.map((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : "")).join("")).join("");
  return <figure><svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${code.size} ${code.size}`} shape-rendering="crispEdges"><path d={path} /></svg>
    <figcaption class="small faint" aria-hidden="true">{label}</figcaption></figure>;
}

const said = store("");
let forget = null;

// tell shows a short message for a while, and has it read out.
export function tell(text) {
  said.set(text);
  clearTimeout(forget);
  forget = setTimeout(() => said.set(""), 6000);
}

const theme = remembered("theme", ["auto", "light", "dark"], "auto");

// Top is the head of every page: the pages, the language, the colours.
function Top({ active }) {
  const w = useMessages();
  const links = site.use();
  const to = (link) => (/^https?:/.test(link) ? link : base() + "/" + link);
  return <header class="top"><div>
    <a class="brand" href={base() + "/"}>gatewayd</a>
    <nav aria-label={w.pages}>{["bridge", "trade", "keys", "console"].filter((page) => links[page]).map((page) =>
      <a key={page} href={to(links[page])} aria-current={page === active ? "page" : undefined}>{w[page]}</a>)}</nav>
    <button type="button" class="plain" lang={w.language === "zh" ? "en" : "zh"} id="language" onClick={() => language.set(w.language === "zh" ? "en" : "zh")}>
      {w.language === "zh" ? "English" : "中文"}</button>
    <ThemeButton />
  </div></header>;
}

function ThemeButton() {
  const w = useMessages();
  const now = theme.use();
  useEffect(() => {
    if (now === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    dispatchEvent(new Event("themechange"));
  }, [now]);
  const next = { auto: "light", light: "dark", dark: "auto" }[now];
  return <button type="button" class="plain" id="theme" onClick={() => theme.set(next)} title={w.theme}>
    <span aria-hidden="true">{{ auto: "◐", light: "○", dark: "●" }[now]}</span> <span class="small"><span class="unseen">{w.theme}: </span>{w[now]}</span></button>;
}

// Page is the frame of a page.
function Page({ active, title, wide, children }) {
  const w = useMessages();
  const { demo } = site.use();
  useEffect(() => {
    document.documentElement.lang = w.language === "zh" ? "zh-CN" : "en";
    document.title = title(w.language);
  }, [w.language]);
  return <>
    <Top active={active} />
    <main class={wide ? "wide" : ""}>{children}</main>
    <footer>{demo && <p>{w.demo}</p>}<p><a href={base() + "/assets/licenses.txt"}>{w.sources}</a></p></footer>
    <p class="said" id="said" role="status">{said.use()}</p>
  </>;
}

// open draws a page and finds out where the others are. `title` is its name by language.
export function open(options, Content) {
  loadSite();
  render(<Page {...options}><Content /></Page>, document.getElementById("page"));
}
