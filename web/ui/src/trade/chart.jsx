// Candles of a pair with volumes, moving averages, the account's open orders and its trades.
import { CandlestickSeries, ColorType, createChart, createSeriesMarkers, CrosshairMode, HistogramSeries, LineSeries, LineStyle } from "lightweight-charts";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Blank, Fault, Segmented } from "../base/components.jsx";
import { formatMessage, useMessages } from "../base/messages.js";
import { colours as read, local, moment, onTheme } from "../base/plot.jsx";
import { remembered } from "../base/store.js";
import { usePoll } from "../base/use.js";
import { Depth } from "./depth.jsx";
import { bars } from "./exchange.js";
import { useFeed } from "./feed.js";
import { Change, number, padded } from "./markets.jsx";
import { messages } from "./messages.js";
import { tokenName } from "./names.js";
import { average, filled, lengths, nearOrders, ownTrades, put } from "./series.js";

export const intervals = ["minute", "minute30", "hour", "hour6", "day", "week"];

const averages = [{ id: "ma7", length: 7, colour: "warn" }, { id: "ma25", length: 25, colour: "accent" }];
const shownAverages = remembered("trade.averages", ["", "ma7", "ma25", "ma7,ma25"], "ma7,ma25");

const colours = () => read("card", "faint", "line", "good", "bad", "warn", "accent");

// faded is a colour of the stylesheet, nearly transparent.
const faded = (colour) => colour.replace(/^rgb\((.*)\)$/, "rgba($1, .35)");

