// Compiles Solidity sources: node scripts/solc.js <source folder> <output folder>
// Writes <Contract>.abi and <Contract>.bin for every contract that can be deployed. Output depends on the sources and the
// compiler version alone.
"use strict";
const fs = require("fs");
const path = require("path");
const solc = require(path.resolve(__dirname, "../build/npm/node_modules/solc"));

const [source, target] = process.argv.slice(2);
const files = fs.readdirSync(source).filter((f) => f.endsWith(".sol")).sort();
const sources = Object.fromEntries(
  files.map((f) => [f, { content: fs.readFileSync(path.join(source, f), "utf8") }]));

const output = JSON.parse(solc.compile(JSON.stringify({
  language: "Solidity",
  sources,
  settings: {
    evmVersion: "paris", // runs on every EVM chain of today
    optimizer: { enabled: true, runs: 200 },
    metadata: { bytecodeHash: "none" },
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
  },
}), {
  import: (name) => (sources[name] ? { contents: sources[name].content } : { error: "no such source: " + name }),
}));

// Destroying a contract is deprecated, and one test contract does it on purpose.
const wanted = new Set(["5159"]);
let failed = false;
for (const e of output.errors || []) {
  if (wanted.has(e.errorCode)) continue;
  process.stderr.write(e.formattedMessage);
  failed = true;
}
if (failed) process.exit(1);

fs.mkdirSync(target, { recursive: true });
for (const contracts of Object.values(output.contracts)) {
  for (const [name, c] of Object.entries(contracts)) {
    if (!c.evm.bytecode.object) continue;
    fs.writeFileSync(path.join(target, name + ".abi"), JSON.stringify(c.abi, null, 1) + "\n");
    fs.writeFileSync(path.join(target, name + ".bin"), c.evm.bytecode.object + "\n");
  }
}
