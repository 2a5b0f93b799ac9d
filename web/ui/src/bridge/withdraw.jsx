// A withdrawal: where to, how much, what it costs, and the block that does it.
import { useState } from "preact/hooks";
import { Amount, Asked, Button, Confirm, Empty, Facts, Field, lasted, Moment, Note, Qr, tell, trouble, Whole } from "../base/components.jsx";
import { parse, plain, shown } from "../base/amount.js";
import { Away, Refused } from "../base/http.js";
import { Icon } from "../base/icons.jsx";
import { online, useLater, usePoll } from "../base/use.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { assetName } from "../base/names.js";
import { go } from "../base/route.js";
import { hex, paymentLink } from "../base/vite.js";
import { Account, Guide, severalOf, Terms, TokenPick, Way } from "./account.jsx";
import { Doubt, liveOf, StateNote } from "./deposit.jsx";
import { useBrowserWallet } from "./evm.js";
import { check, comment } from "./gateway.js";
import { messages } from "./messages.js";
import { doubtful, keepSent, lastPayee } from "./place.js";
import { worth } from "./rates.js";
import { Latest } from "./record.jsx";
import { ReserveWarning } from "./reserves.jsx";

// useAddress asks the gateway about an address while it is typed.
function useAddress(gateway, address, label) {
  const [a, l] = [useLater(address.trim()), useLater(label)];
  const poll = usePoll(a ? (signal) => gateway.verify(a, l, signal) : null, 0, [gateway, a, l]);
  return { ...poll, settled: a === address.trim() && l === label && poll.data !== null };
}

// useFee asks what a net amount costs, after it has rested.
function useFee(gateway, wallet, net) {
  const rested = useLater(net === null ? "" : net.toString());
  const poll = usePoll(rested && wallet ? (signal) => gateway.fee(wallet, rested, false, signal) : null, 60_000, [gateway, wallet, rested]);
  return { ...poll, fee: net !== null && rested === net.toString() ? poll.data : null };
}

