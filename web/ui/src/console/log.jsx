// The log: who did what, when and why. Its lines are chained by hashes.
import { useState } from "preact/hooks";
import { Asked, Pager, Short, State, Table, tell, Time, trouble } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { get } from "./api.js";
import { Heading } from "./parts.jsx";
import { clock } from "./record.jsx";
import { go, route, to } from "./route.js";
import { useConsoleMessages } from "./labels.js";

export function Log() {
  const w = useConsoleMessages();
  const { query } = route.use();
  const poll = usePoll((signal) => get("/history", query, signal), 5_000, [JSON.stringify(query)]);
  return <><Heading>{w.view_log}</Heading>
    <p class="faint">{w.logLead}</p>
    <Chain />
    <section class="card"><p class="row small">{query.people ? <><span>{w.onlyPeopleNow}</span> <a href={to("log")}>{w.everything}</a></> : <><span>{w.everythingNow}</span> <a href={to("log", "", { people: true })} id="people">{w.onlyPeople}</a></>}</p>
      <Asked poll={poll} empty={w.noLine} none={(page) => page.lines.length === 0}>{(page) => <>
        <Table id="log" label={w.view_log} head={[">" + w.line, w.when, w.who, w.what, w.detail, w.digest]} rows={page.lines.map((e) => ({
          key: e.seq, cells: [<span class="num">{e.seq}</span>, <Time ms={clock(e.at)} />, e.actor, <span class="wrap">{`${e.subject} ${e.id} ${e.event}`}</span>, e.detail && <span class="wrap long">{e.detail}</span>, <Short text={e.digest} what={formatMessage(w.digestOf, { n: e.seq })} />],
        }))} />
        <Pager newer={query.before ? () => history.back() : null} older={page.next ? () => go("log", "", { ...query, before: page.next }) : null} />
      </>}</Asked></section></>;
}

// Chain verifies the digests of all lines when it is asked to: that reads all of them.
function Chain() {
  const w = useConsoleMessages();
  const [found, set] = useState(null), [busy, setBusy] = useState(false);
  const verify = async () => {
    if (busy) return;
    setBusy(true);
    try {
      set(await get("/history/verify"));
    } catch (error) {
      tell(trouble(error, w));
    }
    setBusy(false);
  };
  return <section class="card row spread" id="chain" aria-label={w.chainOfDigests}><span role="status">{!found ? w.notVerified
    : found.whole ? <State kind="good">{formatMessage(w.allFit, { n: found.lines.toLocaleString("en") })}</State> : <State kind="bad">{found.broken}</State>}
    {found?.whole && <span class="small faint"> {w.newest} <Short text={found.digest} what={w.newestDigest} /></span>}</span>
    <button type="button" id="verify" aria-disabled={busy} onClick={verify}>{busy ? w.reading : w.verify}</button></section>;
}
