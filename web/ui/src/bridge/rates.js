// Values in ordinary money, by the rates of the exchange API. A value is shown only while its rate is fresh.
import { useEffect, useState } from "preact/hooks";
import { cut, plain, product } from "../base/amount.js";
import { site } from "../base/use.js";

// decimal is a rate as digits: small numbers print with an exponent.
const decimal = (rate) => rate.toLocaleString("en", { useGrouping: false, maximumSignificantDigits: 15 });

// valueOf is the value of an amount as a decimal with two places; null without a fresh rate.
export function valueOf(units, decimals, rate, currency) {
  const price = rate?.stale === false ? rate[currency.toLowerCase() + "Rate"] : null;
  return typeof price === "number" && price > 0 ? cut(product(plain(units, decimals), decimal(price)), 2) : null;
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
    const money = new Intl.NumberFormat(language === "zh" ? "zh-CN" : "en", { style: "currency", currency, currencyDisplay: "narrowSymbol" });
    return Number(value) === 0 && units > 0n ? "< " + money.format(0.01) : "≈ " + money.format(Number(value));
  }
  return "";
}
