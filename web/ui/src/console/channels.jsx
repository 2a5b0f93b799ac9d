// Channels: each token in each direction, open or not, and why.
import { useState } from "preact/hooks";
import { Asked, State, Time } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { get, post } from "./api.js";
import { Heading, may, Order, Standing } from "./parts.jsx";

const often = 5_000;
const states = ["OPEN", "MAINTAIN", "CLOSED"];

export function Channels() {
  const poll = usePoll((signal) => get("/channels", {}, signal), often, []);
  return <><Heading>Channels</Heading>
    <p class="faint">A channel that is not OPEN tells wallets so. What has come in is settled all the same.</p>
    <div class="grid wide-cards"><Asked poll={poll} empty="No token is configured.">{(list) => list.map((c) => <Channel key={c.network + c.token + c.direction} channel={c} again={poll.again} />)}</Asked></div></>;
}

function Channel({ channel: c, again }) {
  const [next, set] = useState("");
  const name = `${c.symbol} ${c.direction}`;
  return <section class="card" data-channel={c.token + " " + c.direction} aria-label={name}>
    <div class="row spread"><h2>{c.symbol} <span class="faint">{c.direction}</span></h2><Standing of="channel" state={c.state} /></div>
    <p class="small faint">{c.network}{c.changed && <>, changed <Time ms={Date.parse(c.changed.includes("T") ? c.changed : c.changed.replace(" ", "T") + "Z")} /></>}</p>
    {c.why && <p class="wrap">{c.why}</p>}
    {c.automatic && c.automatic !== "OPEN" && <p class="small"><State kind="warn">The daemon has set it to {c.automatic}</State></p>}
    {may("operator") && (next ? <Order title={`${name}: ${next}`} action={"Set to " + next} lead={next === "OPEN" ? "Opens it again, also where the daemon had stopped it." : "Wallets are told that it is not open."} danger={next === "CLOSED"}
      act={({ why }) => post(`/channels/${c.network}/${c.token}/${c.direction}`, { state: next, why, clear: next === "OPEN" })} done={() => { set(""); again(); }} cancel={() => set("")} />
      : <p class="row after">{states.filter((s) => s !== c.operator || c.state !== s).map((s) => <button type="button" key={s} onClick={() => set(s)}>{s}<span class="unseen"> for {name}</span></button>)}</p>)}
  </section>;
}
