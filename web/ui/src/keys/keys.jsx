// The page of API keys, in four steps: an account is looked up and proven by a signature, gets a key, and lets it trade; or it loses its key. The secret is
// in this page's memory alone, until it is hidden.
import { useEffect, useState } from "preact/hooks";
import { Button, Copy, Facts, Field, lasted, linkTo, Note, open, State, Steps, tell, Time, trouble, Whole, WithCode } from "../base/components.jsx";
import { grouped, parse, shown } from "../base/amount.js";
import { base, Refused } from "../base/http.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { assetName, isAddress } from "../base/names.js";
import { site, usePoll } from "../base/use.js";
import { worth } from "../bridge/rates.js";
import { challenge, command, enough, Exchange, fault as faultOf, faulty, firstStake, firstTransfer, grant, leastStake, life, ordersOf, placeOf, signed, stake, VITE } from "./exchange.js";
import { messages } from "./messages.js";
import { Sending } from "./sending.jsx";
import "./keys.css";

const exchange = new Exchange(base());

// useWork does one thing at a time and keeps what went wrong, with the field that it concerns. No button is disabled: who uses the keyboard would lose
// the place.
function useWork(w) {
  const [busy, setBusy] = useState(false), [fault, setFault] = useState({ of: "", error: null }); // words come when it is shown, in the language of then
  useEffect(() => { document.getElementById("page").setAttribute("aria-busy", String(busy)); }, [busy]);
  const during = async (place, act) => {
    if (busy) return;
    setBusy(true);
    setFault({ of: "", error: null });
    try {
      await act();
    } catch (e) {
      setFault({ of: place(e), error: e });
    } finally {
      setBusy(false);
    }
  };
  const words = (error) => (typeof error === "string" ? w[error] : error instanceof Refused && error.code !== undefined ? faultOf(error, w) : trouble(error, w));
  return { busy, during, fault: (of) => (fault.error && fault.of === of ? words(fault.error) : ""), complain: (of, error) => setFault({ of, error }) }; // a message by its name
}

// ask makes a new text to sign.
async function ask(account) {
  const seconds = await exchange.seconds(), agent = account.info.agentAddress, removal = account.info.apiKey !== null;
  return { text: challenge(agent, seconds, removal), fields: { address: account.address, agentAddress: agent, timestamp: String(seconds) }, removal };
}

// needs lists what a key lacks for trading.
const needs = ({ info, pairs }) => [pairs.length === 0 && "pairs", info.quota < enough && "quota"].filter(Boolean);

// useNews asks for an account with a key again and again: the wallet acts elsewhere.
function useNews(account) {
  const { data } = usePoll(account?.info.apiKey ? () => exchange.account(account.address) : null, 5000, [account]);
  return data ?? account;
}

