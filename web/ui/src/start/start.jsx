// The start page of a listener: what it serves, how that stands, and the ways in for each reader.
import { Copy, lasted, linkTo, open, Operator, Skeleton, State, Table, Tabs } from "../base/components.jsx";
import { cut, grouped, shown } from "../base/amount.js";
import { ask, base } from "../base/http.js";
import { ChainIcon, Icon, TokenIcon } from "../base/icons.jsx";
import { formatMessage, useMessages } from "../base/messages.js";
import { assetName } from "../base/names.js";
import { reserveKinds, useReserves } from "../base/reserves.js";
import { go, useRoute } from "../base/route.js";
import { site, usePoll } from "../base/use.js";
import { exchangeContract } from "../base/vite.js";
import { messages } from "./messages.js";
import "./start.css";

const every = 10_000;

// bare is a symbol without the number that makes it unique.
const sourceOf = (network) => network.sourceName || network.name;
const exchangeOf = (network) => network.exchangeName || "Vite";

function Start() {
  const w = useMessages(messages);
  const links = site.use();
  const isGateway = links.bridge === "bridge", isExchange = links.trade === "trade" || links.keys === "keys";
  const networks = usePoll(isGateway ? (signal) => ask(base() + "/networks.json", { signal }) : null, every, [isGateway]);
  const markets = usePoll(isExchange ? (signal) => ask(base() + "/api/v2/ticker/24hr", { signal }) : null, every, [isExchange]);
  return <>
    <Hero networks={isGateway ? networks.data : []} exchange={!isGateway} links={links} />
    {isGateway && (networks.data ? networks.data.map((network) => <Network key={network.path} network={network} />) : <section class="card"><Skeleton lines={5} /></section>)}
    {isExchange && <Markets list={markets.data?.data} links={links} />}
    <Ways links={links} network={networks.data?.[0]} exchange={!isGateway} pair={markets.data?.data?.[0]?.symbol} />
  </>;
}

