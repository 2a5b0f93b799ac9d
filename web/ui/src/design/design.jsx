// The page of components: each of base/ in each state. The browser tests compare its pictures, light and dark, with stored ones.
import { useState } from "preact/hooks";
import {
  Amount, Blank, Button, Confirm, Dialog, Empty, Facts, Fault, Field, Meter, Note, open, Pager, Qr, Segmented, Short, Skeleton, Stat, State, Steps, Table, Tabs, Timeline, Whole,
} from "../base/components.jsx";
import { ChainIcon, Icon, TokenIcon } from "../base/icons.jsx";
import { Refused } from "../base/http.js";
import { Plot } from "../base/plot.jsx";
import "./design.css";

const nothing = () => {};
const address = "vite_ab24ef68b84e642c0ddca06beec81c9acb1977bbd7da27a87a";
const noon = Date.UTC(2026, 0, 1, 12);
const hours = Array.from({ length: 24 }, (_, i) => noon / 1000 + i * 3600);
const tokens = ["ETH-000", "BTC-000", "LTC-000", "USDT-000", "USDC-000", "DAI-000", "BNB-000", "WBTC-000", "VITE", "VX"];
const icons = ["swap", "arrow", "search", "wallet", "copy", "external", "download", "clock", "warning", "star", "settings", "bell"];
const kinds = ["wait", "run", "good", "warn", "bad", "rest"];

const parts = {
  Buttons: () => <>
    <div class="row">{["main", "", "plain", "buy", "sell", "danger"].map((kind) => <Button key={kind} kind={kind}>{kind || "default"}</Button>)}</div>
    <div class="row after"><Button kind="main" aria-disabled>Disabled</Button><Button icon="download">With icon</Button><Button kind="main" icon="wallet">Connect wallet</Button></div>
  </>,
  Choices: () => {
    const [tab, show] = useState("deposit"), [side, take] = useState("buy");
    return <><Tabs label="Tabs" now={tab} choose={show} list={[{ id: "deposit", name: "Deposit" }, { id: "withdraw", name: "Withdraw" }, { id: "history", name: "History" }]} />
      <div class="row after"><Segmented label="Side" now={side} choose={take} list={[{ id: "buy", name: "Buy", class: "buy" }, { id: "sell", name: "Sell", class: "sell" }]} />
        <Segmented label="Interval" now="1h" choose={nothing} list={["1m", "30m", "1h", "1d"].map((id) => ({ id, name: id }))} /></div></>;
  },
  Fields: () => <>
    <Field id="field-plain" label="Amount" hint="From 1 to 1,000 USDT." value="" onInput={nothing} placeholder="0.0"><Button>Max</Button></Field>
    <Field id="field-good" label="Address" class="code" fine="The address is valid." value={address} onInput={nothing} />
    <Field id="field-bad" label="Amount" fault="Amount: the minimum is 1 USDT." value="0.5" onInput={nothing} />
  </>,
  States: () => <><div class="row">{kinds.map((kind) => <State key={kind} kind={kind}>{kind}</State>)}</div>
    <div class="after"><Steps label="Steps" at={1} list={["Confirming", "Paying", "Final"]} /><Steps label="Failed steps" failed at={1} list={["Confirming", "Held", "Final"]} /></div></>,
  Timeline: () => <Timeline label="Deposit" list={[
    { name: "Sent on Ethereum", kind: "done", at: noon, detail: <Short text={"0x" + "a1".repeat(32)} /> }, { name: "Confirming", kind: "now", detail: "12 of 64 blocks, about 10 min" },
    { name: "Paid on Vite", kind: "wait" }, { name: "Needs attention", kind: "warn", detail: "Below the minimum." }, { name: "Failed", kind: "bad" },
  ]} />,
  Notes: () => <div class="stack">{["", "good", "warn", "bad"].map((kind) => <Note key={kind} kind={kind}>A remark of the kind “{kind || "plain"}”.</Note>)}
    <Fault error={new Refused("The minimum is 1 USDT. Enter a larger amount.", 1)} again={nothing} /></div>,
  Figures: () => <><div class="grid"><Stat name="Paid in 24 h" value="1,204" detail="99.8 % within 2 min" /><Stat name="Pending" value="3" kind="warn" /><Stat name="Nodes" value="3 of 3" kind="good" /></div>
    <div class="after"><Meter ratio={0.42}>42 of 100</Meter><Meter ratio={0.93}>93 of 100</Meter><Meter ratio={1}>100 of 100</Meter></div>
    <Facts list={[["You send", <Amount units={1234567890n} decimals={6} unit="USDT" />], ["Fee", <Amount units={1000000n} decimals={6} unit="USDT" />]]} /></>,
  Table: () => <Table label="Records" head={["Record", "State", ">Amount", "Address"]} rows={[1, 2, 3].map((n) => ({ key: n, cells: [
    <a href="#">{n}</a>, <State kind={kinds[n + 1]}>{["", "Paid", "Held", "Failed"][n]}</State>, <Amount units={BigInt(n) * 1234500000n} decimals={6} unit="USDT" />, <Short text={address} />] }))} />,
  Texts: () => <div class="sides"><div><Whole text={address} what="Address" /><p class="after"><Short text={address} /></p></div><Qr text={address} label="QR code" /></div>,
  Icons: () => <><div class="row">{icons.map((name) => <Icon key={name} name={name} />)}</div>
    <div class="row after">{tokens.map((symbol) => <TokenIcon key={symbol} symbol={symbol} size={28} />)}</div>
    <div class="row after">{["Ethereum", "Bitcoin", "Litecoin", "Vite"].map((name) => <ChainIcon key={name} name={name} size={28} />)}</div></>,
  Waiting: () => <><Skeleton /><Empty icon="search" title="No records">Deposits and withdrawals of this address appear here.</Empty><Blank>No orders.</Blank><Pager newer={null} older={nothing} /></>,
  Chart: () => <Plot label="Payments per hour" least={1} height={140} series={[
    { name: "Deposits", kind: "bars", colour: "accent", points: hours.map((time, i) => ({ time, value: 20 + ((i * 7) % 13) })) },
    { name: "Withdrawals", kind: "line", colour: "warn", points: hours.map((time, i) => ({ time, value: 8 + ((i * 5) % 9) })) },
  ]} />,
};

function Windows() {
  const [shown, show] = useState("");
  return <section class="card" aria-label="Windows"><h2>Windows</h2><div class="row"><Button id="show-dialog" onClick={() => show("dialog")}>Dialog</Button><Button id="show-confirm" onClick={() => show("confirm")}>Confirm</Button></div>
    {shown === "dialog" && <Dialog id="a-dialog" title="Choose a token" close={() => show("")}><p>Its content.</p></Dialog>}
    {shown === "confirm" && <Confirm id="a-confirm" title="Refund record 17" facts={[["Amount", "120 USDT"], ["To", <code>{address}</code>]]} lead="The deposit is paid back to its sender. This cannot be undone." action="Refund" danger
      act={async () => { throw new Refused("The signer does not answer. Try again.", 1); }} cancel={() => show("")} />}
  </section>;
}

function Design() {
  return <><div><h1>Components</h1><p class="faint">Every component of the pages in every state.</p></div>
    <div class="parts">{Object.entries(parts).map(([name, Part]) => <section key={name} class="card" data-part={name.toLowerCase()} aria-label={name}><h2>{name}</h2><Part /></section>)}
      <Windows /></div></>;
}

open({ active: "design", wide: true, title: () => "Design" }, Design);
