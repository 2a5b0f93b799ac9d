// The exchange's pushes over one WebSocket, which is opened again whenever it breaks; what was pushed meanwhile is asked for by who listens.
import { useEffect } from "preact/hooks";
import { base } from "../base/http.js";
import { store } from "../base/store.js";
import { online } from "../base/use.js";

const pingEvery = 10_000; // the exchange forgets who is silent for a minute
const patience = 25_000; // without any word from it
const longest = 10_000; // between tries

// live is "open", "waiting" or "broken".
const live = store("waiting");

// useLive is the state of what the page shows: that of the pushes, or "away" while the server does not answer.
export function useLive() {
  const pushes = live.use();
  return online.use() ? pushes : "away";
}

const listeners = new Map(); // by topic
const opened = new Set();
let socket = null, heard = 0, pause = 500;

const send = (message) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));

function connect() {
  const url = new URL(base() + "/v2/ws", location.href);
  url.protocol = url.protocol.replace("http", "ws");
  const mine = (socket = new WebSocket(url));
  heard = Date.now();
  mine.onopen = () => {
    pause = 500;
    live.set("open");
    if (listeners.size) send({ command: "sub", params: [...listeners.keys()] });
    for (const tell of [...opened]) tell();
  };
  mine.onmessage = ({ data }) => {
    heard = Date.now();
    const message = JSON.parse(data);
    if (message.event === "push") for (const tell of [...(listeners.get(message.topic) ?? [])]) tell(message.data);
  };
  mine.onclose = () => {
    if (mine !== socket) return;
    live.set("broken");
    setTimeout(connect, pause);
    pause = Math.min(2 * pause, longest);
  };
}

function watch() {
  send({ command: "ping" });
  if (socket?.readyState === WebSocket.OPEN && Date.now() - heard > patience) socket.close();
}

// useFeed listens to a topic while it is used; `renew` is called after each time the connection has come back.
export function useFeed(topic, push, renew) {
  useEffect(() => {
    if (!topic) return undefined;
    if (!socket) {
      connect();
      setInterval(watch, pingEvery);
    }
    const first = !listeners.has(topic);
    const all = listeners.get(topic) ?? new Set();
    all.add(push);
    listeners.set(topic, all);
    if (first) send({ command: "sub", params: [topic] });
    if (renew) opened.add(renew);
    return () => {
      opened.delete(renew);
      all.delete(push);
      if (all.size) return;
      listeners.delete(topic);
      send({ command: "un_sub", params: [topic] });
    };
  }, [topic]);
}
