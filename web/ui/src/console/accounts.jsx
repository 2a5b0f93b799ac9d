// Our accounts: whether they work, and what they hold.
import { useState } from "preact/hooks";
import { Asked, Short, State, Table } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { get, post } from "./api.js";
import { Moves } from "./moves.jsx";
import { Heading, may, Money, Order, Standing } from "./parts.jsx";

const kinds = { hot: "Pays withdrawals", gas: "Pays fees of sweeps", gateway: "Gateway's on the exchange chain", cold: "Kept offline" };

export function Accounts() {
  const accounts = usePoll((signal) => get("/accounts", {}, signal), 5_000, []);
  const balances = usePoll((signal) => get("/balances", {}, signal), 10_000, []);
  return <><Heading>Accounts</Heading>
    <section class="card"><h2>Accounts</h2><Asked poll={accounts} empty="There are no accounts yet.">{(list) => <AccountTable list={list} again={accounts.again} />}</Asked></section>
    <section class="card"><h2>Balances</h2><Asked poll={balances} empty="There are no accounts yet.">{(list) =>
      <Table id="balances" label="Balances" head={["Account", "Chain", "What for", ">Holds", ">Of it owed to users"]} rows={list.map((b) => ({
        key: b.chain + b.account + b.asset, cells: [<Short text={b.account} />, b.chain, kinds[b.kind] ?? b.kind,
          b.fault ? <State kind="bad">{b.fault}</State> : <Money network={b.network} asset={b.asset} amount={b.amount} />, <Money network={b.network} asset={b.asset} amount={b.owed} />],
      }))} />}</Asked></section>
    <Moves /></>;
}

// AccountTable is our accounts, with what an operator can order of each.
function AccountTable({ list, again }) {
  const [ordered, set] = useState(null); // of which account
  const act = ordered && (ordered.state === "ok" ? "stop" : "resume");
  const orders = may("operator");
  return <>
    <Table id="accounts" label="Accounts" head={["Account", "Chain", "What for", "State", ">Next number", "Why", ...(orders ? ["Order"] : [])]} rows={list.map((a) => ({
      key: a.chain + a.address + a.network, cells: [<Short text={a.address} />, a.chain, kinds[a.kind] ?? a.kind, <Standing of="account" state={a.state} />, <span class="num">{a.next}</span>, a.why && <span class="wrap">{a.why}</span>,
        ...(orders ? [<button type="button" onClick={() => set(a)}>{a.state === "ok" ? "Stop" : "Resume"}<span class="unseen"> {a.address}</span></button>] : [])],
    }))} />
    {ordered && <Order key={ordered.address} title={(act === "stop" ? "Stop " : "Resume ") + ordered.address} action={act === "stop" ? "Stop" : "Resume"} danger={act === "stop"}
      lead={act === "stop" ? "Nothing is signed with its key until it is resumed." : "It signs again, once everything that it ever signed is decided and explained."}
      act={({ why }) => post(`/accounts/${ordered.chain}/${ordered.address}/${act}`, { why })} done={() => { set(null); again(); }} cancel={() => set(null)} />}
  </>;
}
