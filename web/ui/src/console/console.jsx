// The operators' console: who is not signed in signs in; who is chooses a view.
import { useEffect, useRef, useState } from "preact/hooks";
import { Blank, Fault, Loading, Note, open, tell, trouble } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { Accounts } from "./accounts.jsx";
import { get, me, signed, signOut } from "./api.js";
import { Approvals } from "./approvals.jsx";
import { Channels } from "./channels.jsx";
import { Limits } from "./limits.jsx";
import { Log } from "./log.jsx";
import { grouped, networks } from "./money.js";
import { Nodes } from "./nodes.jsx";
import { RecordView } from "./record.jsx";
import { Held, Records } from "./records.jsx";
import { go, route, to } from "./route.js";
import { SignIn } from "./signin.jsx";
import { Status } from "./status.jsx";
import { messages } from "./messages.js";
import { Upkeep } from "./upkeep.jsx";
import { codeLabel, useConsoleMessages } from "./labels.js";
import { You } from "./you.jsx";
import "./console.css";

const views = [
  { id: "status", View: Status },
  { id: "held", View: Held },
  { id: "approvals", View: Approvals },
  { id: "records", View: Records, One: RecordView },
  { id: "channels", View: Channels },
  { id: "accounts", View: Accounts },
  { id: "nodes", View: Nodes },
  { id: "limits", View: Limits },
  { id: "upkeep", View: Upkeep },
  { id: "log", View: Log },
  { id: "you", View: You },
];

function Console() {
  const who = me.use();
  const before = useRef(false); // somebody was signed in
  const asked = usePoll((signal) => get("/me", {}, signal).then((found) => { signed(found); return found; }), 0, []);
  if (who) before.current = true;
  if (who) return <SignedIn who={who} />;
  if (who === null) return <SignIn ended={before.current} />;
  return asked.error ? <Fault error={asked.error} again={asked.again} /> : <Loading />;
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
  const at = route.use();
  const known = usePoll((signal) => get("/tokens", {}, signal).then((list) => { networks.set(grouped(list)); return list; }), 60_000, []);
  const resting = useResting();
  useEffect(() => { if (location.hash.startsWith("#demo=")) location.replace(to("status")); }, []);
  const view = views.find((v) => v.id === at.view);
  const View = at.name ? view?.One : view?.View;
  const leave = () => signOut().then(() => go("status"), (error) => tell(trouble(error, w)));
  return <>
    <nav class="views" aria-label={w.title}>{views.map((v) => <a key={v.id} href={to(v.id)} aria-current={v.id === at.view ? "page" : undefined}>{w["view_" + v.id]}</a>)}
      <span class="who small"><span>{who.name}, {codeLabel(w.language, "role", who.role)}</span> <button type="button" id="sign-out" onClick={leave}>{w.signOut}</button></span></nav>
    {resting ? <Note live>{w.resting}</Note>
      : known.data === null ? (known.error ? <Fault error={known.error} again={known.again} /> : <Loading />)
        : View ? <View key={at.view + at.name} /> : <Blank>{w.noView}</Blank>}
  </>;
}

open({ active: "console", title: (lang) => messages[lang].title, wide: true }, Console);
