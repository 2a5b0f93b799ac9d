// Wallets in the browser (EIP-1193), found by EIP-6963: their accounts, their chain, and a deposit as a transaction.
import { useEffect, useState } from "preact/hooks";
import { Refused } from "../base/http.js";
import { remembered, store } from "../base/store.js";
import { usePoll } from "../base/use.js";

const wallets = store([]); // [{ id, name, provider }]
const lastId = remembered("bridge-browser-wallet", () => true, ""); // reverse domain name of the wallet's maker

const add = (wallet) => wallets.get().some((w) => w.provider === wallet.provider || w.id === wallet.id) || wallets.set([...wallets.get(), wallet]);

// discover asks the browser's wallets to announce themselves. Older ones are at window.ethereum alone.
export function discover() {
  addEventListener("eip6963:announceProvider", ({ detail }) => detail?.provider && detail.info && add({ id: detail.info.rdns, name: detail.info.name, provider: detail.provider }));
  dispatchEvent(new Event("eip6963:requestProvider"));
  setTimeout(() => wallets.get().length || !globalThis.ethereum?.request || add({ id: "window.ethereum", name: "", provider: globalThis.ethereum }), 300);
}

const quantity = (n) => "0x" + n.toString(16);
const word = (hex) => hex.replace(/^0x/, "").toLowerCase().padStart(64, "0");
const bytes = (text) => [...new TextEncoder().encode(text)].map((b) => b.toString(16).padStart(2, "0")).join("");

// rescaled is an amount in units of other decimals; null if it is not whole there.
export function rescaled(units, from, to) {
  if (to >= from) return units * 10n ** BigInt(to - from);
  const unit = 10n ** BigInt(from - to);
  return units % unit === 0n ? units / unit : null;
}

// floored is an amount in units of other decimals, without the part that is too small for them.
export const floored = (units, from, to) => (to >= from ? units * 10n ** BigInt(to - from) : units / 10n ** BigInt(from - to));

// transaction is a deposit in the asset's units: coin with the label as its data, or a token's transfer with the label after its arguments. It
// names its chain, so that a wallet that has moved to another one refuses it.
export function transaction({ from, chainId, asset, to, units, label }) {
  const fixed = { from, chainId: quantity(chainId) };
  if (asset === "native") return { ...fixed, to, value: quantity(units), ...(label ? { data: "0x" + bytes(label) } : {}) };
  return { ...fixed, to: asset, value: "0x0", data: "0xa9059cbb" + word(to) + word(quantity(units)) + bytes(label) };
}

// refusal names the message for a wallet's error. While sending, only a refusal by the reader, missing funds or an unknown chain exclude that it was
// sent: a node that is late or gone may have taken it.
export function refusal(error, sending = false) {
  const code = error?.code ?? error?.data?.originalError?.code, text = String(error?.message ?? "");
  if (code === 4001 || /user (rejected|denied|cancelled)/i.test(text)) return "walletRejected";
  if (/insufficient funds/i.test(text)) return "walletGas";
  if (code === 4902) return "walletNoChain";
  if (sending) return "walletUnknown";
  if (code === -32002) return "walletBusy";
  return code === 4900 || code === 4901 ? "walletAway" : "walletFault";
}

// unknown is the code of a payment that may have been sent: it must not be repeated before the reader has checked.
export const unknown = "unknown";

// call asks a wallet; its error gets the words of the page.
async function call(provider, method, params, w) {
  try {
    return await provider.request({ method, ...(params ? { params } : {}) });
  } catch (error) {
    const key = refusal(error, method === "eth_sendTransaction");
    throw new Refused(w[key], key === "walletUnknown" ? unknown : key);
  }
}

// holding is an account's balance of an asset. Where there is no contract, the answer is empty.
async function holding(provider, asset, account, w) {
  const answer = asset === "native" ? await call(provider, "eth_getBalance", [account, "latest"], w)
    : await call(provider, "eth_call", [{ to: asset, data: "0x70a08231" + word(account) }, "latest"], w);
  return BigInt(!answer || answer === "0x" ? 0 : answer);
}

const depositGas = 60_000n; // of a payment of coins with a label, with room

