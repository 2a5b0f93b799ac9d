// The page of API keys. What it decides is in functions of plain values, which a test runs under Node; `start` ties them to a document.

// life is how long the exchange takes a signed text, in seconds, less what sending takes.
export const life = 280;

// told is how long the page shows what went well, in seconds.
const told = 8;

// baseOf is what stands before /keys in the page's path: "" or the path of a test network.
export function baseOf(pathname) {
  return pathname.replace(/\/keys\/?$/, "");
}

// Refused is an answer without success, in words for people.
export class Refused extends Error {}

// advice says what to do where the exchange says only what is wrong.
const advice = {
  "Invalid timestamp": "The text is too old. Take a new text and sign that.",
  "Invalid signature": "That is not this account's signature of this text. Sign the text as it stands here.",
  "Invalid pubKey: not the account's": "That public key is another account's. Sign with the account that you have looked up.",
};

// Exchange is the part of the exchange's API that the page needs.
export class Exchange {
  constructor(base, fetch) {
    this.base = base + "/api/v2";
    this.fetch = fetch;
  }

  async ask(path, options) {
    let answer;
    try {
      answer = await (await this.fetch(this.base + path, { cache: "no-store", credentials: "omit", ...options })).json();
    } catch {
      throw new Refused("The exchange does not answer. Try again in a while.");
    }
    if (answer.code !== 0) {
      throw new Refused(answer.code === 1001 ? "Too many requests. Try again in a while." : advice[answer.msg] || answer.msg || "The exchange refuses.");
    }
    return answer.data;
  }

  post(path, fields) {
    return this.ask(path, { method: "POST", body: new URLSearchParams(fields) });
  }

  // seconds is the exchange's clock: the computer's may be wrong.
  async seconds() {
    return Math.floor((await this.ask("/time")) / 1000);
  }

  // account is all that the page shows of an account.
  async account(address) {
    const query = "?address=" + encodeURIComponent(address);
    const [info, pairs, packages] = await Promise.all([
      this.ask("/agent/info" + query), this.ask("/agent/grants" + query), this.ask("/agent/package"),
    ]);
    return { address, info, pairs, cycle: packages[0].cycle };
  }

  issue(proof) { return this.post("/agent/key", proof); }

  remove(proof) { return this.post("/agent/removal", proof); }
}

// isAddress tells whether a text has the form of an address; the exchange checks the rest.
export function isAddress(text) {
  return /^vite_[0-9a-f]{50}$/.test(text);
}

// challenge is the text that proves an account to the exchange. The one that removes a key makes none.
export function challenge(agent, seconds, removal) {
  return (removal ? "remove_" : "") + agent + "_" + seconds;
}

// command signs a text with a wallet file of this program. The text has letters, digits and underscores alone, so it needs no quotes.
export function command(text) {
  return "gatewayd wallet sign STORE --json --text " + text;
}

// signed reads what a user has pasted: what the command has printed, as JSON or as lines, or a public key and a signature by themselves.
// Anything else is null.
export function signed(first, second) {
  const lines = /Public key:\s*(\S+)\s+Signature:\s*(\S+)/.exec(first);
  let found = lines ? { publicKey: lines[1], signature: lines[2] } : { publicKey: first.trim(), signature: second.trim() };
  if (first.trim().startsWith("{")) {
    try {
      found = JSON.parse(first);
    } catch {
      return null;
    }
  }
  const ok = isBytes(found.publicKey, 32) && isBytes(found.signature, 64);
  return ok ? { pubKey: found.publicKey, signature: found.signature } : null;
}

// isBytes tells whether a text is so many bytes in hexadecimal or base64.
function isBytes(text, size) {
  if (typeof text !== "string") return false;
  const base64 = 4 * Math.ceil(size / 3);
  return new RegExp("^[0-9a-fA-F]{" + 2 * size + "}$").test(text) || (text.length === base64 && /^[A-Za-z0-9+/]+={0,2}$/.test(text));
}

// coins is an amount of smallest units in whole VITE, exactly.
export function coins(raw) {
  const digits = String(raw).padStart(19, "0");
  const fraction = digits.slice(-18).replace(/0+$/, "");
  return digits.slice(0, -18) + (fraction && "." + fraction) + " VITE";
}

// shown is an account in the page's words, by the id of the element that shows it.
export function shown({ info, pairs, cycle }) {
  const each = cycle === 60 ? "a minute" : "in " + cycle + " seconds";
  return {
    agent: info.agentAddress,
    key: info.apiKey || "none",
    created: info.createTime ? new Date(info.createTime * 1000).toISOString().replace("T", " ").slice(0, 19) + " UTC" : "–",
    calls: "up to " + info.maxCount + " orders and cancels " + each,
    quota: info.quota.toLocaleString("en") + (info.quota < 30000 ? " – too little for an order" : ""),
    stake: coins(info.agentPledgeAmount),
    pairs: pairs.length ? pairs.join(", ") : "none – grant them in your wallet",
  };
}

