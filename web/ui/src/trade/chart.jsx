// Candles and volumes of a pair, and the depth of its book.
import { CandlestickSeries, ColorType, createChart, HistogramSeries } from "lightweight-charts";
import { useEffect, useRef, useState } from "preact/hooks";
import { grouped } from "../base/amount.js";
import { Blank, Fault } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { useMessages } from "../base/messages.js";
import { bars, sums } from "./exchange.js";
import { useFeed } from "./feed.js";
import { messages } from "./messages.js";

// colours reads tokens of the stylesheet as the chart's canvas wants them.
function colours() {
  const probe = document.createElement("i");
  document.body.append(probe);
  const read = (token) => {
    probe.style.color = `var(--${token})`;
    return getComputedStyle(probe).color;
  };
  const found = Object.fromEntries(["card", "faint", "line", "good", "bad"].map((token) => [token, read(token)]));
  probe.remove();
  return found;
}

const local = (style) => (seconds) => new Intl.DateTimeFormat(undefined, style).format(new Date(seconds * 1000));

// draw makes the chart; update gives it bars, paint the colours of the moment.
function draw(place, precision) {
  const chart = createChart(place, {
    autoSize: true, layout: { attributionLogo: false, fontSize: 11 }, rightPriceScale: { borderVisible: false },
    timeScale: { timeVisible: true, borderVisible: false, rightOffset: 3, tickMarkFormatter: local({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }) },
    localization: { timeFormatter: local({ dateStyle: "short", timeStyle: "short", hourCycle: "h23" }) },
  });
  const candles = chart.addSeries(CandlestickSeries, { priceFormat: { type: "price", precision, minMove: 1 / 10 ** precision } });
  const volumes = chart.addSeries(HistogramSeries, { priceScaleId: "", priceFormat: { type: "volume" }, lastValueVisible: false, priceLineVisible: false });
  volumes.priceScale().applyOptions({ scaleMargins: { top: 0.82, bottom: 0 } });
  const volume = (b) => ({ time: b.time, value: b.volume });
  return {
    paint() {
      const c = colours();
      chart.applyOptions({ layout: { background: { type: ColorType.Solid, color: c.card }, textColor: c.faint }, grid: { vertLines: { color: c.line }, horzLines: { color: c.line } } });
      candles.applyOptions({ upColor: c.good, wickUpColor: c.good, borderUpColor: c.good, downColor: c.bad, wickDownColor: c.bad, borderDownColor: c.bad });
      volumes.applyOptions({ color: c.line });
    },
    set(list) {
      candles.setData(list);
      volumes.setData(list.map(volume));
    },
    add(bar) {
      candles.update(bar);
      volumes.update(volume(bar));
    },
    remove: () => chart.remove(),
  };
}

// pushed is a pushed bar in the chart's words.
const pushed = (k) => ({ time: k.t, open: Number(k.o), high: Number(k.h), low: Number(k.l), close: Number(k.c), volume: Number(k.v) });

const intervals = ["minute", "minute30", "hour", "hour6", "day", "week"];

export function Candles({ pair, places }) {
  const w = useMessages(messages);
  const place = useRef(null), chart = useRef(null), newest = useRef(0);
  const [interval, choose] = useState("minute");
  const poll = usePoll((signal) => bars(pair.symbol, interval, signal), 60_000, [pair.symbol, interval]);
  useEffect(() => {
    const drawn = (chart.current = draw(place.current, places));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    drawn.paint();
    dark.addEventListener("change", drawn.paint);
    addEventListener("themechange", drawn.paint);
    return () => {
      dark.removeEventListener("change", drawn.paint);
      removeEventListener("themechange", drawn.paint);
      drawn.remove();
    };
  }, [pair.symbol, places]);
  useEffect(() => {
    if (!poll.data) return;
    newest.current = poll.data.at(-1)?.time ?? 0;
    chart.current.set(poll.data);
  }, [poll.data, places]);
  useFeed(`market.${pair.symbol}.kline.${interval}`, (k) => {
    for (const bar of [k].flat().map(pushed)) {
      if (bar.time < newest.current) continue; // the chart takes bars in their order only
      newest.current = bar.time;
      chart.current?.add(bar);
    }
  }, poll.again);
  return <section class="card" id="candles" aria-label={w.candles}>
    <div class="row spread"><div class="row tight" role="group" aria-label={w.interval}>{intervals.map((i) =>
      <button type="button" key={i} class="plain" aria-pressed={i === interval} onClick={() => choose(i)}>{w["i_" + i]}</button>)}</div>
      <a class="small" href="https://www.tradingview.com/" target="_blank" rel="noreferrer noopener">{w.attribution}</a></div>
    {poll.error && <Fault error={poll.error} again={poll.again} />}
    <div class="chart" ref={place} role="img" aria-label={w.candles + " " + pair.symbol} />
    {poll.data?.length === 0 && <Blank>{w.noTrades}</Blank>}
  </section>;
}

const reach = 0.05; // how far from the best price the depth is drawn, as a share of it

// Depth draws how much both sides of the book hold up to each price.
export function Depth({ book }) {
  const w = useMessages(messages);
  const middle = Number((book.bids[0] ?? book.asks[0] ?? ["0"])[0]);
  const near = (side) => side.filter(([price]) => Math.abs(Number(price) / middle - 1) <= reach);
  const bids = sums(near(book.bids)), asks = sums(near(book.asks));
  if (!bids.length && !asks.length) return null;
  const prices = [...bids, ...asks].map((l) => Number(l.price));
  const low = Math.min(...prices), wide = Math.max(...prices) - low || 1, high = Math.max(...bids.concat(asks).map((l) => l.sum)) || 1;
  const x = (price) => (((Number(price) - low) / wide) * 100).toFixed(2), y = (sum) => (40 - (sum / high) * 38).toFixed(2);
  const area = (side) => {
    if (!side.length) return "";
    let path = `M${x(side[0].price)} 40`, before = "40";
    for (const l of side) {
      path += `L${x(l.price)} ${before}L${x(l.price)} ${y(l.sum)}`;
      before = y(l.sum);
    }
    return path + `L${x(side.at(-1).price)} 40Z`;
  };
  return <section class="card" id="depth"><h2>{w.depth}</h2>
    <svg class="depth" viewBox="0 0 100 40" preserveAspectRatio="none" role="img" aria-label={w.depthLabel}><path class="bid" d={area(bids)} /><path class="ask" d={area(asks)} /></svg>
    <div class="row spread small faint"><span>{grouped(String(low))}</span><span>{grouped(String(Math.max(...prices)))}</span></div></section>;
}
