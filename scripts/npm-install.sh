#!/usr/bin/env bash
# Installs the npm packages that tests and code generation use. Without argument into build/npm: the wallet library that
# serves as a second opinion on the exchange chain's codecs, the Solidity compiler, anvil (a binary inside its package),
# and what drives a browser through the pages. "redocly" installs the linter of API descriptions into build/redocly, "clients"
# into build/clients what makes clients from descriptions (openapi-typescript) and the library that clients/ccxt is a class of, "site"
# into build/site-packages what makes a site of the documents (VitePress) and draws their diagrams (Mermaid).
# Nothing of it is needed to build or run gatewayd. Does nothing when all of them are there.
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
"")
	manifest='{"private":true,"dependencies":{"@vite/vitejs":"2.3.19","solc":"0.8.37","@foundry-rs/anvil-linux-amd64":"1.7.1","playwright-core":"1.65.1","axe-core":"4.14.1","pixelmatch":"8.0.0","pngjs":"7.0.0"}}'
	prefix=build/npm
	wanted=(@foundry-rs/anvil-linux-amd64/bin/anvil solc @vite/vitejs playwright-core axe-core pixelmatch pngjs)
	;;
redocly)
	manifest='{"private":true,"dependencies":{"@redocly/cli":"2.20.0"}}'
	prefix=build/redocly
	wanted=(.bin/redocly)
	;;
clients)
	manifest='{"private":true,"dependencies":{"openapi-typescript":"7.13.0","typescript":"5.9.3","ccxt":"4.5.84"}}'
	prefix=build/clients
	wanted=(.bin/openapi-typescript .bin/tsc ccxt)
	;;
site)
	manifest='{"private":true,"dependencies":{"vitepress":"1.6.4","mermaid":"12.3.0"}}'
	prefix=build/site-packages
	wanted=(vitepress/bin mermaid/dist)
	;;
*)
	echo "usage: $0 [redocly|clients|site]" >&2
	exit 2
	;;
esac

present() {
	[ "$(cat $prefix/installed 2>/dev/null)" = "$manifest" ] || return 1
	local package
	for package in "${wanted[@]}"; do
		[ -e "$prefix/node_modules/$package" ] || return 1
	done
}

mkdir -p $prefix
exec 9>$prefix/.lock
flock 9 # two test runs may ask at once
present && exit 0
echo "npm: installing $manifest"
echo "$manifest" >$prefix/package.json
npm install --no-package-lock --no-audit --no-fund --loglevel=error --prefix $prefix
echo "$manifest" >$prefix/installed
