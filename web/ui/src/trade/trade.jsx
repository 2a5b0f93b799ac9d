// The trade page: a pair, its candles, book and trades, and, for who has a key, orders and balances. It calls the exchange's public API only.
import { useEffect, useState } from "preact/hooks";
import { Asked, open, Tabs } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { useMessages } from "../base/messages.js";
import { Account, Balances, NoAccount, OpenOrders, OrderForm, OrderHistory, useAccount } from "./account.jsx";
import { Candles, Depth } from "./chart.jsx";
import { query } from "./exchange.js";
import { Book, Figures, Live, placesOf, Trades, useBook } from "./market.jsx";
import { messages } from "./messages.js";
import "./trade.css";

function Trade() {
  const w = useMessages(messages);
  const markets = usePoll((signal) => query("/markets", { limit: 500 }, signal), 60_000, []);
  const [session, use] = useState(null);
  return <Asked poll={markets} empty={w.noMarkets}>{(list) => <Market markets={list} session={session} use={use} />}</Asked>;
}

function Market({ markets, session, use }) {
  const w = useMessages(messages);
  const [symbol, setSymbol] = useState(decodeURIComponent(location.hash.slice(1)));
  const pair = markets.find((m) => m.symbol === symbol) ?? markets.find((m) => m.symbol.startsWith("ETH")) ?? markets[0];
  const [price, setPrice] = useState("");
  const { poll, book } = useBook(pair);
  const account = useAccount(session?.address ?? "");
  const [view, show] = useState("open");
  useEffect(() => setPrice(""), [pair.symbol]);
  const choose = (e) => {
    history.replaceState(null, "", "#" + e.currentTarget.value);
    setSymbol(e.currentTarget.value);
  };
  const best = book?.bids[0]?.[0] ?? book?.asks[0]?.[0] ?? "1";
  return <>
    <h1 class="unseen">{w.title}</h1>
    <div class="row spread market"><div class="row"><label for="pair" class="unseen">{w.pair}</label>
      <select id="pair" value={pair.symbol} onChange={choose}>{markets.map((m) => <option key={m.symbol}>{m.symbol}</option>)}</select><Live /></div><Figures key={pair.symbol} pair={pair} /></div>
    <div class="desk">
      <div class="stack"><Candles key={pair.symbol} pair={pair} places={placesOf(pair, best)} />{book && <Depth book={book} />}</div>
      <Book pair={pair} poll={poll} book={book} propose={(p) => setPrice(p)} />
      <Trades key={pair.symbol} pair={pair} />
      <div class="stack"><Account session={session} use={use} /><OrderForm pair={pair} session={session} account={account} price={price} setPrice={setPrice} />{session && <Balances account={account} />}</div>
    </div>
    {session ? <>
      <Tabs label={w.orders} now={view} choose={show} list={[{ id: "open", name: w.openOrders }, { id: "history", name: w.orderHistory }]} />
      {view === "open" ? <OpenOrders session={session} account={account} pair={pair} /> : <OrderHistory session={session} />}
    </> : <NoAccount />}
  </>;
}

open({ active: "trade", wide: true, title: (lang) => messages[lang].title }, Trade);
