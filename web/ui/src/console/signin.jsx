// Signing in: by a passkey, or by name, password and the authenticator's code.
import { useState } from "preact/hooks";
import { Field, Note, trouble, WithCode } from "../base/components.jsx";
import { site } from "../base/use.js";
import { formatMessage } from "../base/messages.js";
import { post, signed } from "./api.js";
import { codeAt, demoOf } from "./demo.js";
import { possible, sign, why } from "./passkey.js";
import { useConsoleMessages } from "./labels.js";

export function SignIn({ ended }) {
  const w = useConsoleMessages();
  const { demo: development } = site.use();
  const demo = development ? demoOf(location.hash) : null;
  const [values, set] = useState({ name: "", password: "", code: "" }), [busy, setBusy] = useState(false), [fault, setFault] = useState("");
  const entered = (name) => (e) => set({ ...values, [name]: e.currentTarget.value });
  const attempt = async (given, path = "/sign-in") => {
    if (busy) return;
    setBusy(true);
    setFault("");
    try {
      signed(await post(path, await given()));
    } catch (error) {
      setFault(trouble(why(error, w), w));
      set({ ...values, code: "" });
      setBusy(false);
    }
  };
  const submit = (e) => {
    e.preventDefault();
    attempt(async () => ({ name: values.name.trim(), password: values.password, code: values.code.replace(/\s/g, "") }));
  };
  const byPasskey = () => attempt(async () => ({ credential: await sign(await post("/sign-in/passkey/challenge")) }), "/sign-in/passkey");
  return <section class="card narrow" aria-labelledby="sign-in-title">
    <h1 id="sign-in-title" tabIndex={-1}>{w.signInTitle}</h1>
    {ended && <Note kind="warn" live>{w.ended}</Note>}
    {demo && <Note><div class="row spread"><span>{w.demoLead}</span>
      <button type="button" id="demo-sign-in" onClick={() => attempt(async () => ({ name: demo.name, password: demo.password, code: await codeAt(demo.secret, Date.now()) }))}>{formatMessage(w.demoSignIn, { name: demo.name })}</button></div></Note>}
    {possible() && <p><button type="button" class="main" id="passkey-sign-in" aria-disabled={busy} onClick={byPasskey}>{w.byPasskey}</button></p>}
    <form onSubmit={submit}>
      <Field id="name" label={w.name} autocomplete="username" autocapitalize="off" required value={values.name} onInput={entered("name")} />
      <Field id="password" label={w.password} type="password" autocomplete="current-password" required value={values.password} onInput={entered("password")} />
      <Field id="code" label={w.code} class="code" inputMode="numeric" autocomplete="one-time-code" required maxLength={8} value={values.code} onInput={entered("code")}
        hint={w.codeHint} />
      {fault && <Note kind="bad" live>{fault}</Note>}
      <p class="after"><button class="main" id="sign-in" aria-disabled={busy}>{busy ? w.working : w.signIn}</button></p>
    </form>
    <p class="small faint"><WithCode>{w.whoAdds}</WithCode></p>
  </section>;
}
