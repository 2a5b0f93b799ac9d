// The account's orders, fills and balances, in tabs below the chart.
import { useState } from "preact/hooks";
import { Asked, Button, Confirm, Copy, Empty, middle, Note, Pager, State, Tabs, tell, Time, trouble } from "../base/components.jsx";
import { TokenIcon } from "../base/icons.jsx";
import { Away } from "../base/http.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { online, usePoll } from "../base/use.js";
import { filledOrders } from "./account.jsx";
import { query } from "./exchange.js";
import { placesOf } from "./levels.js";
import { alignedBy, number, padded, worth } from "./markets.jsx";
import { messages } from "./messages.js";
import { pairName, tokenName } from "./names.js";
import { ended } from "./order.js";

export const tabs = ["open", "fills", "balances", "history"];

// AccountPanels shows one of the lists.
export function AccountPanels({ session, data, pair, news, rates, tab, choose, moveFunds }) {
  const w = useMessages(messages);
  const [only, setOnly] = useState(false);
  const count = data.open.data?.length;
  const names = { open: w.openOrders + (count ? ` (${count})` : ""), fills: w.fills, balances: w.balances, history: w.orderHistory };
  return <section class="panel in-orders" id="account-panels" aria-label={w.orders}>
    <header class="panel-head"><Tabs label={w.orders} now={tab} choose={choose} list={tabs.map((id) => ({ id, name: names[id] }))} />
      <span class="grow" />{session && tab !== "balances" && <label class="tick small"><input type="checkbox" id="only-pair" checked={only} onChange={(e) => setOnly(e.currentTarget.checked)} />{formatMessage(w.onlyPair, { pair: pairName(pair.symbol) })}</label>}</header>
    {!session ? <Empty icon="user" title={w.needsAccount} />
      : tab === "fills" ? <Fills data={data} only={only && pair.symbol} />
        : tab === "balances" ? <Balances data={data} rates={rates} moveFunds={moveFunds} />
          : tab === "history" ? <OrderHistory session={session} symbol={only ? pair.symbol : ""} />
            : <OpenOrders session={session} data={data} news={news} symbol={only ? pair.symbol : ""} />}
  </section>;
}

// standing is the kind of state of an order, by its status code.
const standing = ["wait", "run", "run", "rest", "good", "rest", "run", "wait", "warn", "bad", "wait"];

export const Status = ({ order }) => {
  const w = useMessages(messages);
  return <State kind={standing[order.status] ?? "wait"}>{w["status_" + order.status] ?? order.status}</State>;
};

// Outcome is the state of an order that was sent, in one line.
export function Outcome({ news: { side, quantity, base, status, kind } }) {
  const w = useMessages(messages);
  return <><strong>{side === 1 ? w.sell : w.buy} {number(quantity, 8)} {base}</strong>{typeof status === "number" ? <Status order={{ status }} /> : <State kind={kind}>{w[status]}</State>}</>;
}

// Advice gives the next step while the outcome of an order is unknown.
export function Advice({ news: { waits, minutes } }) {
  const w = useMessages(messages);
  return waits && <p class="small" data-advice={minutes}>{minutes ? formatMessage(w.unknownWait, { n: minutes }) : w.unknownOver}</p>;
}

const Side = ({ side }) => {
  const w = useMessages(messages);
  return <span class={side === 1 ? "down" : "up"}>{side === 1 ? w.sell : w.buy}</span>;
};

const priceDigits = (text) => placesOf({ pricePrecision: 12 }, text);
const price = (text) => padded(text, priceDigits(text));

// List is a table in a panel; on a phone each row is a card.
function List({ label, head, children }) {
  return <div class="panel-body" tabIndex={0} role="region" aria-label={label}><table class="dense cards"><thead><tr>{head.map((h) => <th key={h.name} class={h.right ? "right" : undefined}>{h.unseen ? <span class="unseen">{h.name}</span> : h.name}</th>)}</tr></thead>
    <tbody>{children}</tbody></table></div>;
}

