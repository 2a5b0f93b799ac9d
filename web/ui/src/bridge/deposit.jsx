// A deposit: how much and to whom, then paid by a wallet of the page, or by hand to the address that is shown.
import { useState } from "preact/hooks";
import { Amount, Asked, Button, Confirm, Contact, Dialog, Empty, Facts, Field, lasted, Moment, Note, Qr, Short, tell, trouble, Whole } from "../base/components.jsx";
import { leading, parse, plain, shown } from "../base/amount.js";
import { Refused } from "../base/http.js";
import { Icon } from "../base/icons.jsx";
import { online, usePoll } from "../base/use.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { assetName } from "../base/names.js";
import { go } from "../base/route.js";
import { hex } from "../base/vite.js";
import { Account, Guide, severalOf, Terms, TokenPick, usePhone, Way } from "./account.jsx";
import { floored, networkCost, pay, rescaled, transaction, unknown, useBrowserWallet } from "./evm.js";
import { check, withAmount, withdrawalsFor } from "./gateway.js";
import { messages } from "./messages.js";
import { doubtful, keepSent } from "./place.js";
import { worth } from "./rates.js";
import { Latest } from "./record.jsx";
import { ReserveWarning } from "./reserves.jsx";

export function Deposit(given) {
  const w = useMessages(messages);
  const { gateway, network, token, address, demo, rate, query, move } = given;
  const meta = usePoll((signal) => gateway.meta(signal), 5000, [gateway]);
  const live = liveOf(token, meta.data), state = live.depositState;
  const info = usePoll(address && state !== "CLOSED" ? (signal) => gateway.depositInfo(address, signal) : null, 30_000, [gateway, address, state]);
  const browser = useBrowserWallet({ chainId: network.chainId ?? 0, asset: token.asset, w });
  const [asking, asks] = useState(null); // what pays, once it is to be confirmed
  const inDoubt = doubtful.use();
  const [fault, setFault] = useState(null);

  const amount = query.amount ?? "", decimals = Math.min(token.decimals, token.assetDecimals);
  const inAsset = (n) => rescaled(n, token.decimals, token.assetDecimals);
  const symbol = assetName(token.symbol);
  const typed = parse(amount, token.decimals), units = typed === null || inAsset(typed) === null ? null : typed;
  const minimum = BigInt(info.data?.minimumDepositAmount ?? token.minimumDepositAmount);
  const show = (n) => shown(n, token.decimals) + " " + symbol;
  const demoFunds = usePoll(demo ? () => demo.wallet.funds(token.tokenId) : null, 5000, [demo?.wallet, token.tokenId]);
  const funds = browser.wallet ? browser.funds : demoFunds.data;
  const inToken = (n) => floored(n, token.assetDecimals, token.decimals);
  const balance = funds && inToken(funds.balance);
  const most = funds && inToken(funds.balance > funds.cost ? funds.balance - funds.cost : 0n); // the network takes its cost from the rest
  const wrong = units === null ? null : check({ net: units, fee: 0n, minimum, maximum: null, balance }) ?? (most !== null && units > most ? ["aboveFunds", most] : null);
  const amountFault = amount.trim() === "" ? "" : units === null ? formatMessage(w.amountWrong, { n: decimals }) : wrong ? formatMessage(w["deposit_" + wrong[0]], { limit: show(wrong[1]) }) : "";
  const missing = !online.use() ? w.noConnection : inDoubt ? w.checkFirst : state !== "OPEN" ? w.depositPaused : !address ? w.needAddress : units === null ? w.needAmount : amountFault ? w.wrongAmount : info.data ? "" : w.loading;

  // guard asks the gateway again, right before something is signed.
  const guard = async () => {
    const [m, d] = await Promise.all([gateway.meta(), gateway.depositInfo(address)]);
    if (m.depositState !== "OPEN") throw new Refused(m.depositState === "CLOSED" ? w.depositClosed : w.depositMaintain, 1);
    if (d.depositAddress !== info.data.depositAddress || d.label !== info.data.label) throw new Refused(w.addressChanged, 1);
    if (units < BigInt(d.minimumDepositAmount)) throw new Refused(formatMessage(w.deposit_belowMinimum, { limit: show(BigInt(d.minimumDepositAmount)) }), 1);
  };
  const paymentOf = () => ({ wallet: browser.wallet, account: browser.account, chainId: network.chainId, asset: token.asset, to: info.data.depositAddress, units: inAsset(units), label: info.data.label ?? "" });
  const send = {
    demo: async () => {
      await guard();
      try {
        return await demo.wallet.deposit(network.name, token.tokenId, info.data.depositAddress, info.data.label ?? "", units);
      } catch (error) {
        if (error.code === "balance") throw new Refused(w.walletBalance, 1);
        if (error.code === "refused") throw new Refused(w.demoRefused, 1);
        throw new Refused(w.walletUnknown, unknown);
      }
    },
    browser: () => pay({ ...paymentOf(), guard, w }),
  };
  const act = async () => {
    doubtful.set(w.deposit + " " + show(units));
    const hash = await send[asking]().catch((error) => {
      if (error.code !== unknown) doubtful.set("");
      throw error;
    });
    doubtful.set("");
    keepSent(hash, { amount: units.toString(), to: address, at: Date.now() });
    tell(w.paid);
    move({}, { amount: "" });
    go(["record", "deposit", network.name, token.tokenId, hash], { address });
  };
  const attempt = (f) => async (...values) => {
    setFault(null);
    try {
      await f(...values);
    } catch (error) {
      setFault(error);
    }
  };
  const fits = units !== null && !amountFault;
  const value = !fits ? "" : worth(units, token.decimals, rate, w.language);
  const coin = network.tokens.find((t) => t.asset === "native");
  const estimate = usePoll(asking === "browser" && !missing ? () => networkCost(paymentOf()) : null, 15_000, [asking, missing]);
  const cost = asking === "browser" ? estimate.data : demoFunds.data?.cost;
  const about = cost && "≈ " + shown(leading(cost, 3), coin?.assetDecimals ?? 18) + " " + (coin ? assetName(coin.symbol) : formatMessage(w.coinsOf, { chain: network.sourceName }));
  const networkFee = asking === "browser" ? (about ? formatMessage(w.networkFeeAbout, { cost: about }) : w.networkFeeWallet) : (asking === "demo" && about) || w.networkFeePaid;
  const facts = [
    [w.youSend, fits && <Amount units={units} decimals={token.decimals} unit={symbol} most={decimals} />], [w.value, value],
    [w.gatewayFee, w.noFee], [w.networkFee, <span id="network-fee">{networkFee}</span>], [w.youReceive, fits && <strong><Amount units={units} decimals={token.decimals} unit={token.symbol} most={decimals} /></strong>],
    [w.expected, state === "OPEN" ? token.depositSeconds && "≈ " + lasted(token.depositSeconds, w.language) : state === "MAINTAIN" && w.afterPause],
  ];
  const parts = fits ? withdrawalsFor(units, token) : 1;
  const outAgain = parts > 1 && <Note kind="warn"><span id="out-again">{severalOf(parts, token, w)}</span></Note>;
  const payer = asking === "browser" ? browser.account : network.chainId ? demo?.wallet.source : "";
  const holding = { network, balance, token, symbol };
  return <>
    <div class="transfer">
      <form class="card" id="deposit-form" onSubmit={(e) => e.preventDefault()}>
        <Way network={network} from="source" turn={() => move({ view: "withdraw" })} />
        <StateNote state={state} kind="deposit" since={token.depositSince} />
        <ReserveWarning network={network} token={token} />
        <Doubt />
        <TokenPick {...given} from="source" />
        {browser.wallet ? <Payer name={browser.wallet.name || w.browserWallet} address={browser.account} away={browser.chain !== 0 && browser.chain !== network.chainId && network.sourceName} {...holding} leave={browser.leave} />
          : demo && <Payer name={w.demoAccount} address={network.chainId ? demo.wallet.source : ""} {...holding} />}
        <Field id="pay-amount" class="large" label={w.payAmount} inputMode="decimal" placeholder="0.0" value={amount} onInput={(e) => move({}, { amount: e.currentTarget.value })} fault={amountFault}
          hint={<>{formatMessage(w.least, { min: show(minimum) })}{BigInt(token.maximumWithdrawAmount) > 0n && " " + formatMessage(w.outAgain, { max: show(BigInt(token.maximumWithdrawAmount)) })}{value && <span class="worth" id="worth"> {value}</span>}</>}>
          {most !== null && <Button id="all" onClick={() => move({}, { amount: plain(most, token.decimals) })}>{w.all}</Button>}</Field>
        <Account {...given} label={w.account} usual={amount ? "" : symbol === "ETH" ? "0.5" : "100"} />
        {state !== "CLOSED" && <><Facts list={facts} />{outAgain}</>}
        {fault && <Note kind="bad" live>{trouble(fault, w)}</Note>}
        <div class="acts">
          {demo && <Button kind="main" id="pay" aria-disabled={Boolean(missing)} onClick={() => asks("demo")}>{missing || w.payDemo}</Button>}
          {network.chainId && <Browser browser={browser} network={network} labelName={token.labelName} first={!demo} ready={Boolean(address)} open={state === "OPEN"} missing={missing} attempt={attempt} pay={() => asks("browser")} />}
        </div>
      </form>
      <div class="side"><section class="card" id="deposit" aria-label={w.byAddress}>{state === "CLOSED" ? <Empty icon="alert" title={w.depositClosedTitle}>{w.depositClosed}</Empty>
        : !address ? <Guide network={network} token={live} kind="deposit" />
          : <Asked poll={info} lines={8}>{(d) => <><ByAddress {...given} info={d} paused={state !== "OPEN"} units={amountFault ? null : units} symbol={symbol} minimum={minimum} /></>}</Asked>}</section>
        {address && <><Latest {...given} token={live} kind="deposit" id="latest-deposit" /><section class="card"><Terms network={network} token={live} /></section></>}</div>
    </div>
    {asking && <Confirm id="confirm" title={formatMessage(w.confirmDeposit, { symbol })} action={asking === "demo" ? w.payNow : formatMessage(w.payWith, { name: browser.wallet?.name || w.browserWallet })}
      facts={[...facts, [w.onChain, network.sourceName], [w.fromAccount, payer && <code>{payer}</code>], [w.toAddress, <code>{info.data?.depositAddress}</code>], [info.data?.labelName, info.data?.label && <code>{info.data.label}</code>],
        [formatMessage(w.arrivesOn, { chain: network.exchangeName }), <code>{address}</code>]]} lead={w.confirmLead} act={act} done={() => asks(null)} cancel={() => asks(null)} ready={!missing}>{outAgain}</Confirm>}
  </>;
}