function Keys() {
  const w = useMessages(messages);
  const work = useWork(w);
  const [address, setAddress] = useState(""), [found, setFound] = useState(null), [proof, setProof] = useState(null), [issued, setIssued] = useState(null), [focus, setFocus] = useState("");
  const [demo, setDemo] = useState(null), links = site.use();
  const account = useNews(found);
  const look = async (whose) => {
    setProof(null);
    setFound(null);
    const next = await exchange.account(whose);
    setFound(next);
    if (!next.info.apiKey) setProof(await ask(next));
    return next;
  };
  const lookUp = (e) => {
    e.preventDefault();
    const whose = address.trim();
    if (issued) return work.complain("address", "saveFirst");
    if (!isAddress(whose)) return work.complain("address", "addressWrong");
    return work.during(() => "address", async () => setFocus((await look(whose)).info.apiKey ? "step-4" : "step-2"));
  };
  const useDemo = () => (issued ? work.complain("address", "saveFirst") : work.during(() => "address", async () => {
    const opened = await (await import("../base/wallet.js")).openWallet("newcomer");
    setDemo(opened);
    setAddress(opened.address);
    setFocus((await look(opened.address)).info.apiKey ? "step-4" : "step-2");
  }));
  const send = (first, second) => {
    const pasted = signed(first, second);
    if (!pasted) return work.complain(faulty(first), "bytesWrong");
    return work.during(placeOf, async () => {
      if (proof.removal) await exchange.remove({ ...proof.fields, ...pasted });
      const made = proof.removal ? null : await exchange.issue({ ...proof.fields, ...pasted });
      if (made) setIssued(made);
      else tell(w.removed);
      setFocus(made ? "step-3" : "step-2");
      await look(found.address);
    });
  };
  const renew = () => work.during(() => "text", async () => setProof(await ask(found)));
  useEffect(() => {
    if (!issued) return undefined;
    const stay = (e) => e.preventDefault(); // the browser asks whether to leave
    addEventListener("beforeunload", stay);
    return () => removeEventListener("beforeunload", stay);
  }, [issued]);
  useEffect(() => { // where the news are
    const at = focus && document.getElementById(focus);
    if (!at) return;
    at.focus();
    setFocus("");
  });
  const key = account?.info.apiKey;
  const wallet = account && demo?.address === account.address ? demo : null;
  const signing = { proof, work, send, renew, wallet };
  const now = !account ? 1 : issued ? 3 : !key ? 2 : needs(account).length ? 4 : 5;
  const step = (n, title, content) => <Step n={n} now={now} title={title}>{content || <p class="faint">{w["later" + n]}</p>}</Step>;
  return <>
    <div><h1>{w.title}</h1><p class="faint">{w.lead}</p></div>
    <Steps label={w.steps} at={now - 1} list={[w.step1, w.step2, w.step3, w.step4]} />
    {step(1, w.whose, <>
      <form id="lookup" onSubmit={lookUp}><Field id="address" label={w.address} wrap class="code" autocapitalize="off" placeholder="vite_…" hint={w.addressHint} value={address} fault={work.fault("address")} onInput={(e) => setAddress(e.currentTarget.value)}>
        <button class={account ? "" : "main"}>{w.look}</button></Field></form>
      {links.demo && <p><Button id="demo" onClick={useDemo} busy={work.busy}>{w.useDemo}</Button></p>}
      {account && <Facts list={[[w.found, <code id="found">{account.address}</code>], [w.agent, <><code id="agent">{account.info.agentAddress}</code> <Copy text={account.info.agentAddress} what={w.agent} /><p class="small faint">{w.agentIs}</p></>]]} />}</>)}
    {step(2, w.apply, key ? <p>{w.proven}</p> : proof && <Proof {...signing} />)}
    {step(3, w.yours, issued ? <Issued made={issued} hide={() => { setIssued(null); setFocus("step-4"); }} /> : key && <Key account={account} />)}
    {step(4, w.allow, key && !issued && <Permissions account={account} wallet={wallet} />)}
    {key && !issued && <section class="card" id="removal"><h2>{w.remove}</h2>
      {proof ? <Proof {...signing} /> : <><p>{w.removeLead}</p><p class="after"><Button id="remove" onClick={renew} busy={work.busy}>{w.remove}…</Button></p><p class="hint bad" role="alert">{work.fault("text")}</p></>}</section>}
  </>;
}

// Step shows one of the four steps with its number and state.
function Step({ n, now, title, children }) {
  const w = useMessages(messages);
  const kind = n < now ? "done" : n === now ? "now" : "wait";
  return <section class={"card step " + kind} aria-labelledby={"step-" + n} aria-current={kind === "now" ? "step" : undefined}>
    <h2 id={"step-" + n} tabIndex={-1}><span class="number" aria-hidden="true">{n}</span>{title}{kind !== "now" && <State kind={kind === "done" ? "good" : "wait"}>{w["step_" + kind]}</State>}</h2>{children}</section>;
}

// Issued shows a key and its secret, once.
function Issued({ made, hide }) {
  const w = useMessages(messages);
  const [saved, setSaved] = useState(false);
  return <div id="issued">
    <Note kind="warn"><strong>{w.once}</strong> {w.put}</Note>
    <span class="label">{w.key}</span><Whole id="new-key" text={made.apiKey} what={w.key} />
    <span class="label">{w.secret}</span><Whole id="new-secret" text={made.apiSecret} what={w.secret} />
    <label class="check after"><input type="checkbox" id="saved" checked={saved} onChange={(e) => setSaved(e.currentTarget.checked)} />{w.saved}</label>
    <p><Button kind="main" id="done" aria-disabled={!saved} onClick={hide}>{w.done}</Button></p></div>;
}

// Key shows a key that was made before.
function Key({ account: { info, cycle } }) {
  const w = useMessages(messages);
  return <><Facts list={[
    [w.key, <code id="key">{info.apiKey}</code>],
    [w.created, info.createTime ? <span id="created"><Time ms={info.createTime * 1000} /></span> : null],
    [w.calls, <span id="calls">{formatMessage(w.callsEach, { n: grouped(String(info.maxCount)), each: eachOf(cycle, w) })}</span>],
  ]} /><p class="small faint">{w.lost}</p></>;
}

