#!/usr/bin/env bash
# Runs inside a Debian that systemd has started, with the package in /root: installs it, uses it, upgrades and removes it.
# release-test.sh calls it.
set -euo pipefail
config=/etc/gatewayd/config.yaml state=/var/lib/gatewayd own=/var/lib/gatewayd-signer
# shellcheck source=scripts/apart-test.sh
. "$(dirname "$0")/apart-test.sh"
folder=$state inside=$state

fail() { echo "package: $*" >&2 && exit 1; }
user() { echo setpriv --reuid "$1" --regid "$1" --init-groups --no-new-privs --bounding-set=-all env -C "/var/lib/$1" "HOME=/var/lib/$1"; }
read -ra daemon <<<"$(user gatewayd)" && program=("${daemon[@]}" gatewayd) demo=("${daemon[@]}" gatewaydemo)
read -ra signer <<<"$(user gatewayd-signer)"
as() { "${daemon[@]}" "$@"; }
as_signer() { "${signer[@]}" "$@"; }
log() { journalctl --no-pager -q -o cat -u "${1:-gatewayd}"; }
shown() { echo "\$ $*" && "$@"; } # for docs/operations/install.md
eventually() { # command ...
	for _ in $(seq 300); do
		"$@" >/dev/null 2>&1 && return
		sleep 1
	done
	fail "never: $*: $("$@" 2>&1 | tail -3); $(log | tail -5); $(log gatewayd-signer | tail -5)"
}
logged() { grep -q "$1" < <(log "${2:-gatewayd}"); }

! command -v go >/dev/null && ! command -v node >/dev/null && ! command -v gcc >/dev/null || fail "a compiler is here"
dpkg -i /root/gatewayd_*.deb >/dev/null
[ "$(stat -c '%U %a' $state)" = "gatewayd 700" ] || fail "$state: $(stat -c '%U %a' $state)"
[ "$(stat -c "%U %a" $own)" = "gatewayd-signer 700" ] || fail "$own: $(stat -c "%U %a" $own)"
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
for unit in gatewayd gatewayd-signer; do # a service whose start fails for an hour is started again
	limit=$(systemctl show -P StartLimitIntervalUSec $unit.service)
	[ "$limit" = 0 ] || fail "$unit: systemd stops starting it, start limit interval $limit"
done

# The example says what is to be filled in.
as gatewayd config check --quiet -c $config || fail "the example is not sound"
if said=$(as gatewayd run -c $config 2>&1); then fail "the example ran"; fi
grep -q 'wallet.password_file.*/etc/gatewayd/password' <<<"$said" || fail "the example said: $said"
install -o gatewayd -g gatewayd -m 600 /dev/stdin /etc/gatewayd/password <<<'only for this test'
if said=$(as gatewayd run -c $config 2>&1); then fail "the example ran"; fi
grep -q "unlocking the wallet: .*$state/wallet/vite_" <<<"$said" || fail "the example said: $said"
echo "the example: $(tail -1 <<<"$said")"

"${program[@]}" dev --dir $state/dev >$state/dev.log 2>&1 &
dev=$!
eventually as gatewayd health
"${demo[@]}" >/root/demo.log 2>&1 || fail "demo: $(tail -5 /root/demo.log)"
echo "demo: $(grep -c CONFIRMED /root/demo.log) transfers confirmed"

kill $dev && wait $dev || true

