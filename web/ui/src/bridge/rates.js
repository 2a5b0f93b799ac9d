// Values in ordinary money, by the rates of the exchange API. A value is shown only while its rate is fresh.
import { useEffect, useState } from "preact/hooks";
import { cut, plain, product } from "../base/amount.js";
import { site } from "../base/use.js";

// decimal is a rate as digits: small numbers print with an exponent.
const decimal = (rate) => rate.toLocaleString("en", { useGrouping: false, maximumSignificantDigits: 15 });

const finest = 8; // places

// placesOf are the places of a value: two, and below 1 as many as three digits need.
const placesOf = (text) => (text.startsWith("0.") ? Math.min(/^0\.(0*)/.exec(text)[1].length + 3, finest) : 2);

// valueOf is the value of an amount as a decimal; null without a fresh rate.
export function valueOf(units, decimals, rate, currency) {
  const price = rate?.stale === false ? rate[currency.toLowerCase() + "Rate"] : null;
  if (typeof price !== "number" || !(price > 0)) return null;
  const value = product(plain(units, decimals), decimal(price));
  return cut(value, placesOf(value));
}

// useRate is the rate of a token on the exchange chain, asked for every minute; null if it is not known.
export function useRate(tokenId) {
  const { rates } = site.use();
  const [rate, set] = useState(null);
  useEffect(() => {
    set(null);
    if (!rates || !tokenId) return undefined;
    const end = new AbortController();
    const ask = async () => {
      try {
        const { data } = await (await fetch(`${rates}/api/v2/exchange-rate?tokenIds=${tokenId}`, { signal: end.signal, credentials: "omit" })).json();
        if (!end.signal.aborted) set(data?.[0] ?? null);
      } catch {
        if (!end.signal.aborted) set(null);
      }
    };
    ask();
    const timer = setInterval(() => document.hidden || ask(), 60_000);
    return () => {
      end.abort();
      clearInterval(timer);
    };
  }, [rates, tokenId]);
  return rate;
}

// Worth is an amount's value in the reader's currency, "≈ $2.00", if it is known.
export function worth(units, decimals, rate, language) {
  const first = language === "zh" ? "CNY" : "USD";
  for (const currency of [first, first === "USD" ? "CNY" : "USD"]) {
    const value = valueOf(units, decimals, rate, currency);
    if (value === null) continue;
    const least = 10 ** -finest, none = Number(value) === 0 && units > 0n, amount = none ? least : Number(value);
    const digits = amount > 0 && amount < 1 ? (none ? { maximumSignificantDigits: 1 } : { minimumSignificantDigits: 3, maximumSignificantDigits: 3 }) : {};
    return (none ? "< " : "≈ ") + new Intl.NumberFormat(language === "zh" ? "zh-CN" : "en", { style: "currency", currency, currencyDisplay: "narrowSymbol", ...digits }).format(amount);
  }
  return "";
}