// Permissions shows the transactions that the account's wallet must send before the key can trade.
function Permissions({ account, wallet }) {
  const w = useMessages(messages);
  const { address, info, pairs, cycle } = account;
  const { trade, reference } = site.use();
  const listed = usePoll(() => exchange.markets(), 0, []), markets = listed.data ?? [];
  const [chosen, setChosen] = useState("");
  const pair = markets.find((m) => m.symbol === chosen) ?? markets.find((m) => !pairs.includes(m.symbol)) ?? markets[0];
  const agent = info.agentAddress, left = needs(account), staked = BigInt(info.agentPledgeAmount), unstaked = staked === 0n;
  const name = (m) => assetName(m.tradeTokenSymbol) + " / " + assetName(m.quoteTokenSymbol);
  const sending = { account, wallet, reload: () => exchange.account(address) };
  return <>
    {left.length ? <p>{listed.data?.length === 0 ? w.allowNoMarket : w.allowLead}</p> : <Note kind="good"><strong>{w.ready}</strong> {w.readyNext} {trade && <a href={linkTo(trade)}>{w.trade}</a>}{trade && reference && " · "}{reference && <a href={linkTo(reference)}>{w.reference}</a>}</Note>}
    <ol class="tasks">
      <li><h3>{w.grant} <State kind={pairs.length ? "good" : "wait"}>{pairs.length ? w.step_done : w.open}</State></h3>
        <p>{w.grantLead}</p><Facts list={[[w.pairs, <span id="pairs">{pairs.length ? pairs.join(", ") : w.none}</span>]]} />
        {listed.data?.length === 0 && <Note>{w.noMarkets}</Note>}
        {pair && <><label for="pair">{w.pair}</label><select id="pair" value={pair.symbol} onChange={(e) => setChosen(e.currentTarget.value)}>{markets.map((m) => <option key={m.symbol} value={m.symbol}>{name(m)}</option>)}</select>
          <Sending key={pair.symbol} id="grant" name={"grant " + pair.symbol} title={formatMessage(w.grantSend, { pair: name(pair) })} effect={formatMessage(w.grantEffect, { pair: name(pair) })} unfold={pairs.length === 0} call={grant(agent, pair)} {...sending} /></>}</li>
      <li><h3>{w.quota} <State kind={info.quota < enough ? "wait" : "good"}>{info.quota < enough ? w.open : w.step_done}</State></h3>
        <p>{w.quotaLead}</p>
        <Facts list={[[w.stake, <span class="num" id="stake">{shown(staked, 18)}<span class="unit">VITE</span></span>], [w.quota, <span class="num" id="quota">{grouped(String(info.quota))}</span>]]} />
        {info.quota < enough && !unstaked && <Note kind="warn">{w.quotaUsed}</Note>}
        {listed.data?.length === 0 && unstaked ? <Note>{w.stakeLater}</Note> : <>
          <Sending id="first" name="first" title={w.firstSend} effect={w.firstEffect} unfold={unstaked} call={firstTransfer(agent)} {...sending} />
          <Stake agent={agent} calls={formatMessage(w.callsEach, { n: grouped(String(info.maxCount)), each: eachOf(cycle, w) })} unfold={unstaked} sending={sending} /></>}</li>
    </ol></>;
}

// eachOf is the time of a limit of calls, in words.
const eachOf = (cycle, w) => (cycle === 60 ? w.aMinute : formatMessage(w.inSeconds, { n: cycle }));

