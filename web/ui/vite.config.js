// How the pages are built: one HTML file each, shared code in files with a hash in their names, nothing inline, because the pages' content policy
// forbids that.
import { defineConfig } from "vite";

export default defineConfig({
  base: "./", // a page works below any path
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: "assets/licenses.txt" },
    chunkSizeWarningLimit: 1000, // the wallet library, which is loaded by those who use the demo wallet
    rolldownOptions: { input: { start: "start.html", bridge: "bridge.html", trade: "trade.html", console: "console.html", keys: "keys.html", design: "design.html", docs: "docs.html" } },
  },
});
