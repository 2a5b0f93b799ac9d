// The markets: the list to choose from, and the figures of the pair that is chosen.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { cut, grouped } from "../base/amount.js";
import { Button, Dialog, Empty, Moment, Skeleton, State, Time } from "../base/components.jsx";
import { Icon, TokenIcon } from "../base/icons.jsx";
import { formatMessage, useMessages } from "../base/messages.js";
import { remembered } from "../base/store.js";
import { usePoll } from "../base/use.js";
import { query } from "./exchange.js";
import { useFeed, useLive } from "./feed.js";
import { placesOf } from "./levels.js";
import { messages } from "./messages.js";
import { pairName, tokenName } from "./names.js";

// number shows a decimal with at most so many digits behind the point.
export const number = (text, most) => grouped(cut(String(text), most));

// padded shows a number with exactly so many digits behind the point, so that a column lines up.
export function padded(text, digits) {
  const [whole, fraction = ""] = number(text, digits).split(".");
  return digits ? whole + "." + fraction.padEnd(digits, "0") : whole;
}

const leastDigits = 2;

// alignedBy shows all amounts of a token in a list, [[symbol, amount]], with the same number of digits behind the point.
export function alignedBy(list, most) {
  const digits = {};
  for (const [symbol, text] of list) digits[symbol] = Math.max(digits[symbol] ?? leastDigits, (cut(String(text), most).split(".")[1] ?? "").length);
  return (symbol, text) => padded(text, digits[symbol]);
}

const starred = remembered("trade.favourites", (value) => /^[\w,-]*$/.test(value), "");
const starsOf = (value) => value.split(",").filter(Boolean);
const toggle = (symbol) => {
  const now = starsOf(starred.get());
  starred.set((now.includes(symbol) ? now.filter((s) => s !== symbol) : [...now, symbol]).join(","));
};

function Star({ symbol, ...more }) {
  const w = useMessages(messages);
  const on = starsOf(starred.use()).includes(symbol);
  return <button type="button" class={"plain star" + (on ? " on" : "")} aria-pressed={on} aria-label={w.favourite + " " + pairName(symbol)} title={w.favourite} onClick={() => toggle(symbol)} {...more}><Icon name="star" /></button>;
}

export function Change({ part }) {
  const percent = Math.round(Number(part ?? 0) * 10_000) / 100;
  const text = (percent > 0 ? "+" : percent < 0 ? "−" : "") + Math.abs(percent).toFixed(2) + " %";
  return <span class={"num " + (percent < 0 ? "down" : percent > 0 ? "up" : "")}>{text}</span>;
}

// Live shows whether what is shown is current.
export function Live() {
  const w = useMessages(messages);
  const now = useLive(), since = useMemo(() => Date.now(), [now]), old = now === "broken" || now === "away";
  const kind = { open: "good", waiting: "wait", broken: "warn", away: "warn" }[now];
  return <span id="live" data-live={now} role="status"><State kind={kind}>{w["live_" + now]}</State>{old && <span class="small faint">{w.since} <Time ms={since} only="time" /></span>}</span>;
}

// useTicker is a pair's last 24 hours.
export function useTicker(pair) {
  const [push, set] = useState(null);
  const poll = usePoll(async (signal) => (await query("/ticker/24hr", { symbols: pair.symbol }, signal))[0] ?? null, 30_000, [pair.symbol]);
  useFeed(`market.${pair.symbol}.tickers`, (t) => set({ symbol: t.s, closePrice: t.cp, priceChangePercent: t.pCp, highPrice: t.hp, lowPrice: t.lp, quantity: t.q, amount: t.a }), poll.again);
  const asked = poll.data?.symbol === pair.symbol ? poll.data : null; // right after a change of the pair it is the former one's
  if (push?.symbol !== pair.symbol) return asked;
  return { ...asked, ...Object.fromEntries(Object.entries(push).filter(([, value]) => value !== undefined)) };
}

