// The demo operator of `gatewayd dev`: its link carries what it signs in with behind the hash, which no browser sends anywhere. Real installations have
// no such link, and the page reads none there.

// demoOf reads name, password and secret of the second factor: #demo=name:password:secret; null for anything else.
export function demoOf(hash) {
  const m = /^#demo=([a-z0-9._-]{2,32}):([\w-]+):([A-Z2-7]+)$/.exec(hash);
  return m && { name: m[1], password: m[2], secret: m[3] };
}

// bytesOf reads base32.
function bytesOf(text) {
  const bits = [...text].map((c) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(c).toString(2).padStart(5, "0")).join("");
  return new Uint8Array(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)));
}

// codeAt is what an authenticator shows at a moment (RFC 6238).
export async function codeAt(secret, ms) {
  const key = await crypto.subtle.importKey("raw", bytesOf(secret), { name: "HMAC", hash: "SHA-1" }, false, ["sign"]);
  const step = new DataView(new ArrayBuffer(8));
  step.setBigUint64(0, BigInt(Math.floor(ms / 30_000)));
  const sum = new DataView(await crypto.subtle.sign("HMAC", key, step));
  return String((sum.getUint32(sum.getUint8(19) & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}
