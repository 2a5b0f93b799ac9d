// The account of the page: the demo user's, one with an API key, or one that is only read. Its
// address is remembered; the key's secret is in this page's memory alone.
import { isAddress } from "../base/names.js";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button, Dialog, linkTo, Fault, Field, middle, Copy } from "../base/components.jsx";
import { Icon } from "../base/icons.jsx";
import { useMessages } from "../base/messages.js";
import { remembered } from "../base/store.js";
import { site, usePoll } from "../base/use.js";
import { demoSession, fillsOf, query, Session } from "./exchange.js";
import { newest } from "./order.js";
import { useFeed } from "./feed.js";
import { messages } from "./messages.js";

const kept = remembered("trade.account", (value) => value === "" || value === "demo" || isAddress(value), "");

// useSession is the account that trades here: { session, busy, fault, use, startDemo }.
export function useSession() {
  const { demo } = site.use();
  const who = kept.use();
  const [session, set] = useState(null), [fault, setFault] = useState(null), [busy, setBusy] = useState(false);
  const use = (next) => {
    kept.set(next ? (next.demo ? "demo" : next.address) : "");
    setFault(null);
    set(next);
  };
  const startDemo = async () => {
    setBusy(true);
    setFault(null);
    try {
      use(await demoSession());
    } catch (error) {
      setFault(error);
    } finally {
      setBusy(false);
    }
  };
  useEffect(() => {
    if (session) return undefined;
    if (isAddress(who)) set(new Session({ address: who }));
    if (who !== "demo" || !demo) return undefined;
    startDemo();
    const timer = setInterval(startDemo, 3000); // its key is made after the start of the environment
    return () => clearInterval(timer);
  }, [who, demo, session]);
  return { session, busy, fault, use, startDemo };
}

// useAccount is what the exchange knows of an address: balances, open orders and fills. A push of an
// order asks for them again.
export function useAccount(address) {
  const balances = usePoll(address ? (signal) => query("/balance", { address }, signal) : null, 5000, [address]);
  const open = usePoll(address ? async (signal) => (await query("/orders/open", { address, limit: 100 }, signal)).order ?? [] : null, 5000, [address]);
  const fills = useFills(address);
  const again = () => {
    balances.again();
    open.again();
    fills.again();
  };
  useFeed(address && "order." + address, again, again);
  // listed returns an order of the lists by its client ID.
  const listed = (clientId) => newest([open.data, fills.data?.orders].map((list) => list?.find((o) => o.clientOrderId === clientId)));
  return { balances, open, fills, again, listed };
}

export const filledOrders = 40; // the newest orders whose fills are listed

// useFills lists the fills of an account's newest orders. Those of an order are asked for once, and
// again when more of it is filled.
function useFills(address) {
  const known = useRef(new Map());
  return usePoll(address ? async (signal) => {
    const { order } = await query("/orders", { address, limit: filledOrders }, signal);
    const list = [];
    for (const one of order ?? []) {
      if (Number(one.executedQuantity) === 0) continue;
      const at = one.orderId + ":" + one.executedQuantity;
      if (!known.current.has(at)) known.current.set(at, await fillsOf(one));
      list.push(...known.current.get(at));
    }
    return { list: list.sort((a, b) => b.ms - a.ms), cut: order?.length === filledOrders, orders: order ?? [] };
  } : null, 15_000, [address]);
}

// AccountBar shows whose account it is, or offers one.
export function AccountBar({ account: { session, busy, fault, use, startDemo }, opened }) {
  const w = useMessages(messages);
  const { demo, bridge, keys } = site.use();
  const [asking, ask] = useState(false);
  // The button that opens or leaves an account goes away with the press: the focus moves on.
  const next = useRef("");
  useEffect(() => {
    if (!next.current || (next.current === "#quantity" && !session?.key)) return;
    if (session && !document.getElementById("order").offsetParent) opened();
    const wanted = next.current;
    next.current = "";
    setTimeout(() => document.querySelector(wanted)?.focus()); // after a phone shows the form
  }, [session]);
  const takes = (act) => (given) => {
    next.current = "#quantity";
    act(given);
  };
  const leave = () => {
    next.current = "#session button";
    use(null);
  };
  return <section class="account" id="session" aria-label={w.account} data-kind={session ? (session.key ? "trading" : "reading") : "none"}>
    {session
      ? <div class="account-row"><Icon name="user" /><span class="account-name">{session.demo ? w.demoAccount : w.account} <span class="code faint" title={session.address}>{middle(session.address, 5, 4)}</span></span>
        <Copy text={session.address} what={w.address} /><Button kind="plain" icon="leave" id="leave" onClick={leave} aria-label={w.leave} title={w.leave} /></div>
      : <div class="account-row"><Icon name="user" /><span class="account-name faint">{w.openToTrade}</span></div>}
    {session && !session.key && <div class="account-row"><span class="small grow">{w.readOnly}</span><Button kind="plain" id="enter-secret" onClick={() => ask(true)}>{w.enterSecret}</Button></div>}
    {!session && <p class="small" id="account-lead">{w.accountLead} {bridge && <a href={linkTo(bridge)}>{w.bridge}</a>}{bridge && keys && " · "}{keys && <a href={linkTo(keys)}>{w.getKey}</a>}</p>}
    {!session && <div class="account-row">
      {demo && <Button kind="main" id="use-demo" busy={busy} onClick={takes(() => startDemo())}>{w.useDemo}</Button>}
      <Button kind={demo ? "" : "main"} id="use-key" onClick={() => ask(true)}>{w.ownKey}</Button></div>}
    {fault && <Fault error={fault} />}
    {asking && <KeyDialog address={session?.address ?? ""} use={takes(use)} close={() => ask(false)} />}
  </section>;
}

// KeyDialog takes an API key and its secret.
function KeyDialog({ address, use, close }) {
  const w = useMessages(messages);
  const { keys } = site.use();
  const [form, set] = useState({ address, key: "", secret: "" });
  const [faults, setFaults] = useState({}), [fault, setFault] = useState(null), [busy, setBusy] = useState(false);
  useEffect(() => { // the key is public, its secret is not
    if (address) query("/agent/info", { address }).then((info) => set((now) => ({ ...now, key: now.key || (info.apiKey ?? "") })), () => {});
  }, []);
  const submit = async (e) => {
    e.preventDefault();
    const found = {};
    if (!isAddress(form.address)) found.address = w.addressWrong;
    if (!form.key) found.key = w.keyMissing;
    if (!form.secret) found.secret = w.secretMissing;
    setFaults(found);
    const first = Object.keys(found)[0];
    if (first) return document.getElementById(first)?.focus();
    setBusy(true);
    setFault(null);
    try {
      const { apiKey } = await query("/agent/info", { address: form.address });
      if (apiKey === form.key) {
        use(new Session(form));
        return close();
      }
      setFaults({ key: w.keyOther });
    } catch (error) {
      setFault(error);
    }
    return setBusy(false);
  };
  const field = (id, more) => <Field id={id} class="code" label={w[id]} value={form[id]} fault={faults[id]} onInput={(e) => set({ ...form, [id]: e.currentTarget.value.trim() })} {...more} />;
  return <Dialog title={address ? w.enterSecret : w.ownKey} close={close}><form onSubmit={submit} noValidate>
    {field("address", { placeholder: "vite_…" })}{field("key", {})}{field("secret", { type: "password", hint: w.secretHint })}
    {fault && <Fault error={fault} />}
    <div class="row after"><Button kind="main" type="submit" busy={busy} id="open-account">{w.open}</Button>{keys && <a href={keys}>{w.getKey}</a>}</div>
  </form></Dialog>;
}
