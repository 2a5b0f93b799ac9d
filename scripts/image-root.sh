#!/usr/bin/env bash
# Lays out the root file system of the container image: image-root.sh BINARY ROOT
# /data and /home/nonroot, which are its user's, and the signer's folders come with the image. Nothing is in it but the program, users, Mozilla's certificate authorities and the licences. The authorities come from Debian's
# package, not from /etc/ssl: a machine's own additions have no place in an image.
set -euo pipefail
binary=$(realpath "$1") root=$2
cd "$(dirname "$0")/.."

authorities=/usr/share/ca-certificates/mozilla
[ -d $authorities ] || { echo "image-root: $authorities is not there; install ca-certificates" >&2 && exit 1; }
rm -rf "$root"
umask 022
mkdir -p "$root"/{tmp,home,run,var/lib,usr/local/bin,usr/share/doc/gatewayd,etc/ssl/certs}
install -m 755 "$binary" "$root/usr/local/bin/gatewayd"
LC_ALL=C cat $authorities/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
chmod 1777 "$root/tmp"
printf '%s\n' root:x:0:0:root:/root:/sbin/nologin nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin signer:x:65533:65533:signer:/var/lib/gatewayd-signer:/sbin/nologin >"$root/etc/passwd"
printf '%s\n' root:x:0: nonroot:x:65532: signer:x:65533: >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
cp LICENSE NOTICE "$root/usr/share/doc/gatewayd/"
