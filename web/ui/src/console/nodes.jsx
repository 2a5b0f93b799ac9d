// The nodes of both chains: which answer, how new what they say is, and which were wrong.
import { Ago, Table } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { get } from "./api.js";
import { Chain, Health, Heading, Live } from "./parts.jsx";
import { useConsoleMessages } from "./labels.js";

function Well({ node: n }) {
  const w = useConsoleMessages();
  if (n.leftOut) return <Health kind="bad">{w.leftOut}</Health>;
  if (!n.up) return <Health kind="bad">{w.silent}</Health>;
  return n.why ? <Health kind="warn">{w.wrongly}</Health> : <Health kind="good">{w.answers}</Health>;
}

export function Nodes() {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/nodes", {}, signal), 5_000, []);
  return <><Heading>{w.nodes}</Heading>
    <p class="faint">{w.nodesLead}</p>
    <section class="card"><Live poll={poll} empty={w.noNodes}>{(list) =>
      <Table id="nodes" label={w.nodes} head={[w.node, w.chain, w.state, ">" + w.newestBlock, ">" + w.itsAge, ">" + w.wrongAnswers, w.whatWasWrong]} rows={list.map((n) => ({
        key: n.chain + n.name, cells: [<strong>{n.name}</strong>, <Chain id={n.chain} />, <Well node={n} />, <span class="num">{n.head.toLocaleString("en")}</span>, n.headTime ? <Ago ms={Date.parse(n.headTime)} /> : "–",
          <span class="num">{n.faults}</span>, (n.why || n.lastFault) && <span class="wrap">{n.why || n.lastFault}</span>],
      }))} />}</Live></section></>;
}
