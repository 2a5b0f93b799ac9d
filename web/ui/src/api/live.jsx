// The topics of the WebSocket, and a console that subscribes to them.
import { useEffect, useRef, useState } from "preact/hooks";
import { Asked, Button, Copy, Empty, Field, Note, State, Table, Time } from "../base/components.jsx";
import { ask, base } from "../base/http.js";
import { Icon } from "../base/icons.jsx";
import { formatMessage, useMessages } from "../base/messages.js";
import { go, to, useRoute } from "../base/route.js";
import { usePoll } from "../base/use.js";
import { choices, frame, guideOf, kept, topicsOf, wrong } from "./document.js";
import { Contents, Guide, Json, Section } from "./guide.jsx";
import { messages, summaries } from "./messages.js";

const pingEvery = 10_000;

const address = () => Object.assign(new URL(base() + "/v2/ws", location.href), { protocol: location.protocol.replace("http", "ws"), hash: "" }).href;

export function Sockets() {
  const w = useMessages(messages);
  const described = usePoll(() => ask(base() + "/asyncapi.json"), 0, []);
  const markets = usePoll(async () => (await ask(base() + "/api/v2/markets")).data ?? [], 0, []);
  const pair = markets.data?.[0]?.symbol ?? "TRADE_QUOTE";
  const api = new URL(base() + "/api/v2", location.href).href;
  return <Asked poll={described} lines={8}>{(doc) => <div class="sockets">
    <div class="guide"><Contents />
    <Guide parts={guideOf(doc, markets.data?.[0]?.symbol)} {...{ pair, api }} url={address()} />
    <Section id="topics" title={w.topics}><p>{w.socketLead}</p>
      <Table label={w.topics + ": " + w.example} id="topic-list" head={[w.topic, w.pushed, w.example, w.tryTopic]} rows={topicsOf(doc).map((topic) => ({ key: topic.name, cells: [
        <code>{topic.name}</code>, <>{(w.language === "zh" && summaries[topic.name]) || topic.summary}{topic.fields.filter((field) => choices[field]).map((field) => <div class="small faint" key={field} data-values={field}>{"{" + field + "}: "}{choices[field].map((one, i) => <>{i > 0 && ", "}<code>{one}</code></>)}</div>)}</>,
        <details><summary>{w.example}<span class="unseen"> {topic.name}</span></summary><Json value={JSON.stringify(topic.example, null, 2)} /></details>,
        <Button kind="plain" onClick={() => go(["websocket", "console"], { topic: topic.name })}>{w.tryTopic}<span class="unseen"> {topic.name}</span></Button>] }))} />
    </Section></div>
    <Console topics={topicsOf(doc)} markets={markets.data ?? []} /></div>}</Asked>;
}

// useSocket is one connection to the server, its subscriptions and the newest messages.
function useSocket() {
  const [state, setState] = useState("off"), [list, setList] = useState([]), [subscribed, setSubscribed] = useState([]);
  const socket = useRef(null), count = useRef(0), paused = useRef(false), wanted = useRef(""); // the topic after a sign-in
  const show = (one) => paused.current || setList((before) => kept(before, { ...one, id: ++count.current, at: Date.now() }));
  const send = (message) => {
    socket.current.send(JSON.stringify(message));
    if (message.command !== "ping") show({ kind: "sent", topic: "", text: JSON.stringify(message.command === "auth" ? { ...message, signature: "…" } : message, null, 2) });
  };
  const subscribe = (topic) => {
    send({ command: "sub", params: [topic] });
    setSubscribed((before) => [...before.filter((other) => other !== topic), topic]);
  };
  const close = () => {
    wanted.current = "";
    socket.current?.close();
    socket.current = null;
    setState("off");
    setSubscribed([]);
  };
  const connect = () => {
    const mine = (socket.current = new WebSocket(address()));
    setState("connecting");
    mine.onopen = () => setState("open");
    mine.onmessage = ({ data }) => {
      const one = frame(data);
      if (one) show(one.kind === "fault" ? { ...one, words: "fault_" + one.fault } : one);
      if (one?.event === "auth") {
        const topic = wanted.current;
        wanted.current = "";
        if (one.kind === "answer" && topic) subscribe(topic);
      }
      if (one?.kind === "fault") setSubscribed((before) => before.filter((topic) => !one.topic.includes(topic)));
    };
    mine.onclose = ({ code }) => {
      if (mine !== socket.current) return;
      close();
      setState("lost");
      show({ kind: "fault", topic: "", text: "", words: "closed_" + code });
    };
  };
  useEffect(() => {
    const timer = setInterval(() => socket.current?.readyState === WebSocket.OPEN && send({ command: "ping" }), pingEvery);
    return () => {
      clearInterval(timer);
      socket.current?.close();
      socket.current = null;
    };
  }, []);
  return {
    state, list, subscribed, connect, close, clear: () => setList([]), pause: (on) => { paused.current = on; }, send,
    subscribe,
    signInFor: (topic, message) => {
      wanted.current = topic;
      send(message);
    },
    unsubscribe: (topic) => {
      send({ command: "un_sub", params: [topic] });
      setSubscribed((before) => before.filter((other) => other !== topic));
    },
  };
}

