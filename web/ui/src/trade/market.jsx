// What everybody sees of a market: the newest figures, the book, the trades.
import { useState } from "preact/hooks";
import { Asked, Blank, State, Time } from "../base/components.jsx";
import { cut, grouped } from "../base/amount.js";
import { usePoll } from "../base/use.js";
import { useMessages } from "../base/messages.js";
import { query, sums } from "./exchange.js";
import { live, useFeed } from "./feed.js";
import { messages } from "./messages.js";

// number shows a decimal with at most so many digits behind the point.
export const number = (text, most) => grouped(cut(String(text), most));

// placesOf is how many digits of a pair's prices are worth showing.
export const placesOf = (pair, price) => Math.min(pair.pricePrecision, Number(price) >= 1000 ? 1 : Number(price) >= 1 ? 4 : 8);

// Live says whether what is shown is.
export function Live() {
  const w = useMessages(messages);
  const now = live.use();
  const kind = { open: "good", waiting: "wait", broken: "warn" }[now];
  return <span id="live" data-live={now} role="status"><State kind={kind}>{w["live_" + now]}</State></span>;
}

export function Figures({ pair }) {
  const w = useMessages(messages);
  const [push, set] = useState(null);
  const poll = usePoll(async (signal) => (await query("/ticker/24hr", { symbols: pair.symbol }, signal))[0] ?? null, 30_000, [pair.symbol]);
  useFeed(`market.${pair.symbol}.tickers`, (t) => set({ symbol: t.s, closePrice: t.cp, priceChangePercent: t.pCp, highPrice: t.hp, lowPrice: t.lp, amount: t.a }), poll.again);
  const t = push?.symbol === pair.symbol ? { ...poll.data, ...push, priceChangePercent: push.priceChangePercent ?? poll.data?.priceChangePercent } : poll.data;
  if (!t) return null;
  const most = placesOf(pair, t.closePrice), change = Number(t.priceChangePercent ?? 0);
  return <dl class="figures">
    <div><dt>{w.last}</dt><dd class="num" id="last">{number(t.closePrice, most)} <span class="unit">{pair.quoteTokenSymbol}</span></dd></div>
    <div><dt>{w.change}</dt><dd class={"num " + (change < 0 ? "down" : "up")}>{change < 0 ? "▼" : "▲"} {(change * 100).toFixed(2)} %</dd></div>
    <div><dt>{w.high}</dt><dd class="num">{number(t.highPrice, most)}</dd></div>
    <div><dt>{w.low}</dt><dd class="num">{number(t.lowPrice, most)}</dd></div>
    <div><dt>{w.volume}</dt><dd class="num">{number(t.amount, 0)} <span class="unit">{pair.quoteTokenSymbol}</span></dd></div>
  </dl>;
}

// useBook is a pair's book: asked for once, then as it is pushed, whole each time.
export function useBook(pair) {
  const [push, set] = useState(null);
  const poll = usePoll((signal) => query("/depth", { symbol: pair.symbol, limit: 100 }, signal), 30_000, [pair.symbol]);
  useFeed(`market.${pair.symbol}.depth`, (d) => set({ symbol: pair.symbol, asked: poll.data, ...d }), poll.again);
  return { poll, book: push?.symbol === pair.symbol ? { asks: push.asks ?? [], bids: push.bids ?? [] } : poll.data };
}

const rows = 12; // of each side

// Book shows the best prices of both sides; pressing one proposes it.
export function Book({ pair, poll, book, propose }) {
  const w = useMessages(messages);
  return <section class="card" id="book"><h2>{w.book}</h2><Asked poll={poll}>{() => {
    const asks = sums(book.asks.slice(0, rows)), bids = sums(book.bids.slice(0, rows));
    if (!asks.length && !bids.length) return <Blank>{w.emptyBook}</Blank>;
    const most = Math.max(asks.at(-1)?.sum ?? 0, bids.at(-1)?.sum ?? 0);
    const places = placesOf(pair, (bids[0] ?? asks[0]).price);
    const line = (side) => (l) => <tr key={l.price} class={side} style={{ backgroundSize: `${((l.sum / most) * 100).toFixed(1)}% 100%` }}>
      <td><button type="button" class="plain num" onClick={() => propose(l.price)} aria-label={w["side_" + side] + " " + number(l.price, places)}>{number(l.price, places)}</button></td>
      <td class="right num">{number(l.quantity, 6)}</td><td class="right num faint">{number(l.sum.toFixed(6), 4)}</td></tr>;
    return <table class="book"><thead><tr><th>{w.price}</th><th class="right">{pair.tradeTokenSymbol}</th><th class="right">{w.sum}</th></tr></thead>
      <tbody>{asks.map(line("ask")).reverse()}</tbody>
      <tbody><tr><td colSpan={3} class="spread-row small faint">{asks.length > 0 && bids.length > 0 && <>{w.spread} <span class="num">{number((Number(asks[0].price) - Number(bids[0].price)).toFixed(8), places)}</span></>}</td></tr></tbody>
      <tbody>{bids.map(line("bid"))}</tbody></table>;
  }}</Asked></section>;
}

const kept = 40; // trades that are shown

export function Trades({ pair }) {
  const w = useMessages(messages);
  const [pushed, set] = useState([]);
  const poll = usePoll(async (signal) => {
    const list = await query("/trades", { symbol: pair.symbol, limit: kept }, signal);
    set([]);
    return list.map((t) => ({ ms: t.timestamp, price: t.price, amount: t.amount, side: t.side }));
  }, 60_000, [pair.symbol]);
  useFeed(`market.${pair.symbol}.trade`, (list) => set((before) =>
    [...[list].flat().map((t) => ({ ms: t.t * 1000, price: t.p, amount: t.q, side: t.side })).reverse(), ...before].slice(0, kept)), poll.again);
  return <section class="card" id="trades"><h2>{w.trades}</h2><Asked poll={poll}>{(old) => {
    const all = [...pushed, ...old].slice(0, kept);
    if (!all.length) return <Blank>{w.noTrades}</Blank>;
    const places = placesOf(pair, all[0].price);
    return <div class="tall" tabIndex={0} role="region" aria-label={w.trades}><table><thead><tr><th>{w.price}</th><th class="right">{pair.tradeTokenSymbol}</th><th class="right">{w.time}</th></tr></thead>
      <tbody>{all.map((t, i) => <tr key={i}><td class={"num " + (t.side === 1 ? "down" : "up")}><span aria-hidden="true">{t.side === 1 ? "▼" : "▲"}</span><span class="unseen">{t.side === 1 ? w.sell : w.buy}</span> {number(t.price, places)}</td>
        <td class="right num">{number(t.amount, 6)}</td><td class="right"><Time ms={t.ms} only="time" /></td></tr>)}</tbody></table></div>;
  }}</Asked></section>;
}
