#!/usr/bin/env bash
# Installs the npm packages that tests and code generation use into build/npm: the wallet library that serves as a
# second opinion on the exchange chain's codecs, the Solidity compiler, and anvil (a binary inside its package).
# Nothing of it is needed to build or run gatewayd. Does nothing when all of them are there.
set -euo pipefail
cd "$(dirname "$0")/.."

packages=(@vite/vitejs@2.3.19 solc@0.8.37 @foundry-rs/anvil-linux-amd64@1.7.1)
prefix=build/npm
stamp=$prefix/installed

if [ "$(cat "$stamp" 2>/dev/null)" = "${packages[*]}" ] && [ -x "$prefix/node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil" ]; then
	exit 0
fi
echo "npm: installing ${packages[*]}"
mkdir -p "$prefix"
npm install --no-save --no-package-lock --no-audit --no-fund --loglevel=error --prefix "$prefix" "${packages[@]}"
echo "${packages[*]}" >"$stamp"
