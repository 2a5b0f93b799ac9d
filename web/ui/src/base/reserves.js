// What a gateway holds of its tokens' assets and owes, where its operator publishes it.
import { ask, base, Refused } from "./http.js";
import { online, site, usePoll } from "./use.js";

// kinds of states for people. Only a comparison that shows the present is good.
export const reserveKinds = { covered: "good", missing: "bad", uncompared: "wait", unknown: "wait", unread: "wait" };

// useReserves returns a function that finds a token's reserves: { state, row }, or null while nothing is known. States besides those of the gateway:
// unpublished, and unread, in which the row is an earlier one or missing.
export function useReserves() {
  const { started, reserves } = site.use(), known = online.use();
  const poll = usePoll(reserves ? async (signal) => {
    const answer = await ask(base() + "/reserves", { signal });
    if (answer.code !== 0) throw new Refused(answer.msg, answer.subCode);
    return answer.data.tokens;
  } : null, 15_000, [reserves]);
  return (network, token) => {
    if (!started) return null;
    if (!reserves) return { state: "unpublished" };
    if (poll.data === null && !poll.error) return null;
    const row = poll.data?.find((r) => r.network === network.name && r.tokenId === token.tokenId);
    return { row, state: !known || poll.error ? "unread" : row?.state ?? "uncompared" };
  };
}

const most = 10_000n; // tenths of a percent

// percentOf is held per hundred owed, cut to a tenth: what is missing never reads 100. "" if nothing is owed.
export function percentOf(held, owed) {
  if (owed === 0n) return "";
  const tenths = (held * 1000n) / owed;
  return tenths > most ? ">1,000 %" : `${tenths / 10n}.${tenths % 10n} %`;
}
