#!/usr/bin/env bash
# Installs pinned Go programs into build/bin: go-tool.sh geth|abigen|btcd|gotestsum|oapi-codegen|golangci-lint|deadcode|govulncheck ...
# They stay out of the module's own go.mod. geth takes about four minutes the first time; all are kept, and
# a call that finds the right version does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

module() {
	case $1 in
	# From v1.17.9 on, cmd/geth needs a module that not every proxy serves; the libraries do not.
	geth) echo github.com/ethereum/go-ethereum/cmd/geth@v1.17.8 ;;
	abigen) echo github.com/ethereum/go-ethereum/cmd/abigen@v1.17.10 ;;
	gotestsum) echo gotest.tools/gotestsum@v1.13.0 ;;
	deadcode) echo golang.org/x/tools/cmd/deadcode@v0.51.0 ;;
	govulncheck) echo golang.org/x/vuln/cmd/govulncheck@v1.9.0 ;;
	oapi-codegen) echo github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.4.1 ;;
	golangci-lint) echo github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 ;;
	btcd) echo github.com/btcsuite/btcd@v0.26.2 ;;
	*) echo "go-tool: unknown tool $1" >&2 && return 1 ;;
	esac
}

# present NAME MODULE@VERSION: is that version in build/bin?
present() {
	[ -x "build/bin/$1" ] && go version -m "build/bin/$1" 2>/dev/null |
		awk -v p="${2%@*}" -v v="${2#*@}" '$1=="path" && $2==p {a=1} $1=="mod" && $3==v {b=1} END {exit !(a&&b)}'
}

mkdir -p build/bin
for name in "$@"; do
	want=$(module "$name")
	present "$name" "$want" && continue
	echo "go: installing $want (nice; geth takes minutes)"
	GOBIN=$PWD/build/bin GOFLAGS= nice -n 10 go install "$want"
done
