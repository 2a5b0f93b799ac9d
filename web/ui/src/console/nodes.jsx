// The nodes of both chains: which answer, how new what they say is, and which were wrong.
import { Ago, Asked, State, Table } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { get } from "./api.js";
import { Heading } from "./parts.jsx";

function Well({ node: n }) {
  if (n.leftOut) return <State kind="bad">Left out</State>;
  if (!n.up) return <State kind="bad">Does not answer</State>;
  return n.why ? <State kind="warn">Answers wrongly</State> : <State kind="good">Answers</State>;
}

export function Nodes() {
  const poll = usePoll((signal) => get("/nodes", {}, signal), 5_000, []);
  return <><Heading>Nodes</Heading>
    <p class="faint">A majority of a chain's nodes must agree. One that is wrong three times is left out for a while.</p>
    <section class="card"><Asked poll={poll} empty="No node is configured.">{(list) =>
      <Table id="nodes" label="Nodes" head={["Node", "Chain", "State", ">Newest block", ">Its age", ">Wrong answers", "What was wrong"]} rows={list.map((n) => ({
        key: n.chain + n.name, cells: [<strong>{n.name}</strong>, n.chain, <Well node={n} />, <span class="num">{n.head.toLocaleString("en")}</span>, n.headTime ? <Ago ms={Date.parse(n.headTime)} /> : "–",
          <span class="num">{n.faults}</span>, (n.why || n.lastFault) && <span class="wrap">{n.why || n.lastFault}</span>],
      }))} />}</Asked></section></>;
}
