// What several views of the console are made of.
import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { Asked, Confirm, Copy, Moment, Note, Short, State, tell, Whole, WithCode } from "../base/components.jsx";
import { said } from "../base/tell.js";
import { shown } from "../base/amount.js";
import { ChainIcon } from "../base/icons.jsx";
import { Refused } from "../base/http.js";
import { formatMessage } from "../base/messages.js";
import { me } from "./api.js";
import { assetOf, chainName, linkTo, networkName, networks } from "./money.js";
import { acceptCommand, capital, codeLabel, refusalOf, stateLabel, useConsoleMessages } from "./labels.js";

// Heading is a view's name. It gets the focus when the view opens, so that who hears the page hears where he is.
export function Heading({ children }) {
  const at = useRef(null);
  useEffect(() => {
    at.current.focus({ preventScroll: true });
    said.set(""); // of the view before
  }, []);
  return <h1 tabIndex={-1} ref={at}>{children}</h1>;
}

// Call is a word of the program in the reader's language. It stands alone, so it begins with a capital letter.
export const Call = ({ of, word }) => capital(codeLabel(useConsoleMessages().language, of, word));

// Chain is a chain by its name; `bare` shows only its icon.
export function Chain({ id, bare }) {
  const name = chainName(networks.use(), id);
  return <span class="chain-name" title={name}><ChainIcon name={name} size={16} />{bare ? <span class="unseen">{name}</span> : name}</span>;
}

// Network is a network by its name.
export function Network({ name }) {
  const shownAs = networkName(networks.use(), name);
  return <span class="chain-name"><ChainIcon name={shownAs} size={16} />{shownAs}</span>;
}

// grace is the time, in milliseconds, that an answer may take beyond two rounds of its poll: the server waits so long for nodes.
const grace = 5_000;

// useOutdated is the moment of the last answer of a poll, in milliseconds, once it is too old to be the present state; else 0.
export function useOutdated({ at, every }) {
  const [old, set] = useState(0);
  useEffect(() => {
    if (!at) return undefined;
    const timer = setTimeout(() => set(at), Math.max(0, at + 2 * every + grace - Date.now()));
    return () => clearTimeout(timer);
  }, [at, every]);
  return old === at ? old : 0;
}

const Outdated = createContext(0);

// Live shows what a poll has answered as the present state, and as unknown once the answer is too old for that.
export function Live({ poll, children, ...rest }) {
  const since = useOutdated(poll);
  return <Outdated.Provider value={since}><Asked poll={poll} {...rest}>{(data) => <div class={since ? "live outdated" : "live"}>{children(data, since)}</div>}</Asked></Outdated.Provider>;
}

// Unknown is a state that was known until a moment; without one it was never known.
export function Unknown({ since }) {
  const w = useConsoleMessages();
  const [before, after] = w.unknownSince.split("{at}");
  return <State kind="wait"><span data-state="unknown">{since ? <>{before}<Moment ms={since} />{after}</> : w.unknown}</span></State>;
}

// Health is a state of now.
export function Health({ kind, children }) {
  const since = useContext(Outdated);
  return since ? <Unknown since={since} /> : <State kind={kind}>{children}</State>;
}

// present lists states that change without an order: an old answer may be wrong about them.
const present = ["chain", "channel", "account"];

// Standing is a state as a word of its list. Operators' own funds are received, and not paid.
export function Standing({ of, state, direction, since }) {
  const outdated = useContext(Outdated);
  const w = useConsoleMessages();
  if (present.includes(of) && (outdated || state === "unknown")) return <Unknown since={outdated || since} />;
  const [kind, word] = stateLabel(of, direction === "funding" && state === "done" ? "received" : state, w.language);
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

// Complete is an address or a hash with all its characters: one that resembles another differs where a short form is cut.
export const Complete = ({ text, what, link }) => <>{link ? <a href={link} target="_blank" rel="noreferrer noopener"><code>{text}</code></a> : <code>{text}</code>} <Copy text={text} what={what} /></>;

// Depth shows the confirmations of a transaction, and whether it is final.
export function Depth({ at }) {
  const w = useConsoleMessages();
  const n = at.confirmations.toLocaleString("en");
  const what = at.wanted > 0 && !at.final ? formatMessage(w.confirmationsOf, { n, m: at.wanted.toLocaleString("en") }) : formatMessage(at.confirmations === 1 ? w.confirmation : w.confirmations, { n });
  return <span class="num">{at.final ? formatMessage(w.andFinal, { what }) : what}</span>;
}

// Reason is why something is held or refused.
export const Reason = ({ word }) => (word ? <span class="small"><Call of="reason" word={word} /></span> : null);

// may tells whether who is signed in has a role. The server decides; this only keeps away buttons that it would refuse.
export const may = (role) => me.get()?.role === role;

// Order asks before something is ordered: it repeats what is at stake, says what will happen, and asks what the order needs besides, and always why. `act` gets
// the values and is done when it returns; `facts` may be a function of them.
export function Order({ title, lead, risk, facts, fields = [], boxes = [], action, danger, act, done, cancel, chain, children }) {
  const w = useConsoleMessages();
  useEffect(() => said.set(""), []); // an earlier message hides no button
  const [values, set] = useState({}), [command, offer] = useState("");
  const words = useRef(w);
  words.current = w;
  const entered = (name) => (e) => set({ ...values, [name]: e.currentTarget.value });
  const send = async () => {
    offer("");
    if (!values.why?.trim()) throw refusedIn(() => words.current.sayWhy, "why");
    try {
      await act(trimmed(values));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      offer(acceptCommand(error.message, chain, values.why.trim()));
      throw refusedIn(() => refusalOf(error.message, words.current), error.code);
    }
    tell(formatMessage(w.done, { what: title }));
  };
  return <Confirm id="order" title={title} lead={lead} facts={typeof facts === "function" ? facts(values) : facts} action={action} danger={danger || Boolean(risk)} act={send} done={done} cancel={cancel}>
    {risk && <Note kind="warn">{risk}</Note>}
    {children}
    {fields.map(({ name, label, ...input }, i) => <div class="field" key={name}><label for={"order-" + name}>{label}</label>
      <input id={"order-" + name} autocomplete="off" spellcheck={false} autofocus={i === 0} value={values[name] ?? ""} onInput={entered(name)} {...input} /></div>)}
    {boxes.map(({ name, label }) => <p key={name}><label class="check"><input id={"order-" + name} type="checkbox" checked={values[name] ?? false}
      onChange={(e) => set({ ...values, [name]: e.currentTarget.checked })} /> {label}</label></p>)}
    <div class="field"><label for="order-why">{w.whyAsked}</label>
      <textarea id="order-why" rows="2" maxLength={500} autofocus={fields.length === 0} value={values.why ?? ""} onInput={entered("why")} /></div>
    {command && <Whole id="order-command" text={command} what={w.command} />}
  </Confirm>;
}

// refusedIn is a refusal whose text follows the language of the page.
const refusedIn = (text, code) => Object.defineProperty(new Refused("", code), "message", { get: text });

const trimmed = (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === "string" ? value.trim() : value]));
