// The order form: what is typed is checked at once; what an order locks is shown with its fee before
// anything is sent; a price that is far off is asked about.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { bare, cut, isDecimal, parse, plain } from "../base/amount.js";
import { Button, Confirm, Facts, Field, linkTo, Note, Segmented, trouble } from "../base/components.jsx";
import { Away } from "../base/http.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { online, site, usePoll } from "../base/use.js";
import { exchangeContract } from "../base/vite.js";
import { attemptOf, draftOf, dropAttempt, heldOf, holdAttempt, isUnknown, keepDraft, sameOrder, waiting } from "./draft.js";
import { query } from "./exchange.js";
import { placesOf } from "./levels.js";
import { number, rateText, worth } from "./markets.jsx";
import { messages } from "./messages.js";
import { pairName, tokenName } from "./names.js";
import { buy, check, cost, ended, fillsNow, fitting, highest, most, newest, percentOf, rateOf, resting, sell, share, worse } from "./order.js";
import { Advice, Outcome } from "./panels.jsx";

const sides = ["buy", "sell"];


// useTerms is what the exchange asks of orders of a pair: its smallest order, the account's fee rates
// and the decimals of the quote token. Null until they are known: no order is sent without them.
// Without an account, the rates are those of the exchange's own one, which has no stake.
function useTerms(pair, address) {
  const token = usePoll((signal) => query("/token/detail", { tokenId: pair.quoteToken }, signal), 0, [pair.quoteToken]);
  const market = usePoll((signal) => query("/market", { symbol: pair.symbol, address: address || exchangeContract }, signal), 60_000, [pair.symbol, address]);
  return useMemo(() => {
    if (!token.data || !market.data) return null;
    const m = market.data, [maker, taker] = [m.makerFee, m.takerFee].map(rateOf);
    return { decimals: token.data.tokenDecimals, least: m.minOrderSize, rate: highest(maker, taker), pricePrecision: pair.pricePrecision, quantityPrecision: pair.quantityPrecision };
  }, [token.data, market.data, pair]);
}

const percent = (rate) => plain(rate, 3) + " %";

const doubleTap = 600; // milliseconds in which a second tap on the button that opened the form or a question sends nothing

// useRested is false until a second tap can no longer be meant for what was here before.
function useRested() {
  const [rested, set] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => set(true), doubleTap);
    return () => clearTimeout(timer);
  }, []);
  return rested;
}

