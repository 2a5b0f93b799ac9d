// The frame of a page: the head with links to the other pages, the state of the connection, short messages.
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Button } from "./forms.jsx";
import { base } from "./http.js";
import { Icon } from "./icons.jsx";
import { formatMessage, language, useMessages } from "./messages.js";
import { remembered } from "./store.js";
import { said } from "./tell.js";
import { loadSite, online, retry, site } from "./use.js";

const theme = remembered("theme", ["auto", "light", "dark"], "auto", "cookie");

// linkTo is the address of a page of the site, here or on another listener.
export const linkTo = (link) => (/^https?:/.test(link) ? link : base() + "/" + link);

const pages = ["bridge", "trade", "keys", "reference", "console"];

// Top is the head of every page: the pages, the language, the colours.
function Top({ active }) {
  const w = useMessages();
  const links = site.use();
  const nav = useRef(null);
  useEffect(() => nav.current.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }), [links]); // on a phone the row of pages scrolls
  return <header class="top"><div>
    <a class="brand" href={base() + "/"}><svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><rect width="24" height="24" rx="7" /><path d="M5 16v-3a7 7 0 0 1 14 0v3M5 12.5h14M9.5 12.5V16M14.5 12.5V16" /></svg>gatewayd</a>
    <nav ref={nav} aria-label={w.pages}>{pages.filter((page) => links[page]).map((page) =>
      <a key={page} href={linkTo(links[page])} aria-current={page === active ? "page" : undefined}>{w[page]}</a>)}</nav>
    <div class="tools"><button type="button" class="plain" lang={w.language === "zh" ? "en" : "zh"} id="language" onClick={() => language.set(w.language === "zh" ? "en" : "zh")}>
      {w.language === "zh" ? "English" : "中文"}</button>
    <ThemeButton /></div>
  </div></header>;
}

function ThemeButton() {
  const w = useMessages();
  const now = theme.use();
  useEffect(() => {
    if (now === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = now;
    dispatchEvent(new Event("themechange"));
  }, [now]);
  const next = { auto: "light", light: "dark", dark: "auto" }[now];
  const name = w.theme + ": " + w[now];
  return <button type="button" class="plain" id="theme" onClick={() => theme.set(next)} title={name} aria-label={name}><Icon name={{ auto: "system", light: "light", dark: "dark" }[now]} /></button>;
}

// Lost shows that the server does not answer, once for the page.
function Lost() {
  const w = useMessages();
  return !online.use() && <div class="lost" id="lost" role="alert"><Icon name="offline" /><span>{w.offline}</span><Button kind="plain" onClick={retry}>{w.again}</Button></div>;
}

// Contact is the address of the operator, or the statement that none is configured. `about` becomes the subject of an e-mail.
export function Contact({ about }) {
  const w = useMessages();
  const { contact, reference } = site.use();
  if (!contact) return reference ? <span class="contact">{w.noContact}</span> : null; // before the site is known, neither is true
  const mail = contact.startsWith("mailto:");
  const href = mail && about ? contact + (contact.includes("?") ? "&" : "?") + "subject=" + encodeURIComponent(about) : contact;
  return <span class="contact">{w.contact}{w.language === "zh" ? "：" : ": "}<a href={href}>{contact.replace(/^(mailto:|https:\/\/)/, "").replace(/(\?.*|\/)$/, "")}</a></span>;
}

// Operator is who runs the site: name, terms of use and contact.
export function Operator() {
  const w = useMessages();
  const { operator, terms } = site.use();
  return <span class="operator">{operator && formatMessage(w.operatedBy, { name: operator }) + " · "}{terms && <><a href={terms}>{w.terms}</a>{" · "}</>}<Contact /></span>;
}

const served = ["bridge", "trade", "start", "keys"]; // their readers need the operator, and see when no contact is configured

// Page is the frame of a page.
function Page({ active, title, wide, children }) {
  const w = useMessages();
  const { demo, design, contact, operator, terms } = site.use();
  useEffect(() => {
    document.documentElement.lang = w.language === "zh" ? "zh-CN" : "en";
    document.title = title(w.language);
  }, [w.language]);
  return <>
    <Top active={active} />
    <Lost />
    <main class={wide ? "wide" : ""}>{children}</main>
    <footer>{demo && <span><Icon name="warning" size={14} /> {w.demo}</span>}
      <span>{(contact || operator || terms || served.includes(active)) && <Operator />}{design && <a href={linkTo(design)}>{w.design}</a>}<a href={base() + "/assets/licenses.txt"}>{w.sources}</a></span></footer>
    <p class="said" id="said" role="status">{said.use()}</p>
  </>;
}

// open draws a page and finds out where the others are. `title` is its name by language.
export function open(options, Content) {
  loadSite();
  render(<Page {...options}><Content /></Page>, document.getElementById("page"));
}