export function Withdraw(given) {
  const w = useMessages(messages);
  const { gateway, network, token, address, demo, rate, query, move } = given;
  const meta = usePoll((signal) => gateway.meta(signal), 5000, [gateway]);
  const live = liveOf(token, meta.data), state = live.withdrawState;
  const info = usePoll(address && state === "OPEN" ? (signal) => gateway.withdrawInfo(address, signal) : null, 30_000, [gateway, address, state]);
  const browser = useBrowserWallet({ chainId: network.chainId ?? 0, asset: token.asset, w });
  const inDoubt = doubtful.use(), knownPayee = lastPayee.use();
  const [asking, asks] = useState(false), [busy, setBusy] = useState(false), [fault, setFault] = useState(null), [byHand, setByHand] = useState(null);

  const withLabel = token.type === 1, symbol = assetName(token.symbol);
  const to = query.to ?? "", label = query.label ?? "", amount = query.amount ?? "";
  const labelName = token.labelName ?? w.labelled;
  const show = (units) => shown(units, token.decimals) + " " + token.symbol;
  const arrives = (units) => shown(units, token.decimals) + " " + symbol;
  const payee = useAddress(gateway, to, withLabel ? label : null);
  const net = amount.trim() === "" ? null : parse(amount, token.decimals);
  const quote = useFee(gateway, address, net);
  const minimum = BigInt(info.data?.minimumWithdrawAmount ?? token.minimumWithdrawAmount);
  const most = info.data?.maximumWithdrawAmount ? BigInt(info.data.maximumWithdrawAmount) : BigInt(token.maximumWithdrawAmount);
  const maximum = most === 0n || most >= 2n ** 255n ? null : most; // wallets get the largest number for none
  const balance = demo ? demo.balance : null;
  const wrong = net === null ? null : check({ net, fee: quote.fee, minimum, maximum, balance });
  const amountFault = amount.trim() === "" ? "" : net === null ? formatMessage(w.amountWrong, { n: token.decimals }) : wrong ? formatMessage(w[wrong[0]], { limit: show(wrong[1]) })
    : quote.error?.code !== undefined ? trouble(quote.error, w) : "";
  const toFault = payee.error?.code !== undefined ? trouble(payee.error, w) : payee.settled && !payee.data.isValidAddress ? payee.data.message || w.toWrong : "";
  const mine = browser.account || (demo && network.chainId ? demo.wallet.source : "");
  const fine = payee.settled && payee.data.isValidAddress;
  const missing = !online.use() ? w.noConnection : inDoubt ? w.checkFirst : state !== "OPEN" ? w.withdrawPaused : !address ? w.needAddress : !to.trim() ? w.needPayee : toFault ? w.wrongPayee : net === null ? w.needAmount : amountFault ? w.wrongAmount
    : !fine || quote.fee === null || !info.data ? w.loading : "";
  const gross = missing ? null : net + quote.fee;

  // all fills in what is left of the balance after the fee. The quote never exceeds the balance.
  const all = async () => {
    setBusy(true);
    setFault(null);
    try {
      const left = balance - await gateway.fee(address, balance, true);
      move({}, { amount: plain(left > 0n ? left : 0n, token.decimals) });
    } catch (error) {
      setFault(error);
    }
    setBusy(false);
  };
  // guard asks the gateway again, right before something is signed, and returns where to pay.
  const guard = async () => {
    const [m, i, v, fee] = await Promise.all([gateway.meta(), gateway.withdrawInfo(address), gateway.verify(to.trim(), withLabel ? label : null), gateway.fee(address, net, false)]);
    if (m.withdrawState !== "OPEN") throw new Refused(w.withdrawMaintain, 1);
    if (!v.isValidAddress) throw new Refused(v.message || w.toWrong, 1);
    if (fee > quote.fee) throw new Refused(w.feeChanged, 1);
    const now = check({ net, fee: quote.fee, minimum: BigInt(i.minimumWithdrawAmount), maximum: BigInt(i.maximumWithdrawAmount), balance });
    if (now) throw new Refused(formatMessage(w[now[0]], { limit: show(now[1]) }), 1);
    return i.gatewayAddress;
  };
  const data = () => comment(token.type, to.trim(), label);
  const act = async () => {
    const gateway = await guard();
    let hash;
    doubtful.set(w.withdraw + " " + show(gross));
    try {
      hash = await demo.wallet.send(gateway, token.tokenId, gross, data());
    } catch (error) {
      if (error instanceof Away) throw new Refused(w.walletUnknown, 1);
      doubtful.set("");
      throw error;
    }
    doubtful.set("");
    keepSent(hash, { amount: net.toString(), to: to.trim(), at: Date.now() });
    tell(w.sent);
    move({}, { amount: "" });
    go(["record", "withdraw", network.name, token.tokenId, hash], { address });
  };
  const submit = async (e) => {
    e.preventDefault();
    if (missing || busy) return;
    setFault(null);
    if (demo) return asks(true);
    setBusy(true);
    try {
      setByHand({ to: await guard(), gross, data: data(), payee: to.trim(), label, labelName, payer: address, at: Date.now() });
    } catch (error) {
      setFault(error);
    }
    setBusy(false);
  };
  const change = (name) => (e) => move({}, { [name]: e.currentTarget.value });
  const enterPayee = (payee) => {
    const typed = payee.replace(/\s/g, "");
    lastPayee.set(typed);
    move({}, { to: typed });
  };
  const shownPayment = byHand && !missing && byHand.payee === to.trim() && byHand.label === label && byHand.payer === address && byHand.gross === gross ? byHand : null;
  const fits = net !== null && !amountFault, usualFee = token.fee?.kind === "flat" ? BigInt(token.fee.amount) : null;
  const fee = (fits ? quote.fee : null) ?? usualFee; // a flat fee is known without the server
  const value = !fits ? "" : worth(net, token.decimals, rate, w.language);
  const units = (n, unit) => <Amount units={n} decimals={token.decimals} unit={unit} most={token.decimals} />;
  const facts = [
    [w.youReceive, fits && <strong>{units(net, symbol)}</strong>], [w.value, value], [w.gatewayFee, <span id="fee">{fee === null ? "–" : units(fee, token.symbol)}</span>],
    [w.total, <span id="total">{!fits || fee === null ? "–" : units(net + fee, token.symbol)}</span>], [w.expected, state === "OPEN" ? token.withdrawSeconds && "≈ " + lasted(token.withdrawSeconds, w.language) : state === "MAINTAIN" && w.afterPause],
  ];
  const range = maximum === null ? formatMessage(w.rangeOpen, { min: arrives(minimum) }) : formatMessage(w.range, { min: arrives(minimum), max: arrives(maximum) });
  return <>
    <div class="transfer">
      <form class="card" id="withdraw" onSubmit={submit}>
        <Way network={network} from="exchange" turn={() => move({ view: "deposit" })} />
        <StateNote state={state} kind="withdraw" since={token.withdrawSince} />
        <ReserveWarning network={network} token={token} out={fits ? net : null} />
        <Doubt />
        <TokenPick {...given} from="exchange" />
        <Account {...given} label={w.payer} />
        <Field id="amount" class="large" label={w.amount} inputMode="decimal" placeholder="0.0" value={amount} onInput={change("amount")} fault={amountFault}
          hint={<>{range}{value && <span class="worth" id="worth"> {value}</span>}</>}>
          {balance !== null && <Button id="all" busy={busy} onClick={all}>{w.all}</Button>}</Field>
        <Field id="to" class="code" wrap label={formatMessage(w.to, { chain: network.sourceName })} hint={formatMessage(w.toHint, { symbol, chain: network.sourceName })} value={to} onInput={(e) => enterPayee(e.currentTarget.value)}
          fault={toFault || (to.trim() && to.trim() !== knownPayee ? w.toLinked : "")} fine={fine ? w.toFine : ""}>{mine && mine !== to && <Button id="own" onClick={() => enterPayee(mine)}>{browser.account ? w.own : w.ownDemo}</Button>}</Field>
        {withLabel && <Field id="label" label={formatMessage(w.labelField, { name: labelName })} hint={w.labelHint} value={label} onInput={change("label")} />}
        <Facts list={facts} />
        {wrong?.[0] === "aboveMaximum" && <Note kind="warn"><span id="several">{severalOf(Number((net + maximum - 1n) / maximum), token, w)}</span></Note>}
        {info.data?.noticeMsg && <Note>{info.data.noticeMsg}</Note>}
        {fault && <Note kind="bad" live>{fault instanceof Away ? w.notPrepared : trouble(fault, w)}</Note>}
        <div class="acts"><button class="main" id="send" aria-busy={busy || undefined} aria-disabled={busy || Boolean(missing)}>{missing || (demo ? w.send : w.showPayment)}</button></div>
      </form>
      <div class="side"><section class="card" aria-label={w.byHand} id="by-hand">{shownPayment ? <ByHand {...shownPayment} token={token} network={network} /> : <Guide network={network} token={live} kind="withdraw" />}</section>
        {address && <Latest {...given} kind="withdraw" id="latest-withdraw" since={shownPayment?.at} />}
        {shownPayment && <section class="card"><Terms network={network} token={live} /></section>}</div>
    </div>
    {asking && <Confirm id="confirm" title={formatMessage(w.confirmWithdraw, { symbol })} action={w.send} facts={[...facts, [w.onChain, network.sourceName], [formatMessage(w.sentFrom, { chain: network.exchangeName }), <code>{address}</code>], [w.toAddress, <code>{to.trim()}</code>], [labelName, withLabel && label && <code>{label}</code>]]}
      lead={w.confirmLead} act={act} done={() => asks(false)} cancel={() => asks(false)} ready={!missing} />}
  </>;
}

