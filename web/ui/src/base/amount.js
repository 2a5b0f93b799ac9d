// Amounts are whole numbers of smallest units (BigInt), or decimals as text; no floating point comes near them.

// bare is a typed decimal as programs write it: no space around it, no commas between thousands, no point at its end. Other commas stay, and make it no
// number: "0,125" and "1,5" are other people's 0.125 and 1.5.
export function bare(text) {
  const trimmed = text.trim().replace(/\.$/, "");
  return /^[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/.test(trimmed) ? trimmed.replaceAll(",", "") : trimmed;
}

// parse reads a decimal that a person has typed: smallest units, or null for what is no amount of a token with so many decimals.
export function parse(text, decimals) {
  const m = /^(\d{1,60})(?:\.(\d+))?$|^\.(\d+)$/.exec(bare(text));
  if (!m) return null;
  const fraction = (m[2] ?? m[3] ?? "").replace(/0+$/, "");
  if (fraction.length > decimals) return null;
  return BigInt((m[1] ?? "0") + fraction.padEnd(decimals, "0"));
}

// plain is an amount as a decimal without grouping: what goes into fields and links.
export function plain(units, decimals) {
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return sign + whole + (fraction && "." + fraction);
}

// shown is an amount for people: thousands apart, and at most so many digits behind the point. What is cut off is cut, never rounded up.
export function shown(units, decimals, most = decimals) {
  return grouped(cut(plain(units, decimals), most));
}

// cut takes digits away behind the point.
export function cut(text, most) {
  const [whole, fraction = ""] = text.split(".");
  const rest = fraction.slice(0, most).replace(/0+$/, "");
  return whole + (rest && "." + rest);
}

// leading keeps the first digits of an amount; the others become zero.
export function leading(units, digits) {
  const text = units.toString();
  return BigInt(text.slice(0, digits).padEnd(text.length, "0"));
}

// grouped sets thousands of a decimal apart.
export function grouped(text) {
  const [whole, ...rest] = text.split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
}

// product multiplies two decimals exactly, as they were typed.
export function product(a, b) {
  [a, b] = [bare(a), bare(b)];
  const scale = (text) => (text.split(".")[1] ?? "").length;
  const units = (text) => BigInt(text.replace(".", "") || "0");
  return plain(units(a) * units(b), scale(a) + scale(b));
}

// compare orders two decimals: negative, zero or positive.
export function compare(a, b) {
  const scale = Math.max((a.split(".")[1] ?? "").length, (b.split(".")[1] ?? "").length);
  const difference = parse(a, scale) - parse(b, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

// isDecimal reports whether a text is a decimal above zero with at most so many digits behind the point.
export function isDecimal(text, most) {
  const units = parse(text, most);
  return units !== null && units > 0n;
}
