// Passkeys, as browsers have them. What the server asks and what it is answered are in the browser's own JSON forms.
import { Refused } from "../base/http.js";

// possible tells whether this browser has passkeys on this page: by its name, over HTTPS or on http://localhost, never at an address.
export const possible = () => !/^[\d.]+$|:/.test(location.hostname) && typeof globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON === "function";

// sign lets a passkey sign what the server asks.
export async function sign(options) {
  return (await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })).toJSON();
}

// make lets an authenticator make a passkey for this page.
export async function make(options) {
  return (await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })).toJSON();
}

// why is what went wrong with a passkey, as the page says it: browsers do not tell whether somebody said no or nothing was there.
export const why = (error, w) => (error.name === "NotAllowedError" ? new Refused(w.passkeyUnused, error.name) : error);