// OrderForm places an order of the pair. `proposed` is a price that was pressed in a pair's book.
export function OrderForm({ pair, account, data, book, last, side, setSide, proposed, rates, report, openedAt, moveFunds }) {
  const w = useMessages(messages);
  const { session } = account, { bridge } = site.use(), up = online.use();
  const kept = useMemo(() => draftOf(pair.symbol, side), [pair.symbol]);
  const [price, setPrice] = useState(kept.price), [quantity, setQuantity] = useState(kept.quantity);
  const [typedTotal, setTypedTotal] = useState(null), [postOnly, setPostOnly] = useState(false);
  const [busy, setBusy] = useState(false), [fault, setFault] = useState(null), [asking, ask] = useState(null);
  const [sent, setSent] = useState(() => [...kept.attempts].reverse().map((one) => ({ ...one, unknown: true }))); // newest first: the last order, and those whose outcome is unknown
  const [tried, setTried] = useState(false);
  const market = useTerms(pair, session?.address);
  const [base, quote] = [pair.tradeTokenSymbol, pair.quoteTokenSymbol];
  const [locked, other] = side === buy ? [quote, base] : [base, quote];
  const available = data.balances.data ? (data.balances.data[locked]?.available ?? "0") : null;
  const bid = book?.bids[0]?.[0], ask0 = book?.asks[0]?.[0], opposite = side === buy ? ask0 : bid;
  const change = (act) => (value) => {
    setFault(null);
    act(value);
  };
  const enterPrice = change((value) => {
    setPrice(value);
    const units = market && typedTotal !== null && !quantity && isDecimal(value, pair.pricePrecision) ? parse(typedTotal, market.decimals) : null;
    if (units === null) setTypedTotal(null);
    else fit(units, value);
  });
  const enterQuantity = change((value) => {
    setTypedTotal(null);
    setQuantity(value);
  });
  // fit orders as much as a total pays for.
  const fit = (units, at) => {
    const part = fitting(side, units, at, market);
    setQuantity(part === "0" ? "" : part);
  };
  const preset = useRef(kept.price ? null : ""); // the last price, filled in once and kept when an order is sent with it; null after that
  useEffect(() => {
    if (!last || price || preset.current !== "") return;
    preset.current = cut(last, pair.pricePrecision);
    setPrice(preset.current);
  }, [last]);
  useEffect(() => keepDraft(pair.symbol, { side, price: price === preset.current ? "" : price, quantity }), [pair.symbol, side, price, quantity]);
  useEffect(() => {
    if (proposed?.symbol === pair.symbol) enterPrice(cut(proposed.price, pair.pricePrecision));
  }, [proposed]);

  const priced = market && isDecimal(price, pair.pricePrecision), complete = priced && isDecimal(quantity, pair.quantityPrecision);
  const faults = market ? check({ side, price, quantity, available, least: market.least, postOnly, opposite }, market) : {};
  const costs = complete ? cost(side, price, quantity, market) : null;
  const maximum = priced && available !== null ? most(side, available, price, market) : side === sell && available !== null ? share(available, 100, pair.quantityPrecision) : null;
  const now = complete ? fillsNow(side, price, quantity, (side === buy ? book?.asks : book?.bids) ?? []) : null;
  const at = complete && maximum ? percentOf(bare(quantity), maximum) : 0;
  const named = { quote: tokenName(quote), trade: tokenName(base) };
  const inQuote = (units) => <span class="num">{units === undefined ? "–" : number(plain(units, market.decimals), 8)}<span class="unit">{named.quote}</span></span>;
  const text = (field, name) => {
    const found = faults[field];
    if (found) return formatMessage(w[found[0]], { what: name, ...found[1], have: found[1].have && number(found[1].have, 8), least: found[1].least && number(found[1].least, 8), price: found[1].price && number(found[1].price, 8), symbol: named[found[1].symbol] });
    if (tried && field === "price" && !price) return w.priceMissing;
    return tried && field === "quantity" && !quantity ? w.quantityMissing : "";
  };
  const slide = (value) => {
    let at0 = price;
    if (!priced) { // a share of the balance needs a price: the best one there is
      at0 = opposite ?? last ?? "";
      if (!at0 || !market) return;
      enterPrice(cut(at0, pair.pricePrecision));
    }
    if (available === null) return;
    const all = most(side, available, at0, market), part = share(all, value, pair.quantityPrecision);
    enterQuantity(part === "0" ? "" : part);
  };
  const enterTotal = change((value) => {
    setTypedTotal(value);
    const units = market && parse(value, market.decimals);
    if (!priced || units === null) setQuantity("");
    else fit(units, price);
  });

  const typed = () => ({ address: session.address, symbol: pair.symbol, side, price: bare(price), quantity: bare(quantity) });
  const place = async () => {
    setBusy(true);
    setFault(null);
    preset.current = null;
    keepDraft(pair.symbol, { side, price, quantity });
    let order = attemptOf(typed());
    const before = isUnknown(order);
    let posted = before;
    try {
      if (before && order.key !== session.key) return setFault({ text: w.otherKey }); // client IDs are unique for a key only
      if (postOnly && (await crossesNow())) return;
      await session.place(order, (at) => {
        order = { ...order, key: session.key, at: Math.max(at, order.at ?? 0) }; // the computer's clock may have been set back
        holdAttempt(order);
        posted = true;
      });
      done(order, false);
    } catch (error) {
      if (posted && (error instanceof Away || /may have been taken/.test(error.message))) done(order, true);
      else if (error.code === 1004 && error.message.includes(order.clientId)) done(order, false); // an earlier answer was lost
      else {
        if (!before) dropAttempt(order); // else this refusal does not tell what became of the earlier sending
        setFault({ ...refusal(error, side, w), raw: error });
      }
    } finally {
      setBusy(false);
      data.again();
    }
  };
  // crossesNow reads the book once more for an order that must not fill at once.
  const crossesNow = async () => {
    const now = await query("/depth", { symbol: pair.symbol, limit: 1 }), found = check({ side, price, quantity, available, least: market.least, postOnly, opposite: (side === buy ? now.asks : now.bids)[0]?.[0] }, market);
    if (!found.price) return false;
    setFault({ field: "price", text: formatMessage(w[found.price[0]], { what: w.price, ...found.price[1] }) });
    return true;
  };
  const done = (order, unknown) => {
    setSent((before) => [{ ...order, unknown }, ...before.filter((one) => one.clientId !== order.clientId && isUnknown(one))]);
    if (unknown) return; // what was typed stays: placing it again is safe
    dropAttempt(order);
    clear();
  };
  const clear = () => {
    keepDraft(pair.symbol, { quantity: "" }); // another pair may be shown by now
    setQuantity("");
    setTypedTotal(null);
    setTried(false);
  };
  // known is called when an order that was sent is found.
  const known = (order) => {
    if (!isUnknown(order)) return;
    dropAttempt(order);
    if (sameOrder(typed(), order)) clear(); // pressed again, it would be placed again
  };
  // absent is called when an order certainly was not placed; false if it was sent again meanwhile.
  const absent = (order, at) => {
    if (busy || heldOf(order)?.at !== at) return false;
    dropAttempt(order);
    return true;
  };
  const close = (order) => {
    dropAttempt(order);
    setSent((before) => before.filter((one) => one.clientId !== order.clientId));
  };
  const submit = (e) => {
    e.preventDefault();
    if (busy || !session?.key || !market || !up || Date.now() - openedAt.current < doubleTap) return;
    setTried(true);
    const wrong = ["price", "quantity", "total"].find((field) => faults[field]) ?? (!price ? "price" : !quantity ? "quantity" : "");
    if (wrong) return document.getElementById(wrong)?.focus();
    const off = worse(side, price, [last, opposite]);
    const doubt = off || now?.impact ? { percent: number(off?.percent ?? now.impact, 2), sweeps: !off, off, now, costs, last, opposite } : null;
    const earlier = waiting(pair.symbol, session.address).filter((one) => !sameOrder(one, typed())); // the same one is placed once
    if (earlier.length || doubt) return ask({ earlier, doubt });
    return place();
  };
  const turnTo = (to) => {
    setTypedTotal(null);
    setSide(to);
  };
  const fill = (name, value) => <button type="button" class="plain fill" key={name} aria-disabled={!value} onClick={() => value && enterPrice(cut(value, pair.pricePrecision))}>{name}</button>;
  const totalText = typedTotal ?? (costs ? plain(costs.total, market.decimals) : "");
  const results = sent.filter((one) => one.address === session?.address);
  const faultAt = (field) => (fault?.field === field ? fault.text : "");
  return <section class="panel in-trade order" id="order" aria-label={w.order} data-side={sides[side]}>
    <form onSubmit={submit} noValidate><div class="order-body">
      <p class="small faint" id="order-type"><strong>{w.limitOrder}</strong> · {side === buy ? w.limitBuy : w.limitSell}</p>
      <Segmented class="full" label={w.side} now={sides[side]} choose={(id) => change(turnTo)(sides.indexOf(id))} list={sides.map((id) => ({ id, name: w[id], class: id }))} />
      <div class="row spread small"><span class="faint">{w.available}</span><span class="num" id="available">{available === null ? "–" : number(available, 8)}<span class="unit">{tokenName(locked)}</span></span></div>
      <Field id="price" label={<>{w.price} <span class="unit">{named.quote}</span></>} inputMode="decimal" value={price} onInput={(e) => enterPrice(e.currentTarget.value)} fault={text("price", w.price) || faultAt("price")}>
        <div class="fills" role="group" aria-label={w.fillPrice}>{fill(w.fillLast, last)}{fill(w.fillBid, bid)}{fill(w.fillAsk, ask0)}</div></Field>
      <Field id="quantity" label={<>{w.quantity} <span class="unit">{named.trade}</span></>} inputMode="decimal" value={quantity} onInput={(e) => enterQuantity(e.currentTarget.value)} fault={text("quantity", w.quantity) || faultAt("quantity")} />
      <div class="slider"><label class="unseen" for="share">{w.share}</label>
        <input id="share" type="range" min="0" max="100" step="1" value={at} disabled={!up || available === null} aria-valuetext={at + " %"} style={{ "--part": at + "%" }} onInput={(e) => slide(Number(e.currentTarget.value))} />
        <div class="slider-marks">{[25, 50, 75, 100].map((p) => <button type="button" class="plain" key={p} data-share={p} aria-label={formatMessage(w.shareOf, { n: p })} aria-disabled={!up || available === null || undefined} onClick={() => up && slide(p)}>{p} %</button>)}</div></div>
      <Field id="total" label={<>{side === buy ? w.totalBuy : w.totalSell} <span class="unit">{named.quote}</span></>} inputMode="decimal" value={totalText} onInput={(e) => enterTotal(e.currentTarget.value)} onBlur={() => quantity && setTypedTotal(null)} fault={text("total", w.total) || faultAt("total")} />
      <label class="tick" title={w.postOnlyHint}><input id="post-only" type="checkbox" checked={postOnly} aria-describedby="post-only-hint" onChange={(e) => change(setPostOnly)(e.currentTarget.checked)} />{w.postOnly}</label>
      <p class="hint" id="post-only-hint">{postOnly ? w.postOnlyHint : ""}</p>
      <Facts list={[
        [w.fillsNow, now ? <span class="num" id="fills-now">{formatMessage(w.fillsNowOf, { n: number(now.quantity, 6), m: number(quantity, 6), price: number(now.average, placesOf(pair, now.worst)) })}</span> : "–"],
        [w.impact, now?.impact && <span class="num down">{now.impact} %</span>],
      ]} />
    {data.balances.data && <div class="assets"><div class="row spread"><span class="small faint">{w.available} <span class="num">{number(data.balances.data[other]?.available ?? "0", 8)}<span class="unit">{tokenName(other)}</span></span></span><Button kind="plain" id="move-funds" icon="swap" aria-disabled={!up} onClick={() => moveFunds(base)}>{w.moveFunds}</Button></div>
      {Number(available) === 0 && <p class="small faint">{w.apart} {bridge && <a href={linkTo(bridge)}>{w.deposit}</a>}</p>}</div>}
    </div>
    <div class="order-send">
      {fault && !fault.field && <Note kind="bad" live>{fault.text}</Note>}
      <Facts list={[
        [market ? formatMessage(w.feeAt, { rate: percent(market.rate) }) : w.fee, <span id="order-fee">{inQuote(costs?.fee)}</span>],
        [side === buy ? w.totalBuy : w.totalSell, (session || costs) && <strong id="order-total">{inQuote(costs?.total)}</strong>],
        [formatMessage(w.inMoney, { quote: named.quote, rate: rateText(quote, rates, w) }), rateText(quote, rates, w) && (costs ? worth(plain(costs.total, market.decimals), quote, rates, w) : session && "–")],
      ]} />
      {session?.key ? <Button kind={sides[side]} id="place" type="submit" busy={busy} aria-disabled={!up || !market}>{up ? `${w[sides[side]]} ${named.trade}` : w.live_away}</Button>
        : <p class="small faint">{session ? w.readOnlyForm : w.needsAccountForm}</p>}
    </div></form>
    {results.length > 0 && <div class="results">{results.map((one, i) => <Result key={one.clientId + one.at} {...{ sent: one, brief: i > 0, known, absent, session, pair, close, data, report }} />)}</div>}
    {asking?.earlier.length > 0 ? <Another {...asking} order={typed()} costs={costs} market={market} ready={up} pair={pair} place={place} doubted={() => ask({ ...asking, earlier: [] })} close={() => ask(null)} />
      : asking && <Doubt {...asking.doubt} side={side} price={price} quantity={quantity} market={market} pair={pair} ready={up} place={place} close={() => ask(null)} />}
  </section>;
}

