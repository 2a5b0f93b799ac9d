#!/usr/bin/env bash
# The whole test run: fetches what tests need, checks format, vet and generated code, and runs every Go test beside a
# throw-away PostgreSQL server. The last line says "N passed, N failed"; the exit code is not 0 if anything failed.
# Arguments are packages to test instead of ./...
set -uo pipefail
cd "$(dirname "$0")/.."

passed=0 failed=0
check() { # name, command ...
	local name=$1 begin=$SECONDS
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok      $name  $((SECONDS - begin))s"
	else
		failed=$((failed + 1))
		echo "FAILED  $name"
	fi
}

formatted() {
	local bad
	bad=$(git ls-files -z --cached --others --exclude-standard '*.go' | xargs -0 gofmt -l) || return 1
	[ -z "$bad" ] || { echo "$bad" && return 1; }
}

check "npm packages" scripts/npm-install.sh
check "linter of API descriptions" scripts/npm-install.sh redocly
check "browser" scripts/browser.sh
check "geth and abigen" scripts/go-tool.sh geth abigen
check "gofmt" formatted
check "go vet" go vet ./...
check "contracts are as generated" scripts/contracts.sh --check

# Two packages at once: the machines have two cores, and many packages start processes of their own.
mkdir -p build/bin
go build -o build/bin/testsum ./scripts/testsum || exit 1
tests=(scripts/postgres.sh go test -json -count=1 -timeout 25m)
run() {
	local code
	if [ $# -gt 0 ]; then
		"${tests[@]}" -p 2 "$@"
		return
	fi
	# The drill waits for blocks most of its time: it runs beside the other tests, not in the place of one.
	"${tests[@]}" -run '^TestDrill$' ./cmd/gatewayd >build/drill.json &
	local drill=$!
	"${tests[@]}" -p 2 -skip '^TestDrill$' ./...
	code=$?
	wait $drill || code=1
	cat build/drill.json
	return $code
}
run "$@" | build/bin/testsum -passed $passed -failed $failed -secrets wallet/entropy/testdata/hd-derivation.json
outcome=("${PIPESTATUS[@]}")
[ "${outcome[0]}" = 0 ] && [ "${outcome[1]}" = 0 ]
