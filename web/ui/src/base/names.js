// Names that all pages share.

// assetName is a token's symbol without the number of namesakes: "ETH" of "ETH-000".
export const assetName = (symbol) => symbol.replace(/-\d{3}$/, "");

// isAddress reports whether a text has the form of an address of the exchange chain; the server checks the rest.
export const isAddress = (text) => /^vite_[0-9a-f]{50}$/.test(text);
