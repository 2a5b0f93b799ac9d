// What the reference page makes of the API's descriptions: functions of plain values.

// fits puts values of this service into the examples of parameters, so that a request can be tried as it is. The server of this page comes first. Bodies
// contain the API key, so the security schemes are left out: with them, the code of a request would have a key in the URL as well.
export function fits(doc, base, values) {
  const result = structuredClone(doc);
  const fill = (parameter) => {
    if (parameter.name in values) parameter.example = values[parameter.name];
  };
  Object.values(result.components?.parameters ?? {}).forEach(fill);
  for (const item of Object.values(result.paths)) for (const operation of Object.values(item)) {
    operation.parameters?.filter((p) => p.name).forEach(fill);
    if (operation.security?.length) operation["x-private"] = true;
    delete operation.security;
  }
  delete result.components?.securitySchemes;
  const near = (server) => (base !== "" && server.url.startsWith(base + "/") ? 0 : 1);
  result.servers.sort((a, b) => near(a) - near(b));
  return result;
}

// withSigning puts a sentence on the signature at the start of private operations.
export function withSigning(doc, sentence) {
  const result = structuredClone(doc);
  for (const item of Object.values(result.paths)) for (const operation of Object.values(item)) {
    if (operation["x-private"]) operation.description = [sentence, operation.description].filter(Boolean).join("\n\n");
  }
  return result;
}

// gatewayValues are parameters of the first token that the gateway lists.
export function gatewayValues(networks) {
  const token = networks.flatMap((network) => network.tokens)[0];
  return token ? { tokenId: token.tokenId } : {};
}

// exchangeValues are parameters of the first pair that the exchange lists.
export function exchangeValues(markets) {
  const pair = markets[0];
  return pair ? {
    symbol: pair.symbol, symbols: pair.symbol, tradeTokenSymbol: pair.tradeTokenSymbol, quoteTokenSymbol: pair.quoteTokenSymbol, tokenSymbol: pair.tradeTokenSymbol,
    tokenSymbols: pair.tradeTokenSymbol, tokenId: pair.tradeToken, tokenIds: pair.tradeToken,
  } : {};
}

// topicsOf lists the topics of an AsyncAPI document: [{ name, summary, fields, example }].
export const topicsOf = (doc) => doc.components.messages.commandPush.examples.map(({ name, summary, payload }) =>
  ({ name, summary, example: payload, fields: [...name.matchAll(/\{(\w+)\}/g)].map((match) => match[1]) }));

// choices are the values of a topic's fields that have few.
export const choices = { step: [..."012345678"], category: ["VITE", "ETH", "USDT", "BTC"], interval: ["minute", "minute30", "hour", "hour6", "hour12", "day", "week"] };

const forms = { symbol: /^[A-Z0-9-]{1,24}_[A-Z0-9-]{1,24}$/, token: /^[A-Z0-9-]{1,24}$/, address: /^vite_[0-9a-f]{50}$/ };

// wrong reports whether a field's value cannot be part of a topic.
export const wrong = (field, value) => !(choices[field]?.includes(value) ?? forms[field].test(value));

// faults are the server's texts of errors with code 1002 that have their own words, by the name of these.
const faults = { "illegal topic": "topic", "illegal message or operation": "operation", "invalid key, timestamp or signature": "signature", "sign in with an API key of the account first": "account" };

// faultOf names an error of the server for its words: by its text, else by its code.
export const faultOf = ({ code, msg }) => faults[msg] ?? code;

// order is the server's order of a frame's members.
const order = ["command", "params", "key", "code", "event", "timestamp", "signature", "topic", "msg", "data"];

// guideOf reads the guide's frames, limits and codes from an AsyncAPI document: { frames: { name: { send, receive } }, push, limits, closes, signIn }. The examples' pair
// becomes one of this server.
export function guideOf(doc, pair) {
  const text = (value) => JSON.stringify(Object.fromEntries(order.filter((name) => name in value).map((name) => [name, value[name]])));
  const fit = (value) => JSON.parse(pair ? text(value).replaceAll("DEMO-000_USDT-000", pair) : text(value));
  const { commandRequest, commandAnswer, commandPush } = doc.components.messages;
  const answers = Object.fromEntries(commandAnswer.examples.map(({ name, payload }) => [name, payload]));
  return {
    frames: Object.fromEntries(commandRequest.examples.map(({ name, payload }) => [name, { send: fit(payload), receive: fit(answers[name]) }])),
    push: fit(commandPush.examples.find(({ name }) => name.endsWith(".depth.updates")).payload),
    limits: doc["x-limits"], closes: doc["x-closes"], signIn: doc["x-sign-in"],
  };
}

// frame reads a message of the server: { kind, event, topic, fault, text }. `fault` is the name of an error's words. Kinds: push, answer, fault; null is not shown.
export function frame(text) {
  const message = JSON.parse(text);
  if (message.event === "pong") return null;
  const kind = message.event === "push" ? "push" : message.code === 0 ? "answer" : "fault";
  return { kind, event: message.event ?? "", topic: message.topic ?? "", fault: kind === "fault" ? faultOf(message) : "", text: JSON.stringify(message, null, 2) };
}

// most is the number of messages that are kept.
const most = 100;

// kept adds a message in front and drops the oldest.
export const kept = (list, one) => [one, ...list].slice(0, most);
