// What people fill in, press and confirm.
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Facts, Note, WithCode } from "./display.jsx";
import { Icon } from "./icons.jsx";
import { useMessages } from "./messages.js";
import { trouble } from "./tell.js";

// Button is a button of a kind: main, plain, danger, buy, sell. While it is busy it does nothing and keeps the focus.
export function Button({ kind = "", busy = false, icon, children, onClick, class: more = "", ...rest }) {
  const disabled = busy || rest["aria-disabled"] === true;
  return <button type="button" {...rest} class={[kind, more].filter(Boolean).join(" ")} aria-busy={busy || undefined} aria-disabled={disabled || undefined}
    onClick={(e) => (disabled ? e.preventDefault() : onClick?.(e))}>{(busy || icon) && <Icon name={busy ? "busy" : icon} />}{children}</button>;
}

// steps finds the next of several choices for an arrow key.
function nextBy(e, list, now) {
  const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (!step) return null;
  e.preventDefault();
  return list[(list.findIndex((t) => t.id === now) + step + list.length) % list.length];
}

// Tabs lets choose one of several views: [{ id, name }]. Arrow keys move.
export function Tabs({ list, now, choose, label }) {
  const move = (e) => {
    const next = nextBy(e, list, now);
    if (!next) return;
    choose(next.id);
    e.currentTarget.querySelector(`[data-tab="${next.id}"]`)?.focus();
  };
  return <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>{list.map((t) =>
    <button type="button" key={t.id} role="tab" data-tab={t.id} aria-selected={t.id === now} tabIndex={t.id === now ? 0 : -1} onClick={() => choose(t.id)}>{t.name}</button>)}
  </div>;
}

// Segmented lets choose one of a few values: [{ id, name }]. Arrow keys move.
export function Segmented({ list, now, choose, label, class: more = "" }) {
  const move = (e) => {
    const next = nextBy(e, list, now);
    if (!next) return;
    choose(next.id);
    e.currentTarget.querySelector(`[data-choice="${next.id}"]`)?.focus();
  };
  return <div class={"segmented " + more} role="radiogroup" aria-label={label} onKeyDown={move}>{list.map((t) =>
    <button type="button" key={t.id} role="radio" data-choice={t.id} class={t.class} aria-checked={t.id === now} tabIndex={t.id === now ? 0 : -1} onClick={() => choose(t.id)}>{t.name}</button>)}
  </div>;
}

// Field is an input with a label and a hint; the hint shows what is wrong with it. Its children stand next to the input. `wrap` shows a long text on
// several lines, so that both of its ends are visible.
export function Field({ id, label, hint, fault, fine, wrap, children, ...input }) {
  const Input = wrap ? "textarea" : "input";
  const enter = (e) => {
    if (e.key !== "Enter") return;
    e.preventDefault();
    e.currentTarget.form?.requestSubmit();
  };
  return <div class="field">
    <label for={id}>{label}</label>
    <div class="joined"><Input id={id} autocomplete="off" spellcheck={false} aria-invalid={fault ? "true" : undefined} aria-describedby={id + "-hint"} {...(wrap && { rows: 2, onKeyDown: enter })} {...input} />{children}</div>
    <p class={"hint" + (fault ? " bad" : fine ? " good" : "")} id={id + "-hint"} role={fault ? "alert" : undefined}>{fault || fine || hint}</p>
  </div>;
}

// Dialog is a window above the page. Esc, the cross and a press outside close it; the focus returns to where it was.
export function Dialog({ title, close, children, id }) {
  const w = useMessages();
  const window = useRef(null), name = useId();
  useEffect(() => {
    const shown = window.current, before = document.activeElement;
    shown.showModal();
    return () => {
      shown.close();
      before?.focus?.({ preventScroll: true }); // the browser does so only for a dialog that is still on the page
    };
  }, []);
  const outside = (e) => e.target === window.current && close();
  return <dialog ref={window} id={id} aria-labelledby={name} onCancel={(e) => { e.preventDefault(); close(); }} onClick={outside}><div class="dialog">
    <div class="row spread"><h2 id={name}>{title}</h2><button type="button" class="plain" aria-label={w.close} onClick={close}><Icon name="close" /></button></div>
    {children}</div></dialog>;
}

// Confirm asks before something is done that moves money or stops it. It repeats what is at stake (facts) and what will happen (lead). A failure
// of act is shown in it; done is called after success.
export function Confirm({ title, facts = [], lead, action, danger, act, done, cancel, children, id, ready = true }) {
  const w = useMessages();
  const [busy, setBusy] = useState(false), [fault, setFault] = useState(null); // an error gets its words when it is shown, in the language of then
  const confirm = async (e) => {
    e.preventDefault();
    if (busy || !ready) return;
    setBusy(true);
    setFault(null);
    try {
      await act();
      done?.();
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return <Dialog title={title} close={() => busy || cancel()} id={id}><form onSubmit={confirm}>
    {facts.length > 0 && <Facts list={facts} />}
    {lead && <p>{lead}</p>}
    {children}
    {fault && <Note kind="bad" live><WithCode>{trouble(fault, w)}</WithCode></Note>}
    <p class="row end"><Button onClick={cancel} aria-disabled={busy}>{w.cancel}</Button>
      <button class={danger ? "danger" : "main"} aria-busy={busy || undefined} aria-disabled={busy || !ready || undefined}>{busy && <Icon name="busy" />}{action}</button></p>
  </form></Dialog>;
}
