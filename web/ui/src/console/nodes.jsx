// The nodes of both chains: which answer, how new what they say is, and which were wrong.
import { Ago, Asked, State, Table } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { get } from "./api.js";
import { Heading } from "./parts.jsx";
import { useConsoleMessages } from "./labels.js";

function Well({ node: n }) {
  const w = useConsoleMessages();
  if (n.leftOut) return <State kind="bad">{w.leftOut}</State>;
  if (!n.up) return <State kind="bad">{w.silent}</State>;
  return n.why ? <State kind="warn">{w.wrongly}</State> : <State kind="good">{w.answers}</State>;
}

export function Nodes() {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/nodes", {}, signal), 5_000, []);
  return <><Heading>{w.nodes}</Heading>
    <p class="faint">{w.nodesLead}</p>
    <section class="card"><Asked poll={poll} empty={w.noNodes}>{(list) =>
      <Table id="nodes" label={w.nodes} head={[w.node, w.chain, w.state, ">" + w.newestBlock, ">" + w.itsAge, ">" + w.wrongAnswers, w.whatWasWrong]} rows={list.map((n) => ({
        key: n.chain + n.name, cells: [<strong>{n.name}</strong>, n.chain, <Well node={n} />, <span class="num">{n.head.toLocaleString("en")}</span>, n.headTime ? <Ago ms={Date.parse(n.headTime)} /> : "–",
          <span class="num">{n.faults}</span>, (n.why || n.lastFault) && <span class="wrap">{n.why || n.lastFault}</span>],
      }))} />}</Asked></section></>;
}