// held is an account's balance of an asset, and the cost of a payment where the network takes it from the same asset: twice the price of now.
async function held(provider, asset, account, w) {
  const [balance, price] = await Promise.all([holding(provider, asset, account, w), asset === "native" ? call(provider, "eth_gasPrice", null, w) : 0]);
  return { balance, cost: 2n * BigInt(price) * depositGas };
}

// networkCost estimates what the network takes for a deposit, in smallest units of the chain's coin; null if the wallet does not answer.
export async function networkCost({ wallet: { provider }, account, ...payment }) {
  try {
    const [gas, price] = await Promise.all([provider.request({ method: "eth_estimateGas", params: [transaction({ from: account, ...payment })] }), provider.request({ method: "eth_gasPrice" })]);
    return BigInt(gas) * BigInt(price);
  } catch { // it is an estimate alone: the wallet shows the cost before it signs
    return null;
  }
}

// useBrowserWallet is the connection to a wallet: the list, the connected one with account and chain, and its funds on the right chain.
export function useBrowserWallet({ chainId, asset, w }) {
  const list = wallets.use();
  const [wallet, setWallet] = useState(null), [account, setAccount] = useState(""), [chain, setChain] = useState(0);
  useEffect(() => { // the wallet of last time, if it still grants its account without a question
    const again = !wallet && list.find((known) => known.id === lastId.get());
    if (!again) return;
    again.provider.request({ method: "eth_accounts" }).then((accounts) => accounts?.length && setWallet(again), () => {});
  }, [list]);
  useEffect(() => {
    if (!wallet) return undefined;
    const { provider } = wallet;
    const accounts = (found) => (found?.length ? setAccount(found[0]) : leave());
    const chains = (id) => setChain(Number(id));
    provider.request({ method: "eth_accounts" }).then(accounts, leave);
    provider.request({ method: "eth_chainId" }).then(chains, leave);
    provider.on?.("accountsChanged", accounts);
    provider.on?.("chainChanged", chains);
    return () => {
      provider.removeListener?.("accountsChanged", accounts);
      provider.removeListener?.("chainChanged", chains);
    };
  }, [wallet]);
  const ready = Boolean(wallet && account && chainId && chain === chainId);
  const funds = usePoll(ready ? () => held(wallet.provider, asset, account, w) : null, 5000, [wallet, account, chain, asset]);
  const leave = () => {
    lastId.set("");
    setWallet(null);
    setAccount("");
  };
  const connect = async (next) => {
    await call(next.provider, "eth_requestAccounts", null, w);
    lastId.set(next.id);
    setWallet(next);
  };
  const toChain = async () => {
    await call(wallet.provider, "wallet_switchEthereumChain", [{ chainId: quantity(chainId) }], w);
    setChain(Number(await call(wallet.provider, "eth_chainId", null, w)));
  };
  return { list, wallet, account, chain, ready, funds: ready ? funds.data : null, connect, leave, toChain };
}

// pay sends a deposit from the connected account and returns the transaction's hash. It checks account, chain and balances again; guard is the
// page's own last check.
export async function pay({ wallet, account, chainId, asset, to, units, label, guard, w }) {
  const { provider } = wallet;
  const refuse = (key) => { throw new Refused(w[key], key === "walletUnknown" ? unknown : key); };
  const [from] = await call(provider, "eth_requestAccounts", null, w);
  if (from?.toLowerCase() !== account.toLowerCase()) refuse("walletOtherAccount");
  if (label) {
    const code = await call(provider, "eth_getCode", [from, "latest"], w);
    if (code && code !== "0x" && !code.startsWith("0xef0100")) refuse("walletContract");
  }
  const coin = await holding(provider, "native", from, w);
  if (coin === 0n) refuse("walletGas");
  if ((asset === "native" ? coin : await holding(provider, asset, from, w)) < units) refuse("walletBalance");
  await guard();
  if (Number(await call(provider, "eth_chainId", null, w)) !== chainId) refuse("walletChain");
  const hash = await call(provider, "eth_sendTransaction", [transaction({ from, chainId, asset, to, units, label })], w);
  return /^0x[0-9a-f]{64}$/i.test(hash) ? hash : refuse("walletUnknown");
}
