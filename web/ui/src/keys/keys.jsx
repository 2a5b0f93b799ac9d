// The page of API keys: an account is looked up, proven by a signature, and gets a key or loses it. The secret is in this page's memory alone, until it is
// hidden.
import { useEffect, useRef, useState } from "preact/hooks";
import { Copy, Note, open, tell, Time, trouble } from "../base/components.jsx";
import { grouped, shown } from "../base/amount.js";
import { base, Refused } from "../base/http.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { isAddress } from "../base/names.js";
import { challenge, command, enough, Exchange, fault as faultOf, life, signed } from "./exchange.js";
import { messages } from "./messages.js";
import "./keys.css";

const exchange = new Exchange(base());

// useWork does one thing at a time and keeps what went wrong, beside what it is of. No button is disabled: who uses the keyboard would lose the place.
function useWork(w) {
  const [busy, setBusy] = useState(false), [fault, setFault] = useState({ of: "", text: "" });
  useEffect(() => { document.getElementById("page").setAttribute("aria-busy", String(busy)); }, [busy]);
  const during = async (of, act) => {
    if (busy) return;
    setBusy(true);
    setFault({ of: "", text: "" });
    try {
      await act();
    } catch (e) {
      setFault({ of, text: e instanceof Refused && e.code !== undefined ? faultOf(e, w) : trouble(e, w) });
    } finally {
      setBusy(false);
    }
  };
  return { during, fault, complain: (of, text) => setFault({ of, text }) };
}

// ask makes a new text to sign.
async function ask(account) {
  const seconds = await exchange.seconds(), agent = account.info.agentAddress, removal = account.info.apiKey !== null;
  return { text: challenge(agent, seconds, removal), fields: { address: account.address, agentAddress: agent, timestamp: String(seconds) }, removal, made: Date.now() };
}

function Keys() {
  const w = useMessages(messages);
  const { during, fault, complain } = useWork(w);
  const [address, setAddress] = useState(""), [account, setAccount] = useState(null), [proof, setProof] = useState(null), [issued, setIssued] = useState(null), [focus, setFocus] = useState("");
  const look = async (whose) => {
    setProof(null);
    setAccount(null);
    const found = await exchange.account(whose);
    setAccount(found);
    setProof(await ask(found));
  };
  const lookUp = (e) => {
    e.preventDefault();
    const whose = address.trim();
    if (issued) return complain("lookup", w.saveFirst);
    if (!isAddress(whose)) return complain("lookup", w.addressWrong);
    return during("lookup", () => look(whose).then(() => setFocus("found")));
  };
  const send = (pasted) => during("sign", async () => {
    if (proof.removal) await exchange.remove({ ...proof.fields, ...pasted });
    const made = proof.removal ? null : await exchange.issue({ ...proof.fields, ...pasted });
    if (made) setIssued(made);
    else tell(w.removed);
    setFocus(made ? "yours" : "found");
    await look(account.address);
  });
  useEffect(() => {
    if (!issued) return undefined;
    const stay = (e) => e.preventDefault(); // the browser asks whether to leave
    addEventListener("beforeunload", stay);
    return () => removeEventListener("beforeunload", stay);
  }, [issued]);
  useEffect(() => { // where the news are
    const at = focus && document.getElementById(focus);
    if (!at || at.closest("[hidden]")) return;
    at.focus();
    setFocus("");
  });
  return <>
    <div><h1>{w.title}</h1><p class="faint">{w.lead}</p></div>
    <div class="intro"><section class="card" aria-labelledby="whose"><h2 id="whose">{w.whose}</h2><form id="lookup" onSubmit={lookUp}>
      <label for="address">{w.address}</label>
      <div class="joined"><input id="address" class="code" autocomplete="off" autocapitalize="off" spellcheck={false} placeholder="vite_…" required aria-describedby="fault" value={address} onInput={(e) => setAddress(e.currentTarget.value)} />
        <button class="main">{w.look}</button></div>
    </form><p id="fault" class="hint bad" role="alert">{fault.of === "lookup" ? fault.text : ""}</p></section>
    <What /></div>
    <Issued made={issued} hide={() => { setIssued(null); setFocus("found"); }} />
    <Account account={account} />
    <Proof proof={issued ? null : proof} fault={fault.of === "sign" ? fault.text : ""} send={send} refuse={() => complain("sign", w.bytesWrong)} renew={() => during("sign", async () => setProof(await ask(account)))} />
  </>;
}

function What() {
  const w = useMessages(messages);
  return <section class="card" aria-labelledby="what"><h2 id="what">{w.what}</h2>
    <ol class="ways">{[w.way1, w.way2, w.way3, w.way4].map((way) => <li key={way}>{way}</li>)}</ol></section>;
}

