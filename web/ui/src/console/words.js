// States and kinds as words, each with how it is shown: wait, run, good, warn, bad. What is not in a list is shown as it is.
const words = {
  record: {
    seen: ["run", "Seen, not final"], final: ["run", "Final"], orphaned: ["warn", "Left the chain"], held: ["warn", "Held"], refused: ["bad", "Refused"], done: ["good", "Done"],
    refunded: ["good", "Refunded"],
  },
  payment: { queued: ["wait", "Waits"], bound: ["run", "Signed"], paid: ["good", "Paid"], held: ["warn", "Held"], void: ["wait", "Void"] },
  channel: { OPEN: ["good", "OPEN"], MAINTAIN: ["warn", "MAINTAIN"], CLOSED: ["bad", "CLOSED"] },
  account: { new: ["wait", "New"], ok: ["good", "Works"], halted: ["bad", "Halted"], recovering: ["run", "Recovers"] },
  chain: { following: ["good", "Follows"], halted: ["bad", "Halted"], "not started": ["wait", "Not started"] },
};

// standing is how a state is shown, and its word.
export const standing = (of, state) => words[of]?.[state] ?? ["wait", state];

// plainly is a word of the program with spaces: "below_minimum" is "below minimum".
export const plainly = (word) => word.replaceAll("_", " ");

// stateOf is what became of a record as a whole.
export function stateOf(record) {
  if (record.incident) return "orphaned";
  if (record.refundTx) return "refunded";
  return record.state === "final" && record.outTx ? "done" : record.state;
}

// purposes are what payments are for.
export const purposes = { credit: "Pays the user", refund: "Refund", receive: "Takes the block in", sweep: "Sweep", gas: "Coin for fees", cancel: "Takes the place of another", cold: "To cold storage" };

// orders are what an operator may order of a record: whether it says where to, and what it does.
export const orders = {
  credit: { name: "Credit", to: "wallet", lead: "Pays it to a user's address on the exchange chain. Leave the address empty when its owner is known." },
  refund: { name: "Refund", to: "address", lead: "Sends it back to its sender, or to the address that you name." },
  reject: { name: "Reject", lead: "Refuses it: a withdrawal goes back to its sender." },
  hold: { name: "Hold", lead: "Keeps its payment from being paid until an operator orders otherwise. What is signed is not held any more." },
  settle: { name: "Settle", to: "hash", lead: "Says that a final transaction of ours, which the records do not know, has paid it." },
  retry: { name: "Try again", lead: "Makes a held or failed payment wait for its turn again." },
  reclassify: { name: "Decide again", lead: "Decides it by today's configuration, once." },
  "write-off": { name: "Write off", lead: "Its block has left the chain and does not come back: what was paid for it is lost." },
};

// ordersFor are the orders that may fit a record; the server decides.
export function ordersFor(record, payments) {
  const list = [];
  const live = payments.filter((p) => p.purpose !== "receive" && p.state !== "void");
  if (record.state === "held" && record.direction !== "withdrawal") list.push("credit");
  if (record.state === "held" || live.some((p) => ["held", "queued"].includes(p.state) && p.purpose === "credit")) list.push("refund");
  if (record.state === "held" && record.direction === "withdrawal") list.push("reject");
  if (live.some((p) => p.state === "held") || record.incident) list.push("retry");
  const waiting = live.filter((p) => ["queued", "held"].includes(p.state));
  if (waiting.some((p) => p.state === "queued" || p.reason !== "operator")) list.push("hold");
  if (waiting.length > 0) list.push("settle");
  if (record.state === "held" && !record.token) list.push("reclassify");
  if (record.incident && !record.lost) list.push("write-off");
  return list;
}

// steps is a record's way: the steps, and the index of the one that is going on; as many as there are when it is over.
export function steps(record, payments) {
  const back = payments.some((p) => p.purpose === "refund" && p.state !== "void");
  const payment = payments.filter((p) => p.purpose === (back ? "refund" : "credit") && p.state !== "void").at(-1);
  const decided = { held: "Held: " + plainly(record.reason), refused: "Refused: " + plainly(record.reason) }[record.state] ?? "Final";
  const list = ["Seen", decided, back ? "Refund signed" : "Payment signed", back ? "Refund final" : "Payment final"];
  const failed = Boolean(record.incident) || ["held", "refused", "orphaned"].includes(record.state) && !payment;
  if (!payment) return { list, at: ["seen", "orphaned"].includes(record.state) || failed ? 1 : 2, failed };
  return { list, at: { queued: 2, held: 2, bound: 3, paid: 4 }[payment.state] ?? 2, failed: payment.state === "held" };
}