// signIn is the message that proves an API key.
async function signIn(key, secret) {
  const timestamp = String((await ask(base() + "/api/v2/time")).data);
  const bytes = (text) => new TextEncoder().encode(text);
  const hmac = await crypto.subtle.importKey("raw", bytes(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", hmac, bytes(`key=${key}&timestamp=${timestamp}`)));
  return { command: "auth", key, timestamp, signature: [...mac].map((b) => b.toString(16).padStart(2, "0")).join("") };
}

function Console({ topics, markets }) {
  const w = useMessages(messages);
  const { query } = useRoute();
  const socket = useSocket();
  const [faults, setFaults] = useState({}), [key, setKey] = useState(""), [secret, setSecret] = useState("");
  const topic = topics.find((one) => one.name === query.topic) ?? topics[0];
  const signed = topic.name.startsWith("account.");
  const pair = markets[0]?.symbol ?? "";
  const firsts = { symbol: pair, token: pair.split("_")[1] ?? "", address: "", interval: "minute", category: "VITE", step: "2" };
  const values = Object.fromEntries(topic.fields.map((field) => [field, query[field] ?? firsts[field]]));
  const put = (more) => go(["websocket"], { ...query, topic: topic.name, ...more }, { replace: true });
  const subscribe = async (e) => {
    e.preventDefault();
    const found = Object.fromEntries(topic.fields.filter((field) => wrong(field, values[field])).map((field) => [field, "wrong_" + field])); // by name, so that a change of language applies
    if (signed && (!key || !secret)) found.key = "keyWrong";
    setFaults(found);
    if (Object.keys(found).length || socket.state !== "open") return;
    const name = formatMessage(topic.name, values);
    if (signed) socket.signInFor(name, await signIn(key, secret)); // the answer decides whether the topic follows
    else socket.subscribe(name);
  };
  const kinds = { off: "wait", connecting: "run", open: "good", lost: "bad" };
  return <section class="card live" aria-labelledby="guide-console"><div class="row spread"><h2 id="guide-console" tabIndex={-1}>{w.live}</h2><span id="socket-state" role="status"><State kind={kinds[socket.state]}>{w[socket.state]}</State></span></div>
    <p class="faint">{w.liveLead}</p>
    <form onSubmit={subscribe} class="ask">
      <div class="field"><label for="topic">{w.topic}</label><select id="topic" value={topic.name} onChange={(e) => go(["websocket"], { topic: e.currentTarget.value }, { replace: true })}>
        {topics.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}</select></div>
      {topic.fields.map((field) => choices[field]
        ? <div class="field" key={field}><label for={"topic-" + field}>{w["field_" + field]}</label><select id={"topic-" + field} value={values[field]} onChange={(e) => put({ [field]: e.currentTarget.value })}>
          {choices[field].map((one) => <option key={one}>{one}</option>)}</select></div>
        : <Field key={field} id={"topic-" + field} label={w["field_" + field]} fault={w[faults[field]]} wrap={field === "address"} value={values[field]} list={field === "symbol" ? "pairs" : undefined} onInput={(e) => put({ [field]: e.currentTarget.value })} />)}
      <datalist id="pairs">{markets.map((one) => <option key={one.symbol} value={one.symbol} />)}</datalist>
      {signed && <><Note>{w.keyLead} <a href={to(["websocket", "authenticate"])}>{w.howToSign}</a></Note><Field id="topic-key" label={w.key} fault={w[faults.key]} wrap value={key} onInput={(e) => setKey(e.currentTarget.value.trim())} />
        <Field id="topic-secret" type="password" label={w.secret} value={secret} onInput={(e) => setSecret(e.currentTarget.value.trim())} /></>}
      <div class="row">{socket.state === "open" ? <><button class="main" id="subscribe">{w.subscribe}</button><Button id="disconnect" onClick={socket.close}>{w.disconnect}</Button></>
        : <Button kind="main" id="connect" busy={socket.state === "connecting"} onClick={socket.connect}>{w.connect}</Button>}</div>
    </form>
    <h3 class="after">{w.subscriptions}</h3>
    {socket.subscribed.length ? <ul class="chips" id="subscriptions">{socket.subscribed.map((name) => <li key={name}><code>{name}</code>
      <button type="button" class="plain" aria-label={formatMessage(w.unsubscribe, { topic: name })} onClick={() => socket.unsubscribe(name)}><Icon name="close" size={16} /></button></li>)}</ul> : <p class="faint">{w.none}</p>}
    <Log socket={socket} />
  </section>;
}

function Log({ socket }) {
  const w = useMessages(messages);
  const [paused, setPaused] = useState(false);
  const pause = () => {
    socket.pause(!paused);
    setPaused(!paused);
  };
  const kinds = { sent: "wait", push: "good", answer: "good", fault: "bad" };
  return <><div class="row spread after"><h3>{w.log}</h3><div class="row tight"><Button kind="plain" id="pause" onClick={pause}>{paused ? w.resume : w.pause}</Button><Button kind="plain" id="clear" onClick={socket.clear}>{w.clear}</Button></div></div>
    {socket.list.length === 0 ? <Empty icon="globe" title={w.empty}>{w.emptyLead}</Empty> : <ol class="frames" id="frames" aria-label={w.log}>{socket.list.map((one) => <li key={one.id} class={one.kind}>
      <div class="row spread"><span class="row"><State kind={kinds[one.kind]}>{w["kind_" + one.kind]}</State>{one.topic && <code>{one.topic}</code>}</span><span class="row tight small faint"><Time ms={one.at} only="time" />{one.text && <Copy text={one.text} what={w["kind_" + one.kind]} />}</span></div>
      {one.words && <p role="alert">{w[one.words] ?? w[one.kind === "fault" && one.text ? "fault_1002" : "closed"]}</p>}{one.text && <Json value={one.text} />}</li>)}</ol>}</>;
}