// Orders lists orders: with their value while they rest, or with the value and the average price of their fills.
function Orders({ list, act, why, past = false }) {
  const w = useMessages(messages);
  const worthOf = (o) => (past ? o.executedAmount : o.amount);
  const sized = alignedBy(list.flatMap((o) => [[o.tradeTokenSymbol, o.quantity], [o.quoteTokenSymbol, worthOf(o)]]), 6);
  const value = (o) => <span>{sized(o.quoteTokenSymbol, worthOf(o))}<span class="unit">{tokenName(o.quoteTokenSymbol)}</span></span>;
  const filled = (o) => Number(o.executedQuantity) > 0;
  const head = [{ name: w.time }, { name: w.pair }, { name: w.side }, { name: w.price, right: true }, ...(past ? [{ name: w.averagePrice, right: true }] : []), { name: w.quantity, right: true }, { name: w.filled, right: true }, { name: past ? w.filledValue : w.value, right: true }, { name: w.state }, { name: act ? w.cancel : w.id, unseen: true }];
  return <List label={w.orders} head={head}>{list.map((o) => <tr key={o.orderId} data-order={o.orderId} data-status={o.status}>
    <td class="faint" data-label={w.time}><Time ms={o.createTime * 1000} /></td><td data-label={w.pair}><strong>{pairName(o.symbol)}</strong></td><td data-label={w.side}><Side side={o.side} /></td>
    <td class="right num" data-label={w.price}>{price(o.price)}</td>{past && <td class="right num" data-label={w.averagePrice} data-average={o.executedAvgPrice}>{filled(o) ? price(o.executedAvgPrice) : "–"}</td>}
    <td class="right num" data-label={w.quantity}>{sized(o.tradeTokenSymbol, o.quantity)}</td><td class="right num" data-label={w.filled}>{Math.floor(Number(o.executedPercent) * 100)} %</td>
    <td class="right num" data-label={past ? w.filledValue : w.value}>{past && !filled(o) ? "–" : value(o)}</td><td data-label={w.state}><Status order={o} /></td>
    <td class="right" data-label={act ? undefined : w.id}>{act ? <Button kind="plain" aria-disabled={o.status === 6 || Boolean(why)} title={why} onClick={() => act(o)} aria-label={`${w.cancel} ${pairName(o.symbol)} ${number(o.quantity, 6)} ${price(o.price)}`}>{w.cancel}</Button> : <span class="order-id"><span class="code">{middle(o.orderId, 8, 6)}</span><Copy text={o.orderId} what={w.id} /></span>}</td></tr>)}</List>;
}

// OpenOrders lists the open orders. `news` are the orders that the form follows. They may lock funds before the list contains them: then they have lines of their own.
function OpenOrders({ session, data, news, symbol }) {
  const w = useMessages(messages);
  const [fault, setFault] = useState(""), [asking, ask] = useState(false), up = online.use();
  const shown = (list) => (symbol ? list.filter((o) => o.symbol === symbol) : list);
  const during = async (act, what) => {
    setFault("");
    try {
      await act();
      tell(formatMessage(w.cancelled, { what }));
    } catch (error) {
      setFault(error instanceof Away ? w.cancelUnknown : trouble(error, w));
    } finally {
      data.again();
    }
  };
  const all = shown(data.open.data ?? []), pairs = [...new Set(all.map((o) => o.symbol))];
  const cancelAll = () => during(async () => {
    for (const one of pairs) await session.cancelAll(one);
  }, symbol ? pairName(symbol) : w.allPairs);
  const why = up ? undefined : w.cancelAway, everything = formatMessage(all.length === 1 ? w.cancelOne : w.cancelAll, { n: all.length, pairs: symbol ? pairName(symbol) : w.allPairs });
  const missing = news.filter(({ status, clientId }) => status !== "absent" && !ended.includes(status) && !data.open.data?.some((o) => o.clientOrderId === clientId));
  const cancel = (o) => during(() => session.cancel(o.symbol, o.orderId), `${o.side === 1 ? w.sell : w.buy} ${number(o.quantity, 8)} ${tokenName(o.tradeTokenSymbol)}`);
  return <div class="panel-fill" id="open-orders">
    {fault && <Note kind="bad" live>{fault}</Note>}
    {missing.length > 0 && <div id="unlisted">{missing.map((one) => <p class="unlisted small" key={one.id}><Outcome news={one} /><span class="faint">{w.notListed}{one.waits && <> {w.unknownLead}</>}</span></p>)}</div>}
    <Asked poll={data.open}>{() => (all.length ? <Orders list={all} why={why} act={session.key ? cancel : null} /> : !missing.length && <Empty icon="clock" title={w.noOpenOrders} />)}</Asked>
    {session.key && all.length > 0 && <div class="panel-foot">{why && <span class="small faint">{why}</span>}<Button kind="danger" id="cancel-all" aria-disabled={!up} title={why} onClick={() => ask(true)}>{everything}</Button></div>}
    {asking && <Confirm danger title={w.cancelAllTitle} lead={w.cancelAllLead} action={everything} ready={up} act={cancelAll} done={() => ask(false)} cancel={() => ask(false)}
      facts={[[w.orders, String(all.length)], [w.pair, pairs.map(pairName).join(", ")], [w.buy, String(all.filter((o) => o.side === 0).length)], [w.sell, String(all.filter((o) => o.side === 1).length)]]} />}
  </div>;
}

