// The audit log: who did what, when and why. Its lines are chained by hashes.
import { useEffect, useState } from "preact/hooks";
import { Asked, Field, Pager, Segmented, Short, State, tell, trouble } from "../base/components.jsx";
import { formatMessage } from "../base/messages.js";
import { useLater, usePoll } from "../base/use.js";
import { get } from "./api.js";
import { Events } from "./events.jsx";
import { useConsoleMessages } from "./labels.js";
import { Heading } from "./parts.jsx";
import { go, usePlace } from "./route.js";

const lines = 25;

export function Audit() {
  const w = useConsoleMessages();
  const { query } = usePlace();
  const actor = query.by && (query.by.includes(":") ? query.by : "operator:" + query.by);
  const filter = { people: query.everything ? "" : true, actor, record: query.record, before: query.before };
  const poll = usePoll((signal) => get("/history", { ...filter, limit: lines }, signal), 5_000, [JSON.stringify(filter)]);
  const choose = (values) => go("audit", "", { ...query, before: "", ...values }, { replace: true });
  return <><Heading>{w.view_audit}</Heading>
    <p class="faint">{w.logLead}</p>
    <Verify />
    <section class="card"><div class="row filters">
      <Segmented label={w.show} list={[{ id: "people", name: w.onlyPeople }, { id: "all", name: w.everything }]} now={query.everything ? "all" : "people"} choose={(id) => choose({ everything: id === "all" })} />
      <Typed id="audit-record" label={w.ofRecord} value={query.record} inputMode="numeric" accept={/^\d{0,18}$/} change={(record) => choose({ record, everything: record ? true : query.everything })} />
      <Typed id="audit-by" label={w.byPerson} value={query.by} accept={/^[\w.:-]{0,60}$/} change={(by) => choose({ by })} /></div>
      <Asked poll={poll} empty={w.noLine} none={(page) => page.lines.length === 0}>{(page) => <>
        <Events id="log" label={w.view_audit} list={page.lines} digests />
        <Pager newer={query.before ? () => history.back() : null} older={page.next ? () => go("audit", "", { ...query, before: page.next }) : null} />
      </>}</Asked></section></>;
}

// Typed is a filter that is typed: it counts when the typing pauses.
function Typed({ value = "", accept, change, ...field }) {
  const [text, set] = useState(value);
  const rested = useLater(text);
  useEffect(() => { if (rested !== value && accept.test(rested)) change(rested); }, [rested]);
  return <Field {...field} value={text} onInput={(e) => set(e.currentTarget.value.trim())} />;
}

// Verify verifies the digests of all lines when it is asked to: that reads all of them.
function Verify() {
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
