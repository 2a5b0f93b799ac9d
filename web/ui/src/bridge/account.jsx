// What both directions share: the chains with the direction, the token, the address on the exchange chain, the demo wallet.
import { useEffect, useState } from "preact/hooks";
import { Amount, Button, Contact, Copy, Facts, Fault, Field, lasted, linkTo, Operator, Short, State, Table } from "../base/components.jsx";
import { shown } from "../base/amount.js";
import { openDemo, useDemoWallet } from "../base/demo.js";
import { ChainIcon, Icon, TokenIcon } from "../base/icons.jsx";
import { formatMessage, useMessages } from "../base/messages.js";
import { assetName, isAddress } from "../base/names.js";
import { here, to } from "../base/route.js";
import { online, site, useLater, usePoll } from "../base/use.js";
import { feesOf } from "./gateway.js";
import { messages } from "./messages.js";
import { lastAddress, lastWallet } from "./place.js";
import { Reserves } from "./reserves.jsx";

// useDemo is the demo wallet of a development environment with its balance of a token. One that was used last is opened again after a reload.
export function useDemo(token) {
  const { demo } = site.use(), last = lastWallet.use();
  const { wallet } = useDemoWallet(Boolean(demo) && last === "demo"); // after an error the page offers it again
  const balance = usePoll(wallet ? () => wallet.balance(token.tokenId) : null, 1500, [wallet, token.tokenId]);
  return { offered: Boolean(demo), wallet, balance: balance.data };
}

const narrow = matchMedia("(max-width: 40rem)");

// usePhone is whether the window is as narrow as a phone's: what is secondary is folded away there.
export function usePhone() {
  const [phone, set] = useState(narrow.matches);
  useEffect(() => {
    const change = () => set(narrow.matches);
    narrow.addEventListener("change", change);
    return () => narrow.removeEventListener("change", change);
  }, []);
  return phone;
}

// Way is the direction: from one chain to the other, with a button that turns it.
export function Way({ network, from, turn }) {
  const w = useMessages(messages);
  const ends = [network.sourceName, network.exchangeName];
  if (from === "exchange") ends.reverse();
  const end = (label, name) => <div class="end"><span class="label">{label}</span><span class="name"><ChainIcon name={name} size={28} /><strong>{name}</strong></span></div>;
  return <div class="way" id="way">{end(w.from, ends[0])}<button type="button" id="turn" class="plain turn" aria-label={w.turn} title={w.turn} onClick={turn}><Icon name="swap" /></button>{end(w.toChain, ends[1])}</div>;
}

// TokenPick chooses network and token.
export function TokenPick({ networks, network, token, from, move }) {
  const w = useMessages(messages);
  const group = (n) => (from === "exchange" ? `${n.exchangeName} → ${n.sourceName}` : `${n.sourceName} → ${n.exchangeName}`);
  const choose = (e) => {
    const [name, tokenId] = e.currentTarget.value.split("/");
    move({ network: name, tokenId }, { amount: "", to: name === network.name ? undefined : "", label: "" });
  };
  return <div class="field"><label for="token">{w.token}</label><div class="picked"><TokenIcon symbol={token.symbol} size={28} />
    <select id="token" value={network.name + "/" + token.tokenId} onChange={choose}>{networks.filter((n) => n.tokens.length).map((n) => <optgroup key={n.name} label={group(n)}>
      {n.tokens.map((t) => <option key={t.tokenId} value={n.name + "/" + t.tokenId}>{from === "exchange" ? t.symbol : assetName(t.symbol)}{t.type === 1 && from === "source" ? " · " + formatMessage(w.labelIs, { name: t.labelName ?? w.labelled }) : ""}</option>)}</optgroup>)}</select></div></div>;
}

// states are the kinds of a channel's states.
const states = { OPEN: "good", MAINTAIN: "warn", CLOSED: "bad" };

// severalOf is a sentence about the withdrawals that an amount takes, and their fees.
export function severalOf(n, token, w) {
  const fees = feesOf(n, token), max = shown(BigInt(token.maximumWithdrawAmount), token.decimals) + " " + assetName(token.symbol);
  const percent = token.fee?.kind === "percent" && formatMessage(w.feePercent, { percent: (token.fee.ppm ?? 0) / 10_000 });
  return formatMessage(w.several, { max, n, fees: fees === null ? formatMessage(w.feeEach, { fee: percent || w.feeNetwork }) : formatMessage(w.feesTotal, { fees: shown(fees, token.decimals) + " " + token.symbol }) });
}

// feeOf is the fee rule of a token's withdrawals in words.
function feeOf({ fee, decimals, symbol }, w) {
  if (fee?.kind === "percent") return formatMessage(w.feePercent, { percent: (fee.ppm ?? 0) / 10_000 });
  if (fee?.kind !== "flat") return w.feeNetwork;
  return (fee.amount ?? "0") === "0" ? w.noFee : <Amount units={BigInt(fee.amount)} decimals={decimals} unit={symbol} />;
}

