// The order book and the newest trades of a pair.
import { useEffect, useState } from "preact/hooks";
import { compare } from "../base/amount.js";
import { Asked, Blank, Empty, Time } from "../base/components.jsx";
import { useMessages } from "../base/messages.js";
import { usePoll } from "../base/use.js";
import { query } from "./exchange.js";
import { useFeed } from "./feed.js";
import { merged, middleOf, placesOf, stepsOf, stepText, sums } from "./levels.js";
import { padded } from "./markets.jsx";
import { messages } from "./messages.js";
import { tokenName } from "./names.js";

// useBook is a pair's book: asked for once, then as it is pushed, complete each time.
export function useBook(pair) {
  const [push, set] = useState(null);
  const poll = usePoll(async (signal) => ({ symbol: pair.symbol, ...(await query("/depth", { symbol: pair.symbol, limit: 100 }, signal)) }), 30_000, [pair.symbol]);
  useFeed(`market.${pair.symbol}.depth`, (d) => set({ symbol: pair.symbol, ...d }), poll.again);
  const found = [push, poll.data].find((b) => b?.symbol === pair.symbol), book = found ? { asks: found.asks ?? [], bids: found.bids ?? [] } : null;
  return { poll: { ...poll, data: book }, book };
}

const shownLevels = 40; // of each side; a panel scrolls
const nearLevels = 12; // of each side, that the bars are compared with: one huge order far away hides no other

// Book shows both sides. Pressing a level fills its price into the order form.
export function Book({ pair, poll, book, last, own, propose }) {
  const w = useMessages(messages);
  const [chosen, choose] = useState(null);
  useEffect(() => choose(null), [pair.symbol]);
  const best = book?.bids[0]?.[0] ?? book?.asks[0]?.[0];
  const steps = best ? stepsOf(placesOf(pair, best)) : [];
  const places = chosen ?? steps[0] ?? pair.pricePrecision;
  return <section class="panel in-book" id="book" aria-label={w.book}>
    <header class="panel-head"><h2>{w.book}</h2>
      {best && <><label class="unseen" for="precision">{w.precision}</label>
        <select id="precision" value={places} onChange={(e) => choose(Number(e.currentTarget.value))}>{steps.map((s) => <option key={s} value={s}>{stepText(s)}</option>)}</select></>}</header>
    <Asked poll={poll} lines={12}>{() => <Levels pair={pair} book={book} places={places} last={last} own={own} propose={propose} />}</Asked>
  </section>;
}

function Levels({ pair, book, places, last, own, propose }) {
  const w = useMessages(messages);
  const sides = { ask: sums(merged(book.asks.slice(0, 100), places, true).slice(0, shownLevels)), bid: sums(merged(book.bids.slice(0, 100), places, false).slice(0, shownLevels)) };
  const near = [...sides.ask.slice(0, nearLevels), ...sides.bid.slice(0, nearLevels)], largest = Math.max(...near.map((l) => Number(l.quantity)));
  const middle = middleOf(book), digits = Math.max(0, places), parts = digitsOf(near.map((l) => l.quantity));
  const mine = { ask: merged(own.filter((o) => o.side === 1).map((o) => [o.price, "1"]).sort(([a], [b]) => compare(a, b)), places, true).map(([p]) => p), bid: merged(own.filter((o) => o.side === 0).map((o) => [o.price, "1"]).sort(([a], [b]) => compare(b, a)), places, false).map(([p]) => p) };
  const move = (e) => { // arrow keys move between levels: the book is one stop of the Tab key for each side
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!step || !e.target.classList.contains("level")) return;
    e.preventDefault();
    const all = [...e.currentTarget.querySelectorAll(".level")].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
    all[all.indexOf(e.target) + step]?.focus();
  };
  const level = (side) => (l, i) => <button type="button" key={l.price} class={"level " + side} tabIndex={i === 0 ? 0 : -1} style={{ "--part": Math.min(100, (Number(l.quantity) / largest) * 100).toFixed(1) + "%" }}
    onClick={() => propose(l.price, side)}>
    <span class="unseen">{w["side_" + side]}</span><span class="num price">{mine[side].includes(l.price) && <i class="mine" title={w.yourOrder} />}{padded(l.price, digits)}</span><span class="num">{padded(l.quantity, parts(l.quantity))}</span><span class="num faint">{padded(l.sum, parts(l.sum))}</span></button>;
  return <div class="levels" onKeyDown={move}>
    <div class="level-head small faint" aria-hidden="true"><span>{w.price} ({tokenName(pair.quoteTokenSymbol)})</span><span>{w.quantity} ({tokenName(pair.tradeTokenSymbol)})</span><span>{w.sum} ({tokenName(pair.tradeTokenSymbol)})</span></div>
    <div class="asks" role="group" aria-label={w.asks}>{sides.ask.length ? sides.ask.map(level("ask")) : <Blank>{w.noAsks}</Blank>}</div>
    <dl class="middle"><div><dt>{middle ? w.midPrice : w.last}</dt><dd class="num" id="mid-price">{middle ? padded(middle.price, placesOf(pair, middle.price) + 1) : last ? padded(last, digits) : "–"}</dd></div>
      <div><dt>{w.spread}</dt><dd class="num">{middle ? `${padded(middle.spread, placesOf(pair, middle.price))} (${middle.percent.toFixed(2)} %)` : "–"}</dd></div></dl>
    <div class="bids" role="group" aria-label={w.bids}>{sides.bid.length ? sides.bid.map(level("bid")) : <Blank>{w.noBids}</Blank>}</div>
  </div>;
}

const digitsFor = (quantity) => (quantity >= 10_000 ? 1 : quantity >= 1000 ? 2 : quantity >= 10 ? 3 : quantity >= 1 ? 4 : 6);

// digitsOf is how many digits behind the point the quantities of a column need: those of the median,
// less for the few that are much larger.
function digitsOf(column) {
  const usual = column.map(Number).sort((x, y) => x - y)[Math.floor(column.length / 2)];
  return (quantity) => Math.min(digitsFor(usual), digitsFor(Number(quantity)));
}

const kept = 60; // trades that are shown

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
  return <section class="panel in-book" id="trades" aria-label={w.trades}>
    <header class="panel-head"><h2>{w.trades}</h2></header>
    <Asked poll={poll}>{(old) => {
      const all = [...pushed, ...old].slice(0, kept);
      if (!all.length) return <Empty icon="clock" title={w.noTrades}>{w.noTradesLead}</Empty>;
      const places = placesOf(pair, all[0].price), parts = digitsOf(all.map((t) => t.amount));
      return <div class="panel-body" tabIndex={0} role="region" aria-label={w.trades}><table class="dense"><thead><tr><th>{w.price}</th><th class="right">{tokenName(pair.tradeTokenSymbol)}</th><th class="right">{w.time}</th></tr></thead>
        <tbody>{all.map((t, i) => <tr key={i}><td class={"num " + (t.side === 1 ? "down" : "up")}>{padded(t.price, places)}<span class="unseen"> {t.side === 1 ? w.sell : w.buy}</span></td>
          <td class="right num">{padded(t.amount, parts(t.amount))}</td><td class="right faint"><Time ms={t.ms} only="time" /></td></tr>)}</tbody></table></div>;
    }}</Asked></section>;
}
