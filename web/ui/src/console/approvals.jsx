// Payments that wait for people: exactly what is approved, and a passkey's signature for it. The signer verifies that signature by itself.
import { useState } from "preact/hooks";
import { grouped } from "../base/amount.js";
import { Ago, Asked, Button, Facts, Note, State, tell, Time, trouble, WithCode } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { get, post } from "./api.js";
import { Call, Chain, Complete, Depth, Heading, may, Money, Network, Order, Reason } from "./parts.jsx";
import { chainName, linkTo, networkName, networks } from "./money.js";
import { possible, sign, why } from "./passkey.js";
import { to } from "./route.js";
import { ruleOf, useConsoleMessages } from "./labels.js";

export function Approvals() {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/approvals", {}, signal), 5_000, []);
  return <><Heading>{w.view_approvals}</Heading>
    <p class="faint">{w.approvalsLead}</p>
    {may("approver") && !possible() && <Note kind="warn">{w.noPasskeys} <WithCode>{w.withKeyFile}</WithCode></Note>}
    <div class="grid wide-cards whole-cards" id="approvals"><Asked poll={poll} empty={w.noApprovals}>{(list) => list.map((p) => <Waiting key={p.payment} payment={p} list={list} again={poll.again} />)}</Asked></div></>;
}

// Waiting is one payment: first what the passkey signs, then what else helps to decide.
function Waiting({ payment: p, list, again }) {
  const w = useConsoleMessages();
  const known = networks.use();
  const source = p.signed.find((f) => f.name === "source")?.value;
  const rule = ruleOf(p, w), at = (chain, height) => formatMessage(w.block, { chain: chainName(known, chain), height: height.toLocaleString("en") });
  return <section class="card" data-approval={p.record} aria-label={formatMessage(w.recordName, { name: p.record })}>
    <div class="row spread"><h2><Money network={p.network} asset={p.asset} amount={p.amount} /></h2><State kind="warn">{p.reason === "approval" ? w.wantsApproval : w.isHeld}</State></div>
    <FirstPayment payment={p} />
    <SameUser payment={p} list={list} />
    <h3>{w.signedRows}</h3>
    <Facts list={[
      [w.pays, <strong><Money network={p.network} asset={p.asset} amount={p.amount} /></strong>], [w.asset, p.asset !== "native" && <Complete text={p.asset} />], [w.to, <Complete text={p.payee} what={w.receiver} />], [w.label, p.label],
      [w.what, <Call of="purpose" word={p.purpose} />], [w.network, !namedByChain(known, p) && <Network name={p.network} />], [w.fromToChain, <><Chain id={p.inChain} /> → <Chain id={p.chain} /></>], [w.ourAccount, <Complete text={p.account} />], [w.source, source && <Complete text={source} />],
      [w.becauseOf, <><Complete text={p.inTx} link={linkTo(known, p.inChain, p.inTx)} /> <span class="faint small">{at(p.inChain, p.inHeight)}</span></>],
    ]} />
    <h3>{w.forDecision}</h3>
    <Facts list={[
      [w.record, <a href={to("records", p.record)}>{p.record}</a>], [w.received, <span data-received={p.in.final ? "final" : "open"}><strong class="num">{p.came}</strong>{w.comma}<Depth at={p.in} /></span>], [w.feeKept, p.purpose === "credit" && p.token && <Money network={p.network} asset={p.token} amount={p.fee} />],
      [w.worth, <Worth payment={p} />], [w.networkCost, <Cost payment={p} />],
      [w.earlierPayments, p.earlier?.count > 0 && <Earlier of={p.earlier} />],
      [w.user, p.user && <Complete text={p.user} />], [w.sender, p.sender && (p.sender === p.user ? w.sameAsUser : <Complete text={p.sender} />)], [w.heldBecause, rule.text || <Reason word={p.reason} />], [w.heldSince, <Time ms={Date.parse(p.since)} />],
      [w.approvalsGiven, rule.needed && formatMessage(w.of, { n: p.approved.length, m: rule.needed })], [w.approvedBy, p.approved.length > 0 && <span data-approved={p.approved.length}>{p.approved.map((a, i) => <>{i > 0 && ", "}<span key={a.key} title={a.key}>{a.name || a.key.slice(0, 24) + "…"}</span></>)}</span>],
      [w.mayApprove, p.approvers.length > 0 && <span data-may-approve>{p.approvers.filter((name) => !p.approved.some((a) => a.name === name)).join(", ") || w.nothing}</span>],
    ]} />
    <details class="small" data-signed><summary>{formatMessage(w.signedFields, { n: p.signed.length })}</summary><Facts list={p.signed.map((f) => [f.name, <code>{f.value || w.emptyField}</code>])} /></details>
    {may("approver") && <Decide payment={p} again={again} />}
  </section>;
}

