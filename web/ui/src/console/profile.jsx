// Who is signed in, and their passkeys.
import { useState } from "preact/hooks";
import { Asked, Copy, Facts, Field, Note, Table, tell, Time, trouble, WithCode } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { get, me, post } from "./api.js";
import { Call, Heading } from "./parts.jsx";
import { make, possible, why } from "./passkey.js";
import { useConsoleMessages } from "./labels.js";

export function Profile() {
  const w = useConsoleMessages();
  const who = me.use();
  const poll = usePoll((signal) => get("/passkeys", {}, signal), 0, []);
  return <><Heading>{w.view_profile}</Heading>
    <section class="card"><Facts list={[[w.name, who.name], [w.role, <><Call of="role" word={who.role} />: {w["role_" + who.role]}</>]]} /></section>
    <section class="card"><h2>{w.passkeys}</h2>
      <p>{w.passkeysLead}</p>
      <Asked poll={poll} empty={w.noPasskey}>{(list) => <Passkeys list={list} again={poll.again} />}</Asked>
      {possible() ? <Add again={poll.again} /> : <Note kind="warn">{w.noPasskeys}</Note>}</section></>;
}

function Passkeys({ list, again }) {
  const w = useConsoleMessages();
  const remove = async (p) => {
    try {
      await post(`/passkeys/${encodeURIComponent(p.id)}/remove`);
      tell(w.removed);
      again();
    } catch (error) {
      tell(trouble(error, w));
    }
  };
  return <>
    <Table id="passkeys" label={w.passkeys} head={[w.name, w.added, w.usedLast, w.remove]} rows={list.map((p) => ({
      key: p.id, cells: [<strong>{p.label}</strong>, <Time ms={Date.parse(p.created)} />, p.used ? <Time ms={Date.parse(p.used)} /> : w.never, <button type="button" onClick={() => remove(p)}>{w.remove}<span class="unseen"> {p.label}</span></button>],
    }))} />
    {me.get().role === "approver" && list.map((p) => <div key={p.id} class="after"><p class="small"><WithCode>{formatMessage(w.approverLine, { label: p.label })}</WithCode></p>
      <div class="joined"><div class="whole" data-approver={p.label}>{p.approver}</div><Copy text={p.approver} what={formatMessage(w.lineOf, { label: p.label })} wide /></div></div>)}
  </>;
}

function Add({ again }) {
  const w = useConsoleMessages();
  const [label, setLabel] = useState(""), [busy, setBusy] = useState(false), [fault, setFault] = useState("");
  const add = async (e) => {
    e.preventDefault();
    if (busy) return;
    setBusy(true);
    setFault("");
    try {
      const credential = await make(await post("/passkeys/challenge"));
      await post("/passkeys", { label: label.trim(), credential });
      setLabel("");
      tell(w.passkeyAdded);
      again();
    } catch (error) {
      setFault(trouble(why(error, w), w));
    }
    setBusy(false);
  };
  return <form onSubmit={add}><Field id="passkey-label" label={w.newPasskey} hint={w.newPasskeyHint} maxLength={64} required value={label} onInput={(e) => setLabel(e.currentTarget.value)}>
    <button class="main" id="passkey-add" aria-disabled={busy}>{busy ? w.waitingShort : w.addPasskey}</button></Field>
    {fault && <Note kind="bad" live>{fault}</Note>}</form>;
}
