// Our accounts: whether they work, and what they hold.
import { useEffect, useState } from "preact/hooks";
import { middle, Short, State, Table } from "../base/components.jsx";
import { formatMessage } from "../base/messages.js";
import { usePoll } from "../base/use.js";
import { shortened } from "./events.jsx";
import { chainName, networks } from "./money.js";
import { get, post } from "./api.js";
import { Moves } from "./moves.jsx";
import { Call, Chain, Heading, Live, may, Money, Order, Standing } from "./parts.jsx";
import { codeLabel, unsigned, useConsoleMessages } from "./labels.js";

export function Accounts({ attention }) {
  const w = useConsoleMessages();
  const accounts = usePoll((signal) => get("/accounts", {}, signal), 5_000, []);
  const balances = usePoll((signal) => get("/balances", {}, signal), 10_000, []);
  const states = accounts.data?.map((a) => a.state).join(" ");
  useEffect(() => { if (states) attention.again(); }, [states]); // a stopped account counts there at once
  return <><Heading>{w.accounts}</Heading>
    <section class="card"><h2>{w.accounts}</h2><Live poll={accounts} empty={w.noAccounts}>{(list) => <AccountTable list={list} again={accounts.again} />}</Live></section>
    <section class="card"><h2>{w.balances}</h2><Live poll={balances} empty={w.noAccounts}>{(list) =>
      <Table id="balances" label={w.balances} head={[w.account, w.chain, w.whatFor, ">" + w.holdsNow, ">" + w.pending]} rows={list.map((b) => ({
        key: b.chain + b.account + b.asset, cells: [<Short text={b.account} />, <Chain id={b.chain} />, <Call of="kind" word={b.kind} />,
          b.fault ? <State kind="bad">{b.fault}</State> : <Money network={b.network} asset={b.asset} amount={b.amount} />, <Money network={b.network} asset={b.asset} amount={b.pending} />],
      }))} />}</Live></section>
    <Moves /></>;
}

// AccountTable is our accounts, with what an operator can order of each.
function AccountTable({ list, again }) {
  const w = useConsoleMessages();
  const [ordered, set] = useState(null); // of which account
  const act = ordered && (ordered.state === "ok" ? "stop" : "resume");
  const orders = may("operator");
  return <>
    <Table id="accounts" label={w.accounts} head={[w.account, w.chain, w.whatFor, w.state, ">" + w.next, ...(orders ? [w.order] : [])]} rows={list.map((a) => ({
      key: a.chain + a.address + a.network, cells: [<Short text={a.address} />, <Chain id={a.chain} />, <Call of="kind" word={a.kind} />, <><Standing of="account" state={a.state} />{a.why && <div class="wrap small" title={a.why}>{shortened(a.why, networks.get())}{unsigned(a.why) && <strong>. {w.riskKey}</strong>}</div>}</>, <span class="num">{a.next}</span>,
        ...(orders ? [<button type="button" class={a.state === "ok" ? "danger quiet" : "warn"} onClick={() => set(a)}>{a.state === "ok" ? w.stop : w.resume}<span class="unseen"> {a.address}</span></button>] : [])],
    }))} />
    {ordered && <Order key={ordered.address} title={`${act === "stop" ? w.stopAccount : w.resumeAccount} ${middle(ordered.address)}`} risk={act === "resume" && unsigned(ordered.why) && w.riskKey} facts={[[w.account, <code>{ordered.address}</code>], [w.chain, <Chain id={ordered.chain} />], [w.whatFor, codeLabel(w.language, "kind", ordered.kind)]]} action={act === "stop" ? w.stop : w.resume} danger={act === "stop"}
      lead={act === "stop" ? [w.stopLead, w["stopPayments_" + ordered.kind] && formatMessage(w["stopPayments_" + ordered.kind], { chain: chainName(networks.get(), ordered.chain) })].filter(Boolean).join(" ") : w.resumeLead} chain={ordered.chain}
      act={({ why }) => post(`/accounts/${ordered.chain}/${ordered.address}/${act}`, { why })} done={() => { set(null); again(); }} cancel={() => set(null)} />}
  </>;
}