# Both services: the signer has the keys as its own user, the daemon asks it.
chains
install -o gatewayd-signer -g gatewayd-signer -m 600 /dev/stdin /etc/gatewayd-signer/password <<<'only for this test'
printf '%s\n' "$everybody" | as_signer gatewayd wallet recover --dir $own/wallet --password-file /etc/gatewayd-signer/password 2>/dev/null
configure $state $own "$(echo $own/wallet/vite_*)" /etc/gatewayd-signer/password gatewayd
shown install -o root -g gatewayd -m 640 $state/config.yaml $config
shown install -o root -g gatewayd -m 640 $state/policy.yaml /etc/gatewayd/policy.yaml
shown install -o root -g gatewayd-signer -m 640 $state/signer.yaml /etc/gatewayd-signer/signer.yaml
shown install -o root -g gatewayd-signer -m 640 $state/policy.yaml /etc/gatewayd-signer/policy.yaml
shown systemctl enable --now gatewayd-signer 2>/dev/null || fail "no start: $(log gatewayd-signer | tail -5)"
eventually as_signer gatewayd health -c /etc/gatewayd-signer/signer.yaml
as gatewayd doctor -c $config >/root/doctor.log 2>&1 || true # it has nothing against the signer
grep '^ok *signer' /root/doctor.log || fail "doctor: $(cat /root/doctor.log)"
shown systemctl enable --now gatewayd 2>/dev/null || fail "no start: $(log | tail -5)"
eventually as gatewayd health -c $config
bridged >/root/demo.log 2>&1 || fail "demo: $(tail -5 /root/demo.log); $(log | tail -5); $(log gatewayd-signer | tail -5)"
echo "by daemon and signer: $(grep -c CONFIRMED /root/demo.log) transfers confirmed"

# Who the signer is: another user, whose keys and sign-guard nobody reads, whom the daemon alone asks, and who reaches this machine alone.
[ "$(stat -c %U "/proc/$(systemctl show -P MainPID gatewayd-signer)")" = gatewayd-signer ] || fail "the signer's user"
[ "$(stat -c '%U:%G %a' /run/gatewayd-signer/signer.sock)" = "gatewayd-signer:gatewayd-signer 660" ] || fail "$(stat -c '%U:%G %a' /run/gatewayd-signer/signer.sock)"
[ -f $own/guard.db ] && [ ! -e $state/guard.db ] || fail "the sign-guard: $(ls $own $state)"
for path in $own /etc/gatewayd-signer/password $own/guard.db; do
	! as cat "$path" >/dev/null 2>&1 && ! as ls $own >/dev/null 2>&1 || fail "the daemon's user reads $path"
done
if said=$(gatewayd health -c /etc/gatewayd-signer/signer.yaml 2>&1); then fail "root asked the signer: $said"; fi
eventually logged 'another user than signer.peer' gatewayd-signer
[ "$(systemctl show -P IPAddressDeny gatewayd-signer | xargs -n1 | sort | xargs)" = "0.0.0.0/0 ::/0" ] || fail "the signer's network: $(systemctl show -P IPAddressDeny gatewayd-signer)"
systemctl reload gatewayd-signer gatewayd
eventually logged 'the configuration was read again'
eventually logged 'were read again' gatewayd-signer

# Without its signer the daemon says so, and goes on by itself.
systemctl stop gatewayd-signer
away() { grep -q signer_away < <(as gatewayd health -c $config 2>&1); }
eventually away
systemctl start gatewayd-signer
eventually as gatewayd health -c $config
systemctl start gatewayd-backup || fail "no backup: $(journalctl --no-pager -q -o cat -u gatewayd-backup | tail -5)"
as gatewayd backup --verify $state/backup/gatewayd-*.tar >/dev/null || fail "the backup is not sound"
as_signer gatewayd signer backup -c /etc/gatewayd-signer/signer.yaml $own/guard.tar >/dev/null || fail "no backup of the sign-guard"

# An upgrade keeps the configuration and restarts both services; a removal keeps keys, the sign-guard and records.
pids() { systemctl show -P MainPID gatewayd gatewayd-signer | xargs; }
sum=$(md5sum <$config) before=$(pids)
dpkg -i --force-confold /root/gatewayd_*.deb >/dev/null
[ "$(md5sum <$config)" = "$sum" ] || fail "the upgrade changed $config"
for pid in $before; do
	! grep -qw "$pid" <<<"$(pids)" || fail "the upgrade did not restart both services: $before, $(pids)"
done
eventually as gatewayd health -c $config
dpkg --purge gatewayd >/dev/null 2>&1
! systemctl -q is-active gatewayd && ! systemctl -q is-active gatewayd-signer || fail "a service runs without its package"
[ ! -e /usr/bin/gatewayd ] && ls $own/wallet/vite_* $own/guard.db $state/gatewayd.db >/dev/null || fail "purged: $(ls $own $state /usr/bin/gatewayd 2>&1)"