const clock = local({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const marks = [local({ year: "numeric" }), local({ month: "short" }), local({ day: "numeric", month: "short" }), clock, clock]; // by the chart's type of mark

// draw makes the chart. `seen` gets the time under the cursor, or null.
function draw(place, precision, seen) {
  const chart = createChart(place, {
    autoSize: true, layout: { attributionLogo: false, fontSize: 11 }, rightPriceScale: { borderVisible: false, entireTextOnly: true, scaleMargins: { top: 0.16, bottom: 0.22 } },
    crosshair: { mode: CrosshairMode.Normal },
    timeScale: { timeVisible: true, borderVisible: false, rightOffset: 4, tickMarkFormatter: (time, kind) => marks[kind](time) },
    localization: { timeFormatter: moment },
  });
  const candles = chart.addSeries(CandlestickSeries, { priceFormat: { type: "custom", minMove: 1 / 10 ** precision, formatter: (price) => padded(price.toFixed(precision), precision) } });
  const volumes = chart.addSeries(HistogramSeries, { priceScaleId: "", priceFormat: { type: "volume" }, lastValueVisible: false, priceLineVisible: false });
  volumes.priceScale().applyOptions({ scaleMargins: { top: 0.84, bottom: 0 } });
  const lines = averages.map(() => chart.addSeries(LineSeries, { lineWidth: 1, lastValueVisible: false, priceLineVisible: false, crosshairMarkerVisible: false }));
  const markers = createSeriesMarkers(candles, []);
  let c = colours(), shown = [], orders = [], list = [], fills = [], held = [];
  const volume = (b) => ({ time: b.time, value: b.volume, color: faded(b.close < b.open ? c.bad : c.good) });
  chart.subscribeCrosshairMove((param) => seen(param.time ?? null));
  const drawn = {
    paint() {
      c = colours();
      chart.applyOptions({ layout: { background: { type: ColorType.Solid, color: c.card }, textColor: c.faint }, grid: { vertLines: { color: c.line }, horzLines: { color: c.line } } });
      candles.applyOptions({ upColor: c.good, wickUpColor: c.good, borderUpColor: c.good, downColor: c.bad, wickDownColor: c.bad, borderDownColor: c.bad });
      averages.forEach((a, i) => lines[i].applyOptions({ color: c[a.colour] }));
      volumes.setData(list.map(volume));
      drawn.mark(orders, fills);
    },
    // show draws bars; of pushed ones only the last has changed.
    show(next, last) {
      list = next;
      if (last) {
        candles.update(next.at(-1));
        volumes.update(volume(next.at(-1)));
      } else {
        candles.setData(next);
        volumes.setData(next.map(volume));
      }
      drawn.average(shown);
    },
    average(ids) {
      shown = ids;
      averages.forEach((a, i) => lines[i].setData(ids.includes(a.id) ? average(list, a.length) : []));
    },
    mark(open, done, names = drawn.names) {
      [orders, fills, drawn.names] = [open, done, names];
      for (const line of held) candles.removePriceLine(line);
      held = nearOrders(orders, list.at(-1)?.close).map((o) => candles.createPriceLine({ price: o.price, color: o.side === 1 ? c.bad : c.good, lineWidth: 1, lineStyle: LineStyle.Dashed, axisLabelVisible: true, title: names(o) }));
      markers.setMarkers(ownTrades(list, fills).map(({ side, time }) => (side === 1 ? { time, position: "aboveBar", shape: "arrowDown", color: c.bad } : { time, position: "belowBar", shape: "arrowUp", color: c.good })));
    },
    names: () => "",
    fit: () => chart.timeScale().setVisibleLogicalRange({ from: list.length - Math.min(90, Math.max(45, list.length)), to: list.length + 4 }),
    remove: () => chart.remove(),
  };
  return drawn;
}

// pushed is a pushed bar in the chart's words.
const pushed = (k) => ({ time: k.t, open: Number(k.o), high: Number(k.h), low: Number(k.l), close: Number(k.c), volume: Number(k.v) });

// ChartPanel shows candles or the depth of the book.
export function ChartPanel({ pair, places, book, open, fills, interval, kind, turn }) {
  const w = useMessages(messages);
  const shown = shownAverages.use().split(",").filter(Boolean);
  const toggle = (id) => shownAverages.set(averages.map((a) => a.id).filter((a) => shown.includes(a) !== (a === id)).join(","));
  return <section class="panel in-chart" id="candles" aria-label={w.chart}>
    <header class="panel-head chart-head">
      {kind !== "depth" && <div class="pills" role="group" aria-label={w.interval}>{intervals.map((i) =>
        <button type="button" key={i} class="plain" aria-pressed={i === interval} data-interval={i} onClick={() => turn({ interval: i })}>{w["i_" + i]}</button>)}</div>}
      {kind !== "depth" && <div class="pills" role="group" aria-label={w.averages}>{averages.map((a) =>
        <button type="button" key={a.id} class={"plain ma " + a.id} aria-pressed={shown.includes(a.id)} onClick={() => toggle(a.id)}>MA {a.length}</button>)}</div>}
      <span class="grow" />
      <Segmented label={w.chart} list={[{ id: "price", name: w.priceChart }, { id: "depth", name: w.depth }]} now={kind} choose={(id) => turn({ chart: id })} />
    </header>
    {kind === "depth" ? <Depth pair={pair} book={book} /> : <Candles key={pair.symbol + interval} pair={pair} places={places} open={open} fills={fills} interval={interval} averages={shown} />}
  </section>;
}

function Candles({ pair, places, open, fills, interval, averages: shown }) {
  const w = useMessages(messages);
  const place = useRef(null), chart = useRef(null), fitted = useRef(null);
  const [{ traded, now, last }, set] = useState({ traded: [], now: 0, last: false }), [at, see] = useState(null);
  const list = useMemo(() => filled(traded, lengths[interval], now), [traded, now]);
  const poll = usePoll(async (signal) => {
    const found = await bars(pair.symbol, interval, signal);
    set({ traded: found.bars, now: found.now, last: false });
    return found.bars;
  }, 60_000, [pair.symbol, interval]);
  useEffect(() => {
    const drawn = (chart.current = draw(place.current, places, see));
    const end = onTheme(drawn.paint);
    fitted.current = null;
    return () => {
      end();
      drawn.remove();
      chart.current = null;
    };
  }, [places, w.language]); // the library keeps the texts of its axis
  useEffect(() => {
    const before = fitted.current;
    chart.current.show(list, last && before && list[0]?.time === before[0].time && list.length - before.length <= 1 && list.at(-1).time === traded.at(-1).time);
    if (list.length && !before) chart.current.fit();
    fitted.current = list.length ? list : before;
  }, [list, places, w.language]);
  useEffect(() => chart.current.average(shown), [shown.join(), places, w.language]);
  useEffect(() => chart.current.mark(open, fills, (o) => w[o.side === 1 ? "sell" : "buy"] + " " + number(o.quantity.toFixed(4), 4)), [open, fills, list.length, places, w.language]);
  useFeed(`market.${pair.symbol}.kline.${interval}`, (k) => set((before) => ({ ...before, traded: [k].flat().map(pushed).reduce(put, before.traded), last: true })), poll.again);
  return <div class="chart-body">
    {poll.error && !poll.data && <Fault error={poll.error} again={poll.again} />}
    <Legend pair={pair} list={list} at={at} places={places} averages={shown} fills={fills} />
    <div class="chart" ref={place} role="img" aria-label={w.candles + " " + pair.symbol} />
    {poll.data?.length === 0 && !list.length && <Blank>{w.noTrades}</Blank>}
    <a class="chart-by small" href="https://www.tradingview.com/" target="_blank" rel="noreferrer noopener">{w.attribution}</a>
  </div>;
}

// Legend has the figures of the bar under the cursor, or of the newest one.
function Legend({ pair, list, at, places, averages: shown, fills }) {
  const w = useMessages(messages);
  const i = at === null ? list.length - 1 : list.findIndex((b) => b.time === at);
  const bar = list[i];
  const trades = useMemo(() => ownTrades(list, fills), [list, fills]);
  if (!bar) return null;
  const kind = bar.close < bar.open ? "down" : "up";
  const one = (name, value) => <span><span class="faint">{name}</span> <span class={"num " + kind}>{padded(value.toFixed(places), places)}</span></span>;
  const mean = (a) => list.slice(Math.max(0, i + 1 - a.length), i + 1).reduce((sum, b) => sum + b.close, 0) / Math.min(a.length, i + 1);
  return <div class="legend small" id="legend">
    {one(w.o, bar.open)}{one(w.h, bar.high)}{one(w.l, bar.low)}{one(w.c, bar.close)}<Change part={bar.open ? bar.close / bar.open - 1 : 0} />
    <span><span class="faint">{w.v}</span> <span class="num">{number(bar.volume.toFixed(4), 4)}</span></span>
    {averages.filter((a) => shown.includes(a.id) && i + 1 >= a.length).map((a) => <span key={a.id} class={"num " + a.id}>MA {a.length} {padded(mean(a).toFixed(places), places)}</span>)}
    {trades.filter((t) => t.time === bar.time).map((t) => <span key={t.side} class={"num own " + (t.side === 1 ? "down" : "up")} data-own={t.side} data-count={t.count}><span>{formatMessage(t.side === 1 ? w.youSold : w.youBought,
      { n: number(t.quantity.toFixed(6), 6), base: tokenName(pair.tradeTokenSymbol), price: padded(t.average.toFixed(places), places) })}{t.count > 1 && " " + formatMessage(w.inFills, { n: t.count })}</span></span>)}
  </div>;
}
