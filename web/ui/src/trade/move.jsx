// Moving funds between the account's wallet and its balance on the exchange. Only the wallet can sign it: the demo wallet in a development environment,
// else one that reads a payment link.
import { useEffect, useMemo, useState } from "preact/hooks";
import { cut, parse, plain, shown } from "../base/amount.js";
import { Amount, Button, Dialog, Facts, Fault, Field, Note, Qr, Segmented, State, Whole } from "../base/components.jsx";
import { useDemoWallet } from "../base/demo.js";
import { Away } from "../base/http.js";
import { Icon } from "../base/icons.jsx";
import { formatMessage, useMessages } from "../base/messages.js";
import { remembered } from "../base/store.js";
import { online, usePoll } from "../base/use.js";
import { depositCall, exchangeContract, paymentLink, withdrawCall } from "../base/vite.js";
import { query } from "./exchange.js";
import { messages } from "./messages.js";
import { tokenName } from "./names.js";

const inward = "in", outward = "out"; // of the exchange

const lateAfter = 60_000;

const listedMoves = 20, listedDigits = 8; // of an amount, in the exchange's list and on this page

// movesOf is the number of an account's moves of a token, and the newest ones.
async function movesOf(address, tokenId, signal) {
  const { total, record } = await query("/deposit-withdraw", { address, tokenId, limit: listedMoves }, signal);
  return { total, newest: record ?? [] };
}

const isListed = (move, { total, newest }) => newest.slice(0, Math.max(total - move.before, 0))
  .some((one) => one.type === (move.way === inward ? 1 : 2) && cut(one.amount, listedDigits) === cut(plain(BigInt(move.units), move.token.decimals), listedDigits));

// kept stores the move that the exchange does not list yet, as JSON. It survives closing and reloading, so that the same amount is not moved twice.
const kept = remembered("trade.move", (text) => text === "" || isJSON(text), "", "sessionStorage");

function isJSON(text) {
  try {
    return Boolean(JSON.parse(text));
  } catch {
    return false;
  }
}

const keep = (move) => kept.set(move ? JSON.stringify(move) : "");

// callOf is the call of the exchange's contract that makes a move: what is sent with it, and its data.
const callOf = ({ way, units, token }) => (way === inward ? { units: BigInt(units), data: depositCall() } : { units: 0n, data: withdrawCall(token.tokenId, BigInt(units)) });

// tokensOf are the tokens of all markets, by symbol.
const tokensOf = (markets) => Object.fromEntries(markets.flatMap((m) => [[m.tradeTokenSymbol, m.tradeToken], [m.quoteTokenSymbol, m.quoteToken]]));

