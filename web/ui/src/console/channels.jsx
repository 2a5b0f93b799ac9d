// Channels: each token in each direction, open or not, and why.
import { useState } from "preact/hooks";
import { State, Time } from "../base/components.jsx";
import { TokenIcon } from "../base/icons.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { get, post } from "./api.js";
import { Heading, Live, may, Network, Order, Standing } from "./parts.jsx";
import { codeLabel, stateLabel, useConsoleMessages } from "./labels.js";

const often = 5_000;
const states = ["OPEN", "MAINTAIN", "CLOSED"];

export function Channels() {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/channels", {}, signal), often, []);
  return <><Heading>{w.channels}</Heading>
    <p class="faint">{w.channelsLead}</p>
    <div class="grid wide-cards"><Live poll={poll} empty={w.noToken}>{(list) => list.map((c) => <Channel key={c.network + c.token + c.direction} channel={c} again={poll.again} />)}</Live></div></>;
}

function Channel({ channel: c, again }) {
  const [next, set] = useState("");
  const w = useConsoleMessages();
  const direction = codeLabel(w.language, "direction", c.direction), name = `${c.symbol} ${direction}`;
  const word = (state) => stateLabel("channel", state, w.language)[1], verb = (state) => w["set_" + state];
  return <section class="card" data-channel={c.token + " " + c.direction} aria-label={name}>
    <div class="row spread"><h2 class="row tight"><TokenIcon symbol={c.symbol} size={22} /> {c.symbol} <span class="faint">{direction}</span></h2><Standing of="channel" state={c.state} /></div>
    <p class="small faint"><Network name={c.network} />{c.changed && <>{w.comma}{w.changed} <Time ms={Date.parse(c.changed.includes("T") ? c.changed : c.changed.replace(" ", "T") + "Z")} /></>}</p>
    {c.why && c.state !== "OPEN" && <p class="wrap">{c.why}</p>}
    {c.automatic && c.automatic !== "OPEN" && <p class="small"><State kind="warn">{formatMessage(w.daemonSet, { state: word(c.automatic) })}</State></p>}
    {may("operator") && <p class="row after">{states.filter((s) => s !== c.operator || c.state !== s).map((s) => <button type="button" key={s} class={s === "CLOSED" ? "danger quiet" : ""} onClick={() => set(s)}>{verb(s)}<span class="unseen"> {formatMessage(w.forChannel, { name })}</span></button>)}</p>}
    {next && <Order title={`${verb(next)}: ${name}`} action={verb(next)} lead={w["channelLead_" + next]} danger={next === "CLOSED"} facts={[[w.token, c.symbol], [w.direction, direction], [w.network, <Network name={c.network} />], [w.state, word(c.state)]]}
      act={({ why }) => post(`/channels/${c.network}/${c.token}/${c.direction}`, { state: next, why, clear: next === "OPEN" })} done={() => { set(""); again(); }} cancel={() => set("")} />}
  </section>;
}
