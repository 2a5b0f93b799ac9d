#!/usr/bin/env bash
# Runs inside a Debian root with the package in /root: installs it, uses it as the service does, upgrades and removes it.
# release-test.sh calls it.
set -euo pipefail
unit=/usr/lib/systemd/system/gatewayd.service config=/etc/gatewayd/config.yaml state=/var/lib/gatewayd

fail() { echo "package: $*" >&2 && exit 1; }
as() { setpriv --reuid gatewayd --regid gatewayd --init-groups --no-new-privs --bounding-set=-all env -C $state HOME=$state "$@"; }
of() { sed -n "s/^$1=//p" $unit; }
until_well() { # arguments of health
	for _ in $(seq 300); do
		as gatewayd health "$@" >/dev/null 2>&1 && return
		sleep 1
	done
	fail "not well: $(as gatewayd health "$@" 2>&1)"
}

! command -v go >/dev/null && ! command -v node >/dev/null && ! command -v gcc >/dev/null || fail "a compiler is here"
dpkg -i /root/gatewayd_*.deb >/dev/null
[ "$(stat -c '%U %a' $state)" = "gatewayd 700" ] || fail "$state: $(stat -c '%U %a' $state)"
[ "$(stat -c '%U:%G %a' $config)" = "root:gatewayd 640" ] || fail "$config: $(stat -c '%U:%G %a' $config)"
as gatewayd version

# The example says what is to be filled in.
# shellcheck disable=SC2046
as $(of ExecStartPre) || fail "the example is not sound"
if said=$(as $(of ExecStart) 2>&1); then fail "the example ran"; fi
grep -q 'wallet.password_file.*/etc/gatewayd/password' <<<"$said" || fail "the example said: $said"
install -o gatewayd -g gatewayd -m 600 /dev/stdin /etc/gatewayd/password <<<'only for this test'
if said=$(as $(of ExecStart) 2>&1); then fail "the example ran"; fi
grep -q "unlocking the wallet: .*$state/wallet/vite_" <<<"$said" || fail "the example said: $said"

as gatewayd dev --dir $state/dev >$state/dev.log 2>&1 &
dev=$!
until_well
as gatewayd demo >/root/demo.log 2>&1 || fail "demo: $(tail -5 /root/demo.log)"
grep -c 'CONFIRMED' /root/demo.log

# The service's own command, on the nodes of that one.
node() { sed -nE "s/.*$1 +(http[^ ]+).*/\1/p" $state/dev.log | head -1; }
store=$(as gatewayd wallet new --dir $state/wallet --password-file /etc/gatewayd/password | grep -o 'vite_[0-9a-f]*' | head -1)
cat >$config <<CONFIG
data: $state
wallet: {store: $store, password_file: /etc/gatewayd/password}
ethereum: [{id: eth, chain_id: 1337, nodes: ["$(node 'source chain')"], finality: "3"}]
vite: [{id: vite, nodes: ["$(node 'exchange chain')"], confirmations: 2}]
gateway: {listen: "127.0.0.1:8081"}
networks:
  - name: eth
    path: /gateway/eth
    source: eth
    exchange: vite
    tokens:
      - {token: tti_687d8a93915393b219212c73, symbol: ETH-000, decimals: 18, asset: native, asset_decimals: 18, type: 0, min_deposit: "10000000000000000", min_withdraw: "10000000000000000", max_withdraw: "0", deposit_confirmations: {count: 3}, withdraw_confirmations: {count: 2}, fee: {kind: flat, amount: "10000000000000000"}}
CONFIG
as $(of ExecStartPre) || fail "the configuration is not sound"
as $(of ExecStart) >$state/run.log 2>&1 &
daemon=$!
until_well -c $config || fail "$(tail -5 $state/run.log)"
MAINPID=$(pgrep -f "^$(of ExecStart)" | head -1)
eval "$(of ExecReload)"
for _ in $(seq 60); do grep -q 'the configuration was read again' $state/run.log && break || sleep 1; done
grep -q 'the configuration was read again' $state/run.log || fail "no reload: $(tail -3 $state/run.log)"
kill "$daemon" "$dev" && wait || true

# An upgrade keeps the configuration; a removal keeps keys and records.
sum=$(md5sum <$config)
dpkg -i --force-confold /root/gatewayd_*.deb >/dev/null
[ "$(md5sum <$config)" = "$sum" ] || fail "the upgrade changed $config"
dpkg --purge gatewayd >/dev/null 2>&1
[ ! -e /usr/bin/gatewayd ] && [ -f "$state/wallet/$store" ] || fail "purged: $(ls $state /usr/bin/gatewayd 2>&1)"
