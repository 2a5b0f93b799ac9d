// Calls and payments on the exchange chain, for any wallet.
import { plain } from "./amount.js";

export const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

// paymentLink asks a wallet of the exchange chain to send an amount with data (Vite URI format, VEP 6).
export function paymentLink(to, token, units, data) {
  const safe = base64(data).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  return `vite:${to}?tti=${token.tokenId}&amount=${plain(units, token.decimals)}&data=${safe}`;
}

// exchangeContract is the account that has the funds on the exchange (dexFund).
export const exchangeContract = "vite_0000000000000000000000000000000000000006e82b8ba657";

export const hex = (bytes) => [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");

export const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));

// word and tokenWord are arguments of calls: 32 bytes. A token's id has ten bytes and a checksum of two.
export const word = (hex) => hex.padStart(64, "0");

// depositCall credits what it is sent with to its sender on the exchange: "Deposit()".
export const depositCall = () => bytes("319e46dd");

export const tokenWord = (tokenId) => word(tokenId.slice(4, 24));

// withdrawCall returns an amount from the exchange to its sender: "Withdraw(tokenId,uint256)".
export const withdrawCall = (tokenId, units) => bytes("00365d82" + tokenWord(tokenId) + word(units.toString(16)));
