#!/usr/bin/env bash
# Installs and runs what `make release` left in build/release: release-test.sh [CHECK ...]
# checksums, rebuild (the same bytes from another folder and an empty cache), package (in a Debian root without Go or Node), hardening,
# image (read-only, not root), arm64 (under qemu). Needs root, for it makes a root file system with debootstrap and enters it.
set -uo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "release-test: run it as root" >&2 && exit 1; }
home=$PWD/build/release-test release=$PWD/build/release
base=$home/base root=$home/root
[ -f "$release/SHA256SUMS" ] || { echo "release-test: no release in build/release; make release first" >&2 && exit 1; }
version=$(basename "$release"/gatewayd_*_image.tar _image.tar) && version=${version#gatewayd_}

wanted=()
for tool in debootstrap:debootstrap qemu-aarch64-static:qemu-user-static ip:iproute2 setpriv:util-linux; do
	command -v "${tool%:*}" >/dev/null || wanted+=("${tool#*:}")
done
if [ ${#wanted[@]} -gt 0 ]; then
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${wanted[@]}" >/dev/null || exit 1
fi

# inside runs a command in a root file system, with processes and a network of its own.
inside() { # root, command ...
	local at=$1
	shift
	# shellcheck disable=SC2016
	unshare --mount --pid --net --fork --kill-child bash -c '
		ip link set lo up && mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount -t tmpfs -o mode=1777 tmp "$0/tmp" && exec chroot "$0" "$@"' "$at" "$@"
}

# debian makes a fresh Debian root, from one that is kept.
debian() {
	if [ ! -f "$base/made" ]; then
		rm -rf "$base" && mkdir -p "$base"
		debootstrap --variant=minbase --include=systemd,ca-certificates bookworm "$base" >"$home/debootstrap.log" 2>&1 || { tail -3 "$home/debootstrap.log" && return 1; }
		touch "$base/made"
	fi
	rm -rf "$root" && cp -a "$base" "$root"
}

checksums() { (cd "$release" && sha256sum --quiet -c SHA256SUMS); }

# The same sources in another folder, compiled anew.
rebuild() {
	local other=$home/rebuild commit
	commit=$(tar -xOzf "$release/gatewayd_${version}_linux_amd64.tar.gz" "gatewayd_${version}_linux_amd64/gatewayd" >"$home/gatewayd" && chmod +x "$home/gatewayd" &&
		"$home/gatewayd" version --json | sed -n 's/.*"commit": "\(.*\)".*/\1/p')
	rm -rf "$other" && git clone -q . "$other" && git -C "$other" checkout -q "$commit" &&
		GOCACHE=$home/cache "$other/scripts/build.sh" amd64 "$version" "$commit" "$home/again" && cmp "$home/gatewayd" "$home/again"
}

# The unit's own commands, as its user.
package() {
	debian && cp "$release"/gatewayd_*_amd64.deb "$root/root/" && install -m 755 scripts/package-test.sh "$root/root/" && inside "$root" /root/package-test.sh
}

# How far the service is closed in: systemd's figure, 0 (closed) to 10.
hardening() {
	debian && dpkg-deb -x "$release"/gatewayd_*_amd64.deb "$root" && inside "$root" systemd-sysusers &&
		inside "$root" systemd-analyze verify /usr/lib/systemd/system/gatewayd.service &&
		inside "$root" systemd-analyze security --offline=true --no-pager --threshold=20 gatewayd.service | tail -1
}

# The image's root, read-only but for /data and /tmp, as its user without any rights.
image() {
	local at=$home/image
	rm -rf "$at" && mkdir -p "$at" && go run ./scripts/release unpack "$release/gatewayd_${version}_image.tar" linux/amd64 "$at" || return 1
	unshare --mount --pid --net --fork --kill-child scripts/image-test.sh "$at"
}

# The other architecture's binary and package.
arm64() {
	local name=gatewayd_${version}_linux_arm64
	tar -xOzf "$release/$name.tar.gz" "$name/gatewayd" >"$home/gatewayd-arm64" && chmod +x "$home/gatewayd-arm64" &&
		qemu-aarch64-static "$home/gatewayd-arm64" version | grep -x 'built by go.* for linux/arm64' &&
		qemu-aarch64-static "$home/gatewayd-arm64" config check --quiet -c config.example.yaml &&
		[ "$(dpkg-deb -f "$release"/gatewayd_*_arm64.deb Architecture)" = arm64 ]
}

passed=0 failed=0
[ $# -gt 0 ] || set -- checksums package hardening image arm64 rebuild
for check in "$@"; do
	if "$check"; then
		passed=$((passed + 1)) && echo "ok      $check"
	else
		failed=$((failed + 1)) && echo "FAILED  $check"
	fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
