// The log: who did what, when and why. Its lines are chained by hashes.
import { useState } from "preact/hooks";
import { Asked, Pager, Short, State, Table, tell, Time, trouble } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { useWords } from "../base/words.js";
import { get } from "./api.js";
import { Heading } from "./parts.jsx";
import { clock } from "./record.jsx";
import { go, route, to } from "./route.js";

export function Log() {
  const { query } = route.use();
  const poll = usePoll((signal) => get("/history", query, signal), 5_000, [JSON.stringify(query)]);
  return <><Heading>Log</Heading>
    <p class="faint">Each line's digest covers the line before it: a changed or missing line is found.</p>
    <Chain />
    <section class="card"><p class="row small">{query.people ? <><span>Only what people did.</span> <a href={to("log")}>Everything</a></> : <><span>Everything.</span> <a href={to("log", "", { people: true })} id="people">Only what people did</a></>}</p>
      <Asked poll={poll} empty="No line stands here." none={(page) => page.lines.length === 0}>{(page) => <>
        <Table id="log" label="Log" head={[">Line", "When", "Who", "What", "Detail", "Digest"]} rows={page.lines.map((e) => ({
          key: e.seq, cells: [<span class="num">{e.seq}</span>, <Time ms={clock(e.at)} />, e.actor, <span class="wrap">{`${e.subject} ${e.id} ${e.event}`}</span>, e.detail && <span class="wrap long">{e.detail}</span>, <Short text={e.digest} what={"digest of line " + e.seq} />],
        }))} />
        <Pager newer={query.before ? () => history.back() : null} older={page.next ? () => go("log", "", { ...query, before: page.next }) : null} />
      </>}</Asked></section></>;
}

// Chain verifies the digests of all lines when it is asked to: that reads all of them.
function Chain() {
  const w = useWords();
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
  return <section class="card row spread" id="chain" aria-label="Chain of digests"><span role="status">{!found ? "Not verified since this page was opened."
    : found.whole ? <State kind="good">All {found.lines.toLocaleString("en")} lines fit their digests</State> : <State kind="bad">{found.broken}</State>}
    {found?.whole && <span class="small faint"> newest: <Short text={found.digest} what="newest digest" /></span>}</span>
    <button type="button" id="verify" aria-disabled={busy} onClick={verify}>{busy ? "Reading…" : "Verify all lines"}</button></section>;
}