// Another asks before a second order while the outcome of an earlier one is unknown: both may be placed. After it come the doubts about the order.
function Another({ earlier, doubt, order, costs, market, ready, pair, place, doubted, close }) {
  const w = useMessages(messages), rested = useRested();
  const [base, quote] = [tokenName(pair.tradeTokenSymbol), tokenName(pair.quoteTokenSymbol)];
  const text = (one) => formatMessage(w.orderAt, { side: one.side === buy ? w.buy : w.sell, n: number(one.quantity, 8), base, price: number(one.price, 12), quote });
  return <Confirm id="another" title={w.anotherTitle} lead={formatMessage(w.anotherLead, { order: earlier.map(text).join(" · ") })}
    action={w.another} danger ready={ready && rested} act={async () => doubt || place()} done={doubt ? doubted : close} cancel={close}>
    <Facts list={[[w.anotherNew, text(order)], [order.side === buy ? w.totalBuy : w.totalSell, costs && `${number(plain(costs.total, market.decimals), 8)} ${quote}`]]} /></Confirm>;
}

// Doubt asks about a price that is far off, or an order that moves the price. Its figures are those of
// the moment when it opened: they fit together while the market moves on.
function Doubt({ percent, sweeps, off, now, costs, last, opposite, side, price, quantity, market, pair, ready, place, close }) {
  const w = useMessages(messages), rested = useRested();
  const [base, quote] = [tokenName(pair.tradeTokenSymbol), tokenName(pair.quoteTokenSymbol)], bestName = side === buy ? w.bestAsk : w.bestBid;
  const at = (text) => (text ? `${number(text, placesOf(pair, text))} ${quote}` : "–"), inQuote = (units) => `${number(plain(units, market.decimals), 8)} ${quote}`;
  const than = sweeps ? w.bestOfBook : off.reference === opposite ? bestName : w.last;
  const nowText = now ? formatMessage(w.doubtNow, { n: number(now.quantity, 8), m: number(quantity, 8), base, price: at(now.average) }) : w.doubtNothing;
  const worst = formatMessage(side === buy ? w.doubtBuy : w.doubtSell, { price: `${number(price, 12)} ${quote}`, total: inQuote(costs.total) });
  return <Confirm title={formatMessage(sweeps ? w.sweepTitle : w.worseTitle, { percent })} danger lead={<><strong>{nowText} {worst}</strong> {formatMessage(sweeps ? w.sweepLead : w.worseLead, { percent })}</>}
    action={formatMessage(side === buy ? w.buyAnyway : w.sellAnyway, { symbol: base })} ready={ready && rested} act={place} done={close} cancel={close}>
    <Facts list={[[w.quantity, `${number(quantity, 8)} ${base}`], [w.price, `${number(price, 12)} ${quote}`], [w.last, at(last)], [bestName, at(opposite)],
      [formatMessage(w.deviation, { than }), percent + " %"],
      [w.fillsNow, now && formatMessage(w.fillsNowOf, { n: number(now.quantity, 6), m: number(quantity, 6), price: at(now.average) })],
      [side === buy ? w.likelyCost : w.likelyYield, now && "≈ " + inQuote(cost(side, now.average, now.quantity, market).total)],
      [side === buy ? w.mostCost : w.totalSell, inQuote(costs.total)]]} /></Confirm>;
}

