// The reference of the listener's API: REST operations, drawn by Scalar, and the topics of the WebSocket.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Asked, Fault, open, Skeleton, Tabs } from "../base/components.jsx";
import { ask, base } from "../base/http.js";
import { useMessages } from "../base/messages.js";
import { go, useRoute } from "../base/route.js";
import { site, usePoll } from "../base/use.js";
import { exchangeValues, fits, gatewayValues, withSigning } from "./document.js";
import { Sockets } from "./live.jsx";
import { messages } from "./messages.js";
import "./docs.css";

// load reads the description. Without values of this service, its examples stay.
async function load() {
  const doc = await ask(base() + "/openapi.json");
  let values = {};
  try {
    values = doc["x-asyncapi"] ? exchangeValues((await ask(base() + "/api/v2/markets")).data ?? []) : gatewayValues(await ask(base() + "/networks.json"));
  } catch { /* the server is busy */ }
  return fits(doc, base(), values);
}

// useDark reports whether the page is dark.
function useDark() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const read = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const [dark, set] = useState(read);
  useEffect(() => {
    const look = () => set(read());
    addEventListener("themechange", look);
    system.addEventListener("change", look);
    look();
    return () => {
      removeEventListener("themechange", look);
      system.removeEventListener("change", look);
    };
  }, []);
  return dark;
}

// yieldStyles puts our styles into a cascade layer, so that those of the library come before them. It does so once.
function yieldStyles() {
  if (document.getElementById("layers")) return;
  const style = Object.assign(document.createElement("style"), { id: "layers" });
  const links = [...document.querySelectorAll('link[rel="stylesheet"]')];
  style.textContent = links.map((link) => `@import url("${link.href}") layer(base);`).join("");
  style.onload = () => links.forEach((link) => { link.disabled = true; });
  document.head.append(style);
}

function Reference({ doc }) {
  const w = useMessages(messages);
  const { language } = w, dark = useDark();
  const signing = useMemo(() => withSigning(doc, w.privately), [doc, language]);
  const place = useRef(null), shown = useRef(null);
  const [state, set] = useState("loading");
  useEffect(() => {
    let gone = false;
    yieldStyles();
    globalThis.__zod_globalConfig = { jitless: true }; // a library of the reference would try to make functions of text, which the policy forbids
    import("./scalar.js").then(({ draw }) => {
      if (gone) return;
      shown.current = draw(place.current, { doc: signing, dark, language });
      set("shown");
    }).catch(() => set("failed"));
    return () => {
      gone = true;
      shown.current?.end();
      shown.current = null;
    };
  }, [doc, language]);
  useEffect(() => shown.current?.change({ doc: signing, dark, language }), [dark]);
  return <>
    {state === "loading" && <Skeleton lines={8} />}
    {state === "failed" && <Fault error={{ code: 0, message: w.away }} />}
    <div class="reference" ref={place} />
  </>;
}

// otherOf is the reference of the other API, which is on another listener: [name, URL].
function otherOf({ bridge = "", trade = "", keys = "" }) {
  const exchange = [trade, keys].find((link) => /^https?:/.test(link));
  if (exchange) return ["exchange", new URL("docs", exchange).href];
  return /^https?:/.test(bridge) ? ["gateway", new URL("docs", bridge).href] : null;
}

function Docs() {
  const w = useMessages(messages);
  const { path } = useRoute();
  const doc = usePoll(load, 0, []);
  const other = otherOf(site.use());
  const sockets = doc.data?.["x-asyncapi"];
  const view = sockets && path[0] === "websocket" ? "websocket" : "rest";
  const files = ["openapi.json", "openapi-3.0.json", ...(sockets ? ["asyncapi.json", "exchange.proto"] : [])];
  return <>
    <div class="row spread"><div><h1>{w.title}</h1><p class="faint">{w.lead}{w.inEnglish && <> {w.inEnglish}</>}</p></div>
      <p class="small row" id="files"><span class="faint">{w.forPrograms}:</span>{files.map((file) => <a key={file} href={base() + "/" + file}>{file}</a>)}
        {other && <a href={other[1]}>{w["other_" + other[0]]}</a>}</p></div>
    {sockets && <Tabs label={w.views} now={view} choose={(id) => go(id === "rest" ? [] : [id])} list={[{ id: "rest", name: w.rest }, { id: "websocket", name: w.websocket }]} />}
    {view === "websocket" ? <Sockets /> : <Asked poll={doc} lines={8}>{(found) => <Reference doc={found} />}</Asked>}
  </>;
}

open({ active: "reference", wide: true, title: (lang) => messages[lang].title }, Docs);