// Issued shows a key and its secret, once.
function Issued({ made, hide }) {
  const w = useMessages(messages);
  const row = (name, id, value) => <><dt>{name}</dt><dd class="row"><code id={"new-" + id}>{value}</code> <Copy id={"copy-" + id} text={value} what={name} wide /></dd></>;
  return <section class="card strong" id="issued" aria-labelledby="yours" hidden={!made}><h2 id="yours" tabIndex={-1}>{w.yours}</h2>
    <p><strong>{w.once}</strong> {w.put}</p>
    <dl class="facts">{row(w.key, "key", made?.apiKey ?? "")}{row(w.secret, "secret", made?.apiSecret ?? "")}</dl>
    <p class="after"><button type="button" id="done" onClick={hide}>{w.done}</button></p></section>;
}

function Account({ account }) {
  const w = useMessages(messages);
  const { info, pairs, cycle } = account ?? {};
  const needs = info?.apiKey ? [pairs.length === 0 && w.needPairs, info.quota < enough && w.needQuota].filter(Boolean) : [];
  return <section class="card" id="account" aria-labelledby="found" hidden={!account}><h2 id="found" tabIndex={-1}>{w.found}</h2>{needs.length > 0 && <Note kind="warn"><strong>{w.notYet}</strong> {needs.join(" ")}</Note>}{account && <dl class="facts">
    <dt>{w.whose}</dt><dd><code>{account.address}</code> <Copy text={account.address} what={w.whose} /></dd>
    <dt>{w.agent}</dt><dd><code id="agent">{info.agentAddress}</code> <Copy text={info.agentAddress} what={w.agent} /></dd>
    <dt>{w.quota}</dt><dd class="num" id="quota">{grouped(String(info.quota))}{info.quota < enough && ": " + w.little}</dd>
    <dt>{w.stake}</dt><dd class="num" id="stake">{shown(BigInt(info.agentPledgeAmount), 18)}<span class="unit">VITE</span></dd>
    <dt>{w.pairs}</dt><dd id="pairs">{pairs.length ? pairs.join(", ") : w.noPairs}</dd>
    <dt>{w.key}</dt><dd><code id="key">{info.apiKey || w.none}</code></dd>
    <dt>{w.created}</dt><dd id="created">{info.createTime ? <Time ms={info.createTime * 1000} /> : "–"}</dd>
    <dt>{w.calls}</dt><dd id="calls">{formatMessage(w.callsEach, { n: grouped(String(info.maxCount)), each: cycle === 60 ? w.aMinute : formatMessage(w.inSeconds, { n: cycle }) })}</dd>
  </dl>}</section>;
}

// useAge tells whether a text has become too old to be taken.
function useAge(proof) {
  const [stale, set] = useState(false);
  useEffect(() => {
    set(false);
    const timer = proof && setTimeout(() => set(true), life * 1000);
    return () => clearTimeout(timer);
  }, [proof]);
  return stale;
}

function Proof({ proof, fault, send, refuse, renew }) {
  const w = useMessages(messages);
  const [pasted, setPasted] = useState(""), [signature, setSignature] = useState("");
  const stale = useAge(proof), before = useRef(null);
  if (before.current !== proof) { // what was pasted is of another text
    before.current = proof;
    if (pasted) setPasted("");
    if (signature) setSignature("");
  }
  const submit = (e) => {
    e.preventDefault();
    const given = signed(pasted, signature);
    if (given) send(given);
    else refuse();
  };
  const text = proof?.text ?? "", line = text && command(text);
  const shown = (id, name, value) => <><label for={id}>{name}</label><textarea id={id} rows="2" readonly spellcheck={false} value={value} /></>;
  return <section class="card" id="proof" aria-labelledby="act" hidden={!proof}><h2 id="act">{proof?.removal ? w.remove : w.apply}</h2><p id="explain">{proof?.removal ? w.removeLead : w.applyLead}</p>
    {shown("text", w.text, text)}
    <p class="row"><Copy id="copy-text" text={text} what={w.text} wide /><button type="button" id="again" onClick={renew}>{w.fresh}</button> <span id="until" class="faint small" aria-live="polite">{stale ? w.stale : w.good}</span></p>
    <p class="after">{w.sign}</p>
    {shown("command", w.command, line)}
    <p class="row"><Copy id="copy-command" text={line} what={w.command} wide /></p>
    <form id="sign" onSubmit={submit}>
      <label for="public">{w.public}</label><textarea id="public" rows="3" autocomplete="off" spellcheck={false} required aria-describedby="refused" value={pasted} onInput={(e) => setPasted(e.currentTarget.value)} />
      <label for="signature">{w.signature}</label><textarea id="signature" rows="2" autocomplete="off" spellcheck={false} aria-describedby="refused" value={signature} onInput={(e) => setSignature(e.currentTarget.value)} />
      <p class="after"><button class={"main" + (proof?.removal ? " danger" : "")} id="send">{proof?.removal ? w.remove : w.send}</button></p>
    </form>
    <p id="refused" class="hint bad" role="alert">{fault}</p></section>;
}

open({ active: "keys", title: (lang) => messages[lang].title }, Keys);
