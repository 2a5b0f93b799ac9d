// Draws the reference. This file is large, so the page loads it when it shows the reference. Nothing of the library asks a foreign host: fonts, usage
// statistics, assistants and proxies are off.
import { createApiReference } from "@scalar/api-reference";
import "./scalar.css";
import "@scalar/api-reference/style.css";

// Code samples are offered in curl, JavaScript, Go and Python.
const featuredClients = ["shell/curl", "js/fetch", "go/native", "python/requests"];
const hiddenClients = {
  ...Object.fromEntries(["c", "clojure", "csharp", "dart", "fsharp", "http", "java", "julia", "kotlin", "node", "objc", "ocaml", "php", "powershell", "r", "ruby", "rust", "swift"].map((name) => [name, true])),
  shell: ["wget", "httpie"], js: ["axios", "ofetch", "jquery", "xhr"], python: ["python3", "httpx_sync", "httpx_async", "aiohttp"],
};

const options = ({ doc, dark, language }) => ({
  content: doc, forceDarkModeState: dark ? "dark" : "light", localization: { locale: language === "zh" ? "zh-CN" : "en" }, hiddenClients, featuredClients,
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" }, withDefaultFonts: false, telemetry: false, agent: { disabled: true }, mcp: { disabled: true }, hideClientButton: true,
  showDeveloperTools: "never", hideDarkModeToggle: true, documentDownloadType: "none", defaultOpenAllTags: true, operationTitleSource: "path",
});

// draw shows the reference in an empty element; it returns functions that change and end it.
export function draw(element, given) {
  const shown = createApiReference(element, options(given));
  const changes = new MutationObserver(() => demote(element));
  changes.observe(element, { childList: true, subtree: true });
  demote(element);
  return {
    change: (next) => shown.updateConfiguration(options(next)),
    end: () => {
      changes.disconnect();
      shown.destroy();
    },
  };
}

// demote makes the library's <main> a region: the page has its own.
function demote(element) {
  for (const main of element.querySelectorAll("main:not([role])")) main.setAttribute("role", "region");
}
