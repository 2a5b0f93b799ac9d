// The account of a development environment that has no API key yet: it signs in the page, with a publicly known key. Nothing of it is loaded elsewhere.
import { ask, base } from "../base/http.js";

// openDemo finds the account and loads the library that signs.
export async function openDemo() {
  const [user, { utils }] = await Promise.all([ask(base() + "/demo/newcomer"), import("@vite/vitejs")]);
  const hex = (text) => [...new TextEncoder().encode(text)].map((b) => b.toString(16).padStart(2, "0")).join("");
  return {
    address: user.address,
    // sign answers what the wallet command prints.
    sign: (text) => JSON.stringify({ publicKey: user.privateKey.slice(64), signature: utils.ed25519.sign(hex(text), user.privateKey) }),
  };
}
