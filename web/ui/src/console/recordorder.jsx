// An order for a record: what it is about, whom it pays and what it does, before it is given.
import { Dialog, Fault, Short, Skeleton } from "../base/components.jsx";
import { formatMessage } from "../base/messages.js";
import { usePoll } from "../base/use.js";
import { get, post } from "./api.js";
import { asks, boxesOf, isDanger, orderLabel, orderLead, payeeOf, useConsoleMessages } from "./labels.js";
import { Call, Chain, Money, Order, Reason } from "./parts.jsx";

// fields are what an order asks besides the reason.
const fields = (order, record, w) => (asks[order] && !(order === "credit" && record.wallet) ? [{ name: asks[order] === "hash" ? "hash" : "to", label: w["field_" + asks[order]], class: "code" }] : []);

export function RecordOrder({ id, order, done, cancel }) {
  const w = useConsoleMessages();
  const poll = usePoll((signal) => get("/records/" + id, {}, signal), 0, [id]);
  if (poll.data === null) return <Dialog title={formatMessage(w.recordName, { name: id })} close={cancel}>{poll.error ? <Fault error={poll.error} again={poll.again} /> : <Skeleton />}</Dialog>;
  const { record: r, payments: list } = poll.data[0];
  const payments = list ?? [];
  const action = orderLabel(order, r, w);
  const held = payments.find((p) => p.state === "held");
  const facts = ({ to }) => {
    const payee = payeeOf(order, r, payments, to);
    return [
      [w.amount, <strong><Money network={r.network} asset={r.asset} amount={r.amount} /></strong>], [w.direction, <Call of="direction" word={r.direction} />],
      [w.chain, <Chain id={poll.data[0].in.chain} />], [w.transaction, r.inTx && <code>{r.inTx}</code>], [w.sender, r.from && r.from !== payee && <code>{r.from}</code>],
      [w.user, r.wallet && r.wallet !== payee && <Short text={r.wallet} />], [w.payee, payee && <code>{payee}</code>], [w.fee, ["credit", "retry"].includes(order) && r.token && <Money network={r.network} asset={r.token} amount={r.fee} />],
      [w.netToPay, ["credit", "retry"].includes(order) && r.token && r.net !== "0" && <Money network={r.network} asset={r.token} amount={r.net} />],
      [w.heldBecause, (held?.reason || r.reason) && <Reason word={held?.reason || r.reason} />],
    ];
  };
  return <Order title={formatMessage(w.orderOf, { order: action, id })} lead={orderLead(order, r, w)} action={action} danger={isDanger(order)} facts={facts}
    fields={fields(order, r, w)} boxes={boxesOf(order, payments).map((box) => ({ name: box, label: w["box_" + box] }))}
    act={(values) => post(`/records/${id}/${order}`, values)} done={done} cancel={cancel} />;
}