// Hero is the listener's purpose and state.
function Hero({ networks, exchange, links }) {
  const w = useMessages(messages);
  const first = networks?.[0];
  const name = exchange ? w.heroExchange : networks?.length === 1 ? formatMessage(w.hero, { source: sourceOf(first).replace(/ \(.*/, ""), exchange: exchangeOf(first) }) : w.heroMany;
  return <section class="hero">
    <div>
      <h1>{name}</h1>
      <p class="lead">{exchange ? w.leadExchange : w.lead}</p>
      <p class="row">
        {links.bridge && <a class={"button" + (exchange ? "" : " main")} href={linkTo(links.bridge)}><Icon name="swap" />{w.openBridge}</a>}
        {links.trade && <a class={"button" + (exchange ? " main" : "")} href={linkTo(links.trade)}>{w.openTrade}</a>}
      </p>
    </div>
    <Health networks={networks ?? []} started={links.started} />
  </section>;
}

// Health is the daemon's state, its uptime, and the newest block that it has read of each chain.
function Health({ networks, started }) {
  const w = useMessages(messages);
  const { data, error } = usePoll((signal) => ask(base() + "/health", { signal }), 5000, []);
  const kinds = { ok: ["good", w.well], degraded: ["warn", w.degraded], behind: ["warn", w.behind] };
  const [kind, text] = error || !data ? ["wait", "…"] : kinds[data.status] ?? ["bad", w.down];
  const nameOf = (id) => {
    const source = networks.find((n) => n.source === id || n.name === id);
    return source ? sourceOf(source) : exchangeOf(networks[0] ?? {});
  };
  return <div class="card health" id="health">
    <State kind={kind}>{text}</State>
    {started && Date.now() - Date.parse(started) > 86_400_000 && <p class="small faint">{formatMessage(w.up, { time: lasted((Date.now() - Date.parse(started)) / 1000, w.language) })}</p>}
    {data?.chains?.length > 0 && <ul>{data.chains.map((chain) => <li key={chain.id}>
      <ChainIcon name={nameOf(chain.id)} size={20} /><span>{nameOf(chain.id)}</span>
      <span class="num small faint">{formatMessage(w.blocks, { height: grouped(String(chain.height)) })}</span></li>)}</ul>}
  </div>;
}

// Way is one direction of a token: whether it is open, for which amounts, and how long it takes.
function Way({ state, seconds, children }) {
  const w = useMessages(messages);
  return <div class="way"><State kind={states[state]}>{w[state]}</State><span class="num">{children}</span>
    {seconds > 0 && <span class="small faint">{formatMessage(w.about, { time: lasted(seconds, w.language) })}</span>}</div>;
}

const states = { OPEN: "good", MAINTAIN: "warn", CLOSED: "bad" };

// Network is the tokens of one network, with all that a person needs to know before a transfer.
function Network({ network }) {
  const w = useMessages(messages);
  return <section class="card network">
    <h2><span><ChainIcon name={sourceOf(network)} size={28} />{sourceOf(network)}</span><span><Icon name="swap" size={16} /><ChainIcon name={exchangeOf(network)} size={28} />{exchangeOf(network)}</span></h2>
    <Table label={w.tokens} head={[w.token, w.deposit, w.withdraw, w.fee]} rows={network.tokens.map((token) => {
      const amount = (units) => shown(BigInt(units), token.decimals, 8);
      const unit = <span class="unit">{assetName(token.symbol)}</span>;
      const least = amount(token.minimumWithdrawAmount), most = token.maximumWithdrawAmount;
      return { key: token.tokenId, cells: [
        <a class="token" href={`${base()}/bridge#/deposit/${encodeURIComponent(network.name)}/${encodeURIComponent(token.tokenId)}`}><TokenIcon symbol={token.symbol} size={32} /><strong>{assetName(token.symbol)}</strong></a>,
        <Way state={token.depositState} seconds={token.depositSeconds}>{formatMessage(w.from, { amount: amount(token.minimumDepositAmount) })}{unit}</Way>,
        <Way state={token.withdrawState} seconds={token.withdrawSeconds}>{most === "0" ? formatMessage(w.from, { amount: least }) : formatMessage(w.range, { min: least, max: amount(most) })}{unit}</Way>,
        <span class="num">{feeOf(token, w, amount)}{token.fee?.kind === "flat" && token.fee.amount !== "0" && <span class="unit">{token.symbol}</span>}</span>,
      ] };
    })} />
    <p class="small faint">{w.tokensLead}</p>
    {network.tokens.length > 0 && <About network={network} />}
  </section>;
}

// About explains the tokens of a network: what they stand for, who holds that, and their ids on both chains.
function About({ network }) {
  const w = useMessages(messages);
  const source = sourceOf(network), exchange = exchangeOf(network), [first] = network.tokens;
  const id = (text) => <span class="id"><code>{text}</code><Copy text={text} /></span>;
  return <div class="about" id="about"><h3>{w.what}</h3>
    <p>{formatMessage(w.whatTokens, { token: first.symbol, symbol: assetName(first.symbol), source, exchange })} <Operator /></p>
    <Reserves network={network} />
    <details><summary>{w.ids}</summary><Table label={w.ids} head={[w.token, formatMessage(w.asset, { chain: source }), formatMessage(w.asset, { chain: exchange })]} rows={network.tokens.map((token) => ({ key: token.tokenId, cells: [
      <strong>{token.symbol}</strong>, token.asset === "native" ? w.coin : id(token.asset), id(token.tokenId)] }))} /></details></div>;
}

// Reserves is one line: whether what is held covers what is owed, for each token. The bridge page shows the figures.
function Reserves({ network }) {
  const w = useMessages(messages), find = useReserves();
  const all = network.tokens.map((token) => ({ token, found: find(network, token) }));
  if (!all[0].found) return null;
  return <p id="reserves" class="row">{all[0].found.state === "unpublished" ? w.reserves_unpublished : <><span>{w.reserves}</span>{all.map(({ token, found: { state } }) =>
    <span key={token.tokenId} data-reserves={state}>{token.symbol} <State kind={reserveKinds[state] ?? "wait"}>{w["reserves_" + state] ?? w.reserves_unknown}</State></span>)}</>}</p>;
}

// feeOf is a fee rule in words.
function feeOf({ fee }, w, amount) {
  switch (fee?.kind) {
    case "flat": return (fee.amount ?? "0") === "0" ? w.noFee : amount(fee.amount);
    case "percent": return formatMessage(w.percent, { percent: (fee.ppm ?? 0) / 10_000 });
    default: return w.network;
  }
}

const percentOf = (rate) => Number((rate * 100).toFixed(4)) + " %";

// Markets is the markets' last day.
function Markets({ list, links }) {
  const w = useMessages(messages);
  const limit = usePoll((signal) => ask(base() + "/api/v2/limit", { signal }), 0, []);
  const first = list?.[0]?.symbol;
  const terms = usePoll(first ? (signal) => ask(`${base()}/api/v2/market?symbol=${encodeURIComponent(first)}&address=${exchangeContract}`, { signal }) : null, 0, [first]).data?.data;
  const bridged = [...new Set((list ?? []).flatMap((m) => [m.tradeTokenSymbol, m.quoteTokenSymbol]).filter((symbol) => assetName(symbol) !== symbol))].sort();
  const least = Object.entries(limit.data?.data?.minAmount ?? {}).map(([symbol, amount]) => grouped(amount) + " " + assetName(symbol)).join(", ");
  if (!list) return <section class="card"><Skeleton lines={4} /></section>;
  return <section class="card network">
    <h2>{w.markets}</h2>
    {list.length === 0 ? <p class="faint">{w.noMarkets}</p> : <Table label={w.markets} head={[w.pair, ">" + w.price, ">" + w.change, w.day, ">" + w.volume]} rows={[...list].sort((a, b) => b.amount - a.amount).map((m) => {
      const percent = m.priceChangePercent * 100, quote = assetName(m.quoteTokenSymbol), way = percent < 0 ? "down" : "up";
      return { key: m.symbol, cells: [
        <a class="token" href={links.trade ? linkTo(links.trade) + "#/" + encodeURIComponent(m.symbol) : undefined}><TokenIcon symbol={m.tradeTokenSymbol} size={32} /><span><strong>{assetName(m.tradeTokenSymbol)}</strong> <span class="faint">/ {quote}</span></span></a>,
        <span class="num">{grouped(cut(m.closePrice, 4))}<span class="unit">{quote}</span></span>,
        <span class={"num " + way}>{(percent < 0 ? "−" : "+") + Math.abs(percent).toFixed(2)} %</span>,
        <Trend symbol={m.symbol} way={way} />,
        <span class="num">{grouped(cut(m.amount, 0))}<span class="unit">{quote}</span></span>,
      ] };
    })} />}
    <p class="small faint">{w.marketsLead} {least && formatMessage(w.minimum, { amount: least })} {terms?.takerFee !== undefined && formatMessage(w.tradeFee, { maker: percentOf(terms.makerFee), taker: percentOf(terms.takerFee) })}</p>
    {bridged.length > 0 && <p id="claims">{formatMessage(w.claims, { tokens: bridged.join(w.language === "zh" ? "、" : ", ") })} {links.bridge && <a href={linkTo(links.bridge)}>{w.claimsLink}</a>}</p>}
  </section>;
}

// Trend is a market's prices of the last day.
function Trend({ symbol, way }) {
  const { data } = usePoll((signal) => ask(base() + "/api/v2/klines?limit=48&interval=minute30&symbol=" + encodeURIComponent(symbol), { signal }), 60_000, [symbol]);
  const prices = (data?.data?.c ?? []).map(Number);
  const low = Math.min(...prices), span = Math.max(...prices) - low || 1;
  const points = prices.map((price, i) => `${(i * 120) / Math.max(1, prices.length - 1)},${(30 - ((price - low) / span) * 28).toFixed(1)}`).join(" ");
  return <svg class={"trend " + way} viewBox="0 0 120 32" width="120" height="32" preserveAspectRatio="none" aria-hidden="true"><polyline points={points} /></svg>;
}

const readers = ["wallet", "trader", "program", "operator"];

// Ways explains, for one reader at a time, how to begin and what protects him.
function Ways({ links, network, exchange, pair }) {
  const w = useMessages(messages);
  const { path } = useRoute();
  const now = readers.includes(path[0]) ? path[0] : exchange ? "trader" : "wallet";
  const url = network ? `${location.origin}${base()}${network.path}/meta-info?tokenId=${network.tokens[0]?.tokenId}` : `${location.origin}${base()}/api/v2/ticker/24hr?symbols=${pair ?? ""}`;
  const ends = {
    wallet: links.bridge && [[links.bridge, w.openBridge]],
    trader: links.trade && [[links.trade, w.openTrade], links.keys && [links.keys, w.keys]],
    program: [[links.reference ?? "openapi.json", links.reference ? w.reference : w.description], links.keys && [links.keys, w.keys]],
    operator: [["health", w.healthLink]],
  }[now] || [];
  return <section class="card ways">
    <h2>{w.ways}</h2>
    <Tabs label={w.ways} list={readers.map((id) => ({ id, name: w[id] }))} now={now} choose={(id) => go([id], {}, { replace: true })} />
    <div role="tabpanel" aria-label={w[now]}>
      <ol>{[1, 2, 3].map((step) => <li key={step}><span class="number" aria-hidden="true">{step}</span><h3>{w[now + step]}</h3><p>{w[now + step + "d"]}</p></li>)}</ol>
      {now === "program" && <div class="joined"><pre tabIndex={0} role="region" aria-label="curl">curl '{url}'</pre><Copy text={`curl '${url}'`} what="curl" /></div>}
      <p class="safe"><Icon name="info" size={16} />{w[now + "Safe"]}</p>
      <p class="row">{ends.filter(Boolean).map(([link, name], i) => <a key={link} class={"button" + (i === 0 ? " main" : "")} href={linkTo(link)}>{name}</a>)}</p>
    </div>
  </section>;
}

open({ active: "start", title: (lang) => `${messages[lang].title} · gatewayd` }, Start);
