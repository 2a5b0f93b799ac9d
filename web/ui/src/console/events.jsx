// Lines of the history in sentences: who did what to which record, payment, account or channel.
import { middle, Short, Table, Time } from "../base/components.jsx";
import { formatMessage } from "../base/messages.js";
import { codes } from "./codes.js";
import { capital, codeLabel, eventLabel, useConsoleMessages } from "./labels.js";
import { networkName, networks } from "./money.js";
import { Call, Money } from "./parts.jsx";
import { to } from "./route.js";

const clock = (text) => Date.parse(text.includes("T") ? text : text.replace(" ", "T") + "Z");

// Events is a table of lines, newest first. `digests` shows the number and the digest of each; `own` is the record whose page it stands on.
export function Events({ list, label, id, own, digests = false }) {
  const w = useConsoleMessages();
  return <Table id={id} label={label} head={[w.when, w.who, w.what, w.detail]} rows={list.map((e, i) => ({
    key: e.seq ?? i, cells: [<Time ms={clock(e.at)} />, <Actor name={e.actor} />, <span class="wrap"><strong>{eventLabel(w.language, e.subject, e.event)}{orderIn(e, w)}</strong> <Subject line={e} own={own} /></span>, <Detail line={e} digests={digests} />],
  }))} />;
}

// Actor is a person by name, or the daemon.
export function Actor({ name }) {
  const w = useConsoleMessages();
  const person = name.replace(/^operator:/, "");
  return name === "daemon" ? <span class="faint">{w.daemon}</span> : <strong title={name}>{person}</strong>;
}

function Subject({ line: { subject, id, about }, own }) {
  const w = useConsoleMessages();
  const list = networks.use();
  const record = about?.record > 0 && about.record !== own && <a href={to("records", about.record)}>{formatMessage(w.recordName, { name: about.record })}</a>;
  if (about && subject === "payment") return <span class="row tight"><Call of="purpose" word={about.purpose} /> <Money network={about.network} asset={about.asset} amount={about.amount} />{about.payee && <> {w.toPayee} <Short text={about.payee} /></>} {record}</span>;
  if (about) return <span class="row tight"><Call of="direction" word={about.direction} /> <Money network={about.network} asset={about.asset} amount={about.amount} /> {record}</span>;
  if (subject === "channel") {
    const [network, token, direction] = id.split("/");
    const known = list.find((n) => n.name === network)?.tokens.find((t) => t.token === token);
    return <>{known?.symbol ?? token} <Call of="direction" word={direction} /> · {networkName(list, network)}</>;
  }
  return id.length > 20 ? <Short text={id} /> : <span class="num">{id}</span>;
}

// shortened takes long hashes and addresses of a text down to their ends, and names tokens by their symbols.
export function shortened(text, list) {
  const symbols = new Map(list.flatMap((n) => n.tokens.map((t) => [t.token, t.symbol])));
  return text.replace(/\btti_[0-9a-f]{24}\b/g, (id) => symbols.get(id) ?? middle(id)).replace(/\b(0x[0-9a-fA-F]{24,}|vite_[0-9a-f]{50}|[0-9a-f]{40,})\b/g, (id) => middle(id));
}

// orderIn is the name of the order that a line is about.
function orderIn({ event, detail }, w) {
  const order = event === "ordered" && /^[\w-]+/.exec(detail)?.[0];
  const name = order && (w["order_" + order] ?? { resume: w.resume, stop: w.stop, rescan: w.rescan, reload: w.reload }[order] ?? order);
  return name ? ": " + name : "";
}

// saidIn is what a person has given as the reason, or the daemon by a word of its tables; "" where a line has only technical details.
function saidIn({ subject, event, detail }, w) {
  if (subject === "console" && event === "set") return capital(codeLabel(w.language, "role", detail));
  if (codes.reason[detail]) return capital(codeLabel(w.language, "reason", detail));
  if (event === "ordered") return detail.includes(": ") ? detail.slice(detail.indexOf(": ") + 2) : "";
  if (subject === "channel") return /^operator \w+ \((.*)\), automatic /.exec(detail)?.[1] ?? "";
  return subject === "account" && event === "halted" ? detail : "";
}

// Detail is the reason of a line. How the daemon puts it, its number and its digest are behind a fold.
function Detail({ line: e, digests }) {
  const w = useConsoleMessages();
  const list = networks.use(), said = saidIn(e, w);
  const technical = e.detail && e.detail !== said && !codes.reason[e.detail];
  return <>{said && <span class="wrap">{shortened(said, list)}</span>}
    {(technical || digests) && <details class="small"><summary>{w.technical}</summary><dl class="facts">
      {technical && <><dt>{w.detail}</dt><dd lang="en">{e.detail}</dd></>}
      {digests && <><dt>{w.line}</dt><dd class="num">{e.seq}</dd><dt>{w.digest}</dt><dd><Short text={e.digest} what={formatMessage(w.digestOf, { n: e.seq })} /></dd></>}</dl></details>}</>;
}
