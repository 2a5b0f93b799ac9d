#!/usr/bin/env bash
# golangci-lint (staticcheck among it), dead code, and known vulnerabilities where their database can be reached. All are clean.
set -uo pipefail
cd "$(dirname "$0")/.."
scripts/go-tool.sh golangci-lint deadcode govulncheck || exit 1
code=0
build/bin/golangci-lint run --allow-serial-runners || code=1

dead=$(build/bin/deadcode -test ./...)
[ -z "$dead" ] || { echo "$dead" && code=1; }

if curl -sfo /dev/null -m 10 https://vuln.go.dev/index/db.json; then
	build/bin/govulncheck ./... || code=1
else
	echo "govulncheck: vuln.go.dev cannot be reached; not run"
fi
exit $code