// Stake asks for an amount, and shows what it is good for.
function Stake({ agent, calls, unfold, sending }) {
  const w = useMessages(messages);
  const [text, type] = useState(String(firstStake));
  const rate = usePoll(() => exchange.rate(), 60_000, []);
  const units = parse(text.trim(), VITE.decimals), enoughStake = units !== null && units >= BigInt(leastStake) * 10n ** 18n;
  const { atOnce, aMinute } = ordersOf(enoughStake ? Number(shown(units, VITE.decimals, 0).replaceAll(",", "")) : 0);
  const value = enoughStake ? worth(units, VITE.decimals, rate.data, w.language) : "";
  const amount = enoughStake ? shown(units, VITE.decimals) : "";
  const good = enoughStake && (atOnce === 0 ? w.stakeTooLittle : formatMessage(w.stakeGives, { minute: aMinute < 10 ? aMinute.toFixed(1) : grouped(String(Math.floor(aMinute))), once: grouped(String(atOnce)) }));
  return <Sending id="stake-transaction" name="stake" title={w.stakeSend} effect={enoughStake ? formatMessage(w.stakeEffect, { amount }) : ""} value={value} unfold={unfold} ready={enoughStake} call={stake(agent, enoughStake ? units : 0n)} {...sending}>
    <Field id="stake-amount" label={w.stakeAmount} inputMode="decimal" value={text} onInput={(e) => type(e.currentTarget.value)} fault={enoughStake ? "" : formatMessage(w.stakeLeast, { least: leastStake })} hint={good} />
    {enoughStake && <p class="small faint" id="stake-gives">{value && value + " · "}{formatMessage(w.stakeAlso, { calls })}</p>}</Sending>;
}

// Rules lists the terms of a key before its owner signs.
function Rules() {
  const w = useMessages(messages);
  return <div id="rules"><h3>{w.rules}</h3><Facts list={[[w.can, w.canIs], [w.cannot, w.cannotIs], [w.oneKey, w.oneKeyIs], [w.noBounds, w.noBoundsIs], [w.replace, w.replaceIs]]} /></div>;
}

// useLeft is for how many seconds a text is still taken.
function useLeft(proof) {
  const [left, set] = useState(life);
  useEffect(() => {
    const until = Date.now() + life * 1000;
    const draw = () => set(Math.max(0, Math.ceil((until - Date.now()) / 1000)));
    draw();
    const timer = setInterval(draw, 1000);
    return () => clearInterval(timer);
  }, [proof]);
  return left;
}

// Proof has the account's owner sign a text. What was pasted belongs to one text: a new one begins with empty fields.
const Proof = (signing) => <Signing key={signing.proof.text} {...signing} />;

function Signing({ proof, work, send, renew, wallet }) {
  const w = useMessages(messages);
  const [pasted, setPasted] = useState(""), [signature, setSignature] = useState("");
  const left = useLeft(proof), { text, fields, removal } = proof;
  const submit = (e) => {
    e.preventDefault();
    send(pasted, signature);
  };
  return <div id="proof">{!removal && <Rules />}<p id="explain">{removal ? w.removeLead : w.applyLead}</p>
    <Note><span class="on-phones"><strong>{w.onComputer}</strong> </span>{w.noLink}</Note>
    <span class="label">{w.text}</span><Whole id="text" text={text} what={w.text} />
    <Facts list={[[w.allows, removal ? w.allowsRemoval : w.allowsKey], [w.parts, formatMessage(removal ? w.partsRemoval : w.partsKey, { agent: fields.agentAddress.slice(0, 12) + "…" })], [w.made, <Time ms={fields.timestamp * 1000} />]]} />
    <p class="row"><span id="until">{left > 0 ? formatMessage(w.valid, { time: lasted(left, w.language) }) : <State kind="warn">{w.stale}</State>}</span><Button id="again" kind={left > 0 ? "" : "main"} onClick={renew}>{w.fresh}</Button></p>
    <p class="hint bad" id="text-fault" role="alert">{work.fault("text")}</p>
    {wallet && <p class="after"><Button id="sign-demo" onClick={() => send(JSON.stringify(wallet.sign(text)), "")} busy={work.busy}>{w.signDemo}</Button></p>}
    <p class="after">{w.sign}</p>
    <span class="label">{w.command}</span><Whole id="command" text={command(text)} what={w.command} />
    <p class="small faint"><WithCode>{w.store}</WithCode></p>
    <form id="sign" onSubmit={submit}>
      <Field id="public" label={w.public} wrap hint={w.publicHint} value={pasted} fault={work.fault("public")} onInput={(e) => setPasted(e.currentTarget.value)} />
      <Field id="signature" label={w.signature} wrap hint={w.signatureHint} value={signature} fault={work.fault("signature")} onInput={(e) => setSignature(e.currentTarget.value)} />
      <p class="after"><Button type="submit" kind={removal ? "danger" : "main"} id="send" busy={work.busy}>{removal ? w.remove : w.send}</Button></p>
      <p class="hint bad" id="refused" role="alert">{work.fault("send")}</p>
    </form></div>;
}

open({ active: "keys", title: (lang) => messages[lang].title }, Keys);