// liveOf is a token with the newest states of its channels.
export const liveOf = (token, meta) => (meta ? { ...token, depositState: meta.depositState, withdrawState: meta.withdrawState } : token);

// Doubt is a payment whose outcome is not known: no other one is offered before the reader has checked.
export function Doubt() {
  const w = useMessages(messages);
  const what = doubtful.use();
  return what && <Note kind="warn" live><div id="doubt"><p><strong>{what}</strong>: {w.walletUnknown}</p><p class="after"><Button id="checked" onClick={() => doubtful.set("")}>{w.checked}</Button></p></div></Note>;
}

// StateNote is a remark where a channel is not open: since when, what becomes of payments, and who knows more.
export function StateNote({ state, kind, since }) {
  const w = useMessages(messages);
  if (state === "OPEN") return null;
  const closed = state === "CLOSED";
  return <Note kind={closed ? "bad" : "warn"}><div class="state-note"><p>{w[kind + (closed ? "Closed" : "Maintain")]} {w[kind + (closed ? "ClosedSent" : "MaintainSent")]}</p>
    <p class="small">{since ? <>{w.since} <Moment ms={since} />. </> : null}{w.askWhy} <Contact /></p></div></Note>;
}

// Payer is the account on the source chain that pays, with its balance.
function Payer({ name, network, address, away, balance, token, symbol, leave }) {
  const w = useMessages(messages);
  return <div class="field"><span class="label">{formatMessage(w.payFrom, { chain: network.sourceName, name })}</span>
    <div class="account" id={leave ? "connected" : "payer"}><Icon name="wallet" /><span>{address && <Short text={address} />}
      <span class={"small " + (away ? "down" : "faint")}>{away ? formatMessage(w.onOtherChain, { chain: away })
        : <>{w.balance} <strong id="source-balance">{balance === null ? "–" : <Amount units={balance} decimals={token.decimals} unit={symbol} />}</strong></>}</span></span>
      {leave && <Button kind="plain" id="disconnect" onClick={leave}>{w.disconnect}</Button>}</div></div>;
}

