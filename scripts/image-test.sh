#!/usr/bin/env bash
# Runs the program of an unpacked image as a container does: image-test.sh ROOT, in namespaces of its own (release-test.sh).
# The root is read-only, /data and /tmp are written to, the user is the image's and has no rights.
set -euo pipefail
root=$1
ip link set lo up
mount --bind "$root" "$root" && mount -o remount,bind,ro "$root"
mount -t tmpfs -o mode=700,uid=65532,gid=65532 data "$root/data"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"

program() { setpriv --no-new-privs chroot --userspec=65532:65532 --groups=65532 "$root" /usr/local/bin/gatewayd "$@"; }

program version
echo 'only for this test' >"$root/data/password" && chown 65532 "$root/data/password" && chmod 600 "$root/data/password"
if program wallet new --dir /etc/wallet --password-file /data/password 2>/dev/null; then
	echo "image: its user wrote to /etc" >&2 && exit 1
fi
program wallet new --dir /data/wallet --password-file /data/password >/dev/null
program dev --dir /data/dev >/dev/null &
for _ in $(seq 300); do
	program health >/dev/null 2>&1 && break || sleep 1
done
program health
program demo | grep -c CONFIRMED
