// The tools above every view: the search for everything, how new the page is, and keyboard shortcuts.
import { useEffect, useRef, useState } from "preact/hooks";
import { lasted } from "../base/components.jsx";
import { Icon } from "../base/icons.jsx";
import { formatMessage } from "../base/messages.js";
import { useLater, usePoll } from "../base/use.js";
import { answered, get } from "./api.js";
import { kindsOf, useConsoleMessages } from "./labels.js";
import { Call, Money, Standing } from "./parts.jsx";
import { go, to } from "./route.js";

// typing reports whether keys go into a field or a dialog.
const typing = (at) => at.closest?.("input, textarea, select, dialog");

// useShortcuts leads to a view after "g" and its letter, to the search after "/", and shows all of them after "?".
export function useShortcuts(views, help) {
  useEffect(() => {
    let waits = null;
    const pressed = (e) => {
      if (e.ctrlKey || e.metaKey || e.altKey || typing(e.target)) return;
      const view = waits && views.find((v) => v.key === e.key);
      clearTimeout(waits);
      waits = e.key === "g" ? setTimeout(() => { waits = null; }, 1500) : null;
      if (view) go(view.id);
      else if (e.key === "/") document.getElementById("find")?.focus();
      else if (e.key === "?") help();
      else return;
      e.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => {
      clearTimeout(waits);
      removeEventListener("keydown", pressed);
    };
  }, []);
}

const most = 6;

// findAll asks for everything that a text may be: a record, a hash, an address, an amount. What is refused fits nothing.
async function findAll(text, signal) {
  const ask = (values) => get("/records", { ...values, limit: most }, signal).then((page) => page.records, (error) => (error.code === undefined ? Promise.reject(error) : []));
  const one = (name) => get("/records/" + encodeURIComponent(name), {}, signal).then((list) => list.map((s) => s.record), (error) => (error.code === undefined ? Promise.reject(error) : []));
  return Promise.all(kindsOf(text).map(async (kind) => ({ kind, list: kind === "id" ? await one(text) : await ask({ [kind]: text }) })));
}

function Search() {
  const w = useConsoleMessages();
  const [text, type] = useState(""), [shown, show] = useState(false);
  const place = useRef(null);
  const wanted = useLater(text.trim(), 250);
  const found = usePoll(wanted ? (signal) => findAll(wanted, signal) : null, 0, [wanted]);
  const groups = (found.data ?? []).filter((g) => g.list.length > 0);
  const close = () => { show(false); type(""); };
  const submit = (e) => {
    e.preventDefault();
    if (groups.length) { go("records", groups[0].list[0].id); close(); }
  };
  const keys = (e) => {
    if (e.key === "Escape") { close(); document.getElementById("find").focus(); }
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!step) return;
    e.preventDefault();
    const stops = [...place.current.querySelectorAll("input, .found a")];
    stops[Math.min(stops.length - 1, Math.max(0, stops.indexOf(document.activeElement) + step))].focus();
  };
  const left = (e) => { if (!place.current.contains(e.relatedTarget)) show(false); };
  const open = shown && wanted !== "" && wanted === text.trim() && !found.loading;
  return <form class="find" role="search" aria-label={w.findAll} ref={place} onSubmit={submit} onKeyDown={keys} onFocusOut={left}>
    <Icon name="search" /><input id="find" type="search" autocomplete="off" spellcheck={false} placeholder={w.findHint} aria-label={w.findAll} aria-describedby="find-key" value={text} onFocus={() => show(true)} onInput={(e) => { type(e.currentTarget.value); show(true); }} />
    <kbd id="find-key" title={w.shortcutSearch}>/</kbd>
    {open && <div class="found" role="status">{groups.length === 0 ? <p class="faint small">{found.error ? w.offline : kindsOf(wanted).length ? w.foundNothing : w.findWhat}</p> : groups.map((g) => <div key={g.kind}>
      <h2 class="small faint">{w["find_" + g.kind]}</h2>
      <ul>{g.list.slice(0, most - 1).map((r) => <li key={r.id}><a href={to("records", r.id)} onClick={close}><span class="num">{formatMessage(w.recordName, { name: r.id })}</span><Call of="direction" word={r.direction} /><Money network={r.network} asset={r.asset} amount={r.amount} /><Standing of="record" state={r.status} direction={r.direction} /></a></li>)}
        {g.kind !== "id" && g.list.length === most && <li><a href={to("records", "", { [g.kind]: wanted })} onClick={close}>{w.findMore}</a></li>}</ul></div>)}</div>}
  </form>;
}

// zone is the reader's time zone by its offset, in which all times are shown.
const zone = new Intl.DateTimeFormat("en", { timeZoneName: "longOffset" }).formatToParts().find((p) => p.type === "timeZoneName").value.replace("GMT", "UTC").replace("+00:00", "");

// Updated shows the time since the server's last answer, and the zone of all times.
function Updated({ resting }) {
  const w = useConsoleMessages();
  const at = answered.use();
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return <span class="updated small faint num" id="updated">{resting ? w.updatesPaused : at > 0 && formatMessage(w.updated, { ago: lasted((Date.now() - at) / 1000, w.language) })}{" · "}{formatMessage(w.timesIn, { zone })}</span>;
}

export function Tools({ shortcuts, resting }) {
  const w = useConsoleMessages();
  return <div class="tools-row"><Search /><Updated resting={resting} />
    <button type="button" class="plain keys" id="show-shortcuts" aria-label={w.shortcuts} title={w.shortcuts} onClick={shortcuts}><kbd>?</kbd></button></div>;
}
