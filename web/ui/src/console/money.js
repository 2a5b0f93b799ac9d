// What amounts are of: the networks' tokens, and where explorers show a transaction.
import { store } from "../base/store.js";

// networks are those of the configuration, with their tokens; [] until they are known.
export const networks = store([]);

// grouped are the networks of what the server tells of each token.
export function grouped(tokens) {
  const list = [];
  for (const t of tokens) {
    if (list.at(-1)?.name !== t.network) list.push({ name: t.network, source: t.source, exchange: t.exchange, sourceName: t.sourceName, exchangeName: t.exchangeName, sourceExplorer: t.sourceExplorer, exchangeExplorer: t.exchangeExplorer, coinDecimals: t.coinDecimals, tokens: [] });
    list.at(-1).tokens.push(t);
  }
  return list;
}

// assetOf is what moves on a chain, for people: a gateway token on the exchange chain, else what the source chain calls it. null: not configured. A coin has no symbol of its own.
export function assetOf(list, network, asset) {
  const n = list.find((one) => one.name === network);
  for (const t of n?.tokens ?? []) {
    if (t.token === asset) return { symbol: t.symbol, decimals: t.decimals };
    if (t.asset === asset) return { symbol: t.assetSymbol, decimals: t.assetDecimals };
  }
  return n && asset === "native" ? { symbol: null, decimals: n.coinDecimals } : null;
}

// networkOf is the network that a chain and one of its assets belong to.
export function networkOf(list, chain, asset) {
  const ofChain = list.filter((n) => n.source === chain || n.exchange === chain);
  return (ofChain.find((n) => n.tokens.some((t) => t.asset === asset || t.token === asset)) ?? ofChain[0])?.name ?? "";
}

// chainName is a chain's name for people; its id where no network has it.
export function chainName(list, id) {
  const n = list.find((one) => one.source === id || one.exchange === id);
  return (n && (n.source === id ? n.sourceName : n.exchangeName)) || id;
}

// networkName is a network's name for people: that of its source chain. Networks of one chain have their own names as well.
export function networkName(list, name) {
  const n = list.find((one) => one.name === name);
  if (!n) return name;
  return n.sourceName + (list.some((one) => one !== n && one.sourceName === n.sourceName) ? ` (${name})` : "");
}

// chainsOf are the chains that a record came in on and is paid on.
export function chainsOf(list, record) {
  const n = list.find((one) => one.name === record.network);
  if (!n) return { from: "", to: "" };
  const exchange = record.direction === "withdrawal" || /^tti_/.test(record.asset);
  return exchange ? { from: n.exchange, to: n.source } : { from: n.source, to: n.exchange };
}

// linkTo is a transaction in the explorer of its chain; "" where none is configured.
export function linkTo(list, chain, hash) {
  for (const n of list) {
    const format = n.source === chain ? n.sourceExplorer : n.exchange === chain ? n.exchangeExplorer : "";
    if (format && hash) return format.replaceAll("{$tx}", encodeURIComponent(hash));
  }
  return "";
}

// blockLink is a block in the explorer of its chain; "" where none is configured. Explorers have blocks next to transactions, by their numbers.
export function blockLink(list, chain, height) {
  for (const n of list) {
    const format = n.source === chain ? n.sourceExplorer : n.exchange === chain ? n.exchangeExplorer : "";
    if (format?.includes("/tx/{$tx}")) return format.replace("/tx/{$tx}", "/block/" + encodeURIComponent(height));
  }
  return "";
}
