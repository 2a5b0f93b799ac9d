// Channels: each token in each direction, open or not, and why.
import { useState } from "preact/hooks";
import { State, Table, Time, trouble } from "../base/components.jsx";
import { TokenIcon } from "../base/icons.jsx";
import { Refused } from "../base/http.js";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { get, post } from "./api.js";
import { Heading, Live, may, Network, Order, Standing } from "./parts.jsx";
import { channelState, codeLabel, stateLabel, useConsoleMessages } from "./labels.js";

const often = 5_000;
const states = ["OPEN", "MAINTAIN", "CLOSED"];

export function Channels() {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/channels", {}, signal), often, []);
  const [pausing, pause] = useState(null); // the channels that were open when the dialog opened
  const open = poll.data?.filter((c) => c.operator === "OPEN") ?? [];
  return <><Heading>{w.channels}</Heading>
    <p class="faint">{w.channelsLead}</p>
    {may("operator") && open.length > 0 && <p><button type="button" class="danger quiet" id="pause-all" onClick={() => pause(open)}>{w.pauseAll} ({open.length})</button></p>}
    {pausing && <PauseAll list={pausing} done={() => { pause(null); poll.again(); }} cancel={() => { pause(null); poll.again(); }} />}
    <div class="grid wide-cards"><Live poll={poll} empty={w.noToken}>{(list) => list.map((c) => <Channel key={c.network + c.token + c.direction} channel={c} again={poll.again} />)}</Live></div></>;
}

// PauseAll pauses channels one after the other. What was not paused stays on the list, and is tried again by the same button.
function PauseAll({ list, done, cancel }) {
  const w = useConsoleMessages();
  const [results, set] = useState({}); // of each channel: "" is paused, else the fault
  const key = (c) => [c.network, c.token, c.direction].join("/");
  const act = async ({ why }) => {
    const after = { ...results };
    for (const c of list.filter((one) => after[key(one)] !== "")) {
      try {
        await post("/channels/" + key(c), { state: "MAINTAIN", why });
        after[key(c)] = "";
      } catch (error) {
        after[key(c)] = trouble(error, w);
      }
      set({ ...after });
    }
    const left = Object.values(after).filter((fault) => fault !== "").length;
    if (left > 0) throw new Refused(formatMessage(w.nonePaused, { n: left, m: list.length }), "paused");
  };
  const result = (fault) => (fault === undefined ? <State kind="wait">{w.pausing}</State> : fault === "" ? <State kind="good">{w.pausedNow}</State> : <State kind="bad">{formatMessage(w.notPaused, { why: fault })}</State>);
  return <Order title={w.pauseAll} lead={w.pauseAllLead} action={w.pauseAll} danger act={act} done={done} cancel={cancel}>
    <Table label={w.openChannels} head={[w.channel, w.network, w.state]} rows={list.map((c) => ({
      key: key(c), cells: [<span data-pause={key(c)}><strong>{c.symbol}</strong> {codeLabel(w.language, "direction", c.direction)}</span>, <Network name={c.network} />, result(results[key(c)])] }))} />
  </Order>;
}

function Channel({ channel: c, again }) {
  const [next, set] = useState("");
  const w = useConsoleMessages();
  const direction = codeLabel(w.language, "direction", c.direction), name = `${c.symbol} ${direction}`;
  const word = (state) => stateLabel("channel", state, w.language)[1], verb = (state) => w["set_" + state];
  return <section class="card" data-channel={c.token + " " + c.direction} aria-label={name}>
    <div class="row spread"><h2 class="row tight"><TokenIcon symbol={c.symbol} size={22} /> {c.symbol} <span class="faint">{direction}</span></h2><Standing of="channel" state={channelState(c.state, c.operator !== "OPEN")} /></div>
    <p class="small faint"><Network name={c.network} />{c.changed && <>{w.comma}{w.changed} <Time ms={Date.parse(c.changed.includes("T") ? c.changed : c.changed.replace(" ", "T") + "Z")} /></>}</p>
    {c.why && c.state !== "OPEN" && <p class="wrap">{c.why}</p>}
    {c.automatic && c.automatic !== "OPEN" && <p class="small"><State kind="warn">{formatMessage(w.daemonSet, { state: word(c.automatic) })}</State></p>}
    {may("operator") && <p class="row after">{states.filter((s) => s !== c.operator || c.state !== s).map((s) => <button type="button" key={s} class={s === "CLOSED" ? "danger quiet" : ""} onClick={() => set(s)}>{verb(s)}<span class="unseen"> {formatMessage(w.forChannel, { name })}</span></button>)}</p>}
    {next && <Order title={`${verb(next)}: ${name}`} action={verb(next)} lead={w["channelLead_" + next]} danger={next === "CLOSED"} facts={[[w.token, c.symbol], [w.direction, direction], [w.network, <Network name={c.network} />], [w.state, word(c.state)]]}
      act={({ why }) => post(`/channels/${c.network}/${c.token}/${c.direction}`, { state: next, why, clear: next === "OPEN" })} done={() => { set(""); again(); }} cancel={() => set("")} />}
  </section>;
}