const quoted = 600_000; // milliseconds for which a quote of a network fee holds (docs/gateway-api.md)

// ByHand is the payment for a wallet elsewhere.
function ByHand({ to, gross, data, payee, label, labelName, at, token, network }) {
  const w = useMessages(messages);
  const link = paymentLink(to, token, gross, data);
  return <>
    <h2>{w.byHand}</h2><p class="small">{formatMessage(w.byHandLead, { chain: network.exchangeName })}</p>
    <Facts list={[[formatMessage(w.arrivesOn, { chain: network.sourceName }), <code id="by-hand-payee">{payee}</code>], [labelName, token.type === 1 && label && <code>{label}</code>],
      [w.feeUntil, token.fee?.kind === "network" && <Moment ms={at + quoted} />]]} />
    <Note kind="warn">{formatMessage(w.byHandOnly, { token: token.symbol, chain: network.exchangeName })}{token.fee?.kind === "network" && " " + w.byHandLate}</Note>
    <div class="sides"><div>
      <span class="label">{formatMessage(w.amountOf, { token: token.symbol })}</span><Whole what={w.sendAmount} text={plain(gross, token.decimals)} />
      <span class="label">{formatMessage(w.tokenId, { token: token.symbol })}</span><Whole what={w.token} text={token.tokenId} />
      <span class="label">{formatMessage(w.gatewayAddress, { chain: network.exchangeName })}</span><Whole what={w.toAddress} text={to} />
      <span class="label">{w.commentHex}</span><Whole what={w.commentHex} text={hex(data)} id="comment" />
    </div><div class="codes"><Qr text={link} label={w.payQr} /></div></div>
    <span class="label">{w.link}</span><Whole what={w.link} text={link} id="payment-link" />
    <p><a class="button" href={link}><Icon name="external" /> {w.openWallet}</a></p>
    <Note>{w.byHandAfter}</Note>
  </>;
}