// MoveDialog moves a token that has a market. `first` is the symbol that was asked for, by a link that may name any: no other token takes its place.
export function MoveDialog({ session, markets, first, data, close }) {
  const w = useMessages(messages);
  const ids = useMemo(() => tokensOf(markets), [markets]), symbols = Object.keys(ids).sort();
  const [symbol, choose] = useState(Object.hasOwn(ids, first) ? first : ""), [way, turn] = useState(inward);
  const [amount, type] = useState(""), [fault, setFault] = useState(null), [busy, setBusy] = useState(false), [arrived, arrive] = useState(false);
  const tokenId = ids[symbol], name = tokenName(symbol), demo = useDemoWallet(session.demo), { wallet } = demo, up = online.use();
  const detail = usePoll(tokenId ? (signal) => query("/token/detail", { tokenId }, signal) : null, 0, [tokenId]);
  const inWallet = usePoll(wallet && tokenId ? () => wallet.balance(tokenId) : null, 2000, [wallet, tokenId]);
  const decimals = detail.data?.tokenDecimals, token = { tokenId, decimals };
  const onExchange = data.balances.data && decimals !== undefined ? parse(data.balances.data[symbol]?.available ?? "0", decimals) : null;
  const limit = way === inward ? inWallet.data : onExchange;
  const show = (units) => shown(units, decimals) + " " + name;
  const units = amount.trim() === "" || decimals === undefined ? null : parse(amount, decimals);
  const wrong = amount.trim() === "" || decimals === undefined ? "" : !units ? formatMessage(w.digits, { what: w.quantity, n: decimals })
    : limit !== null && units > limit ? formatMessage(w.poor, { what: w.quantity, have: shown(limit, decimals, listedDigits), symbol: name }) : "";
  const ready = up && units && !wrong && (way === inward ? !session.demo || limit !== null : limit !== null);
  const text = kept.use(), last = text ? JSON.parse(text) : null, move = !busy && last?.address === session.address ? last : null;
  const submit = async (e) => {
    e.preventDefault();
    if (!ready || busy) return;
    setBusy(true);
    setFault(null);
    const made = { address: session.address, symbol, units: units.toString(), token, way, at: Date.now() };
    try {
      made.before = (await movesOf(session.address, tokenId)).total;
      if (session.demo) await sendNow(made);
      keep(made);
    } catch (error) {
      setFault(error);
    } finally {
      setBusy(false);
    }
  };
  // sendNow signs and sends. Until the node answers, the outcome is unknown.
  const sendNow = async (made) => {
    const call = callOf(made);
    keep({ ...made, unknown: true });
    try {
      await wallet.send(exchangeContract, tokenId, call.units, call.data);
    } catch (error) {
      if (!(error instanceof Away)) keep(null);
      throw error;
    }
  };
  const leave = () => {
    if (arrived) keep(null);
    close();
  };
  const again = () => {
    keep(null);
    arrive(false);
    type("");
    setFault(null);
  };
  const change = (act) => (value) => {
    setFault(null);
    act(value);
  };
  const balance = (value) => (value === null || decimals === undefined ? "–" : <Amount units={value} decimals={decimals} unit={name} />);
  return <Dialog title={w.moveFunds} close={() => busy || leave()} id="move">{move ? <Followed {...{ move, session, arrived, again, leave }} arrive={() => { arrive(true); data.again(); }} /> : <form onSubmit={submit} noValidate>
    <p class="small">{w.moveLead}</p>
    {!symbol && <Note kind="warn" live>{formatMessage(w.moveUnlisted, { symbol: /^[\w.-]{1,20}$/.test(first) ? first : w.token })}</Note>}
    <Segmented class="after" label={w.moveWay} now={way} choose={change(turn)} list={[{ id: inward, name: w.moveIn }, { id: outward, name: w.moveOut }]} />
    <div class="field"><label for="move-token">{w.token}</label><select id="move-token" value={symbol} onChange={(e) => { type(""); change(choose)(e.currentTarget.value); }}>{!symbol && <option value="">{w.moveChoose}</option>}{symbols.map((s) => <option key={s} value={s}>{s}</option>)}</select></div>
    <Field id="move-amount" label={w.quantity} inputMode="decimal" placeholder="0.0" value={amount} onInput={(e) => change(type)(e.currentTarget.value)} fault={wrong}>
      {limit !== null && decimals !== undefined && <Button id="move-all" onClick={() => change(type)(plain(limit, decimals))}>{w.max}</Button>}</Field>
    <Facts list={[[w.inWallet, session.demo && <span id="in-wallet">{balance(inWallet.data)}</span>], [w.onExchange, <span id="on-exchange">{balance(onExchange)}</span>], [w.fee, w.feeNone]]} />
    {(fault || demo.error) && <Fault error={fault ?? demo.error} />}
    <p class="row end"><Button onClick={close} aria-disabled={busy}>{w.moveCancel}</Button><button class="main" id="move-send" aria-busy={busy || undefined} aria-disabled={busy || !ready || undefined}>{busy && <Icon name="busy" />}
      {!up ? w.live_away : !symbol ? w.moveChoose : wrong ? w.moveWrong : !ready ? w.moveNeedsAmount : session.demo ? formatMessage(way === inward ? w.moveInNow : w.moveOutNow, { sum: show(units) }) : w.moveByWallet}</button></p>
  </form>}</Dialog>;
}

// Followed shows a move until the exchange lists it.
function Followed({ move, session, arrived, arrive, again, leave }) {
  const w = useMessages(messages);
  const { symbol, token, way, at, unknown } = move, sum = shown(BigInt(move.units), token.decimals) + " " + tokenName(symbol);
  const poll = usePoll(arrived ? null : async (signal) => ({ found: isListed(move, await movesOf(session.address, token.tokenId, signal)) }), 1000, [arrived]);
  useEffect(() => {
    if (poll.data?.found) arrive();
  }, [poll.data]);
  const call = callOf(move), link = paymentLink(exchangeContract, token, call.units, call.data), late = session.demo && Date.now() - at > lateAfter;
  const facts = [[w.quantity, <strong>{sum}</strong>], [w.moveWay, way === inward ? w.moveIn : w.moveOut], [w.account, <code>{session.address}</code>]];
  if (arrived) return <div id="moved"><Note kind="good" live>{formatMessage(way === inward ? w.movedIn : w.movedOut, { sum })}</Note>
    <p class="row end after"><Button onClick={again}>{w.moveMore}</Button><Button kind="main" onClick={leave}>{w.done}</Button></p></div>;
  return <div id="moving">
    <Facts list={facts} />
    {!session.demo && <><p class="small after">{w.moveScan}</p><div class="codes"><Qr text={link} label={w.moveQr} /></div><Note kind="warn">{way === inward ? w.moveFromIn : w.moveFromOut}</Note>
      <span class="label">{w.moveLink}</span><Whole what={w.moveLink} text={link} id="move-link" /><p><a class="button" href={link}><Icon name="external" /> {w.openWallet}</a></p></>}
    {unknown ? <Note kind="warn" live>{w.moveUnknown}</Note> : <p role="status"><State kind="run">{session.demo ? w.moveSent : w.moveWaits}</State></p>}
    {late && !unknown && <Note kind="warn" live>{w.moveLate}</Note>}
    {(!session.demo || late || unknown) && <p class="row end after"><Button id="move-again" onClick={again}>{session.demo ? w.moveChecked : w.moveChange}</Button></p>}
  </div>;
}