// wanted is what the page asks a user to do next: to apply for a key, or to remove the one there is.
export function wanted(hasKey) {
  return hasKey
    ? { removal: true, act: "Remove the key", send: "Remove the key", explain: "Sign the text to end the key for good. You can then apply for a new one; what you have granted stays granted." }
    : { removal: false, act: "Apply for a key", send: "Get the key", explain: "Sign the text to show that the account is yours. Signing it moves no money." };
}

// start ties the page to a document. All that it keeps is in this closure, and the secret in the element that shows it.
export function start({ document, location, fetch, clipboard, setTimeout, addEventListener }) {
  const at = (id) => document.getElementById(id);
  const say = (id, text) => { at(id).textContent = text; };
  const secretShown = () => !at("issued").hidden;
  const exchange = new Exchange(baseOf(location.pathname), fetch);
  let account = null, proof = null, ending = null, telling = null, busy = false;

  // tell shows what went well, for a while: it stands over the page.
  function tell(text) {
    say("said", text);
    clearTimeout(telling);
    telling = setTimeout(() => say("said", ""), told * 1000);
  }

  function setBusy(to) {
    busy = to;
    at("page").setAttribute("aria-busy", String(to));
  }

  // during keeps a form from being sent twice and shows what went wrong. No button is disabled: who uses the keyboard would lose his place.
  async function during(fault, act) {
    if (busy) return;
    setBusy(true);
    say(fault, "");
    say("said", "");
    try {
      await act();
    } catch (e) {
      say(at("proof").hidden ? "fault" : fault, e instanceof Refused ? e.message : "The page has a problem. Load it again.");
    } finally {
      setBusy(false);
    }
  }

  async function look(address) {
    at("account").hidden = at("proof").hidden = true;
    account = await exchange.account(address);
    for (const [id, text] of Object.entries(shown(account))) say(id, text);
    at("account").hidden = false;
    await ask();
  }

  // ask makes a new text to sign.
  async function ask() {
    const next = wanted(account.info.apiKey !== null);
    const seconds = await exchange.seconds();
    const text = challenge(account.info.agentAddress, seconds, next.removal);
    proof = { address: account.address, agentAddress: account.info.agentAddress, timestamp: String(seconds) };
    for (const id of ["act", "send", "explain"]) say(id, next[id]);
    at("text").value = text;
    at("command").value = command(text);
    at("public").value = at("signature").value = "";
    say("until", "Good for five minutes.");
    clearTimeout(ending);
    ending = setTimeout(() => say("until", "The text is too old now: take a new one."), life * 1000);
    at("send").setAttribute("data-ends", String(next.removal));
    at("proof").hidden = secretShown(); // who has just got a key should save it, not remove it
  }

  async function send() {
    const pasted = signed(at("public").value, at("signature").value);
    if (!pasted) throw new Refused("A public key of 32 bytes and a signature of 64 are wanted, in hexadecimal or base64.");
    const removal = account.info.apiKey !== null;
    const made = await (removal ? exchange.remove({ ...proof, ...pasted }) : exchange.issue({ ...proof, ...pasted }));
    if (!removal) {
      say("new-key", made.apiKey);
      say("new-secret", made.apiSecret);
      at("issued").hidden = false;
      at("yours").focus();
    } else {
      tell("The key is removed.");
    }
    await look(account.address);
    if (removal) at("found").focus();
  }

  // forget takes the secret off the page.
  function forget() {
    say("new-key", "");
    say("new-secret", "");
    at("issued").hidden = true;
  }

  at("lookup").addEventListener("submit", (e) => {
    e.preventDefault();
    const address = at("address").value.trim();
    return during("fault", async () => {
      if (secretShown()) throw new Refused("Save the new key and its secret first, then hide them.");
      if (!isAddress(address)) throw new Refused("An address begins with vite_ and has 50 digits and letters a to f behind that.");
      await look(address);
      at("found").focus();
    });
  });
  at("sign").addEventListener("submit", (e) => {
    e.preventDefault();
    return during("refused", send);
  });
  at("again").addEventListener("click", () => during("refused", ask));
  at("done").addEventListener("click", () => {
    forget();
    at("proof").hidden = at("account").hidden; // both are hidden when the exchange no longer answered
    at("found").focus();
  });
  addEventListener("beforeunload", (e) => {
    if (secretShown()) e.preventDefault(); // the browser asks whether to leave
  });
  for (const [button, from] of Object.entries({ agent: "agent", text: "text", command: "command", key: "new-key", secret: "new-secret" })) {
    at("copy-" + button).addEventListener("click", async () => {
      try {
        await clipboard.writeText(at(from).value || at(from).textContent);
        tell("Copied.");
      } catch {
        tell("Your browser does not let the page copy: select the text and copy it.");
      }
    });
  }
}

if (globalThis.document) {
  start({
    document, location, clipboard: navigator.clipboard, fetch: (...a) => globalThis.fetch(...a), setTimeout: (...a) => globalThis.setTimeout(...a),
    addEventListener: (...a) => globalThis.addEventListener(...a),
  });
}