// Browser is the button of the browser's wallets: connect, switch the chain, pay.
function Browser({ browser, network, labelName, first, ready, open, missing, attempt, pay }) {
  const w = useMessages(messages);
  const [choosing, choose] = useState(false), [busy, setBusy] = useState(false);
  const busily = (f) => attempt(async (...values) => {
    setBusy(true);
    try {
      await f(...values);
    } finally {
      setBusy(false);
    }
  });
  const connect = busily(async (wallet) => {
    choose(false);
    await browser.connect(wallet);
  });
  const kind = first ? "main" : "";
  if (!browser.wallet) {
    if (browser.list.length === 0) return first && (ready ? open && <p class="small faint" id="no-wallet">{labelName ? formatMessage(w.noWalletLabel, { name: labelName }) : w.noWallet}</p>
      : <Button kind="main" id="continue" onClick={() => document.getElementById("account")?.focus()}>{w.needAddress}</Button>);
    return <><Button kind={kind} id="connect" icon="wallet" busy={busy} onClick={() => (browser.list.length === 1 ? connect(browser.list[0]) : choose(true))}>{w.connect}</Button>
      {choosing && <Dialog id="wallets" title={w.connect} close={() => choose(false)}><div class="stack">{browser.list.map((wallet) =>
        <Button key={wallet.id} icon="wallet" onClick={() => connect(wallet)}>{wallet.name || w.browserWallet}</Button>)}</div></Dialog>}</>;
  }
  if (browser.chain !== network.chainId) return <Button kind={kind} id="switch" icon="refresh" busy={busy} onClick={busily(browser.toChain)}>{formatMessage(w.switchTo, { chain: network.sourceName })}</Button>;
  return <Button kind={kind} id="pay-browser" aria-disabled={Boolean(missing)} onClick={pay}>{missing || formatMessage(w.payWith, { name: browser.wallet.name || w.browserWallet })}</Button>;
}