// refusal is why the exchange refused an order, in the reader's words where the code is known, and
// the field that it is about.
function refusal(error, side, w) {
  if (error.code === 1006) return { field: "total", text: w.refusedMinimum };
  if (error.code === 1007) return { field: side === buy ? "total" : "quantity", text: w.refusedFunds };
  if (error.code === 1002 && /^Invalid price/.test(error.message)) return { field: "price", text: w.price + ": " + error.message };
  if (error.code === 1002 && /^Invalid amount/.test(error.message)) return { field: "quantity", text: w.quantity + ": " + error.message };
  if (error.code === 1002 && /permission/.test(error.message)) return { text: w.refusedPair };
  if (error.code === 1002 && /timestamp|signature|key/i.test(error.message)) return { text: formatMessage(w.refusedKey, { why: error.message }) };
  return { text: trouble(error, w) };
}

const testEvery = 10_000; // a test uses up calls of the key

// Result follows an order that was sent, until it has ended. It uses the first answer that has the order:
// the lookup by its client ID or the account's lists. A brief one has a newer one above it.
function Result({ sent, brief, known, absent, session, pair, close, data, report }) {
  const w = useMessages(messages);
  const [state, settle] = useState("sent"); // or rests, ended, absent
  const tested = useRef(0);
  const over = state === "ended" || state === "absent";
  const listed = data.listed(sent.clientId);
  const poll = usePoll(over ? null : async (signal) => {
    const found = await query("/order", { address: session.address, clientOrderId: sent.clientId }, signal);
    if (found || !sent.unknown || Date.now() - tested.current < testEvery) return found ?? { status: null };
    tested.current = Date.now();
    const held = heldOf(sent);
    return { status: null, absent: held && (await session.neverPlaced(held)) ? held.at : null };
  }, state === "rests" ? 5000 : 1000, [sent.clientId, state]);
  const [order, see] = useState(null);
  const shown = useRef(null);
  useEffect(() => shown.current.scrollIntoView({ block: "nearest" }), []); // on a phone, where it is above the form
  useEffect(() => {
    const found = newest([order, poll.data?.orderId && poll.data, listed]);
    if (!found && poll.data?.absent && absent(sent, poll.data.absent)) settle("absent");
    if (!found || over) return;
    see(found);
    known(sent);
    const next = ended.includes(found.status) ? "ended" : resting.includes(found.status) ? "rests" : state;
    if (next === state) return;
    settle(next);
    data.again();
  }, [poll.data, listed]);
  const [base, quote] = [tokenName(pair.tradeTokenSymbol), tokenName(pair.quoteTokenSymbol)];
  const waits = sent.unknown ? (state === "absent" ? "absent" : "unknown") : "sent"; // for a state of the exchange
  const kind = !order ? (sent.unknown ? "warn" : "") : order.status === 4 ? "good" : order.status === 9 ? "bad" : "";
  const filled = order && Number(order.executedQuantity) > 0;
  const isWaiting = !order && waits === "unknown", minutes = isWaiting ? session.minutesOf(sent) : 0;
  const closed = isWaiting && minutes ? null : () => close(sent); // later the lists of the exchange have it, if it was placed
  const id = sent.clientId + sent.at, news = { symbol: pair.symbol, clientId: sent.clientId, at: sent.at, side: sent.side, quantity: sent.quantity, base, status: order?.status ?? waits, waits: isWaiting, minutes, kind: sent.unknown ? "warn" : "run", close: closed };
  useEffect(() => report(id, news), [news.status, minutes]);
  useEffect(() => () => report(id, null), []);
  return <div class={"result" + (brief ? " brief" : "")} id={brief ? undefined : "result"} ref={shown} data-status={news.status}><Note kind={kind} live>
    <div class="result-head"><Outcome news={news} />{closed && <Button kind="plain" icon="close" aria-label={w.close} onClick={closed} />}</div>
    <p class="small num">{formatMessage(w.atPrice, { price: number(sent.price, 8), quote })}</p>
    {filled && <p class="small num">{formatMessage(w.filledAt, { n: number(order.executedQuantity, 8), base, price: number(order.executedAvgPrice, placesOf(pair, order.executedAvgPrice)), quote })}</p>}
    {order && resting.includes(order.status) && <p class="small">{w.restsInBook}</p>}
    {!order && waits === "absent" && <p class="small">{w.absentLead}</p>}
    <Advice news={news} />
    {isWaiting && <p class="small more">{session.key === sent.key ? w.unknownLead : w.unknownKey}</p>}</Note></div>;
}
