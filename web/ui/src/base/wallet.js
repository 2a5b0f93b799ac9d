// The wallets of a development environment's demo accounts, in the page: they sign with publicly known keys. Nothing of it is loaded elsewhere.
import { ask, Away, base, Refused } from "./http.js";
import { base64, hex } from "./vite.js";

const post = (path, body) => ask(base() + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

let calls = 0;

// node is the exchange chain's node as the library wants it.
const node = {
  async request(method, ...params) {
    const answer = await post("/demo/rpc", { jsonrpc: "2.0", id: ++calls, method, params });
    if (answer.error) throw new Refused(answer.error.message, answer.error.code);
    if (!("result" in answer)) throw new Away("no answer of a node");
    return answer.result;
  },
};

const opened = {};

// openWallet finds a demo account and loads the library that signs, once for the page: the demo user, or the "newcomer" without an API key.
export function openWallet(name = "user") {
  opened[name] ??= Promise.all([ask(base() + "/demo/" + name), import("@vite/vitejs")]).then(([user, library]) => new Wallet(user, library));
  opened[name].catch(() => { delete opened[name]; });
  return opened[name];
}

class Wallet {
  constructor(user, { accountBlock, utils }) {
    Object.assign(this, { address: user.address, source: user.source, key: user.privateKey, accountBlock, utils, turn: Promise.resolve() });
  }

  // sign signs a text as `gatewayd wallet sign` does.
  sign(text) {
    return { publicKey: this.key.slice(64), signature: this.utils.ed25519.sign(hex(new TextEncoder().encode(text)), this.key) };
  }

  // inTurn makes blocks one after the other: each stands on the one before.
  inTurn(act) {
    const done = this.turn.then(act);
    this.turn = done.catch(() => {});
    return done;
  }

  // block makes, signs and sends one. The environment acts for the same account: if another block came between, the node refuses this one, and a new
  // one is made. Without an answer the node may have accepted it: then nothing is sent again.
  block(kind, fields) {
    return this.inTurn(async () => {
      for (let tries = 1; ; tries++) {
        try {
          const block = this.accountBlock.createAccountBlock(kind, { address: this.address, ...fields });
          const sent = await block.setProvider(node).setPrivateKey(this.key).autoSend();
          return sent.hash;
        } catch (error) {
          if (tries === 3 || !(error instanceof Refused)) throw error;
          await new Promise((done) => setTimeout(done, 300));
        }
      }
    });
  }

  // send transfers smallest units of a token with a comment and answers the block's hash.
  send(toAddress, tokenId, units, data) {
    return this.block("send", { toAddress, tokenId, amount: units.toString(), data: base64(data) });
  }

  // balance takes in what waits for the account, and answers what it has of a token.
  async balance(tokenId) {
    const waiting = await node.request("ledger_getUnreceivedBlocksByAddress", this.address, 0, 10);
    for (const b of waiting ?? []) {
      try {
        await this.block("receive", { sendBlockHash: b.hash });
      } catch { /* another window has taken it, or the account waits for quota: the next round sees */ }
    }
    const info = await node.request("ledger_getAccountInfoByAddress", this.address);
    return BigInt(info?.balanceInfoMap?.[tokenId]?.balance ?? "0");
  }

  // isKnown reports whether an address has received anything, or will with its next block.
  async isKnown(address) {
    const [info, waiting] = await Promise.all([node.request("ledger_getAccountInfoByAddress", address), node.request("ledger_getUnreceivedBlocksByAddress", address, 0, 1)]);
    return Number(info?.blockCount ?? 0) > 0 || (waiting ?? []).length > 0;
  }

  // funds are the demo user's balance on the source chain, and the cost of a payment where the network takes it from the same asset.
  async funds(tokenId) {
    const answer = await ask(base() + "/demo/funds/" + encodeURIComponent(tokenId));
    if (answer.error) throw new Refused(answer.error, answer.code);
    return { balance: BigInt(answer.balance), cost: BigInt(answer.cost) };
  }

  // deposit pays an amount on the source chain, from the demo user's account there, and answers the transaction's hash.
  async deposit(network, tokenId, to, label, units) {
    const answer = await post("/demo/pay", { network, tokenId, to, label, amount: units.toString() });
    if (answer.error) throw new Refused(answer.error, answer.code);
    return answer.hash;
  }
}