// ByAddress is the address to pay to, with everything that has to be right about the payment. While deposits are paused it is folded away.
function ByAddress({ paused, ...given }) {
  const w = useMessages(messages);
  if (!paused) return <PayTo {...given} />;
  return <div id="paused"><Empty icon="clock" title={w.depositPaused} /><details><summary>{w.showAddress}</summary><PayTo {...given} paused /></details></div>;
}

// PayTo shows the address. On a chain with contracts no wallet puts a label into a payment when it scans a code, so the address is folded away there, next
// to what a payment by hand needs besides.
function PayTo({ network, token, address, info, units, symbol, minimum, paused }) {
  const w = useMessages(messages);
  const name = info.labelName, labelled = Boolean(info.label), inData = labelled && Boolean(network.chainId);
  const uri = info.paymentUri && withAmount(info.paymentUri, units, token.decimals);
  const least = shown(minimum, token.decimals) + " " + symbol;
  const phone = usePhone();
  const payee = <><span class="label">{w.toAddress}</span><Whole id="deposit-address" what={w.toAddress} text={info.depositAddress} />
    {labelled && <div id="deposit-label"><span class="label">{formatMessage(w.labelIs, { name })}</span><Whole id="deposit-label-text" what={name} text={info.label} /></div>}</>;
  return <>
    <h2>{formatMessage(w.depositTo, { symbol, chain: network.sourceName })}</h2>
    {labelled && <Note kind="warn"><span id="label-rule">{formatMessage(inData ? w.labelInData : w.labelWarning, { name, symbol })}{!inData && <> <Contact /></>}</span></Note>}
    <div class={inData || paused ? "" : "sides"}><div>
      {inData ? <details id="pay-by-hand"><summary>{w.labelByHand}</summary>{payee}<WithLabel network={network} token={token} info={info} units={units} /></details> : payee}
      {!phone && <><span class="label">{formatMessage(w.arrivesOn, { chain: network.exchangeName })}</span><p id="arrives-at"><code>{address}</code></p></>}
      {uri && !paused && <p><a id="open-wallet" class="button" href={uri}><Icon name="external" /> {w.openWallet}</a></p>}
    </div>{!inData && !paused && <div class="codes"><Qr text={uri ?? info.depositAddress} label={w.depositQr} />{labelled && <Qr text={info.label} label={formatMessage(w.labelQr, { name })} />}</div>}</div>
    <ul class="rules">
      <li><Icon name="warning" size={16} /><span>{formatMessage(w.onlyThis, { symbol, chain: network.sourceName })}</span></li>
      <li id="below"><Icon name="warning" size={16} /><span>{formatMessage(w.belowNotCredited, { min: least })} <Contact /></span></li>
      <li><Icon name="info" size={16} /><span>{w.ownWallet} {w.tryFirst}</span></li>
      <li><Icon name="clock" size={16} /><span>{paused ? w.afterPause + "." : <>{formatMessage(w.creditedAfter, { n: info.confirmationCount })}{token.depositSeconds ? " ≈ " + lasted(token.depositSeconds, w.language) : ""}</>}</span></li>
    </ul>
    {info.noticeMsg && !paused && <Note>{info.noticeMsg}</Note>}
  </>;
}

// WithLabel is the data of a payment by hand: the label's bytes, and the complete call of a token's contract once the amount is known.
function WithLabel({ network, token, info, units }) {
  const w = useMessages(messages);
  const name = info.labelName, coin = token.asset === "native", amount = units === null ? null : rescaled(units, token.decimals, token.assetDecimals);
  const call = coin || amount === null ? null : transaction({ chainId: network.chainId, asset: token.asset, to: info.depositAddress, units: amount, label: info.label });
  return <><p class="small faint">{formatMessage(coin ? w.labelInCoin : w.labelInToken, { name })}</p><Whole id="deposit-label-data" what={formatMessage(w.labelHex, { name })} text={hex(new TextEncoder().encode(info.label))} />
    {call && <><span class="label">{w.callTo}</span><Whole what={w.callTo} text={call.to} /><span class="label">{w.callData}</span><Whole id="deposit-call" what={w.callData} text={call.data} /></>}</>;
}
