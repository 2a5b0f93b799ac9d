// A chart of figures over time. The library is loaded when the first chart is shown.
import { useEffect, useRef } from "preact/hooks";
import { language, useMessages } from "./messages.js";

// colours reads tokens of the stylesheet as a canvas needs them.
export function colours(...names) {
  const probe = document.createElement("i");
  document.body.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found = Object.fromEntries(names.map((name) => [name, read(name)]));
  probe.remove();
  return found;
}

// onTheme calls a function now and whenever the colours change; it returns how to end that.
export function onTheme(paint) {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  paint();
  dark.addEventListener("change", paint);
  addEventListener("themechange", paint);
  return () => {
    dark.removeEventListener("change", paint);
    removeEventListener("themechange", paint);
  };
}

// local formats seconds in the reader's zone and language.
export const local = (style) => (seconds) => new Intl.DateTimeFormat(language.get() === "zh" ? "zh-CN" : "en-GB", style).format(new Date(seconds * 1000));

export const moment = local({ dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });

// themed makes a chart in the colours of the page, with the reader's time.
export function themed(library, place, options = {}) {
  const chart = library.createChart(place, {
    autoSize: true, layout: { attributionLogo: false, fontSize: 11, fontFamily: getComputedStyle(document.body).fontFamily }, rightPriceScale: { borderVisible: false, entireTextOnly: true },
    timeScale: { timeVisible: true, borderVisible: false, tickMarkFormatter: local({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }) },
    localization: { timeFormatter: moment }, ...options,
  });
  const end = onTheme(() => {
    const c = colours("card", "faint", "line");
    chart.applyOptions({ layout: { background: { type: library.ColorType.Solid, color: c.card }, textColor: c.faint },
      grid: { vertLines: { visible: false }, horzLines: { color: c.line } } });
  });
  return { chart, end: () => { end(); chart.remove(); } };
}

const kinds = { bars: "HistogramSeries", line: "LineSeries", area: "AreaSeries" };

function options(kind, colour) {
  if (kind === "bars") return { color: colour };
  if (kind === "line") return { color: colour, lineWidth: 2, pointMarkersVisible: true, pointMarkersRadius: 2 };
  return { lineColor: colour, topColor: colour, bottomColor: "transparent", lineWidth: 2 };
}

// Plot shows series of figures over time: { name, kind: bars, line or area, colour: a token of the stylesheet, points: [{ time: seconds, value }] }.
// A point without a value is on the time axis only. The marks of the axis are `least` apart or more: 1 for counts. Screen readers get the newest value of each series.
export function Plot({ label, series, format = String, least = 0.01, height = 160 }) {
  const place = useRef(null), drawn = useRef(null), latest = useRef(series), { language: lang } = useMessages();
  latest.current = series;
  const show = () => drawn.current?.lines.forEach((line, i) => line.setData(latest.current[i]?.points ?? []));
  useEffect(() => {
    let end = () => {}, gone = false;
    import("lightweight-charts").then((library) => {
      if (gone || !place.current) return; // the element goes before the effect ends
      const { chart, end: remove } = themed(library, place.current, {
        handleScroll: false, handleScale: false, localization: { priceFormatter: (v) => format(Number((Math.round(v / least) * least).toFixed(8))), timeFormatter: moment }, // the axis has room for the longest label
      });
      const lines = latest.current.map((s) => chart.addSeries(library[kinds[s.kind]], { priceLineVisible: false, lastValueVisible: false, priceFormat: { type: "price", minMove: least } }));
      const endPaint = onTheme(() => {
        const c = colours(...latest.current.map((s) => s.colour));
        lines.forEach((line, i) => line.applyOptions(options(latest.current[i].kind, c[latest.current[i].colour])));
      });
      drawn.current = { chart, lines };
      show();
      chart.timeScale().fitContent();
      end = () => { endPaint(); remove(); };
    });
    return () => {
      gone = true;
      drawn.current = null;
      end();
    };
  }, [series.map((s) => s.kind + s.colour).join(), lang]);
  useEffect(() => {
    show();
    drawn.current?.chart.timeScale().fitContent();
  }, [series]);
  return <figure class="plot">
    <figcaption><span>{label}</span>{series.length > 1 && series.map((s) => <span key={s.name} class={"key " + s.colour}>{s.name}</span>)}</figcaption>
    <div ref={place} style={{ height: height + "px" }} aria-hidden="true" />
    <Newest series={series} format={format} />
  </figure>;
}

function Newest({ series, format }) {
  const w = useMessages();
  const newest = (s) => s.points.findLast((p) => p.value !== undefined);
  return <p class="unseen">{series.map((s) => `${s.name}: ${newest(s) ? format(newest(s).value) : w.noValue}`).join("; ")}</p>;
}
