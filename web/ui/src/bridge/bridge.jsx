// The bridge page: deposit, withdraw, history and one record. It calls the gateway's public endpoints only. Its place stands in its address.
import { useEffect, useMemo } from "preact/hooks";
import { Asked, Button, Empty, Note, open, Tabs } from "../base/components.jsx";
import { ask, base } from "../base/http.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { isAddress } from "../base/names.js";
import { go, here, useRoute } from "../base/route.js";
import { usePoll } from "../base/use.js";
import { useDemo } from "./account.jsx";
import { Deposit } from "./deposit.jsx";
import { discover } from "./evm.js";
import { Gateway } from "./gateway.js";
import { History } from "./history.jsx";
import { messages } from "./messages.js";
import { lastAddress, lastToken, placeOf } from "./place.js";
import { useRate } from "./rates.js";
import { RecordPage } from "./record.jsx";
import { Withdraw } from "./withdraw.jsx";
import "./bridge.css";

function Bridge() {
  const w = useMessages(messages);
  const networks = usePoll((signal) => ask(base() + "/networks.json", { signal }), 15_000, []);
  return <Asked poll={networks} lines={8}>{(list) => (list.some((n) => n.tokens.length) ? <Placed networks={list} />
    : <Empty icon="info" title={w.noTokens}>{w.noTokensLead}</Empty>)}</Asked>;
}

function Placed({ networks }) {
  const w = useMessages(messages);
  const { path, query } = useRoute();
  const { view, kind, hash, network, token, address } = placeOf({ path, query }, networks, lastToken.get());
  const demo = useDemo(token);
  const gateway = useMemo(() => new Gateway(network, token, w.language), [network.name, token.tokenId, w.language]);
  Object.assign(gateway, { network, token }); // newer states and times of the same ones
  const rate = useRate(token.tokenId);

  // move changes the place: its view, its token, and what is typed. What is typed makes no step in the browser's history.
  const move = (next, typed = {}) => {
    const now = here(), from = placeOf(now, networks, lastToken.get());
    const to = { view: from.view, network: from.network.name, tokenId: from.token.tokenId, ...next };
    const values = { ...now.query, ...(to.view === from.view ? {} : { to: "", label: "", amount: "" }), ...typed }; // payee and amount were meant for the other view
    const stays = to.view === from.view && to.network === from.network.name && to.tokenId === from.token.tokenId;
    if (to.view === "history") go(["history"], values, { replace: stays });
    else go([to.view, to.network, to.tokenId], values, { replace: stays });
  };
  useEffect(() => { // a link without a token or an address gets what was used last
    const typed = { address: lastAddress.get(), ...here().query };
    if (view === "history") go(["history"], typed, { replace: true });
    else if (view !== "record") go([view, network.name, token.tokenId], typed, { replace: true });
    if (view !== "history") lastToken.set(network.name + "/" + token.tokenId);
  }, [view, network.name, token.tokenId]);
  const own = lastAddress.use(), valid = isAddress(address) ? address : "";
  const foreign = valid && valid !== own && valid !== demo.wallet?.address && (view === "deposit" || view === "withdraw");
  const given = { networks, network, token, gateway, typedAddress: address, address: foreign ? "" : valid, demo: demo.wallet?.address === valid && valid ? demo : null, offer: demo, rate, query, move };
  return <div class="bridge">
    <h1 class="unseen">{w.title}</h1>
    <Tabs label={w.title} now={view === "record" ? "history" : view} choose={(to) => move({ view: to })} list={["deposit", "withdraw", "history"].map((id) => ({ id, name: w[id] }))} />
    {foreign && <Note kind="warn" live><div id="foreign"><p>{formatMessage(w.foreign, { chain: network.exchangeName })} <code>{valid}</code></p>
      <p class="row after"><Button id="foreign-mine" onClick={() => lastAddress.set(valid)}>{w.foreignMine}</Button><Button id="foreign-other" onClick={() => move({}, { address: own })}>{w.foreignOther}</Button></p></div></Note>}
    {{ deposit: () => <Deposit key={gateway.path + token.tokenId} {...given} />, withdraw: () => <Withdraw key={gateway.path + token.tokenId} {...given} />, history: () => <History {...given} />,
      record: () => <RecordPage {...given} kind={kind} hash={hash} /> }[view]()}
  </div>;
}

discover();
open({ active: "bridge", title: (lang) => messages[lang].title }, Bridge);