const pageSize = 20;

function OrderHistory({ session, symbol }) {
  const w = useMessages(messages);
  const [page, turn] = useState(0);
  const poll = usePoll((signal) => query("/orders", { address: session.address, offset: page * pageSize, limit: pageSize, total: 1, ...(symbol && { symbol }) }, signal), 4000, [session.address, page, symbol]);
  return <div class="panel-fill" id="order-history"><Asked poll={poll}>{(d) => (d.order?.length ? <>
    <Orders list={d.order} past />
    <Pager newer={page > 0 ? () => turn(page - 1) : null} older={(page + 1) * pageSize < d.total ? () => turn(page + 1) : null} />
  </> : <Empty icon="clock" title={w.noOrders} />)}</Asked></div>;
}

function Fills({ data, only }) {
  const w = useMessages(messages);
  const head = [{ name: w.time }, { name: w.pair }, { name: w.side }, { name: w.price, right: true }, { name: w.quantity, right: true }, { name: w.value, right: true }, { name: w.fee, right: true }, { name: w.role }];
  return <div class="panel-fill" id="fills"><Asked poll={data.fills}>{({ list: found, cut }) => {
    const list = only ? found.filter((f) => f.symbol === only) : found;
    const limit = cut && <p class="small faint panel-foot" id="fills-limit">{formatMessage(w.fillsOf, { n: filledOrders })}</p>;
    if (!list.length) return <><Empty icon="clock" title={w.noFills} />{limit}</>;
    const sized = alignedBy(list.flatMap((f) => [[f.symbol.split("_")[0], f.quantity], [f.symbol.split("_")[1], f.amount], [f.symbol.split("_")[1], f.fee]]), 6);
    return <><List label={w.fills} head={head}>{list.map((f) => {
      const [base, quote] = f.symbol.split("_"), inQuote = (text) => <span>{sized(quote, text)}<span class="unit">{tokenName(quote)}</span></span>;
      return <tr key={f.id} data-fill={f.id}><td class="faint" data-label={w.time}><Time ms={f.ms} /></td><td data-label={w.pair}><strong>{pairName(f.symbol)}</strong></td><td data-label={w.side}><Side side={f.side} /></td>
        <td class="right num" data-label={w.price}>{price(f.price)}</td><td class="right num" data-label={w.quantity}>{sized(base, f.quantity)}</td>
        <td class="right num" data-label={w.value}>{inQuote(f.amount)}</td><td class="right num" data-label={w.fee}>{inQuote(f.fee)}</td><td data-label={w.role}>{f.maker ? w.maker : w.taker}</td></tr>;
    })}</List>{limit}</>;
  }}</Asked></div>;
}

const sumOf = (b) => Number(b.available) + Number(b.locked);

function Balances({ data, rates, moveFunds }) {
  const w = useMessages(messages), up = online.use();
  const head = [{ name: w.token }, { name: w.available, right: true }, { name: w.locked, right: true }, { name: w.referenceValue, right: true }, { name: w.moveFunds, unseen: true }];
  return <div class="panel-fill" id="balances"><Asked poll={data.balances}>{(all) => {
    const list = Object.entries(all).sort(([a, x], [b, y]) => sumOf(y) * (rates[b]?.usd ?? 0) - sumOf(x) * (rates[a]?.usd ?? 0) || (a < b ? -1 : 1));
    if (!list.length) return <div><Empty icon="wallet" title={w.nothing}>{w.nothingLead}</Empty><p class="row centre"><Button kind="main" aria-disabled={!up} onClick={() => moveFunds("")}>{w.moveFunds}</Button></p></div>;
    const sized = alignedBy(list.flatMap(([symbol, b]) => [[symbol, b.available], [symbol, b.locked]]), 8);
    return <List label={w.balances} head={head}>{list.map(([symbol, b]) => <tr key={symbol} data-balance={symbol}><td data-label={w.token}><span class="token"><TokenIcon symbol={symbol} size={20} /> <strong>{tokenName(symbol)}</strong></span></td>
      <td class="right num" data-label={w.available}>{sized(symbol, b.available)}</td><td class="right num" data-label={w.locked}>{sized(symbol, b.locked)}</td><td class="right num" data-label={w.referenceValue}>{worth(sumOf(b), symbol, rates, w) || "–"}</td>
      <td class="right"><Button kind="plain" aria-disabled={!up} onClick={() => moveFunds(symbol)} aria-label={w.moveFunds + " " + tokenName(symbol)}>{w.move}</Button></td></tr>)}</List>;
  }}</Asked></div>;
}
