// Payments that wait for people: exactly what is approved, and a passkey's signature for it. The signer verifies that signature by itself.
import { useState } from "preact/hooks";
import { Asked, Copy, Facts, Note, Short, State, tell, Time, trouble } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { useWords } from "../base/words.js";
import { get, post } from "./api.js";
import { Heading, may, Money, Order, Reason, Tx } from "./parts.jsx";
import { possible, sign, why } from "./passkey.js";
import { to } from "./route.js";
import { purposes } from "./words.js";

export function Approvals() {
  const poll = usePoll((signal) => get("/approvals", {}, signal), 5_000, []);
  return <><Heading>Approvals</Heading>
    <p class="faint">Payments that wait for people. An approver's passkey signs one payment with all that is told here; what signs payments verifies that itself, by its own list of approvers.</p>
    {may("approver") && !possible() && <Note kind="warn">This browser has no passkeys here: open the console over HTTPS by its name, or as http://localhost. With a key file: <code>gatewayd approve RECORD --key FILE</code>.</Note>}
    <div class="grid wide-cards" id="approvals"><Asked poll={poll} empty="No payment waits for approval.">{(list) => list.map((w) => <Waiting key={w.payment} payment={w} again={poll.again} />)}</Asked></div></>;
}

function Waiting({ payment: p, again }) {
  return <section class="card" data-approval={p.record} aria-label={"Record " + p.record}>
    <div class="row spread"><h2><Money network={p.network} asset={p.asset} amount={p.amount} /></h2><State kind="warn">{p.reason === "approval" ? "Wants approval" : "Held"}</State></div>
    <Facts list={[
      ["Record", <a href={to("records", p.record)}>{p.record}</a>], ["What", purposes[p.purpose] ?? p.purpose], ["On", p.chain], ["To", <Payee address={p.payee} />], ["Label", p.label], ["From our account", <Short text={p.account} />],
      ["Because of", <>{p.came} <Tx chain={p.inChain} hash={p.inTx} /> <span class="faint small">on {p.inChain}, block {p.inHeight.toLocaleString("en")}</span></>],
      ["User", p.user && <Short text={p.user} />], ["Sender", p.sender && <Short text={p.sender} />], ["Held because of", <Reason word={p.reason} />], ["Since", <Time ms={Date.parse(p.since)} />],
      ["Approved by", p.approved.length > 0 && <span data-approved={p.approved.length}>{p.approved.map((a, i) => <>{i > 0 && ", "}<span key={a.key} title={a.key}>{a.name || a.key.slice(0, 24) + "…"}</span></>)}</span>],
    ]} />
    {may("approver") && <Decide payment={p} again={again} />}
  </section>;
}

// Payee is all of an address: one that resembles another differs where a short form is cut.
const Payee = ({ address }) => <><code>{address}</code> <Copy text={address} what="receiver" /></>;

function Decide({ payment: p, again }) {
  const w = useWords();
  const [busy, setBusy] = useState(false), [fault, setFault] = useState(""), [rejecting, reject] = useState(false);
  const approve = async () => {
    if (busy) return;
    setBusy(true);
    setFault("");
    try {
      const { expires, nonce, options } = await post(`/approvals/${p.record}/challenge`);
      await post("/approvals/" + p.record, { expires, nonce, credential: await sign(options) });
      tell("Approved: record " + p.record + ".");
      again();
    } catch (error) {
      setFault(trouble(why(error), w));
    }
    setBusy(false);
  };
  if (rejecting) {
    return <Order title={"Reject record " + p.record} lead="Nothing is paid, and what came in goes back to its sender." action="Reject" danger act={({ why: reason }) => post(`/approvals/${p.record}/reject`, { why: reason })}
      done={() => { reject(false); again(); }} cancel={() => reject(false)} />;
  }
  return <>{fault && <Note kind="bad" live>{fault}</Note>}
    <p class="row after"><button type="button" class="main" aria-disabled={busy} onClick={approve}>{busy ? "Waiting for your passkey…" : "Approve with a passkey"}<span class="unseen"> record {p.record}</span></button>
      <button type="button" onClick={() => reject(true)}>Reject<span class="unseen"> record {p.record}</span></button></p></>;
}
