// The operators' console: who is not signed in signs in; who is chooses a view.
import { useEffect, useRef, useState } from "preact/hooks";
import { Blank, Dialog, Fault, Note, open, Skeleton, tell, trouble } from "../base/components.jsx";
import { Icon } from "../base/icons.jsx";
import { said } from "../base/tell.js";
import { usePoll } from "../base/use.js";
import { Accounts } from "./accounts.jsx";
import { get, me, signed, signOut } from "./api.js";
import { Approvals } from "./approvals.jsx";
import { Attention } from "./attention.jsx";
import { Audit } from "./audit.jsx";
import { Channels } from "./channels.jsx";
import { codeLabel, useConsoleMessages } from "./labels.js";
import { Limits } from "./limits.jsx";
import { Maintenance } from "./maintenance.jsx";
import { messages } from "./messages.js";
import { grouped, networks } from "./money.js";
import { Nodes } from "./nodes.jsx";
import { Overview } from "./overview.jsx";
import { Profile } from "./profile.jsx";
import { RecordView } from "./record.jsx";
import { Records } from "./records.jsx";
import { go, to, usePlace } from "./route.js";
import { SignIn } from "./signin.jsx";
import { Tools, useShortcuts } from "./tools.jsx";
import "./console.css";

// views are all views with the letter that leads to each after "g".
const views = [
  { id: "overview", key: "o", icon: "overview", View: Overview },
  { id: "attention", key: "n", icon: "bell", View: Attention },
  { id: "approvals", key: "p", icon: "done", View: Approvals },
  { id: "records", key: "r", icon: "list", View: Records, One: RecordView },
  { id: "channels", key: "c", icon: "swap", View: Channels },
  { id: "accounts", key: "a", icon: "wallet", View: Accounts },
  { id: "nodes", key: "d", icon: "server", View: Nodes },
  { id: "limits", key: "l", icon: "gauge", View: Limits },
  { id: "maintenance", key: "m", icon: "wrench", View: Maintenance },
  { id: "audit", key: "h", icon: "history", View: Audit },
  { id: "profile", key: "u", icon: "user", View: Profile },
];

function Console() {
  const who = me.use();
  const before = useRef(false); // somebody was signed in
  const asked = usePoll((signal) => get("/me", {}, signal).then((found) => { signed(found); return found; }), 0, []);
  if (who) before.current = true;
  if (who) return <SignedIn who={who} />;
  if (who === null) return <SignIn ended={before.current} />;
  return asked.error ? <Fault error={asked.error} again={asked.again} /> : <Skeleton />;
}

// rest is how long nobody has to touch the page for it to ask no more: a session ends by itself, and a page that asks would keep it alive.
const rest = 20 * 60_000;

function useResting() {
  const [resting, set] = useState(false);
  useEffect(() => {
    let timer = null;
    const touched = () => {
      clearTimeout(timer);
      timer = setTimeout(() => set(true), rest);
      set(false);
    };
    const events = ["pointerdown", "pointermove", "keydown", "wheel"];
    for (const name of events) addEventListener(name, touched, { passive: true });
    touched();
    return () => {
      clearTimeout(timer);
      for (const name of events) removeEventListener(name, touched);
    };
  }, []);
  return resting;
}

function SignedIn({ who }) {
  const w = useConsoleMessages();
  const place = usePlace();
  const resting = useResting();
  const [menu, setMenu] = useState(false), [keys, setKeys] = useState(false);
  const known = usePoll((signal) => get("/tokens", {}, signal).then((list) => { networks.set(grouped(list)); return list; }), 60_000, []);
  const attention = usePoll(resting ? null : (signal) => get("/attention", {}, signal), 10_000, [resting]);
  const approvals = usePoll(resting ? null : (signal) => get("/approvals", {}, signal), 15_000, [resting]);
  useShortcuts(views, () => setKeys(true));
  useEffect(() => { if (location.hash.startsWith("#demo=")) location.replace(to("overview")); }, []);
  useEffect(() => setMenu(false), [place.view, place.name]);
  useEffect(() => said.set(""), [w.language]); // it is in the language before
  const counts = { attention: countOf(attention.data), approvals: approvals.data?.length ?? 0 };
  const stops = attention.data?.conditions.some((c) => c.stops) && "stops";
  const view = views.find((v) => v.id === place.view);
  const View = place.name ? view?.One : view?.View;
  const leave = () => signOut().then(() => go("overview"), (error) => tell(trouble(error, w)));
  return <div class="console">
    <aside class="side">
      <button type="button" class="menu-button" id="menu" aria-expanded={menu} aria-controls="views" onClick={() => setMenu(!menu)}><Icon name={menu ? "close" : "menu"} />
        <span>{view ? w["view_" + view.id] : w.title}</span>{counts.attention > 0 && <span class={"badge num " + (stops || "")}><Icon name="bell" size={12} /> {counts.attention > 99 ? "99+" : counts.attention}<span class="unseen"> {w.view_attention}</span></span>}
        {counts.approvals > 0 && <span class="badge num"><Icon name="done" size={12} /> {counts.approvals > 99 ? "99+" : counts.approvals}<span class="unseen"> {w.view_approvals}</span></span>}</button>
      <nav class={"views" + (menu ? " shown" : "")} id="views" aria-label={w.title}>{views.map((v) =>
        <a key={v.id} href={to(v.id)} aria-current={v.id === place.view ? "page" : undefined}><Icon name={v.icon} /><span>{w["view_" + v.id]}</span>{counts[v.id] > 0 && <Badge n={counts[v.id]} kind={v.id === "attention" && stops} />}</a>)}
        <span class="who small"><span><Icon name="user" size={14} /> {who.name}{w.comma}{codeLabel(w.language, "role", who.role)}</span>
          <button type="button" id="sign-out" onClick={leave}><Icon name="leave" size={16} />{w.signOut}</button></span></nav>
    </aside>
    <div class="view">
      <Tools shortcuts={() => setKeys(true)} resting={resting} />
      {resting ? <Note live>{w.resting}</Note>
        : known.data === null ? (known.error?.code !== undefined ? <Fault error={known.error} again={known.again} /> : <Skeleton />)
          : View ? <View key={place.view + place.name} attention={attention} /> : <Blank>{w.noView}</Blank>}
    </div>
    {keys && <Shortcuts close={() => setKeys(false)} />}
  </div>;
}

const countOf = (a) => (a ? a.total + a.conditions.length : 0);

// Badge is the number of things of a view that wait. Screen readers get it after the view's name.
const Badge = ({ n, kind }) => <span class={"badge num " + (kind || "")} aria-hidden="true">{n > 99 ? "99+" : n}</span>;

function Shortcuts({ close }) {
  const w = useConsoleMessages();
  return <Dialog title={w.shortcuts} close={close} id="shortcuts"><dl class="facts">
    <dt><kbd>/</kbd></dt><dd>{w.shortcutSearch}</dd><dt><kbd>?</kbd></dt><dd>{w.shortcuts}</dd>
    {views.map((v) => <><dt><kbd>g</kbd> <kbd>{v.key}</kbd></dt><dd>{w["view_" + v.id]}</dd></>)}
    <dt><kbd>Esc</kbd></dt><dd>{w.shortcutClose}</dd></dl></Dialog>;
}

open({ active: "console", title: (lang) => messages[lang].title, wide: true }, Console);
