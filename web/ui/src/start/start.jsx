// The start page of a listener: what there is, and where.
import { open, State } from "../base/components.jsx";
import { ask, base } from "../base/http.js";
import { site, usePoll } from "../base/use.js";
import { useMessages } from "../base/messages.js";
import "./start.css";

const messages = {
  en: {
    title: "Gateway and exchange", lead: "Deposit tokens from another chain, trade them, and withdraw them.",
    bridgeLead: "Deposit from the source chain, withdraw to it, and follow each transfer.", tradeLead: "Order books, candles, your orders and balances, live.",
    keysLead: "Create and remove API keys for programs that trade for you. They cannot withdraw.", api: "API description", well: "All services are healthy", away: "Unhealthy",
    machine: "For programs", health: "Health",
  },
  zh: {
    title: "网关与交易所", lead: "从另一条链转入代币，进行交易，再转回去。",
    bridgeLead: "从源链充值、提现到源链，并查看每笔转账的进度。", tradeLead: "订单簿、K 线、您的委托与余额，实时更新。",
    keysLead: "创建和删除让程序代您交易的密钥。密钥不能提现。", api: "API 说明", well: "运行正常", away: "运行异常",
    machine: "面向程序", health: "服务状态",
  },
};

function Start() {
  const w = useMessages(messages);
  const links = site.use();
  const health = usePoll(() => ask(base() + "/health"), 5000, []);
  const to = (link) => (/^https?:/.test(link) ? link : base() + "/" + link);
  return <>
    <div><h1>{w.title}</h1><p class="faint">{w.lead}</p></div>
    <div class="grid">{["bridge", "trade", "keys"].filter((page) => links[page]).map((page) => <section class="card" key={page}>
      <h2><a href={to(links[page])}>{w[page]}</a></h2><p>{w[page + "Lead"]}</p>
    </section>)}</div>
    <section class="card"><h2>{w.machine}</h2>
      <dl class="facts">
        <dt>{w.health}</dt><dd>{health.data && (health.data.status === "ok" ? <State kind="good">{w.well}</State> : <State kind="warn">{w.away}</State>)}
          {health.error && <State kind="bad">{w.away}</State>}</dd>
        <dt>{w.api}</dt><dd><a href={base() + "/openapi.json"}>openapi.json</a></dd>
      </dl>
    </section>
  </>;
}

open({ active: "start", title: (lang) => messages[lang].title }, Start);
