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
    chunkSizeWarningLimit: 2000, // the API reference and the wallet library, which are loaded when they are needed
    rolldownOptions: { input: { start: "start.html", bridge: "bridge.html", trade: "trade.html", console: "console.html", keys: "keys.html", design: "design.html", docs: "docs.html" } },
  },
});