// MarketBar names the pair and shows its last 24 hours. The name opens the list of markets.
export function MarketBar({ pair, ticker, choose, rates }) {
  const w = useMessages(messages);
  const [listing, list] = useState(false);
  const before = useRef(null), way = useRef("");
  const price = ticker?.closePrice;
  if (price && before.current && before.current !== price) way.current = Number(price) < Number(before.current) ? "down" : "up";
  if (price) before.current = price;
  useEffect(() => {
    before.current = null;
    way.current = "";
  }, [pair.symbol]);
  useEffect(() => {
    document.title = (price ? number(price, placesOf(pair, price)) + " " : "") + pairName(pair.symbol) + " · " + w.title;
  }, [price, pair.symbol, w.language]);
  const places = placesOf(pair, price ?? 1), quote = tokenName(pair.quoteTokenSymbol), base = tokenName(pair.tradeTokenSymbol);
  const value = price && worth(price, pair.quoteTokenSymbol, rates, w), rate = rateText(pair.tradeTokenSymbol, rates, w), hint = (token, symbol) => formatMessage(w.referenceHint, { token, rate: rateText(symbol, rates, w) });
  const show = (text, most) => (text === undefined || text === null ? "–" : number(text, most));
  return <section class="market-bar" aria-label={pairName(pair.symbol)}>
    <div class="market-name">
      <button type="button" id="pair" class="pair-button" aria-haspopup="dialog" onClick={() => list(true)}><TokenIcon symbol={pair.tradeTokenSymbol} size={28} />
        <h1>{pairName(pair.symbol)}</h1><Icon name="down" /><span class="unseen">{w.chooseMarket}</span></button>
      <Star symbol={pair.symbol} />
    </div>
    <dl class="figures">
      <div class="figure-last"><dt class="unseen">{w.last}</dt><dd class={"num last " + way.current} id="last">{price ? padded(price, places) : "–"}</dd><dd class="small faint" id="reference">{value ? <span title={hint(quote, pair.quoteTokenSymbol)}><span class="num">{value}</span> <span>· {w.referenceRate} <Moment ms={rates[pair.quoteTokenSymbol].at} /></span></span> : quote}</dd></div>
      <div><dt>{w.change}</dt><dd>{ticker ? <Change part={ticker.priceChangePercent} /> : "–"}</dd></div>
      <div><dt>{w.high}</dt><dd class="num">{show(ticker?.highPrice, places)}</dd></div>
      <div><dt>{w.low}</dt><dd class="num">{show(ticker?.lowPrice, places)}</dd></div>
      <div class="wide-only"><dt>{w.volume} ({base})</dt><dd class="num">{show(ticker?.quantity, 2)}</dd></div>
      <div><dt>{w.volume} ({quote})</dt><dd class="num">{show(ticker?.amount, 0)}</dd></div>
      {rate && <div class="wide-only" id="base-reference" title={hint(base, pair.tradeTokenSymbol)}><dt>{formatMessage(w.referenceOf, { token: base })} <Moment ms={rates[pair.tradeTokenSymbol].at} /></dt><dd class="num">{rate}</dd></div>}
    </dl>
    <Live />
    {listing && <MarketList now={pair.symbol} rates={rates} choose={(symbol) => { list(false); choose(symbol); }} close={() => list(false)} />}
  </section>;
}

// useRates is the value of each token in dollars and yuan where a fresh rate exists, by symbol. These are the bridge's rates, not the market's prices.
export function useRates() {
  const { data, error } = usePoll(async (signal) => {
    const list = await query("/exchange-rate", {}, signal);
    return Object.fromEntries(list.filter((r) => !r.stale).map((r) => [r.tokenSymbol, { usd: r.usdRate, cny: r.cnyRate, at: r.updateTime * 1000 }]));
  }, 60_000, []);
  return (!error && data) || {}; // what is not answered again may be stale
}

// rateText is a token's reference rate, below 1 with three digits at least.
export const rateText = (symbol, rates, w) => worth(1, symbol, rates, w, 8);

// worth is about how much an amount of a token is in the reader's currency at the token's reference
// rate, or "". Every value on this page is computed so, whatever the market's prices are.
export function worth(amount, symbol, rates, { language }, most = 2) {
  const rate = rates[symbol], [value, currency] = language === "zh" && rate?.cny ? [rate.cny, "CNY"] : [rate?.usd, "USD"];
  if (!value || amount === undefined || amount === null) return "";
  const sum = Number(amount) * value, digits = most > 2 && sum < 1 ? { minimumSignificantDigits: 3, maximumSignificantDigits: most } : { minimumFractionDigits: 2, maximumFractionDigits: most };
  return "≈ " + new Intl.NumberFormat(language === "zh" ? "zh-CN" : "en-US", { style: "currency", currency, ...digits }).format(sum);
}

