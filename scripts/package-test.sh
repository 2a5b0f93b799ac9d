#!/usr/bin/env bash
# Runs inside a Debian that systemd has started, with the package in /root: installs it, uses it, upgrades and removes it.
# release-test.sh calls it.
set -euo pipefail
config=/etc/gatewayd/config.yaml state=/var/lib/gatewayd

fail() { echo "package: $*" >&2 && exit 1; }
as() { setpriv --reuid gatewayd --regid gatewayd --init-groups --no-new-privs --bounding-set=-all env -C $state HOME=$state "$@"; }
log() { journalctl --no-pager -q -o cat -u gatewayd; }
eventually() { # command ...
	for _ in $(seq 300); do
		"$@" >/dev/null 2>&1 && return
		sleep 1
	done
	fail "never: $*: $("$@" 2>&1 | tail -3); $(log | tail -5)"
}
logged() { grep -q "$1" < <(log); }

! command -v go >/dev/null && ! command -v node >/dev/null && ! command -v gcc >/dev/null || fail "a compiler is here"
dpkg -i /root/gatewayd_*.deb >/dev/null
[ "$(stat -c '%U %a' $state)" = "gatewayd 700" ] || fail "$state: $(stat -c '%U %a' $state)"
[ "$(stat -c '%U:%G %a' $config)" = "root:gatewayd 640" ] || fail "$config: $(stat -c '%U:%G %a' $config)"
! systemctl -q is-active gatewayd || fail "the package started its service"
as gatewayd version
for page in gatewayd gatewayd-run gatewayd-backup; do
	grep -q '^\.TH "GATEWAYD' < <(zcat /usr/share/man/man1/$page.1.gz) || fail "no manual page $page"
done
systemd-analyze verify gatewayd.service gatewayd-signer.service gatewayd-backup.service gatewayd-backup.timer
for unit in gatewayd gatewayd-signer gatewayd-backup; do
	systemd-analyze security --no-pager --threshold=20 $unit.service | tail -1
done

# The example says what is to be filled in.
as gatewayd config check --quiet -c $config || fail "the example is not sound"
if said=$(as gatewayd run -c $config 2>&1); then fail "the example ran"; fi
grep -q 'wallet.password_file.*/etc/gatewayd/password' <<<"$said" || fail "the example said: $said"
install -o gatewayd -g gatewayd -m 600 /dev/stdin /etc/gatewayd/password <<<'only for this test'
if said=$(as gatewayd run -c $config 2>&1); then fail "the example ran"; fi
grep -q "unlocking the wallet: .*$state/wallet/vite_" <<<"$said" || fail "the example said: $said"
echo "the example: $(tail -1 <<<"$said")"

as gatewayd dev --dir $state/dev >$state/dev.log 2>&1 &
dev=$!
eventually as gatewayd health
as gatewayd demo >/root/demo.log 2>&1 || fail "demo: $(tail -5 /root/demo.log)"
echo "demo: $(grep -c CONFIRMED /root/demo.log) transfers confirmed"

# The service, on the nodes of that one.
node() { sed -nE "s/.*$1 +(http[^ ]+).*/\1/p" $state/dev.log | head -1; }
as gatewayd wallet new --dir $state/wallet --password-file /etc/gatewayd/password >/dev/null
cat >$config <<CONFIG
data: $state
wallet: {store: $(basename $state/wallet/vite_*), password_file: /etc/gatewayd/password}
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
systemctl start gatewayd || fail "no start: $(log | tail -5)"
# It is on both chains, and has nothing to pay with.
unfunded() { grep -q 'no_funds eth, no_funds vite' < <(as gatewayd health -c $config 2>&1); }
eventually unfunded
systemctl reload gatewayd
eventually logged 'the configuration was read again'
systemctl start gatewayd-backup || fail "no backup: $(journalctl --no-pager -q -o cat -u gatewayd-backup | tail -5)"
as gatewayd backup --verify $state/backup/gatewayd-*.tar >/dev/null || fail "the backup is not sound"

# An upgrade keeps the configuration and restarts the service; a removal keeps keys and records.
sum=$(md5sum <$config) before=$(systemctl show -P MainPID gatewayd)
dpkg -i --force-confold /root/gatewayd_*.deb >/dev/null
[ "$(md5sum <$config)" = "$sum" ] || fail "the upgrade changed $config"
[ "$(systemctl show -P MainPID gatewayd)" != "$before" ] || fail "the upgrade did not restart the service"
eventually unfunded
dpkg --purge gatewayd >/dev/null 2>&1
! systemctl -q is-active gatewayd || fail "the service runs without its package"
kill $dev
[ ! -e /usr/bin/gatewayd ] && ls $state/wallet/vite_* $state/gatewayd.db >/dev/null || fail "purged: $(ls $state /usr/bin/gatewayd 2>&1)"
