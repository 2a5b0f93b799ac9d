// Limits and rates: what may be paid and how much of that is used, what payouts and their users' fees are reckoned by, and the rules of each token.
import { grouped } from "../base/amount.js";
import { Ago, Blank, Note, State, Table, WithCode } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { get } from "./api.js";
import { networks } from "./money.js";
import { Heading, Live, Money, Network } from "./parts.jsx";
import { LimitTable } from "./overview.jsx";
import { useConsoleMessages } from "./labels.js";

export function Limits() {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/limits", {}, signal), 5_000, []);
  const [before, after] = w.toldAgo.split("{ago}");
  return <><Heading>{w.view_limits}</Heading><Live poll={poll}>{(l) => <>
    <section class="card" id="limits"><h2>{w.signerLimits}</h2>
      {l.at && <p class="small faint">{before}<Ago ms={Date.parse(l.at)} />{after}</p>}
      {l.fault && <Note kind="bad">{l.fault}</Note>}
      {l.lists && <Note kind="warn">{l.lists}</Note>}
      {(l.unpriced ?? []).length > 0 && <Note kind="warn">{formatMessage(w.unpriced, { tokens: l.unpriced.join(", ") })}</Note>}
      {!l.at ? <Blank>{w.limitsUnreported}</Blank> : (l.limits ?? []).length === 0 ? <Note kind="warn"><WithCode>{w.unlimited}</WithCode></Note> : <LimitTable list={l.limits} />}</section>
    <Prices list={l.prices ?? []} />
    <Fees quotes={l.quotes ?? []} />
    <Rules /></>}</Live></>;
}

const useTokens = () => networks.use().flatMap((n) => n.tokens.map((t) => ({ ...t, network: n.name })));

const Name = ({ token: t }) => <><strong>{t.symbol}</strong> <span class="faint"><Network name={t.network} /></span></>;

const Own = ({ token: t, amount }) => <Money network={t.network} asset={t.token} amount={amount} />;

const none = <span class="faint">–</span>;

// Prices are what the limit of the whole gateway reckons by.
function Prices({ list }) {
  const w = useConsoleMessages();
  const known = useTokens();
  return <section class="card" id="prices"><h2>{w.prices}</h2>
    {list.length === 0 ? <Blank><WithCode>{w.noPrices}</WithCode></Blank> : <><p class="small faint">{w.pricesLead}</p>
      <Table label={w.prices} head={[w.token, ">" + w.price, ">" + w.priceAge, w.state]} rows={list.map((p) => ({
        key: p.token, cells: [<strong>{known.find((t) => t.token === p.token)?.symbol ?? p.token}</strong>, <span class="num">{p.worth}</span>, <Ago ms={Date.parse(p.at)} />,
          p.fresh ? <State kind="good">{w.counts}</State> : <State kind="warn">{w.tooOld}</State>],
      }))} /></>}</section>;
}

// percent is a number of millionths.
const percent = (ppm) => String(ppm / 10_000);

// Fees are what users pay for a payout, what it costs now, and the rate between coin and token that both are reckoned by.
function Fees({ quotes }) {
  const w = useConsoleMessages();
  const cost = (t) => quotes.find((q) => q.network === t.network && q.token === t.token)?.cost;
  const rule = (t) => (t.fee.kind === "flat" ? <Own token={t} amount={t.fee.amount} /> : formatMessage(w["fee_" + t.fee.kind], { percent: percent(t.fee.ppm) }));
  const bound = (t, amount) => (t.fee.kind === "flat" || amount === "0" ? none : <Own token={t} amount={amount} />);
  const rate = (t) => (t.asset === "native" || t.fee.rate ? <span class="num">{grouped(t.asset === "native" ? "1" : t.fee.rate)}<span class="unit">{t.symbol}</span></span> : none);
  return <section class="card" id="fees"><h2>{w.fees}</h2><p class="small faint">{w.feesLead}</p>
    <Table label={w.fees} head={[w.token, ">" + w.feeRule, ">" + w.feeLeast, ">" + w.feeMost, ">" + w.payoutCosts, ">" + w.ceiling, ">" + w.coinRate]} rows={useTokens().map((t) => ({
      key: t.network + t.token, cells: [<Name token={t} />, rule(t), bound(t, t.fee.min), bound(t, t.fee.max), <Own token={t} amount={cost(t)} />,
        t.ceilingTimes ? formatMessage(w.ceilingTimes, { n: t.ceilingTimes }) : t.chainCeiling || w.ceilingChain, rate(t)],
    }))} /></section>;
}

// takesAll reports whether the fee can take a complete withdrawal.
const takesAll = (t) => {
  const least = BigInt(t.fee.kind === "flat" ? t.fee.amount : t.fee.min);
  return least > 0n && BigInt(t.minWithdraw) <= least;
};

function Rules() {
  const w = useConsoleMessages();
  return <section class="card"><h2>{w.tokens}</h2>
    <Table id="rules" label={w.tokens} head={[w.token, ">" + w.depositFrom, ">" + w.withdrawFrom, ">" + w.withdrawUpTo, ">" + w.hotLeast, ">" + w.hotMost]} rows={useTokens().map((t) => ({
      key: t.network + t.token, cells: [<Name token={t} />, <Own token={t} amount={t.minDeposit} />, <><Own token={t} amount={t.minWithdraw} />{takesAll(t) && <div class="small" data-fee="all"><State kind="warn">{w.feeTakesAll}</State></div>}</>, t.maxWithdraw === "0" ? w.any : <Own token={t} amount={t.maxWithdraw} />,
        t.hotMin === "0" ? none : <Own token={t} amount={t.hotMin} />, t.hotMax === "0" ? none : <Own token={t} amount={t.hotMax} />],
    }))} /></section>;
}
