#!/usr/bin/env bash
# The whole test run: fetches what tests need, checks format, vet, lint and generated code, and runs every Go test beside a
# throw-away PostgreSQL server. The last line says "N passed, N failed"; the exit code is not 0 if anything failed.
# Arguments are packages to test instead of all; these are then tested without the race detector.
set -uo pipefail
cd "$(dirname "$0")/.."

# What runs concurrently on shared data is tested under the race detector, and only so. Of the watcher these are the tests that start
# its loops: all others call it from one goroutine. Plans of statements depend on no goroutine.
raced=(./records/... ./exchangeapi/index/... ./exchangeapi/ws/...)
plans=TestStatementPlans
loops='^(TestRunPaysAndStops|TestRunEndsWithoutItsLease)$'

# events prints the event streams (go doc test2json) of all tests. The machines have two cores: the programs' own tests and the drill wait for
# blocks much of their time and run beside all others, which run one package after the other. Tests of the watcher run beside those under the race detector.
events() {
	local tests=(go test -json -count=1 -timeout 40m) code=0 late=0 drill beside watcher
	if [ $# -gt 0 ]; then
		"${tests[@]}" -p 2 "$@"
		return
	fi
	"${tests[@]}" ./dev/drill >build/drill.json &
	drill=$!
	"${tests[@]}" -p 1 -parallel 4 ./cmd/... >build/programs.json &
	beside=$!
	# shellcheck disable=SC2046
	"${tests[@]}" -p 1 $(go list ./... | grep -vxFf <(go list "${raced[@]}" ./cmd/... ./dev/drill ./watcher)) || code=1
	"${tests[@]}" ./watcher >build/watcher.json & # one test after the other, on one core
	watcher=$!
	"${tests[@]}" -p 1 -run "$plans" ./records/... || code=1
	"${tests[@]}" -p 1 -race -skip "$plans" "${raced[@]}" || code=1
	"${tests[@]}" -race -run "$loops" ./watcher || code=1
	wait "$watcher" || code=1
	cat build/watcher.json
	wait "$drill" || late=1
	wait "$beside" || late=1
	cat build/drill.json build/programs.json
	[ $late = 0 ] || again || code=1
	return $code
}

# again runs tests of whole programs that failed once more, in CI, when all others have ended: two busy cores are late for what a test
# waits for. Both outcomes are told. What chance decides (GATEWAYD_SEED) is not tried again, nor are tests of a single package or many tests.
again() {
	local package tests code=0
	[ "${CI-}" = true ] && node scripts/failed-tests.mjs build/drill.json build/programs.json >build/again.txt || return 1
	while read -r package tests; do
		go test -json -count=1 -timeout 10m -run "$tests" "$package" >>build/again.json || code=1
	done <build/again.txt
	return $code
}

if [ "${1-}" = --events ]; then
	shift
	events "$@"
	code=$?
	echo $code >build/events.code
	exit $code
fi

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

linted() {
	wait "$lint"
	local code=$?
	cat build/lint.log
	return $code
}

mkdir -p build/bin
rm -f build/again.json build/events.code
check "npm packages" scripts/npm-install.sh
check "linter of API descriptions" scripts/npm-install.sh redocly
check "browser" scripts/browser.sh
check "haproxy" scripts/haproxy.sh
check "generators of clients" scripts/npm-install.sh clients
check "generator of the site" scripts/npm-install.sh site
check "geth, btcd, abigen, gotestsum and oapi-codegen" scripts/go-tool.sh geth btcd abigen gotestsum oapi-codegen
check "litecoind" scripts/litecoind.sh
check "promtool" scripts/promtool.sh
check "gofmt" formatted
check "go vet with PKCS#11" go vet -tags pkcs11 ./wallet/hsm ./cmd/gatewayd
check "PKCS#11, on SoftHSM2" go test -count=1 -tags pkcs11 -run 'Module|Session' ./wallet/hsm ./cmd/gatewayd
check "contracts are as generated" scripts/contracts.sh --check
check "pages are as built" scripts/web.sh --check
check "site of the documents" scripts/site.sh
check "objects of Kubernetes" scripts/kubernetes.sh

# The linters are built and run beside the tests, which wait for blocks much of their time.
nice -n 10 scripts/lint.sh >build/lint.log 2>&1 &
lint=$!
scripts/postgres.sh build/bin/gotestsum --format pkgname --hide-summary=output --jsonfile build/tests.json --raw-command -- \
	scripts/test.sh --events "$@"
tests=$(cat build/events.code)
check "benchmarks of budgets run" make -s benchmarks ARGS="-short -benchtime 1x ./chain/bitcoin ./chain/ethereum ./dev ./exchangeapi ./gateway ./records ./vite/dex ./vite/node ./watcher"
check "lint" linted
echo "slowest:"
build/bin/gotestsum tool slowest --jsonfile build/tests.json --threshold 10s --num 20
node scripts/test-report.mjs build/tests.json wallet/keystore/testdata/hd-derivation.json $passed $failed build/again.json
report=$?
[ $tests = 0 ] && [ $report = 0 ]
