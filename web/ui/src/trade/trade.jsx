// The trade page: a pair, its chart, book and trades, and, for an account, orders and balances. It
// calls the exchange's public API only.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Asked, Button, Empty, open, Tabs, tell } from "../base/components.jsx";
import { language, useMessages } from "../base/messages.js";
import { go, useRoute } from "../base/route.js";
import { remembered } from "../base/store.js";
import { online, usePoll } from "../base/use.js";
import { AccountBar, useAccount, useSession } from "./account.jsx";
import { Book, Trades, useBook } from "./book.jsx";
import { ChartPanel, intervals } from "./chart.jsx";
import { query } from "./exchange.js";
import { useLive } from "./feed.js";
import { OrderForm } from "./form.jsx";
import { placesOf } from "./levels.js";
import { MarketBar, useRates, useTicker } from "./markets.jsx";
import { messages } from "./messages.js";
import { MoveDialog } from "./move.jsx";
import { AccountPanels, Advice, Outcome, tabs } from "./panels.jsx";
import "./trade.css";

const lastPair = remembered("trade.pair", (value) => /^[\w-]*$/.test(value), "");
const views = ["chart", "book", "trade", "orders"]; // of a phone
const one = (list, value) => (list.includes(value) ? value : list[0]);

function Trade() {
  const w = useMessages(messages);
  const markets = usePoll((signal) => query("/markets", { limit: 500 }, signal), 60_000, []);
  const lost = markets.data === null && markets.error && markets.error.code === undefined;
  if (lost) return <Start icon="offline" title={w.noAnswer}>{w.noAnswerLead}</Start>;
  return <Asked poll={markets} lines={18}>{(list) => (list.length ? <Market markets={list} /> : <Start icon="info" title={w.noMarkets}>{w.noMarketsLead}</Start>)}</Asked>;
}

// Start stands for the page where there is nothing to trade yet.
const Start = ({ icon, title, children }) => <section class="card" id="start"><Empty icon={icon} title={title}>{children}</Empty></section>;

function Market({ markets }) {
  const w = useMessages(messages);
  const { path, query: state } = useRoute();
  const find = (symbol) => markets.find((m) => m.symbol === symbol);
  const pair = find(path[0]) ?? (state.move && markets.find((m) => m.tradeTokenSymbol === state.move)) ?? find(lastPair.get()) ?? markets.find((m) => m.symbol.startsWith("ETH")) ?? markets[0];
  const view = one(views, state.view), tab = one(tabs, state.tab), interval = one(intervals, state.interval), side = state.side === "sell" ? 1 : 0;
  const turn = (change) => go([pair.symbol], { ...state, ...change }, { replace: true });
  const choose = (symbol) => {
    lastPair.set(symbol);
    go([symbol], { ...state, side: "" }, {});
  };
  useEffect(() => {
    if (path[0] !== pair.symbol) go([pair.symbol], state, { replace: true });
  }, [path[0], pair.symbol]);
  const { poll, book } = useBook(pair);
  const ticker = useTicker(pair), rates = useRates();
  const account = useSession(), data = useAccount(account.session?.address ?? "");
  const [proposed, propose] = useState(null), [allNews, setNews] = useState([]), up = online.use();
  const last = Number(ticker?.closePrice) ? ticker.closePrice : null;
  const best = last ?? book?.bids[0]?.[0] ?? book?.asks[0]?.[0] ?? "1";
  const own = useMemo(() => (data.open.data ?? []).filter((o) => o.symbol === pair.symbol), [data.open.data, pair.symbol]);
  const fills = useMemo(() => (data.fills.data?.list ?? []).filter((f) => f.symbol === pair.symbol), [data.fills.data, pair.symbol]);
  const openedAt = useRef(0), stale = ["broken", "away"].includes(useLive());
  const trade = (to) => {
    openedAt.current = Date.now();
    turn({ view: "trade", side: to === 1 ? "sell" : "" });
  };
  // report keeps the news of an order that the form follows; null ends them.
  const report = (id, one) => setNews((before) => [...(one ? [{ ...one, id }] : []), ...before.filter((other) => other.id !== id)]);
  const news = allNews.filter((one) => one.symbol === pair.symbol).sort((a, b) => b.waits - a.waits || b.at - a.at), [first] = news;
  const moveFunds = (symbol) => turn({ move: symbol || pair.tradeTokenSymbol });
  return <div class={"trade" + (stale ? " stale" : "")} data-view={view} data-account={account.session ? "open" : "none"}>
    <MarketBar key={pair.symbol} pair={pair} ticker={ticker} choose={choose} rates={rates} />
    <div class="phone-tabs"><Tabs label={w.views} now={view} choose={(id) => turn({ view: id === "chart" ? "" : id })} list={views.map((id) => ({ id, name: w["view_" + id] }))} /></div>
    <div class="desk">
      <ChartPanel pair={pair} places={placesOf(pair, best)} book={book} open={own} fills={fills} interval={interval} kind={state.chart === "depth" ? "depth" : "price"}
        turn={(change) => turn({ ...change, ...(change.chart === "price" && { chart: "" }), ...(change.interval === intervals[0] && { interval: "" }) })} />
      <div class="market-side"><Book pair={pair} poll={poll} book={book} last={last} own={own} propose={(price) => { propose({ symbol: pair.symbol, price }); if (view === "book") turn({ view: "trade" }); }} />
        <Trades key={pair.symbol} pair={pair} /></div>
      <div class="order-side in-trade"><AccountBar account={account} opened={() => turn({ view: "trade" })} />
        <OrderForm key={pair.symbol} pair={pair} account={account} data={data} book={book} last={last} side={side} setSide={(to) => turn({ side: to === 1 ? "sell" : "" })} proposed={proposed} rates={rates} report={report} openedAt={openedAt} moveFunds={moveFunds} /></div>
      <AccountPanels session={account.session} data={data} pair={pair} news={news} rates={rates} tab={tab} choose={(id) => turn({ tab: id === "open" ? "" : id })} moveFunds={moveFunds} />
    </div>
    {first && view !== "trade" && <div class="phone-news" role="status"><Outcome news={first} />
      {view !== "orders" && <Button kind="plain" onClick={() => turn({ view: "orders" })}>{w.view_orders}</Button>}{first.close && <Button kind="plain" icon="close" aria-label={w.close} onClick={first.close} />}
      <Advice news={first} /></div>}
    {state.move && account.session && <MoveDialog key={account.session.address + state.move} session={account.session} markets={markets} first={state.move} data={data} close={() => turn({ move: "" })} />}
    <div class="phone-bar">{["buy", "sell"].map((kind, to) => <Button key={kind} kind={kind} aria-disabled={!up} title={up ? undefined : w.live_away} onClick={() => trade(to)}>{w[kind]}</Button>)}</div>
  </div>;
}

language.watch(() => tell("")); // a short message is in the language of its moment

open({ active: "trade", wide: true, title: (lang) => messages[lang].title }, Trade);
