// Where to pay to, with everything that has to be right about the payment.
import { useState } from "preact/hooks";
import { Amount, Asked, Field, Note, Qr, tell, trouble, Whole } from "../base/components.jsx";
import { parse } from "../base/amount.js";
import { usePoll } from "../base/use.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { Latest } from "./records.jsx";
import { messages } from "./messages.js";

export function Deposit({ gateway, meta, wallet, demo, network }) {
  const w = useMessages(messages);
  const info = usePoll((signal) => gateway.depositInfo(wallet, signal), 0, [gateway, wallet]);
  const { token } = gateway;
  if (meta.depositState === "CLOSED") return <><Note kind="bad">{w.depositClosed}</Note><Latest gateway={gateway} wallet={wallet} kind="deposit" id="latest-deposit" /></>;
  return <>
    {meta.depositState === "MAINTAIN" && <Note kind="warn">{w.depositMaintain}</Note>}
    <section class="card" id="deposit"><Asked poll={info}>{(d) => <div class="sides">
      <div>
        <h2>{formatMessage(w.depositTo, { symbol: token.symbol, network: network.name })}</h2>
        <Whole id="deposit-address" what={w.deposit} text={d.depositAddress} />
        {d.paymentUri && <p class="small"><a id="open-wallet" href={d.paymentUri}>{w.openWallet}</a></p>}
        {meta.type === 1 && <div id="deposit-label">
          <h3 class="after">{formatMessage(w.labelIs, { name: d.labelName })}</h3>
          <Whole id="deposit-label-text" what={d.labelName} text={d.label} />
          <Note kind="warn">{formatMessage(w.labelWarning, { name: d.labelName })}</Note>
        </div>}
        <dl class="facts">
          <dt>{w.minimum}</dt><dd><Amount units={BigInt(d.minimumDepositAmount)} decimals={token.decimals} unit={token.symbol} /> <span class="small faint">{w.belowLost}</span></dd>
          <dt>{w.confirmations}</dt><dd>{formatMessage(w.blocks, { n: d.confirmationCount })}</dd>
        </dl>
        {d.noticeMsg && <Note>{d.noticeMsg}</Note>}
        {demo && <Pay gateway={gateway} info={d} demo={demo} network={network} />}
      </div>
      <div class="codes"><Qr text={d.paymentUri ?? d.depositAddress} label={w.depositQr} />{meta.type === 1 && <Qr text={d.label} label={formatMessage(w.labelQr, { name: d.labelName })} />}</div>
    </div>}</Asked></section>
    <Latest gateway={gateway} wallet={wallet} kind="deposit" id="latest-deposit" />
  </>;
}

// Pay sends the deposit from the demo user's account on the source chain.
function Pay({ gateway, info, demo, network }) {
  const w = useMessages(messages);
  const { token } = gateway;
  const [text, type] = useState(demo.usual[token.tokenId] ?? "");
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState("");
  const pay = async (e) => {
    e.preventDefault();
    const units = parse(text, token.decimals);
    if (busy) return;
    if (!units) return setFault(formatMessage(w.amountWrong, { n: token.decimals }));
    setBusy(true);
    setFault("");
    try {
      await demo.wallet.deposit(network.name, token.tokenId, info.depositAddress, info.label ?? "", units);
      tell(w.paid);
    } catch (error) {
      setFault(trouble(error, w));
    } finally {
      setBusy(false);
    }
  };
  return <form onSubmit={pay} class="after">
    <Field id="pay-amount" label={w.payAmount} inputMode="decimal" value={text} onInput={(e) => type(e.currentTarget.value)} fault={fault}>
      <button class="main" id="pay" aria-disabled={busy}>{busy ? w.paying : w.payDemo}</button></Field>
  </form>;
}