const columns = { name: (m) => m.symbol, last: (m) => Number(m.closePrice), change: (m) => Number(m.priceChangePercent), volume: (m) => m.value };

// MarketList chooses a market: type to search, arrow keys to move, Enter to choose.
function MarketList({ now, rates, choose, close }) {
  const w = useMessages(messages);
  const poll = usePoll((signal) => query("/ticker/24hr", {}, signal), 10_000, []);
  const [text, type] = useState(""), [only, setOnly] = useState(false), [by, sort] = useState({ column: "volume", down: true });
  const stars = starsOf(starred.use()), short = new Intl.NumberFormat(w.language === "zh" ? "zh-CN" : "en-US", { notation: "compact", maximumSignificantDigits: 3 });
  const list = useMemo(() => {
    const wanted = text.trim().toLowerCase().replace(/[\s_]/g, "/");
    return (poll.data ?? []).map((m) => ({ ...m, value: Number(m.amount) * (rates[m.quoteTokenSymbol]?.usd ?? 0) || Number(m.amount) }))
      .filter((m) => (pairName(m.symbol).toLowerCase().includes(wanted) || m.symbol.toLowerCase().includes(wanted)) && (!only || stars.includes(m.symbol)))
      .sort((a, b) => {
        const [x, y] = [a, b].map(columns[by.column]);
        return (x < y ? -1 : x > y ? 1 : 0) * (by.down ? -1 : 1);
      });
  }, [poll.data, text, only, by, stars.join()]);
  const move = (e) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (e.key === "Enter" && e.target.id === "market-search" && list[0]) {
      e.preventDefault();
      choose(list[0].symbol);
    }
    if (!step) return;
    e.preventDefault();
    const all = [...e.currentTarget.querySelectorAll(".market-choice")];
    const at = all.indexOf(document.activeElement) + step;
    (at < 0 ? document.getElementById("market-search") : all[Math.min(at, all.length - 1)])?.focus();
  };
  const arrow = (column) => by.column === column && <span class="arrow" aria-hidden="true">{by.down ? "↓" : "↑"}</span>;
  const head = (column, right, more = "") => <th class={(right ? "right " : "") + more} aria-sort={by.column === column ? (by.down ? "descending" : "ascending") : undefined}>
    <button type="button" class="plain sort" onClick={() => sort({ column, down: by.column === column ? !by.down : column !== "name" })}>{right && arrow(column)}{w["by_" + column]}{!right && arrow(column)}</button></th>;
  return <Dialog title={w.markets} close={close}><div class="market-list" onKeyDown={move}>
    <div class="market-find"><label class="unseen" for="market-search">{w.search}</label>
      <input id="market-search" type="search" autofocus autocomplete="off" spellcheck={false} placeholder={w.search} value={text} onInput={(e) => type(e.currentTarget.value)} />
      <Button kind="plain" id="only-favourites" aria-pressed={only} onClick={() => setOnly(!only)} icon="star">{w.favourites}</Button></div>
    <div class="market-rows"><table aria-label={w.markets}><thead><tr><th><span class="unseen">{w.favourite}</span></th>{head("name")}{head("last", true)}{head("change", true)}{head("volume", true, "wide-only")}</tr></thead>
      <tbody>{list.map((m) => <tr key={m.symbol} data-market={m.symbol} class={m.symbol === now ? "now" : ""}><td><Star symbol={m.symbol} /></td>
        <td><button type="button" class="plain market-choice" aria-current={m.symbol === now ? "true" : undefined} onClick={() => choose(m.symbol)}><TokenIcon symbol={m.tradeTokenSymbol} size={20} /> <span>{pairName(m.symbol)}<span class="market-volume small faint num">{w.v} {short.format(Number(m.amount))} {tokenName(m.quoteTokenSymbol)}</span></span></button></td>
        <td class="right num">{Number(m.closePrice) ? padded(m.closePrice, placesOf(m, m.closePrice)) : "–"}</td><td class="right"><Change part={m.priceChangePercent} /></td>
        <td class="right num wide-only">{number(m.amount, 0)} <span class="unit">{tokenName(m.quoteTokenSymbol)}</span></td></tr>)}</tbody></table>
      {!poll.data && <Skeleton lines={6} />}{poll.data && !list.length && <Empty icon="search" title={only && !text ? w.noFavourites : w.noMatch} />}</div>
  </div></Dialog>;
}
