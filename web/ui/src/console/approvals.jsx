// Payments that wait for people: exactly what is approved, and a passkey's signature for it. The signer verifies that signature by itself.
import { useState } from "preact/hooks";
import { Asked, Button, Copy, Facts, Note, Short, State, tell, Time, trouble } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { get, post } from "./api.js";
import { Call, Chain, Heading, may, Money, Order, Reason, Told, Tx } from "./parts.jsx";
import { chainName, networks } from "./money.js";
import { possible, sign, why } from "./passkey.js";
import { to } from "./route.js";
import { useConsoleMessages } from "./labels.js";

export function Approvals() {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/approvals", {}, signal), 5_000, []);
  return <><Heading>{w.view_approvals}</Heading>
    <p class="faint">{w.approvalsLead}</p>
    {may("approver") && !possible() && <Note kind="warn">{w.noPasskeys} <Told>{w.withKeyFile}</Told></Note>}
    <div class="grid wide-cards" id="approvals"><Asked poll={poll} empty={w.noApprovals}>{(list) => list.map((w) => <Waiting key={w.payment} payment={w} again={poll.again} />)}</Asked></div></>;
}

function Waiting({ payment: p, again }) {
  const w = useConsoleMessages();
  const known = networks.use();
  return <section class="card" data-approval={p.record} aria-label={formatMessage(w.recordName, { name: p.record })}>
    <div class="row spread"><h2><Money network={p.network} asset={p.asset} amount={p.amount} /></h2><State kind="warn">{p.reason === "approval" ? w.wantsApproval : w.isHeld}</State></div>
    <Facts list={[
      [w.record, <a href={to("records", p.record)}>{p.record}</a>], [w.what, <Call of="purpose" word={p.purpose} />], [w.chain, <Chain id={p.chain} />], [w.to, <Payee address={p.payee} />], [w.label, p.label], [w.ourAccount, <Short text={p.account} />],
      [w.becauseOf, <>{p.came} <Tx chain={p.inChain} hash={p.inTx} /> <span class="faint small">{formatMessage(w.block, { chain: chainName(known, p.inChain), height: p.inHeight.toLocaleString("en") })}</span></>],
      [w.user, p.user && <Short text={p.user} />], [w.sender, p.sender && <Short text={p.sender} />], [w.heldBecause, <Reason word={p.reason} />], [w.heldSince, <Time ms={Date.parse(p.since)} />],
      [w.approvedBy, p.approved.length > 0 && <span data-approved={p.approved.length}>{p.approved.map((a, i) => <>{i > 0 && ", "}<span key={a.key} title={a.key}>{a.name || a.key.slice(0, 24) + "…"}</span></>)}</span>],
    ]} />
    {may("approver") && <Decide payment={p} again={again} />}
  </section>;
}

// Payee is all of an address: one that resembles another differs where a short form is cut.
const Payee = ({ address }) => <><code>{address}</code> <Copy text={address} what={useConsoleMessages().receiver} /></>;

function Decide({ payment: p, again }) {
  const w = useConsoleMessages();
  const [busy, setBusy] = useState(false), [fault, setFault] = useState(""), [rejecting, reject] = useState(false);
  const approve = async () => {
    if (busy) return;
    setBusy(true);
    setFault("");
    try {
      const { expires, nonce, options } = await post(`/approvals/${p.record}/challenge`);
      await post("/approvals/" + p.record, { expires, nonce, credential: await sign(options) });
      tell(formatMessage(w.approved, { id: p.record }));
      again();
    } catch (error) {
      setFault(trouble(why(error, w), w));
    }
    setBusy(false);
  };
  return <>{fault && <Note kind="bad" live>{fault}</Note>}
    <p class="row after"><Button kind="main" busy={busy} onClick={approve}>{busy ? w.waitingForPasskey : w.approve}<span class="unseen"> {formatMessage(w.recordName, { name: p.record })}</span></Button>
      <button type="button" class="danger quiet" onClick={() => reject(true)}>{w.reject}<span class="unseen"> {formatMessage(w.recordName, { name: p.record })}</span></button></p>
    {rejecting && <Order title={formatMessage(w.rejectRecord, { id: p.record })} lead={w.rejectLead} action={w.reject} danger facts={[[w.amount, <strong><Money network={p.network} asset={p.asset} amount={p.amount} /></strong>], [w.to, <code>{p.payee}</code>], [w.refundTo, p.sender && <code>{p.sender}</code>]]}
      act={({ why: reason }) => post(`/approvals/${p.record}/reject`, { why: reason })} done={() => { reject(false); again(); }} cancel={() => reject(false)} />}</>;
}
