// Whose account it is, what it has, and its orders.
import { useState } from "preact/hooks";
import { Asked, Blank, Copy, Fault, Field, Note, Short, State, tell, Time, trouble } from "../base/components.jsx";
import { bare, compare, isDecimal, product } from "../base/amount.js";
import { site, usePoll } from "../base/use.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { demoSession, query, Session } from "./exchange.js";
import { useFeed } from "./feed.js";
import { number, placesOf } from "./market.jsx";
import { messages } from "./messages.js";

// useAccount is what the exchange knows of an address: balances and open orders, asked for again when an order is pushed.
export function useAccount(address) {
  const balances = usePoll(address ? (signal) => query("/balance", { address }, signal) : null, 5000, [address]);
  const open = usePoll(address ? async (signal) => (await query("/orders/open", { address, limit: 100 }, signal)).order ?? [] : null, 5000, [address]);
  const again = () => {
    balances.again();
    open.again();
  };
  useFeed(address && "order." + address, again, again);
  return { balances, open, again };
}

// Account is where a session begins: the demo user's, or a key and its secret, which stay in this page's memory and are forgotten with it.
export function Account({ session, use }) {
  const w = useMessages(messages);
  const { demo, keys } = site.use();
  const [form, set] = useState({ address: "", key: "", secret: "" });
  const [fault, setFault] = useState(null), [busy, setBusy] = useState(false);
  if (session) {
    return <section class="card" id="session"><div class="row spread"><span>{w.account} <Short text={session.address} what={w.account} /></span>
      <button type="button" class="plain" onClick={() => use(null)}>{w.leave}</button></div></section>;
  }
  const start = async () => {
    if (busy) return;
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
  const field = (id, more) => <Field id={id} class="code" label={w[id]} value={form[id]} onInput={(e) => set({ ...form, [id]: e.currentTarget.value.trim() })} {...more} />;
  return <section class="card" id="session"><h2>{w.account}</h2>
    {demo && <p><button type="button" class="main" id="use-demo" aria-disabled={busy} onClick={start}>{busy ? w.loading : w.useDemo}</button></p>}
    {fault && <Fault error={fault} />}
    <details open={!demo}><summary>{w.ownKey}</summary>
      <form onSubmit={(e) => { e.preventDefault(); if (/^vite_[0-9a-f]{50}$/.test(form.address)) use(new Session(form)); else setFault(Object.assign(new Error(w.addressWrong), { code: 1 })); }}>
        {field("address", { placeholder: "vite_…" })}{field("key", {})}{field("secret", { type: "password", hint: w.secretHint })}
        <button class="main">{w.open}</button> {keys && <a href={keys}>{w.getKey}</a>}
      </form></details>
  </section>;
}

const sides = ["buy", "sell"];

// OrderForm places an order of the pair; `proposed` is a price that somebody has pressed in the book.
export function OrderForm({ pair, session, account, price, setPrice }) {
  const w = useMessages(messages);
  const [side, setSide] = useState(0), [quantity, setQuantity] = useState("");
  const [busy, setBusy] = useState(false), [fault, setFault] = useState("");
  const limits = usePoll((signal) => query("/limit", {}, signal), 0, []);
  const least = limits.data?.minAmount?.[pair.quoteTokenSymbol] ?? "0";
  const available = (symbol) => account.balances.data?.[symbol]?.available ?? "0";
  const good = isDecimal(price, pair.pricePrecision) && isDecimal(quantity, pair.quantityPrecision);
  const total = good ? product(price, quantity) : null;
  const wrong = () => {
    if (price && !isDecimal(price, pair.pricePrecision)) return formatMessage(w.digits, { what: w.price, n: pair.pricePrecision });
    if (quantity && !isDecimal(quantity, pair.quantityPrecision)) return formatMessage(w.digits, { what: w.quantity, n: pair.quantityPrecision });
    if (total === null) return "";
    if (compare(total, least) < 0) return formatMessage(w.small, { least: number(least, 8), symbol: pair.quoteTokenSymbol });
    const [have, need, symbol] = side === 0 ? [available(pair.quoteTokenSymbol), total, pair.quoteTokenSymbol] : [available(pair.tradeTokenSymbol), quantity, pair.tradeTokenSymbol];
    return account.balances.data && compare(need, have) > 0 ? formatMessage(w.poor, { have: number(have, 8), symbol }) : "";
  };
  const said = wrong(), ready = total !== null && !said && session?.key;
  const part = (share) => {
    const symbol = side === 0 ? pair.quoteTokenSymbol : pair.tradeTokenSymbol;
    const have = Number(available(symbol)) * share * (side === 0 ? 0.995 : 1); // room for the fee of a buyer
    const much = side === 0 ? have / Number(bare(price) || Infinity) : have;
    const step = 10 ** Math.min(6, pair.quantityPrecision);
    setQuantity(much > 0 ? String(Math.floor(much * step) / step) : "");
  };
  const submit = async (e) => {
    e.preventDefault();
    if (busy || !ready) return;
    setBusy(true);
    setFault("");
    try {
      await session.place(pair.symbol, side, price, quantity);
      setQuantity("");
      tell(w.placed);
      account.again();
    } catch (error) {
      setFault(trouble(error, w));
    } finally {
      setBusy(false);
    }
  };
  return <section class="card" id="order"><h2>{w.order}</h2><form onSubmit={submit}>
    <div class="row tight" role="group" aria-label={w.side}>{sides.map((s, i) => <button type="button" key={s} id={"side-" + s} class={i === side ? s : ""} aria-pressed={i === side} onClick={() => setSide(i)}>{w[s]}</button>)}</div>
    <Field id="price" label={w.price + " (" + pair.quoteTokenSymbol + ")"} inputMode="decimal" value={price} onInput={(e) => setPrice(e.currentTarget.value)} />
    <Field id="quantity" label={w.quantity + " (" + pair.tradeTokenSymbol + ")"} inputMode="decimal" value={quantity} onInput={(e) => setQuantity(e.currentTarget.value)} fault={said} />
    {session && <div class="row tight" role="group" aria-label={w.share}>{[25, 50, 100].map((p) => <button type="button" class="plain" key={p} onClick={() => part(p / 100)}>{p} %</button>)}</div>}
    <dl class="facts"><dt>{w.total}</dt><dd class="num" id="order-total">{total === null ? "–" : <>{number(total, 6)}<span class="unit">{pair.quoteTokenSymbol}</span></>}</dd></dl>
    {fault && <Note kind="bad" live>{fault}</Note>}
    {session?.key ? <button class={sides[side]} id="place" aria-disabled={busy || !ready}>{w[sides[side]]} {pair.tradeTokenSymbol}</button> : <p class="small faint">{w.needsKey}</p>}
  </form></section>;
}

export function Balances({ account }) {
  const w = useMessages(messages);
  return <section class="card" id="balances"><h2>{w.balances}</h2><Asked poll={account.balances} empty={w.nothing} none={(b) => Object.keys(b).length === 0}>{(all) =>
    <div class="scroll" tabIndex={0} role="region" aria-label={w.balances}><table><thead><tr><th>{w.token}</th><th class="right">{w.available}</th><th class="right">{w.locked}</th></tr></thead>
      <tbody>{Object.entries(all).sort().map(([symbol, b]) => <tr key={symbol}><td>{symbol}</td><td class="right num">{number(b.available, 4)}</td><td class="right num">{number(b.locked, 4)}</td></tr>)}</tbody></table></div>}</Asked></section>;
}

// standing is how an order stands, by its status code.
const standing = ["wait", "run", "run", "run", "good", "run", "run", "wait", "warn", "bad", "wait"];

const Status = ({ order }) => {
  const w = useMessages(messages);
  return <State kind={standing[order.status] ?? "wait"}>{w["status_" + order.status] ?? order.status}</State>;
};

function Orders({ list, act }) {
  const w = useMessages(messages);
  return <div class="scroll" tabIndex={0} role="region" aria-label={w.orders}><table>
    <thead><tr><th>{w.time}</th><th>{w.pair}</th><th>{w.side}</th><th class="right">{w.price}</th><th class="right">{w.quantity}</th><th class="right">{w.filled}</th><th>{w.state}</th><th>{w.id}</th>{act && <th><span class="unseen">{w.cancel}</span></th>}</tr></thead>
    <tbody>{list.map((o) => <tr key={o.orderId} data-order={o.orderId} data-status={o.status}><td><Time ms={o.createTime * 1000} /></td><td>{o.symbol}</td><td class={o.side === 1 ? "down" : "up"}>{o.side === 1 ? w.sell : w.buy}</td>
      <td class="right num">{number(o.price, placesOf({ pricePrecision: 18 }, o.price))}</td><td class="right num">{number(o.quantity, 6)}</td><td class="right num">{(Number(o.executedPercent) * 100).toFixed(0)} %</td>
      <td><Status order={o} /></td><td><span class="short">{o.orderId.slice(0, 6)}…<Copy text={o.orderId} what={w.id} /></span></td>{act && <td><button type="button" class="plain" onClick={() => act(o)}>{w.cancel}</button></td>}</tr>)}</tbody>
  </table></div>;
}

export function OpenOrders({ session, account, pair }) {
  const w = useMessages(messages);
  const [fault, setFault] = useState("");
  const during = async (act) => {
    setFault("");
    try {
      await act();
      tell(w.cancelled);
      account.again();
    } catch (error) {
      setFault(trouble(error, w));
    }
  };
  return <section class="card" id="open-orders"><div class="row spread"><h2>{w.openOrders}</h2>
    {session.key && account.open.data?.some((o) => o.symbol === pair.symbol) && <button type="button" onClick={() => during(() => session.cancelAll(pair.symbol))}>{formatMessage(w.cancelAll, { pair: pair.symbol })}</button>}</div>
    {fault && <Note kind="bad" live>{fault}</Note>}
    <Asked poll={account.open} empty={w.noOrders}>{(list) => <Orders list={list} act={session.key ? (o) => during(() => session.cancel(o.symbol, o.orderId)) : null} />}</Asked></section>;
}

const pageSize = 20;

export function OrderHistory({ session }) {
  const w = useMessages(messages);
  const [page, turn] = useState(0);
  const poll = usePoll((signal) => query("/orders", { address: session.address, offset: page * pageSize, limit: pageSize, total: 1 }, signal), 4000, [session.address, page]);
  return <section class="card" id="order-history"><h2>{w.orderHistory}</h2><Asked poll={poll} empty={w.noOrders} none={(d) => !d.order?.length && page === 0}>{(d) => <>
    <Orders list={d.order ?? []} />
    {d.total > pageSize && <div class="row spread"><button type="button" aria-disabled={page === 0} onClick={() => page && turn(page - 1)}>{w.newer}</button>
      <button type="button" aria-disabled={(page + 1) * pageSize >= d.total} onClick={() => (page + 1) * pageSize < d.total && turn(page + 1)}>{w.older}</button></div>}
  </>}</Asked></section>;
}

export const NoAccount = () => <Blank>{useMessages(messages).needsAccount}</Blank>;
