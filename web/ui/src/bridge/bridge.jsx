// The bridge page: which token, whose account, and then deposit, withdraw or look back. It calls the gateway's public endpoints only.
import { useMemo, useState } from "preact/hooks";
import { Amount, Asked, Blank, Fault, Field, open, Short, Tabs } from "../base/components.jsx";
import { ask, base } from "../base/http.js";
import { site, useLater, usePoll } from "../base/use.js";
import { formatMessage, useMessages } from "../base/messages.js";
import { Deposit } from "./deposit.jsx";
import { Gateway, isWallet } from "./gateway.js";
import { History } from "./records.jsx";
import { Withdraw } from "./withdraw.jsx";
import { messages } from "./messages.js";
import "./bridge.css";

// choiceOf reads "#eth/tti_…" from the page's address, so that a link can name network and token.
function choiceOf(networks, hash) {
  const [name, tokenId] = decodeURIComponent(hash.slice(1)).split("/");
  const network = networks.find((n) => n.name === name) ?? networks.find((n) => n.tokens.length) ?? networks[0];
  return { network, token: network?.tokens.find((t) => t.tokenId === tokenId) ?? network?.tokens[0] };
}

function Bridge() {
  const w = useMessages(messages);
  const networks = usePoll((signal) => ask(base() + "/networks.json", { signal }), 60_000, []);
  return <><div><h1>{w.title}</h1><p class="faint">{w.lead}</p></div>
    <Asked poll={networks} empty={w.none}>{(list) => <Chosen networks={list} />}</Asked></>;
}

function Chosen({ networks }) {
  const w = useMessages(messages);
  const [hash, setHash] = useState(location.hash);
  const [typed, type] = useState("");
  const [wallet, setWallet] = useState(null); // the demo user's
  const { network, token } = choiceOf(networks, hash);
  const gateway = useMemo(() => token && new Gateway(network.path, token, w.language), [network?.path, token?.tokenId, w.language]);
  const balance = usePoll(wallet && token ? () => wallet.balance(token.tokenId) : null, 1500, [wallet, token?.tokenId]);
  const choose = (e) => {
    history.replaceState(null, "", "#" + e.currentTarget.value);
    setHash(location.hash);
  };
  if (!gateway) return <Blank>{w.none}</Blank>;
  const address = wallet?.address ?? (isWallet(typed.trim()) ? typed.trim() : "");
  return <>
    <section class="card grid" aria-label={w.what}>
      <div><label for="token">{w.token}</label>
        <select id="token" value={network.name + "/" + token.tokenId} onChange={choose}>{networks.map((n) => <optgroup key={n.name} label={formatMessage(w.network, { name: n.name })}>
          {n.tokens.map((t) => <option key={t.tokenId} value={n.name + "/" + t.tokenId}>{t.symbol}</option>)}</optgroup>)}</select></div>
      {wallet ? <DemoAccount wallet={wallet} token={token} balance={balance.data} leave={() => setWallet(null)} /> : <Account typed={typed} type={type} use={setWallet} />}
    </section>
    {address ? <Views key={gateway.token.tokenId} gateway={gateway} address={address} wallet={wallet} balance={balance.data} network={network} /> : <Blank>{w.enter}</Blank>}
  </>;
}

function Account({ typed, type, use }) {
  const w = useMessages(messages);
  const { demo } = site.use();
  const rested = useLater(typed.trim());
  const [fault, setFault] = useState(null), [busy, setBusy] = useState(false);
  const start = async () => {
    if (busy) return;
    setBusy(true);
    setFault(null);
    try {
      use(await (await import("./wallet.js")).openWallet());
    } catch (error) {
      setFault(error);
      setBusy(false);
    }
  };
  return <div><Field id="account" class="code" label={w.account} hint={w.accountHint} value={typed} onInput={(e) => type(e.currentTarget.value)}
    fault={rested && !isWallet(rested) ? w.accountWrong : ""} placeholder="vite_…" />
    {demo && <button type="button" class="main" id="use-demo" aria-disabled={busy} onClick={start}>{busy ? w.loading : w.useDemo}</button>}
    {fault && <Fault error={fault} />}</div>;
}

function DemoAccount({ wallet, token, balance, leave }) {
  const w = useMessages(messages);
  return <div><span class="label">{w.demoIs}</span><p><Short text={wallet.address} what={w.demoIs} /></p><p class="small faint">{w.demoLead}</p>
    <p>{w.balance} <strong id="balance">{balance === null ? "–" : <Amount units={balance} decimals={token.decimals} unit={token.symbol} />}</strong></p>
    <button type="button" class="plain" onClick={leave}>{w.leave}</button></div>;
}

function Views({ gateway, address, wallet, balance, network }) {
  const w = useMessages(messages);
  const [view, show] = useState("deposit");
  const meta = usePoll((signal) => gateway.meta(signal), 5000, [gateway]);
  const demo = wallet && { wallet, balance, usual: usual(gateway.token) };
  const given = { gateway, wallet: address, demo, network };
  return <>
    <Tabs label={w.title} now={view} choose={show} list={["deposit", "withdraw", "history"].map((id) => ({ id, name: w[id] }))} />
    <Asked poll={meta}>{(m) => ({ deposit: <Deposit {...given} meta={m} />, withdraw: <Withdraw {...given} meta={m} />, history: <History gateway={gateway} wallet={address} /> })[view]}</Asked>
  </>;
}

// usual is what the demo user is proposed to deposit.
const usual = (token) => ({ [token.tokenId]: token.symbol.startsWith("ETH") ? "0.5" : "100" });

open({ active: "bridge", title: (lang) => messages[lang].title }, Bridge);
