// Who is signed in, and their passkeys.
import { useState } from "preact/hooks";
import { Asked, Copy, Facts, Field, Note, Table, tell, Time, trouble } from "../base/components.jsx";
import { usePoll } from "../base/use.js";
import { useWords } from "../base/words.js";
import { get, me, post } from "./api.js";
import { Heading } from "./parts.jsx";
import { make, possible, why } from "./passkey.js";

const roles = { viewer: "looks at everything", operator: "looks at everything and orders", approver: "looks at everything and approves payments" };

export function You() {
  const who = me.use();
  const poll = usePoll((signal) => get("/passkeys", {}, signal), 0, []);
  return <><Heading>You</Heading>
    <section class="card"><Facts list={[["Name", who.name], ["Role", `${who.role}: ${roles[who.role] ?? ""}`]]} /></section>
    <section class="card"><h2>Passkeys</h2>
      <p>A passkey signs you in by itself, and lets an approver approve payments. It stays in your device, your phone or your security key.</p>
      <Asked poll={poll} empty="You have no passkey.">{(list) => <Passkeys list={list} again={poll.again} />}</Asked>
      {possible() ? <Add again={poll.again} /> : <Note kind="warn">This browser has no passkeys here: open the console over HTTPS by its name, or as http://localhost.</Note>}</section></>;
}

function Passkeys({ list, again }) {
  const w = useWords();
  const remove = async (p) => {
    try {
      await post(`/passkeys/${encodeURIComponent(p.id)}/remove`);
      tell("Removed: " + p.label + ".");
      again();
    } catch (error) {
      tell(trouble(error, w));
    }
  };
  return <>
    <Table id="passkeys" label="Passkeys" head={["Passkey", "Made", "Last used", "Remove"]} rows={list.map((p) => ({
      key: p.id, cells: [<strong>{p.label}</strong>, <Time ms={Date.parse(p.created)} />, p.used ? <Time ms={Date.parse(p.used)} /> : "never", <button type="button" onClick={() => remove(p)}>Remove<span class="unseen"> {p.label}</span></button>],
    }))} />
    {me.get().role === "approver" && list.map((p) => <div key={p.id} class="after"><p class="small">What lets <strong>{p.label}</strong> approve payments, in <code>signer.approvals.approvers</code> of what signs:</p>
      <div class="joined"><div class="whole" data-approver={p.label}>{p.approver}</div><Copy text={p.approver} what={"line of " + p.label} wide /></div></div>)}
  </>;
}

function Add({ again }) {
  const w = useWords();
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
      tell("The passkey is added.");
      again();
    } catch (error) {
      setFault(trouble(why(error), w));
    }
    setBusy(false);
  };
  return <form onSubmit={add}><Field id="passkey-label" label="Name of a new passkey" hint="Such as: laptop, blue security key" maxLength={64} required value={label} onInput={(e) => setLabel(e.currentTarget.value)}>
    <button class="main" id="passkey-add" aria-disabled={busy}>{busy ? "Waiting…" : "Add a passkey"}</button></Field>
    {fault && <Note kind="bad" live>{fault}</Note>}</form>;
}
