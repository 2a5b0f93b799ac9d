// What several views of the console are made of.
import { useEffect, useRef, useState } from "preact/hooks";
import { Note, Short, State, tell, trouble } from "../base/components.jsx";
import { shown } from "../base/amount.js";
import { formatMessage } from "../base/messages.js";
import { me } from "./api.js";
import { assetOf, linkTo, networks } from "./money.js";
import { codeLabel, stateLabel, useConsoleMessages } from "./labels.js";

// Heading is a view's name. It gets the focus when the view opens, so that who hears the page hears where he is.
export function Heading({ children }) {
  const at = useRef(null);
  useEffect(() => { at.current.focus({ preventScroll: true }); }, []);
  return <h1 tabIndex={-1} ref={at}>{children}</h1>;
}

// Told is a text whose parts between backticks are what a person types elsewhere.
export const Told = ({ children }) => children.split("`").map((part, i) => (i % 2 ? <code key={i}>{part}</code> : part));

// Call is a word of the program in the reader's language.
export const Call = ({ of, word }) => codeLabel(useConsoleMessages().language, of, word);

// Standing is a state as a word of its list.
export function Standing({ of, state }) {
  const [kind, word] = stateLabel(of, state, useConsoleMessages().language);
  return <State kind={kind}><span data-state={state}>{word}</span></State>;
}

// Money is an amount of what moves on a chain.
export function Money({ network, asset, amount }) {
  const w = useConsoleMessages();
  const known = assetOf(networks.use(), network, asset);
  if (amount === undefined || amount === null || amount === "") return <span class="faint">–</span>;
  if (!known) return <span class="num">{shown(BigInt(amount), 0)}<span class="unit">{formatMessage(w.unknownUnits, { asset: asset || w.unknownToken })}</span></span>;
  const whole = shown(BigInt(amount), known.decimals), unit = known.symbol ?? w.coins;
  return <span class="num" title={whole + " " + unit}>{shown(BigInt(amount), known.decimals, 8)}<span class="unit">{unit}</span></span>;
}

// Tx is a transaction's hash, with its explorer.
export function Tx({ chain, hash }) {
  const link = linkTo(networks.use(), chain, hash);
  return hash ? <Short text={hash} link={link} /> : null;
}

// Reason is why something is held or refused.
export const Reason = ({ word }) => (word ? <span class="small"><Call of="reason" word={word} /></span> : null);

// may tells whether who is signed in has a role. The server decides; this only keeps away buttons that it would refuse.
export const may = (role) => me.get()?.role === role;

// Order is a form that orders something: what it asks besides, and always why. `act` gets the values and is done when it returns.
export function Order({ title, lead, fields = [], boxes = [], action, danger, act, done, cancel }) {
  const w = useConsoleMessages();
  const [values, set] = useState({}), [busy, setBusy] = useState(false), [fault, setFault] = useState("");
  const first = useRef(null);
  useEffect(() => { first.current.querySelector("input, textarea, select").focus(); }, []);
  const submit = async (e) => {
    e.preventDefault();
    if (busy) return;
    if (!values.why?.trim()) return setFault(w.sayWhy);
    setBusy(true);
    setFault("");
    try {
      await act({ ...values, why: values.why.trim() });
      tell(formatMessage(w.done, { what: action }));
      done();
    } catch (error) {
      setFault(trouble(error, w));
      setBusy(false);
    }
  };
  const entered = (name) => (e) => set({ ...values, [name]: e.currentTarget.value });
  return <form class="card order" onSubmit={submit} ref={first} onKeyDown={(e) => e.key === "Escape" && cancel()} aria-label={title}>
    <h3>{title}</h3>{lead && <p class="small">{lead}</p>}
    {fields.map(({ name, label, ...input }) => <div key={name}><label for={"order-" + name}>{label}</label>
      <input id={"order-" + name} autocomplete="off" spellcheck={false} value={values[name] ?? ""} onInput={entered(name)} {...input} /></div>)}
    {boxes.map(({ name, label }) => <p key={name}><label><input id={"order-" + name} type="checkbox" checked={values[name] ?? false}
      onChange={(e) => set({ ...values, [name]: e.currentTarget.checked })} /> {label}</label></p>)}
    <label for="order-why">{w.why}</label>
    <textarea id="order-why" rows="2" maxLength={500} value={values.why ?? ""} onInput={entered("why")} />
    {fault && <Note kind="bad" live>{fault}</Note>}
    <p class="row after"><button class={"main" + (danger ? " danger" : "")} id="order-send" aria-disabled={busy}>{busy ? w.working : action}</button>
      <button type="button" onClick={cancel}>{w.cancel}</button></p>
  </form>;
}
