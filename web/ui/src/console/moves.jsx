// What moved between our own accounts: sweeps of deposit addresses, coin for their fees, and what went to the cold addresses.
import { useState } from "preact/hooks";
import { Asked, Pager, Short, Table, Tabs } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { get } from "./api.js";
import { networkOf, networks } from "./money.js";
import { Chain, Money, Reason, Standing, Tx } from "./parts.jsx";
import { useConsoleMessages } from "./labels.js";

export function Moves() {
  const [purpose, choose] = useState("sweep"), [pages, turn] = useState([""]);
  const w = useConsoleMessages();
  const kinds = [{ id: "sweep", name: w.sweeps }, { id: "gas", name: w.feeCoin }, { id: "cold", name: w.toCold }];
  const before = pages.at(-1);
  const known = networks.use();
  const poll = usePoll((signal) => get("/moves", { purpose, before }, signal), 10_000, [purpose, before]);
  return <section class="card" id="moves"><h2>{w.between}</h2>
    <Tabs label={w.between} list={kinds} now={purpose} choose={(id) => { choose(id); turn([""]); }} />
    <Asked poll={poll} empty={w.noMoves} none={(page) => page.moves.length === 0}>{(page) => <>
      <Table label={w.movesLabel} head={[w.payment, w.chain, w.from, w.to, ">" + w.amount, w.state, w.transaction]} rows={page.moves.map((m) => ({
        key: m.id, cells: [<span class="num">{m.id}</span>, <Chain id={m.chain} />, <Short text={m.account} />, <Short text={m.payee} />, <Money network={networkOf(known, m.chain, m.asset)} asset={m.asset} amount={m.amount} />,
          <><Standing of="payment" state={m.state} /> <Reason word={m.reason} /></>, <Tx chain={m.chain} hash={m.tx || m.mined?.tx} />],
      }))} />
      <Pager newer={pages.length > 1 ? () => turn(pages.slice(0, -1)) : null} older={page.next ? () => turn([...pages, page.next]) : null} />
    </>}</Asked></section>;
}
