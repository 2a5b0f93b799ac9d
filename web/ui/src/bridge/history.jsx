// All deposits and withdrawals of an address, with filters, as a table and as a file.
import { useEffect, useState } from "preact/hooks";
import { Amount, Asked, Button, Empty, Pager, Short, Table, Time } from "../base/components.jsx";
import { plain, shown } from "../base/amount.js";
import { TokenIcon } from "../base/icons.jsx";
import { useLater, usePoll } from "../base/use.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { assetName } from "../base/names.js";
import { Account } from "./account.jsx";
import { csv, ended, Gateway, sums } from "./gateway.js";
import { messages } from "./messages.js";
import { linkOf, Standing, wordOf } from "./record.jsx";

const pageSize = 20;
const many = 12; // tokens: more of them are not asked for at once

// everything answers the records of an address, newest first, and whether there are more. It asks four questions at a time.
async function everything(tokens, kinds, address, language, signal) {
  const tasks = tokens.flatMap(({ network, token }) => kinds.map((kind) => () => new Gateway(network, token, language).all(kind, address, signal)));
  const found = [];
  const work = async () => {
    for (let task = tasks.shift(); task; task = tasks.shift()) found.push(await task());
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return { rows: found.flatMap(({ rows }) => rows).sort((a, b) => Number(b.dateTime) - Number(a.dateTime)), more: found.some(({ more }) => more) };
}

// groupOf is a record's group: open, done or attention.
const groupOf = (record) => (record.held || record.refundState === "REFUNDING" || !ended(record) ? (record.held ? "attention" : "open") : /_CONFIRMED$/.test(record.state) ? "done" : "attention");

// moneyOf is a record's money for the table: what was sent, with the fee, and what is received.
function moneyOf(r, w) {
  const { sent, fee, received } = sums(r), { decimals, symbol } = r.token, ends = [assetName(symbol), symbol];
  if (r.kind === "withdraw") ends.reverse();
  const tiny = (units) => units > 0n && units < 10n ** BigInt(Math.max(0, decimals - 8));
  const amount = (units, unit) => (tiny(units) ? <span class="num" title={shown(units, decimals) + " " + unit}>{"< 0.00000001"}<span class="unit">{unit}</span></span> : <Amount units={units} decimals={decimals} unit={unit} />);
  return [<>{amount(sent, ends[0])}{fee > 0n && <div class="small faint">{w.fee} {amount(fee, symbol)}</div>}</>, received === null ? "–" : amount(received, ends[1])];
}

const hit = (record, text) => [record.inTxHash, record.outTxHash, record.refundTxHash, record.withdrawAddress, record.token.symbol, plain(BigInt(record.amount), record.token.decimals)].some((of) => of?.toLowerCase().includes(text.toLowerCase()));

export function History(given) {
  const w = useMessages(messages);
  const { networks, network, token, address, query, move } = given;
  const all = networks.flatMap((n) => n.tokens.map((t) => ({ network: n, token: t, id: n.name + "/" + t.tokenId })));
  const of = query.of ?? (all.length > many ? network.name + "/" + token.tokenId : "any");
  const direction = query.direction ?? "any", state = query.state ?? "any", text = useLater(query.text ?? "");
  const chosen = of === "any" ? all : all.filter(({ id }) => id === of);
  const kinds = direction === "any" ? ["deposit", "withdraw"] : [direction];
  const poll = usePoll(address ? (signal) => everything(chosen, kinds, address, w.language, signal) : null, 10_000, [address, of, direction, all.length]);
  const set = (name) => (e) => move({}, { [name]: e.currentTarget.value === "any" ? (name === "of" && all.length > many ? "any" : "") : e.currentTarget.value, page: "" });
  const [page, turn] = useState(0);
  useEffect(() => turn(0), [of, direction, state, text, address]);
  const choice = ({ name, label, now, list }) => <div class="field"><label for={"filter-" + name}>{label}</label>
    <select id={"filter-" + name} value={now} onChange={set(name)}>{[["any", w.any], ...list].map(([value, text]) => <option key={value} value={value}>{text}</option>)}</select></div>;
  const save = (rows) => {
    const head = ["time", "direction", "network", "token", "amount", "fee", "state", "refund", "in_transaction", "out_transaction", "refund_transaction", "withdraw_address", "label", "refund_amount", "refund_address"];
    const lines = rows.map((r) => [new Date(Number(r.dateTime)).toISOString(), r.kind, r.network.name, r.token.symbol, plain(BigInt(r.amount), r.token.decimals), plain(BigInt(r.fee), r.token.decimals),
      r.held ? "HELD " + r.state : r.state, r.refundState ?? "", r.inTxHash, r.outTxHash ?? "", r.refundTxHash ?? "",
      r.withdrawAddress ?? "", r.label ?? "", r.refundAmount ? plain(BigInt(r.refundAmount), r.token.decimals) : "", r.refundAddress ?? ""]);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv([head, ...lines])], { type: "text/csv" }));
    link.download = `bridge-${address.slice(5, 13)}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return <section class="card" id="history"><h2>{w.historyOf}</h2>
    <div class="filters"><Account {...given} label={w.walletOf} /></div>
    <div class="filters">
      {choice({ name: "direction", label: w.direction, now: direction, list: [["deposit", w.deposits], ["withdraw", w.withdrawals]] })}
      {choice({ name: "state", label: w.state, now: state, list: [["open", w.group_open], ["done", w.group_done], ["attention", w.group_attention]] })}
      {choice({ name: "of", label: w.token, now: of, list: all.map((t) => [t.id, t.token.symbol + (networks.length > 1 ? " · " + t.network.sourceName : "")]) })}
      <div class="field"><label for="filter-text">{w.search}</label><input id="filter-text" type="search" autocomplete="off" spellcheck={false} value={query.text ?? ""} placeholder={w.searchHint} onInput={set("text")} /></div>
    </div>
    {!address ? <Empty icon="wallet" title={w.noAddress}>{w.enter}</Empty> : <Asked poll={poll} lines={8}>{({ rows: found, more }) => {
      const rows = found.filter((r) => (state === "any" || groupOf(r) === state) && (!text || hit(r, text)));
      if (rows.length === 0) return <Empty icon="search" title={found.length ? w.noHits : w.none}>{found.length ? w.noHitsLead + (more ? " " + w.newestOnly : "") : w.noneLead}</Empty>;
      const at = Math.min(page, Math.ceil(rows.length / pageSize) - 1), part = rows.slice(at * pageSize, (at + 1) * pageSize);
      return <>
        <div class="row spread"><span class="small faint" id="found">{formatMessage(w.found, { n: rows.length })}</span><Button id="csv" icon="download" onClick={() => save(rows)}>{w.download}</Button></div>
        {more && <p class="small faint" id="newest">{w.newestOnly}</p>}
        <Table id="records" label={w.historyOf} head={[w.when, w.direction, ">" + w.sentColumn, ">" + w.receivedColumn, w.state, w.inTx, w.outTx]} rows={part.map((r) => ({ key: r.kind + r.inTxHash + r.dateTime + r.token.tokenId, cells: [
          <a href={linkOf(r, address)}><Time ms={Number(r.dateTime)} /></a>, <span class="way-of"><TokenIcon symbol={r.token.symbol} size={18} />{r.kind === "deposit" ? w.deposit : w.withdraw}</span>,
          ...moneyOf(r, w),
          <span data-state={r.state} title={wordOf(r, w)[1]}><Standing record={r} w={w} /></span>, <Short text={r.inTxHash} link={r.inLink} />,
          (r.outTxHash ?? r.refundTxHash) && <Short text={r.outTxHash ?? r.refundTxHash} link={r.outTxHash ? r.outLink : r.refundLink} />] }))} />
        {rows.length > pageSize && <Pager newer={at > 0 ? () => turn(at - 1) : null} older={(at + 1) * pageSize < rows.length ? () => turn(at + 1) : null} />}
      </>;
    }}</Asked>}
  </section>;
}
