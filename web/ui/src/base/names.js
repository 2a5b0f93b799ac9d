// Names that all pages share.
import { blake2b } from "blakejs/blake2b.js";
import { bytes, hex } from "./vite.js";

// assetName is a token's symbol without the number of namesakes: "ETH" of "ETH-000".
export const assetName = (symbol) => symbol.replace(/-\d{3}$/, "");

// isAddress reports whether a text is a user's address of the exchange chain: 20 bytes and their checksum. A contract's has another one.
export function isAddress(text) {
  const [, body, checksum] = /^vite_([0-9a-f]{40})([0-9a-f]{10})$/.exec(text) ?? [];
  return body !== undefined && hex(blake2b(bytes(body), null, 5)) === checksum;
}
