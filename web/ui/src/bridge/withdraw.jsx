// Taking tokens out: where to, how much, what it costs, and the block that does it.
import { useState } from "preact/hooks";
import { Amount, Asked, Field, Note, Qr, tell, trouble, Whole } from "../base/components.jsx";
import { parse, plain, shown } from "../base/amount.js";
import { useLater, usePoll } from "../base/use.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { check, comment, hex, paymentLink } from "./gateway.js";
import { Latest } from "./records.jsx";
import { messages } from "./messages.js";

export function Withdraw(props) {
  const w = useMessages(messages);
  const { gateway, meta, wallet } = props;
  const info = usePoll((signal) => gateway.withdrawInfo(wallet, signal), 0, [gateway, wallet, meta.withdrawState]);
  const latest = <Latest gateway={gateway} wallet={wallet} kind="withdraw" id="latest-withdraw" />;
  if (meta.withdrawState !== "OPEN") return <><Note kind="warn">{meta.withdrawState === "CLOSED" ? w.withdrawClosed : w.withdrawMaintain}</Note>{latest}</>;
  return <><section class="card" id="withdraw"><Asked poll={info}>{(i) => <Form {...props} info={i} />}</Asked></section>{latest}</>;
}

// useAddress asks the gateway about an address while it is typed.
function useAddress(gateway, address, label) {
  const [a, l] = [useLater(address.trim()), useLater(label)];
  const poll = usePoll(a ? (signal) => gateway.verify(a, l, signal) : null, 0, [gateway, a, l]);
  return { ...poll, settled: a === address.trim() && l === label && poll.data !== null };
}

// useFee asks what a net amount costs, after it has rested.
function useFee(gateway, wallet, net) {
  const rested = useLater(net === null ? "" : net.toString());
  const poll = usePoll(rested ? (signal) => gateway.fee(wallet, rested, false, signal) : null, 60_000, [gateway, wallet, rested]);
  return { ...poll, fee: net !== null && rested === net.toString() ? poll.data : null };
}

function Form({ gateway, meta, wallet, demo, network, info }) {
  const w = useMessages(messages);
  const { token } = gateway;
  const [to, setTo] = useState(""), [label, setLabel] = useState(""), [amount, setAmount] = useState("");
  const [busy, setBusy] = useState(false), [fault, setFault] = useState(""), [byHand, setByHand] = useState(null);
  const show = (units) => shown(units, token.decimals) + " " + token.symbol;
  const withLabel = meta.type === 1;
  const address = useAddress(gateway, to, withLabel ? label : null);
  const net = amount.trim() === "" ? null : parse(amount, token.decimals);
  const quote = useFee(gateway, wallet, net);
  const minimum = BigInt(info.minimumWithdrawAmount), maximum = info.maximumWithdrawAmount ? BigInt(info.maximumWithdrawAmount) : null;
  const balance = demo ? demo.balance : null;
  const wrong = net === null ? null : check({ net, fee: quote.fee, minimum, maximum, balance });
  const amountFault = amount.trim() === "" ? "" : net === null ? formatMessage(w.amountWrong, { n: token.decimals }) : wrong ? formatMessage(w[wrong[0]], { limit: show(wrong[1]) })
    : quote.error ? trouble(quote.error, w) : "";
  const toFault = address.error ? trouble(address.error, w) : address.settled && !address.data.isValidAddress ? address.data.message || w.toWrong : "";
  const ready = address.settled && address.data.isValidAddress && net !== null && !wrong && quote.fee !== null;

  // all fills in what is left of the balance after the fee: the gateway says so, and what it says never exceeds the balance.
  const all = async () => {
    if (busy || balance === null) return;
    setBusy(true);
    setFault("");
    try {
      setAmount(plain(balance - await gateway.fee(wallet, balance, true), token.decimals));
    } catch (error) {
      setFault(trouble(error, w));
    } finally {
      setBusy(false);
    }
  };
  const submit = async (e) => {
    e.preventDefault();
    if (busy || !ready) return;
    const gross = net + quote.fee, data = comment(meta.type, to.trim(), label);
    if (!demo) return setByHand({ gross, data });
    setBusy(true);
    setFault("");
    try {
      await demo.wallet.send(info.gatewayAddress, token.tokenId, gross, data);
      setAmount("");
      tell(w.sent);
    } catch (error) {
      setFault(trouble(error, w));
    } finally {
      setBusy(false);
    }
  };
  const changed = (set) => (e) => {
    set(e.currentTarget.value);
    setByHand(null);
  };
  return <form onSubmit={submit}>
    <h2>{w.withdraw}</h2>
    <Field id="to" class="code" label={formatMessage(w.to, { network: network.name })} hint={formatMessage(w.toHint, { symbol: token.symbol })} value={to} onInput={changed(setTo)}
      fault={toFault} fine={address.settled && address.data.isValidAddress ? w.toFine : ""} />
    {withLabel && <Field id="label" label={formatMessage(w.labelField, { name: info.labelName })} hint={w.labelHint} value={label} onInput={changed(setLabel)} />}
    <Field id="amount" label={w.amount} inputMode="decimal" value={amount} onInput={changed(setAmount)} fault={amountFault}
      hint={formatMessage(maximum === null ? w.rangeOpen : w.range, { min: show(minimum), max: maximum === null ? "" : show(maximum) })}>
      {demo && <button type="button" id="all" onClick={all}>{w.all}</button>}</Field>
    <dl class="facts" aria-live="polite">
      <dt>{w.fee}</dt><dd id="fee">{quote.fee === null ? "–" : <Amount units={quote.fee} decimals={token.decimals} unit={token.symbol} most={token.decimals} />}</dd>
      <dt>{w.total}</dt><dd id="total">{net === null || quote.fee === null ? "–" : <Amount units={net + quote.fee} decimals={token.decimals} unit={token.symbol} most={token.decimals} />}</dd>
    </dl>
    {info.noticeMsg && <Note>{info.noticeMsg}</Note>}
    {fault && <Note kind="bad" live>{fault}</Note>}
    <p class="after"><button class="main" id="send" aria-disabled={busy || !ready}>{busy ? w.sending : w.send}</button></p>
    {byHand && <ByHand {...byHand} info={info} token={token} />}
  </form>;
}

// ByHand is what a wallet elsewhere has to send.
function ByHand({ gross, data, info, token }) {
  const w = useMessages(messages);
  const link = paymentLink(info.gatewayAddress, token, gross, data);
  return <section class="sides after" id="by-hand">
    <div><h3>{w.byHand}</h3><p class="small">{w.byHandLead}</p>
      <span class="label">{w.link}</span><Whole what={w.link} text={link} id="payment-link" />
      <span class="label">{w.toGateway}</span><Whole what={w.toGateway} text={info.gatewayAddress} />
      <span class="label">{w.sendAmount}</span><Whole what={w.sendAmount} text={plain(gross, token.decimals)} />
      <span class="label">{w.commentHex}</span><Whole what={w.commentHex} text={hex(data)} id="comment" /></div>
    <div class="codes"><Qr text={link} label={w.payQr} /></div>
  </section>;
}
