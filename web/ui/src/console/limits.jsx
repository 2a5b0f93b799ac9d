// Limits and rates: what may be paid and how much of that is used, what a payout costs, and the rules of each token.
import { Ago, Asked, Blank, Note, Table } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { get } from "./api.js";
import { networks } from "./money.js";
import { Heading, Money } from "./parts.jsx";
import { LimitTable } from "./status.jsx";

export function Limits() {
  const poll = usePoll((signal) => get("/limits", {}, signal), 5_000, []);
  return <><Heading>Limits and rates</Heading><Asked poll={poll}>{(l) => <>
    <section class="card" id="limits"><h2>Limits of the signer</h2>
      {l.at && <p class="small faint">As the daemon told <Ago ms={Date.parse(l.at)} /> ago.</p>}
      {l.fault && <Note kind="bad">{l.fault}</Note>}
      {l.lists && <Note kind="warn">{l.lists}</Note>}
      {(l.unpriced ?? []).length > 0 && <Note kind="warn">No fresh price, so the limit of the whole gateway does not count: {l.unpriced.join(", ")}</Note>}
      {(l.limits ?? []).length === 0 ? <Blank>Nothing is limited: <code>signer.limits</code> in the configuration.</Blank> : <LimitTable list={l.limits} />}</section>
    <Rules quotes={l.quotes ?? []} /></>}</Asked></>;
}

function Rules({ quotes }) {
  const list = networks.use().flatMap((n) => n.tokens.map((t) => ({ ...t, network: n.name })));
  const cost = (t) => quotes.find((q) => q.network === t.network && q.token === t.token)?.cost;
  return <section class="card"><h2>Tokens</h2>
    <Table id="rules" label="Tokens" head={["Token", ">Deposit from", ">Withdraw from", ">Withdraw up to", ">A payout costs", ">Hot at least", ">Hot at most"]} rows={list.map((t) => {
      const own = (amount) => <Money network={t.network} asset={t.token} amount={amount} />;
      const hot = (amount) => (amount !== "0" ? own(amount) : <span class="faint">–</span>);
      return { key: t.network + t.token, cells: [<><strong>{t.symbol}</strong> <span class="faint">{t.network}</span></>, own(t.minDeposit), own(t.minWithdraw), t.maxWithdraw === "0" ? "any" : own(t.maxWithdraw),
        own(cost(t)), hot(t.hotMin), hot(t.hotMax)] };
    })} /></section>;
}
