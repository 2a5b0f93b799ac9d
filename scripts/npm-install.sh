#!/usr/bin/env bash
# Installs the npm packages that tests and code generation use into build/npm: the wallet library that serves as a
# second opinion on the exchange chain's codecs, the Solidity compiler, anvil (a binary inside its package), and what
# drives a browser through the pages.
# Nothing of it is needed to build or run gatewayd. Does nothing when all of them are there.
set -euo pipefail
cd "$(dirname "$0")/.."

manifest='{"private":true,"dependencies":{"@vite/vitejs":"2.3.19","solc":"0.8.37","@foundry-rs/anvil-linux-amd64":"1.7.1","playwright-core":"1.65.1"}}'
prefix=build/npm

present() {
	[ "$(cat $prefix/installed 2>/dev/null)" = "$manifest" ] &&
		[ -x $prefix/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil ] &&
		[ -d $prefix/node_modules/solc ] && [ -d $prefix/node_modules/@vite/vitejs ] && [ -d $prefix/node_modules/playwright-core ]
}

mkdir -p $prefix
exec 9>$prefix/.lock
flock 9 # two test runs may ask at once
present && exit 0
echo "npm: installing $manifest"
echo "$manifest" >$prefix/package.json
npm install --no-package-lock --no-audit --no-fund --loglevel=error --prefix $prefix
echo "$manifest" >$prefix/installed
