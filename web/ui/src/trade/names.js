// How tokens and pairs are named: "ETH-000_VITE" is ETH / VITE. Only the number of namesakes
// stands in a name.
export const tokenName = (symbol) => symbol.replace(/-000$/, "");
export const pairName = (symbol) => symbol.split("_").map(tokenName).join("/");
