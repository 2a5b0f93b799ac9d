// A transaction of the account's wallet: opened there by a link or a QR code, or sent by the demo account.
import { useEffect, useState } from "preact/hooks";
import { Amount, Button, Confirm, Copy, Facts, Note, Qr, State, Time } from "../base/components.jsx";
import { shown } from "../base/amount.js";
import { Refused } from "../base/http.js";
import { useMessages } from "../base/messages.js";
import { usePoll } from "../base/use.js";
import { hex, paymentLink } from "../base/vite.js";
import { opened, sent, shows, unknown, useAttempts } from "./attempts.js";
import { VITE } from "./exchange.js";
import { messages } from "./messages.js";

// Sending shows one transaction. `name` is its name among the attempts, `effect` what it does in a sentence, `reload` answers the account as it is now.
export function Sending({ id, name, title, effect, value, call: { to, units, data }, account, wallet, unfold, ready = true, reload, children }) {
  const w = useMessages(messages);
  const attempts = useAttempts(account.info.agentAddress), attempt = attempts.of[name];
  const [asking, ask] = useState(""), [done, finish] = useState(false), [changed, change] = useState(false);
  const onChain = usePoll(name === "first" && attempt && wallet ? () => wallet.isKnown(to) : null, 2000, [attempt?.at, wallet]);
  const arrived = attempt && (onChain.data === true || shows(name, attempt, account));
  useEffect(() => {
    if (!arrived) return;
    attempts.keep(name, null);
    finish(true);
  }, [arrived]);
  const link = paymentLink(to, VITE, units, data), staked = account.info.agentPledgeAmount;
  const note = (outcome) => attempts.keep(name, { at: Date.now(), before: staked, units: units.toString(), outcome });
  const send = async () => {
    const now = await reload();
    const overtaken = now.info.agentPledgeAmount !== staked || shows(name, { before: staked }, now); // by another window
    change(overtaken);
    if (overtaken) return;
    note(unknown); // until a node answers, also if the page is closed meanwhile
    finish(false);
    try {
      await wallet.send(to, VITE.tokenId, units, data);
      note(sent);
    } catch (error) {
      if (!(error instanceof Refused)) return;
      attempts.keep(name, null);
      throw error;
    }
  };
  const facts = [[w.effect, effect], [w.to, <><code>{to}</code> <Copy text={to} what={w.to} /></>], [w.amount, <span class="num">{shown(units, VITE.decimals, VITE.decimals)}<span class="unit">VITE</span> {value && <span class="faint">{value}</span>}</span>], [w.data, data.length > 0 && <><code>{hex(data)}</code> <Copy text={hex(data)} what={w.data} /></>]];
  const tried = attempt && [[w.amount, <Amount units={BigInt(attempt.units)} decimals={VITE.decimals} unit="VITE" most={VITE.decimals} />], [w.to, <code>{to}</code>]];
  const words = { [opened]: w.wasOpened, [sent]: w.wasSent, [unknown]: w.wasUnknown };
  const close = () => ask("");
  return <details open={unfold || Boolean(attempt)} id={id}><summary>{title}</summary>
    {attempt ? <div id={id + "-attempt"}><Facts list={tried} /><Note kind={attempt.outcome === unknown ? "warn" : ""} live>{words[attempt.outcome]} {name === "first" && !wallet ? w.notShown : w.comparing} (<Time ms={attempt.at} />)</Note>
      <p><Button id={id + "-again"} onClick={() => ask("again")}>{w.sendAgain}</Button></p></div>
      : <>{children}<Facts list={facts} />
        {ready && <div class="wallets"><Qr text={link} label={w.scan} /><div><p class="row"><a class="button" href={link} onClick={() => { note(opened); finish(false); }}>{w.openWallet}</a><Copy text={link} what={w.link} wide /></p>
          {wallet && <p class="row"><Button id={"send-" + id} kind="main" onClick={() => ask("send")}>{w.sendDemo}</Button></p>}
          <p class="small faint">{w.wallets}</p></div></div>}</>}
    {changed && !attempt && <Note kind="warn" live>{w.changed}</Note>}
    {done && !attempt && <p role="status"><State kind="good">{w.arrived}</State></p>}
    {asking === "send" && <Confirm id="confirm-send" title={title} facts={facts} lead={w.confirmLead} action={w.sendNow} act={send} done={close} cancel={close} />}
    {asking === "again" && <Confirm id="confirm-again" title={w.sendAgain} facts={tried ?? []} lead={w.againLead} danger action={w.againNow} act={() => { attempts.keep(name, null); }} done={close} cancel={close} />}</details>;
}
