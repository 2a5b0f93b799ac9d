// The demo user's wallet of a development environment, for all pages. Its code is loaded when a page opens it.
import { useEffect, useState } from "preact/hooks";
import { store } from "./store.js";

const opened = store(null);

export async function openDemo() {
  const { openWallet } = await import("./wallet.js");
  const wallet = await openWallet();
  opened.set(wallet);
  return wallet;
}

// useDemoWallet opens the wallet while it is wanted: { wallet, error }.
export function useDemoWallet(wanted) {
  const wallet = opened.use(), [error, fail] = useState(null);
  useEffect(() => {
    fail(null);
    if (wanted) openDemo().catch(fail);
  }, [wanted]);
  return { wallet: wanted ? wallet : null, error };
}
