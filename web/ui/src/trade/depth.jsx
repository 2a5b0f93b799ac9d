// The depth of a book: how much both sides hold up to each price, with a cursor.
import { useState } from "preact/hooks";
import { Blank } from "../base/components.jsx";
import { useMessages } from "../base/messages.js";
import { middleOf, placesOf, sums } from "./levels.js";
import { number, padded } from "./markets.jsx";
import { messages } from "./messages.js";
import { tokenName } from "./names.js";

const reach = 0.05; // how far from the mid price the depth is drawn, as a part of it
const height = 100, steps = 100; // of the drawing; of the cursor by arrow keys

// ticksOf lists up to four round amounts below a highest one, with the digits behind the point that they need.
function ticksOf(high) {
  const ten = 10 ** Math.floor(Math.log10(high / 4)), step = [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= high / 4);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return Array.from({ length: Math.ceil(high / step) - 1 }, (_, i) => ({ amount: (i + 1) * step, text: padded(((i + 1) * step).toFixed(digits), digits) }));
}

// Depth draws both sides. The pointer or the arrow keys move the cursor.
export function Depth({ pair, book }) {
  const w = useMessages(messages);
  const [at, set] = useState(null); // 0 to 1, from the lowest price to the highest
  const middle = Number(book && (middleOf(book)?.price ?? (book.bids[0] ?? book.asks[0])?.[0]));
  if (!middle) return <Blank>{w.emptyBook}</Blank>;
  const near = (side) => sums(side.filter(([price]) => Math.abs(Number(price) / middle - 1) <= reach)).map((l) => ({ price: Number(l.price), sum: Number(l.sum) }));
  const bids = near(book.bids), asks = near(book.asks);
  const away = Math.max(...[...bids, ...asks].map((l) => Math.abs(l.price - middle)), middle / 1e6) * 1.02;
  const low = middle - away, wide = 2 * away, high = Math.max(...[...bids, ...asks].map((l) => l.sum)) * 1.1 || 1;
  const x = (price) => ((price - low) / wide) * 100, y = (sum) => height - (sum / high) * height;
  const outline = (side, edge) => {
    if (!side.length) return "";
    let path = `M${x(side[0].price)} ${height}`, before = height;
    for (const l of side) {
      path += `L${x(l.price)} ${before}L${x(l.price)} ${y(l.sum)}`;
      before = y(l.sum);
    }
    return path + `L${edge} ${before}L${edge} ${height}Z`;
  };
  const price = at === null ? null : low + at * wide;
  const within = { bid: bids.filter((l) => l.price >= price), ask: asks.filter((l) => l.price <= price) }; // of a price between the sides: nothing
  const side = price === null ? null : price < middle ? "bid" : "ask", sum = side && within[side].at(-1)?.sum;
  const places = placesOf(pair, middle), amount = (of) => `${number(of.toFixed(6), 4)} ${tokenName(pair.tradeTokenSymbol)}`, ticks = ticksOf(high);
  const text = price === null ? "" : `${sum ? w[side + "s"] : w.spread}: ${padded(price.toFixed(places), places)} ${tokenName(pair.quoteTokenSymbol)}` + (sum ? `, ${w.sum} ${amount(sum)}` : "");
  const move = (e) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
    if (!step) return;
    e.preventDefault();
    set((now) => Math.min(1, Math.max(0, (now ?? 0.5) + step / steps)));
  };
  const point = (e) => {
    const box = e.currentTarget.getBoundingClientRect();
    set(Math.min(1, Math.max(0, (e.clientX - box.left) / box.width)));
  };
  return <div class="chart-body" id="depth">
    <div class="depth" tabIndex={0} role="slider" aria-label={w.depthLabel} aria-valuemin={0} aria-valuemax={steps} aria-valuenow={Math.round((at ?? 0.5) * steps)} aria-valuetext={text || w.depthHint} onKeyDown={move} onPointerMove={point} onPointerDown={point} onPointerLeave={() => set(null)}>
      <svg viewBox={`0 0 100 ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {ticks.map((t) => <line key={t.text} class="tick-line" x1="0" x2="100" y1={y(t.amount)} y2={y(t.amount)} />)}
        <path class="bid" d={outline(bids, 0)} /><path class="ask" d={outline(asks, 100)} />
        {at !== null && <line x1={at * 100} x2={at * 100} y1="0" y2={height} />}
      </svg>
      {at !== null && <output class={"depth-cursor " + (sum ? side : "")} style={{ left: `${at * 100}%` }} data-right={at > 0.5}><strong class="num">{padded(price.toFixed(places), places)}</strong>{sum > 0 && <span class="small num">{w.sum} {amount(sum)}</span>}</output>}
      <div class="depth-axis small faint num" aria-hidden="true">{ticks.map((t) => <span key={t.text} style={{ top: y(t.amount) + "%" }}>{t.text}</span>)}</div>
    </div>
    <div class="depth-prices row spread small faint num"><span>{padded(low.toFixed(places), places)}</span><span>{padded(middle.toFixed(places), places)}</span><span>{padded((low + wide).toFixed(places), places)}</span></div>
  </div>;
}
