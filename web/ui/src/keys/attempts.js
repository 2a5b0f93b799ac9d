// Transactions that a wallet was asked for and that the exchange does not show yet. They are kept in the browser, so that a reload forgets none and
// nothing is sent twice without a question.
import { remembered } from "../base/store.js";

function isAttempts(text) {
  try {
    return JSON.parse(text).constructor === Object;
  } catch {
    return false;
  }
}

const kept = remembered("keys.attempts", isAttempts, "{}");

// How an attempt ended for this page: a wallet has the link, a node has accepted the block, or a node gave no answer.
export const opened = "opened", sent = "sent", unknown = "unknown";

// useAttempts are the attempts of a delegation address, by the transaction's name: { at, units, before, outcome }. `before` is the stake at the time.
export function useAttempts(agent) {
  const all = JSON.parse(kept.use());
  return { of: all[agent] ?? {}, keep: (name, attempt) => keep(agent, name, attempt) };
}

// keep stores an attempt, or forgets it (null).
function keep(agent, name, attempt) {
  const all = JSON.parse(kept.get()), mine = { ...all[agent], [name]: attempt };
  if (!attempt) delete mine[name];
  kept.set(JSON.stringify({ ...all, [agent]: mine }));
}

// shows reports whether the exchange's own answer has a transaction's effect.
export function shows(name, attempt, { info, pairs }) {
  const [kind, symbol] = name.split(" ");
  if (kind === "stake") return BigInt(info.agentPledgeAmount) > BigInt(attempt.before);
  return kind === "grant" && pairs.includes(symbol);
}
