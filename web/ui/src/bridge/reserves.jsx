// What the gateway holds of a token's asset and owes: for readers who decide whether to deposit.
import { Ago, Amount, Contact, Copy, Facts, Note, State } from "../base/components.jsx";
import { grouped, shown } from "../base/amount.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { assetName } from "../base/names.js";
import { percentOf, reserveKinds, useReserves } from "../base/reserves.js";
import { store } from "../base/store.js";
import { rescaled } from "./evm.js";
import { messages } from "./messages.js";

const parts = ["hot", "cold", "shared", "gas", "deposits", "recent"];

// addressLink is an explorer's page of an address, by its template for transactions; "" if that is not of the usual form.
const addressLink = (explorer, address) => (explorer?.endsWith("/tx/{$tx}") ? explorer.slice(0, -"tx/{$tx}".length) + "address/" + encodeURIComponent(address) : "");

// Reserves shows the last comparison of a token, or that there is none.
export function Reserves({ network, token }) {
  const w = useMessages(messages);
  const found = useReserves()(network, token);
  if (!found) return null;
  const { state, row } = found, c = row?.comparison;
  if (state === "unpublished") return <div class="reserves" id="reserves" data-reserves={state}><h3>{w.reserves}</h3><p class="small">{w.reserves_unpublishedLead}</p></div>;
  const symbol = assetName(token.symbol), amount = (units) => <Amount units={BigInt(units)} decimals={row.assetDecimals} unit={symbol} />;
  const lead = w[`reserves_${row?.reason && state === "unknown" ? row.reason : state}Lead`];
  const others = network.tokens.filter((t) => t.asset === token.asset && t.tokenId !== token.tokenId).map((t) => t.symbol).join(", ");
  const percent = c && percentOf(BigInt(c.held), BigInt(c.owed));
  const [before, after] = formatMessage(w.comparedAt, { source: network.sourceName, height: grouped(String(c?.height ?? "")), age: "{age}" }).split("{age}");
  return <div class="reserves" id="reserves" data-reserves={state}>
    <div class="row spread"><h3>{w.reserves}</h3><State kind={reserveKinds[state] ?? "wait"}>{w["reserves_" + state] ?? w.reserves_unknown}{state === "covered" && percent && " · " + percent}</State></div>
    {lead && <p class="small">{formatMessage(lead, { source: network.sourceName, exchange: network.exchangeName })} {state === "missing" && <Contact />}</p>}
    {c && <Facts list={[[formatMessage(w.heldOn, { source: network.sourceName }), amount(c.held)], [w.owedTo, amount(c.owed)],
      state === "missing" && [w.shortBy, amount(BigInt(c.owed) - BigInt(c.held))]].filter(Boolean)} />}
    {c && <p class="small faint">{before}<Ago ms={c.at} />{after}</p>}
    {others && <p class="small faint">{formatMessage(w.reservesShared, { tokens: others })}</p>}
    {row && <Parts network={network} row={row} amount={amount} />}
  </div>;
}

// ReserveWarning warns before a payment: of reserves that do not cover what is owed, of a comparison that a stop of the gateway makes doubtful, and of a
// withdrawal of more than the paying accounts had.
export function ReserveWarning({ network, token, out = null }) {
  const w = useMessages(messages);
  const found = useReserves()(network, token);
  if (!found?.row) return null;
  const { state, row } = found, hot = row.comparison?.parts?.hot, symbol = assetName(token.symbol);
  const lead = state === "missing" ? w.reserves_missingLead : state === "unknown" && row.reason !== "old" ? w[`reserves_${row.reason}Lead`] : "";
  const slow = out !== null && state === "covered" && hot !== undefined && rescaled(out, token.decimals, token.assetDecimals) > BigInt(hot);
  return <>{lead && <Note kind={state === "missing" ? "bad" : "warn"}><span id="reserve-warning">{w.reserves}: {formatMessage(lead, { source: network.sourceName, exchange: network.exchangeName })} <Contact /></span></Note>}
    {slow && <Note kind="warn"><span id="hot-below">{formatMessage(w.hotBelow, { sum: shown(BigInt(hot), token.assetDecimals) + " " + symbol })}</span></Note>}</>;
}

const unfolded = store(false); // outlives a new drawing of the page, as for a window of another width

// Parts are the parts of what is held, each with its addresses. Parts without an amount are left out, but not the main ones.
function Parts({ network, row, amount }) {
  const w = useMessages(messages);
  const sums = row.comparison?.parts;
  const list = parts.map((kind) => ({ kind, sum: sums?.[kind], addresses: row.addresses.filter((a) => a.kind === kind).map((a) => a.address) }))
    .filter(({ kind, sum, addresses }) => (sum ?? "0") !== "0" || addresses.length > 0 && (!sums || kind === "hot" || kind === "cold"));
  return <details id="reserve-parts" open={unfolded.use()} onToggle={(e) => unfolded.set(e.currentTarget.open)}><summary>{w.reserveParts}</summary>
    <Facts list={list.map(({ kind, sum, addresses }) => [w["part_" + kind], <>{sum && amount(sum)}{addresses.map((address) => {
      const link = addressLink(network.sourceExplorer, address);
      return <div key={address}><span class="id"><code>{address}</code><Copy text={address} /></span>{link && <> <a class="small" href={link} target="_blank" rel="noopener noreferrer">{w.explorer}</a></>}</div>;
    })}</>])} />
    <p class="small faint">{formatMessage(w.reservesCheck, { source: network.sourceName })}</p></details>;
}