// Guide is the way of a transfer in three steps, with the token's terms and what to take care of.
export function Guide({ network, token, kind }) {
  const w = useMessages(messages), { trade } = site.use();
  const symbol = assetName(token.symbol), values = { source: network.sourceName, exchange: network.exchangeName, symbol, chain: network.sourceName };
  return <div class="guide">
    <h2>{w["how_" + kind]}</h2>
    <ol class="how">{[1, 2, 3].map((n) => <li key={n}><span class="number" aria-hidden="true">{n}</span><span>{formatMessage(w[`how_${kind}${n}`], values)}</span></li>)}</ol>
    <Terms network={network} token={token} />
    <ul class="rules">{(kind === "deposit" ? [["warning", w.onlyThis], ["warning", formatMessage(w.belowNotCredited, { min: shown(BigInt(token.minimumDepositAmount), token.decimals) + " " + symbol }), <Contact />]]
      : [["warning", w.onlyPayee], ["info", w.refundRule], trade && ["swap", w.fromExchange, <a href={linkTo(trade) + to([], { move: token.symbol })}>{w.moveFunds}</a>], ["info", w.tryFirst]].filter(Boolean)).map(([icon, text, more]) => <li key={text}><Icon name={icon} size={16} /><span>{formatMessage(text, values)} {more}</span></li>)}</ul>
  </div>;
}

// About explains a token: what it stands for, who holds that, and the ids of both on their chains.
function About({ network, token }) {
  const w = useMessages(messages);
  const symbol = assetName(token.symbol), values = { token: token.symbol, symbol, source: network.sourceName, exchange: network.exchangeName };
  const id = (text) => <span class="id"><code>{text}</code><Copy text={text} /></span>;
  return <div class="about" id="about"><h3>{formatMessage(w.about, values)}</h3><p class="small">{formatMessage(w.aboutToken, values)} <Operator /></p>
    <Facts list={[[formatMessage(w.assetOn, values), token.asset === "native" ? w.coin : id(token.asset)], [formatMessage(w.tokenOn, values), id(token.tokenId)]]} />
    <Reserves network={network} token={token} /></div>;
}

// Terms are the states, limits, fees and times of both directions of a token, and what the token is.
export function Terms({ network, token }) {
  const w = useMessages(messages);
  const known = online.use();
  const symbol = assetName(token.symbol), label = formatMessage(w.terms, { symbol });
  const amount = (units) => <Amount units={BigInt(units)} decimals={token.decimals} unit={symbol} />;
  const about = (seconds, state) => (state === "MAINTAIN" ? w.afterPause : state === "CLOSED" ? "–" : seconds ? "≈ " + lasted(seconds, w.language) : w.notMeasured);
  const phone = usePhone();
  const both = (name, one, other) => ({ key: name, cells: [name, one, other] });
  const all = <><div class="terms">{!phone && <h3>{label}</h3>}<Table id="terms" label={label} head={[symbol, w.deposit, w.withdraw]} rows={[
    both(w.state, ...[token.depositState, token.withdrawState].map((state) => (known ? <State kind={states[state]}>{w["channel_" + state]}</State> : <State kind="wait">{w.notKnown}</State>))),
    both(w.minimum, amount(token.minimumDepositAmount), amount(token.minimumWithdrawAmount)),
    both(w.maximum, w.noLimit, BigInt(token.maximumWithdrawAmount) === 0n ? w.noLimit : amount(token.maximumWithdrawAmount)),
    both(w.fee, w.noFee, feeOf(token, w)),
    both(w.expected, about(token.depositSeconds, token.depositState), about(token.withdrawSeconds, token.withdrawState))]} /></div><About network={network} token={token} /></>;
  return phone ? <details class="fold"><summary>{formatMessage(w.termsAnd, { token: token.symbol })}</summary>{all}</details> : all;
}

// Account is the reader's address on the exchange chain: typed, or of the demo wallet, which proposes a usual amount.
export function Account({ network, token, typedAddress, demo, offer, move, label, usual }) {
  const w = useMessages(messages);
  const rested = useLater(typedAddress);
  const [fault, setFault] = useState(null), [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    setFault(null);
    try {
      const wallet = await openDemo();
      lastWallet.set("demo");
      lastAddress.set(wallet.address);
      move({}, { address: wallet.address, ...(usual && !here().query.amount && { amount: usual }) });
      setTimeout(() => document.querySelector("#pay-amount, #amount")?.focus());
    } catch (error) {
      setFault(error);
    }
    setBusy(false);
  };
  const type = (e) => {
    const typed = e.currentTarget.value.replace(/\s/g, "");
    if (isAddress(typed)) lastAddress.set(typed);
    move({}, { address: typed });
  };
  const leave = () => {
    lastWallet.set("");
    lastAddress.set("");
    move({}, { address: "" });
  };
  if (demo) return <div class="field demo"><span class="label">{formatMessage(label, { chain: network.exchangeName })} · {w.demoIs}</span>
    <div class="account"><Icon name="wallet" /><span><Short text={demo.wallet.address} what={w.demoIs} /><span class="small faint">{w.balance} <strong id="balance">{demo.balance === null ? "–" : <Amount units={demo.balance} decimals={token.decimals} unit={token.symbol} />}</strong></span></span>
      <Button kind="plain" onClick={leave}>{w.leave}</Button></div></div>;
  return <><Field id="account" class="code" wrap label={formatMessage(label, { chain: network.exchangeName })} hint={isAddress(typedAddress) ? "" : <>{w.accountHint} {w.walletHint} <a href="https://vite.org" target="_blank" rel="noopener noreferrer">vite.org</a></>} value={typedAddress} onInput={type}
    fault={rested && !isAddress(rested) ? w.accountWrong : ""} placeholder="vite_…" />
    {offer.offered && <Button id="use-demo" icon="wallet" busy={busy} onClick={start}>{w.useDemo}</Button>}
    {fault && <Fault error={fault} />}</>;
}