// namedByChain reports whether one of a payment's chains has the network's name: then the network needs no row of its own.
const namedByChain = (known, p) => [p.inChain, p.chain].some((id) => chainName(known, id) === networkName(known, p.network));

// FirstPayment warns of an address that got no payment before.
function FirstPayment({ payment: { earlier } }) {
  const w = useConsoleMessages();
  if (!earlier || earlier.count > 0) return null;
  return <Note kind="warn"><span data-earlier="0">{earlier.more ? w.noneOfNewest : w.firstPayment}</span></Note>;
}

// Earlier counts the payments that the address has got, and shows when the last one was paid.
function Earlier({ of: { count, last, more } }) {
  const w = useConsoleMessages();
  const [before, after] = formatMessage(more ? w.paidOften : w.paidBefore, { n: count }).split("{at}");
  return <span data-earlier={count}>{before}<Time ms={Date.parse(last)} />{after}</span>;
}

// SameUser warns that several payments of one user wait: each may be just below a limit.
function SameUser({ payment: p, list }) {
  const w = useConsoleMessages();
  const theirs = list.filter((o) => p.user && o.user === p.user), sums = new Map();
  if (theirs.length < 2) return null;
  for (const o of theirs) sums.set(o.network + " " + o.asset, { ...o, amount: BigInt(o.amount) + BigInt(sums.get(o.network + " " + o.asset)?.amount ?? 0) });
  const [before, after] = formatMessage(w.sameUser, { n: theirs.length }).split("{sums}");
  return <Note kind="warn"><span data-same-user={theirs.length}>{before}{[...sums.values()].map((o, i) => <>{i > 0 && ", "}<Money network={o.network} asset={o.asset} amount={String(o.amount)} /></>)}{after}</span></Note>;
}

// Worth shows the value of a payment by the prices of the signer's limits.
function Worth({ payment: { worth, price } }) {
  const w = useConsoleMessages();
  if (!worth) return <span class="faint"><WithCode>{w.noPrice}</WithCode></span>;
  const [value, currency] = worth.split(" "), [before, after] = w.priceOld.split("{age}");
  return <><strong class="num">{grouped(value)}<span class="unit">{currency}</span></strong>{price && <span class="faint small" data-price> <WithCode>{formatMessage(w.perUnit, { price: price.worth })}</WithCode> {before}<Ago ms={Date.parse(price.at)} />{after}</span>}</>;
}

// Cost shows the network cost of a payment: the present one and the maximum.
function Cost({ payment: p }) {
  const w = useConsoleMessages();
  if (!p.ceiling) return w.nothing;
  const [worth, currency] = p.ceilingWorth?.split(" ") ?? [];
  return <>{w.atMost} <Money network={p.network} asset="native" amount={p.ceiling} />{worth && <span data-ceiling-worth> ({grouped(worth)} {currency})</span>}{p.costNow && <span class="faint small">{w.comma}{w.costNow} <Money network={p.network} asset={p.token} amount={p.costNow} /></span>}</>;
}

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
    <p class="repeat"><strong><Money network={p.network} asset={p.asset} amount={p.amount} /></strong> {w.toPayee} <code>{p.payee}</code></p>
    <p class="row after"><Button kind="main" busy={busy} onClick={approve}>{busy ? w.waitingForPasskey : w.approve}<span class="unseen"> {formatMessage(w.recordName, { name: p.record })}</span></Button>
      <button type="button" class="danger quiet" onClick={() => reject(true)}>{w.reject}<span class="unseen"> {formatMessage(w.recordName, { name: p.record })}</span></button></p>
    {rejecting && <Order title={formatMessage(w.rejectRecord, { id: p.record })} lead={w.rejectLead} action={w.reject} danger facts={[[w.amount, <strong><Money network={p.network} asset={p.asset} amount={p.amount} /></strong>], [w.to, <code>{p.payee}</code>], [w.refundTo, p.sender && <code>{p.sender}</code>]]}
      act={({ why: reason }) => post(`/approvals/${p.record}/reject`, { why: reason })} done={() => { reject(false); again(); }} cancel={() => reject(false)} />}</>;
}
