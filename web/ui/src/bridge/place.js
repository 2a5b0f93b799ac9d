// The place in the bridge page: what its address contains, and what was used last.
import { remembered } from "../base/store.js";
import { isAddress } from "../base/names.js";

const views = ["deposit", "withdraw", "history", "record"];

export const lastToken = remembered("bridge-token", () => true, "");
// lastAddress is the reader's own: typed or confirmed by them, never taken from a link.
export const lastAddress = remembered("bridge-address", isAddress, "");
export const lastWallet = remembered("bridge-wallet", ["", "demo"], "");

// tokenOf finds a token by network and id; without them, or if there is none, the one of `last` ("eth/tti_…"), and then the first.
export function tokenOf(networks, [name, tokenId], last = "") {
  const [lastName, lastId] = last.split("/");
  const all = networks.flatMap((network) => network.tokens.map((token) => ({ network, token })));
  const is = (n, t) => all.find(({ network, token }) => network.name === n && (t === undefined || token.tokenId === t));
  return is(name, tokenId) ?? is(name) ?? is(lastName, lastId) ?? all[0] ?? {};
}

// placeOf reads a route. Links of before have no view in front: "#eth/tti_…".
export function placeOf({ path, query }, networks, last) {
  const view = views.includes(path[0]) ? path[0] : "deposit";
  const rest = views.includes(path[0]) ? path.slice(1) : path;
  const [kind, ...of] = view === "record" ? rest : ["", ...rest];
  return { view, kind: kind === "withdraw" ? "withdraw" : "deposit", hash: of[2] ?? "", address: (query.address ?? "").trim(), ...tokenOf(networks, of, last) };
}

// lastPayee is the withdrawal address that the reader has typed in this tab. Another one came with a link.
export const lastPayee = remembered("bridge-payee", () => true, "", "sessionStorage");

// doubtful is a payment that may have been sent: "deposit 0.5 ETH"; "" for none. It is set before a wallet is asked to send, and cleared when the
// outcome is known or the reader has checked.
export const doubtful = remembered("bridge-doubtful", () => true, "", "sessionStorage");

const sent = "bridge-sent";

const kept = () => {
  try {
    return JSON.parse(sessionStorage.getItem(sent)) ?? {};
  } catch { // a browser that keeps nothing
    return {};
  }
};

// keepSent remembers a payment of this page until the gateway has seen it; sentOf answers it.
export function keepSent(hash, payment) {
  try {
    sessionStorage.setItem(sent, JSON.stringify({ ...kept(), [hash]: payment }));
  } catch { /* then the record page shows the hash alone */ }
}

export const sentOf = (hash) => kept()[hash] ?? null;
