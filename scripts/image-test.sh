#!/usr/bin/env bash
# Runs the program of an unpacked image as containers do: image-test.sh ROOT, in namespaces of its own (release-test.sh).
# The root is read-only, the folders of its users and /tmp are written to; the daemon's user and the signer's have no rights.
set -euo pipefail
root=$1 inside=/data folder=$1/data own=/var/lib/gatewayd-signer
# shellcheck source=scripts/apart-test.sh
. "$(dirname "$0")/apart-test.sh"
ip link set lo up
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root"
mount -t tmpfs -o mode=700,uid=65532,gid=65532 data "$root/data"
mount -t tmpfs -o mode=700,uid=65533,gid=65533 signer "$root$own"
mount -t tmpfs -o mode=750,uid=65533,gid=65533 socket "$root/run/gatewayd-signer"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"

program=(setpriv --no-new-privs chroot --userspec=65532:65532 --groups=65532,65533 "$root" /usr/local/bin/gatewayd)
demo=("${program[@]::${#program[@]}-1}" /usr/local/bin/gatewaydemo)
signer=(setpriv --no-new-privs chroot --userspec=65533:65533 --groups=65533 "$root" /usr/local/bin/gatewayd)
fail() { echo "image: $*" >&2 && exit 1; }
eventually() { # command ...
	for _ in $(seq 300); do
		"$@" >/dev/null 2>&1 && return
		sleep 1
	done
	fail "never: $*: $("$@" 2>&1 | tail -3)"
}
password() { echo 'only for this test' >"$root$2" && chown "$1" "$root$2" && chmod 600 "$root$2"; }

"${program[@]}" version
password 65532 /data/password
if "${program[@]}" wallet new --dir /etc/wallet --password-file /data/password 2>/dev/null; then fail "its user wrote to /etc"; fi
"${program[@]}" wallet new --dir /data/wallet --password-file /data/password >/dev/null
"${program[@]}" dev --dir /data/dev >/dev/null &
dev=$!
eventually "${program[@]}" health
"${demo[@]}" | grep -c CONFIRMED
kill $dev && wait $dev || true

# The signer as its own user, whose folder the daemon's does not read.
chains
password 65533 $own/password
printf '%s\n' "$everybody" | "${signer[@]}" wallet recover --dir $own/wallet --password-file $own/password 2>/dev/null
configure /data $own "$(cd "$root" && echo .$own/wallet/vite_* | cut -c2-)" $own/password 65532
install -o 65533 -g 65533 -m 600 "$folder/policy.yaml" "$root$own/policy.yaml"
install -o 65533 -g 65533 -m 600 "$folder/signer.yaml" "$root$own/signer.yaml" && rm "$folder/signer.yaml"
if "${program[@]}" config check -c $own/signer.yaml 2>/dev/null; then fail "the daemon's user reads the signer's folder"; fi
"${signer[@]}" signer -c $own/signer.yaml 2>"$root/tmp/signer.log" &
eventually "${signer[@]}" health -c $own/signer.yaml
"${program[@]}" run -c /data/config.yaml 2>"$root/tmp/daemon.log" &
eventually "${program[@]}" health -c /data/config.yaml
bridged >"$root/tmp/demo.log" 2>&1 || fail "$(tail -5 "$root/tmp/demo.log" "$root/tmp/signer.log" "$root/tmp/daemon.log")"
echo "by daemon and signer: $(grep -c CONFIRMED "$root/tmp/demo.log") transfers confirmed"
[ -f "$root$own/guard.db" ] && [ ! -e "$folder/guard.db" ] || fail "the sign-guard: $(ls "$root$own" "$folder")"
