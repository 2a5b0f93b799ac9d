// How a program uses the WebSocket, from the connection to the recovery. Frames, errors and limits are those of the server's AsyncAPI document.
import { useEffect, useState } from "preact/hooks";
import { Copy, Facts, Table, Tabs, Whole, WithCode } from "../base/components.jsx";
import { grouped } from "../base/amount.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { to, useRoute } from "../base/route.js";
import { faultOf } from "./document.js";
import { messages } from "./messages.js";
import { samples } from "./samples.js";

const sections = ["connect", "authenticate", "ping", "subscribe", "errors", "limits", "recover"];

// Contents links to the sections, the topics and the console.
export function Contents() {
  const w = useMessages(messages);
  const { path } = useRoute();
  useEffect(() => {
    const at = path[1] && document.getElementById("guide-" + path[1]);
    at?.scrollIntoView({ block: "start" });
    at?.focus({ preventScroll: true });
  }, [path[1]]);
  return <nav class="contents" aria-label={w.contents}>{[...sections, "topics", "console"].map((id) => <a key={id} href={to(["websocket", id])}>{w["guide_" + id]}</a>)}</nav>;
}

// Section is one heading that can be linked to.
export const Section = ({ id, title, children }) => <section class="card" aria-labelledby={"guide-" + id}><h2 id={"guide-" + id} tabIndex={-1}>{title}</h2>{children}</section>;

// Json is a frame in full: long ones wrap.
export const Json = ({ value }) => <pre class="json" tabIndex={0}>{typeof value === "string" ? value : JSON.stringify(value)}</pre>;

// Frames shows an example of a request, and of the answer or push to it.
function Frames({ frame, push }) {
  const w = useMessages(messages);
  const one = (name, value) => <div class="frame"><div class="row spread"><span class="label">{name}</span><Copy text={JSON.stringify(value)} what={name} /></div><Json value={value} /></div>;
  return <>{one(w.youSend, frame.send)}{one(w.youReceive, frame.receive)}{push && one(w.thenPushed, push)}</>;
}

// Guide is the sections. `parts` are those of the document (guideOf), `url` is the address of the socket and `api` that of REST.
export function Guide({ parts, url, api, pair }) {
  const w = useMessages(messages);
  const { frames, limits, closes, signIn, push } = parts, number = (n) => grouped(String(n));
  const values = { ...Object.fromEntries(Object.entries(limits).map(([name, n]) => [name, number(n)])), older: signIn.older / 1000, newer: signIn.newer / 1000, secret: signIn.secret };
  const say = (text) => <WithCode>{formatMessage(text, values)}</WithCode>;
  const list = (items) => <ul>{items.map((text, i) => <li key={i}>{say(text)}</li>)}</ul>;
  const faults = Object.entries(frames).filter(([, { receive }]) => receive.code !== 0);
  return <>
    <Section id="connect" title={w.guide_connect}><p>{say(w.connectLead)}</p>
      <Whole text={url} what={w.address} id="socket-url" />
      {list([w.connect429, w.connect503, w.connectForms])}
      <Programs values={{ url, api, topic: "market." + pair + ".depth.updates", key: "YOUR_KEY", secret: "YOUR_SECRET", account: "YOUR_ADDRESS" }} /></Section>
    <Section id="authenticate" title={w.guide_authenticate}><p>{say(w.authLead)}</p>
      <ol>{[w.auth1, w.auth2, w.auth3].map((text) => <li key={text}>{say(text)}</li>)}</ol>
      <Frames frame={frames.auth} /><p class="small faint">{say(w.authCheck)}</p><p>{say(w.authThen)}</p></Section>
    <Section id="ping" title={w.guide_ping}><p>{say(w.pingLead)}</p><Frames frame={frames.ping} />{list([w.pingAny, w.pingSubs, w.pingClose])}</Section>
    <Section id="subscribe" title={w.guide_subscribe}><p>{say(w.subLead)}</p><Frames frame={frames.sub} push={push} />{list([w.subStart, w.subUnknown, w.subOrder])}
      <h3 class="after">{w.unsubTitle}</h3><Frames frame={frames.un_sub} /></Section>
    <Section id="errors" title={w.guide_errors}><p>{say(w.errorsLead)}</p>
      <ul class="errors" id="error-list">{faults.map(([name, { send, receive }]) => <li key={name}><p><strong>{receive.code}</strong> <code>{receive.msg}</code></p><p>{w["do_" + faultOf(receive)]}</p>
        <details><summary>{w.frames}<span class="unseen"> {name}</span></summary><Frames frame={{ send, receive }} /></details></li>)}</ul>
      <p class="small faint">{say(w.errorsUnread)}</p></Section>
    <Section id="limits" title={w.guide_limits}><p>{say(w.limitsLead)}</p>
      <Facts list={[[w.limitClient, number(limits.clientConnections)], [w.limitTopics, number(limits.topics)], [w.limitSignIns, number(limits.signIns)], [w.limitMessages, number(limits.messagesAMinute)],
        [w.limitBytes, number(limits.messageBytes)], [w.limitQueue, say(w.limitQueueIs)], [w.limitAll, number(limits.connections)]]} /></Section>
    <Section id="recover" title={w.guide_recover}><p>{say(w.recoverLead)}</p>
      <Table label={w.closes} id="close-list" head={[w.code, w.reason, w.meaning]} rows={closes.map(({ code, reason }) => ({ key: code + reason, cells: [<code>{code}</code>, <code>{reason.replace(/: $/, ": …")}</code>, w["close_" + code + "_" + reason.split(/\W/).slice(0, 2).join("_")]] }))} />
      <h3 class="after">{w.recoverDo}</h3><ol>{[w.recover1, w.recover2, w.recover3, w.recover4].map((text) => <li key={text}>{say(text)}</li>)}</ol>
      <h3 class="after">{w.gapTitle}</h3><p>{say(w.gapLead)}</p></Section>
  </>;
}

// Programs shows the complete program in one of the languages.
function Programs({ values }) {
  const w = useMessages(messages);
  const [now, choose] = useState("JavaScript"), text = samples[now](values);
  return <div id="programs"><div class="row spread after"><h3>{w.program}</h3><Copy text={text} what={w.program} wide /></div><p class="small faint">{w.programLead}</p>
    <Tabs label={w.program} now={now} choose={choose} list={Object.keys(samples).map((id) => ({ id, name: id }))} />
    <pre tabIndex={0} role="region" aria-label={w.program} class="program">{text}</pre></div>;
}
