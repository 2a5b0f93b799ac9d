#!/usr/bin/env bash
# Installs and runs what `make release` left in build/release: release-test.sh [CHECK ...]
# checksums, files (of the archive), rebuild (the same bytes from another folder and an empty cache), package (in a Debian without Go or Node, under its systemd),
# image (read-only, not root), arm64 (under qemu). Needs root, for it makes a root file system with debootstrap and enters it.
set -uo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "release-test: run it as root" >&2 && exit 1; }
home=$PWD/build/release-test release=$PWD/build/release
base=$home/base root=$home/root
mkdir -p "$home"
[ -f "$release/SHA256SUMS" ] || { echo "release-test: no release in build/release; make release first" >&2 && exit 1; }
version=$(basename "$release"/gatewayd_*_image.tar _image.tar) && version=${version#gatewayd_}

wanted=()
for tool in debootstrap:debootstrap systemd-nspawn:systemd-container qemu-aarch64-static:qemu-user-static ip:iproute2 setpriv:util-linux; do
	command -v "${tool%:*}" >/dev/null || wanted+=("${tool#*:}")
done
if [ ${#wanted[@]} -gt 0 ]; then
	apt-get update -q >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${wanted[@]}" >/dev/null || exit 1
fi

# debian makes a fresh Debian root, from one that is kept.
debian() {
	if [ ! -f "$base/made" ]; then
		rm -rf "$base" && mkdir -p "$base"
		debootstrap --variant=minbase --include=systemd,systemd-sysv,dbus,ca-certificates bookworm "$base" >"$home/debootstrap.log" 2>&1 || { tail -3 "$home/debootstrap.log" && return 1; }
		touch "$base/made"
	fi
	rm -rf "$root" && cp -a "$base" "$root"
}

checksums() { (cd "$release" && sha256sum --quiet -c SHA256SUMS); }

# Files that run several processes are in the archive.
files() {
	local list
	list=$(tar -tzf "$release/gatewayd_${version}_linux_amd64.tar.gz") &&
		grep -q /ops/haproxy.cfg <<<"$list" && grep -q /ops/kubernetes/kustomization.yaml <<<"$list" && grep -q /ops/postgres/grants.sql <<<"$list"
}

# The same sources in another folder, compiled anew.
rebuild() {
	local other=$home/rebuild commit
	commit=$(tar -xOzf "$release/gatewayd_${version}_linux_amd64.tar.gz" "gatewayd_${version}_linux_amd64/gatewayd" >"$home/gatewayd" && chmod +x "$home/gatewayd" &&
		"$home/gatewayd" version --json | sed -n 's/.*"commit": "\(.*\)".*/\1/p')
	rm -rf "$other" && git clone -q . "$other" && git -C "$other" checkout -q "$commit" &&
		GOCACHE=$home/cache "$other/scripts/build.sh" amd64 "$version" "$commit" "$home/again" && cmp "$home/gatewayd" "$home/again"
}

# demo builds the program that acts as a user. It is not in the release.
demo() { # root file system, whose programs it joins
	scripts/build.sh amd64 "$version" '' "$home/gatewaydemo" gatewaydemo && install -D -m 755 "$home/gatewaydemo" "$1/usr/local/bin/gatewaydemo"
}

# The package in a Debian that its systemd has started: the service itself, closed in as its unit says.
package() {
	debian && cp "$release"/gatewayd_*_amd64.deb "$root/root/" && install -m 755 scripts/package-test.sh scripts/apart-test.sh "$root/root/" && demo "$root" || return 1
	cat >"$root/etc/systemd/system/package-test.service" <<-'UNIT'
		[Service]
		ExecStart=/bin/sh -c '/root/package-test.sh >/root/log 2>&1; systemctl exit $$?'
		[Install]
		WantedBy=multi-user.target
	UNIT
	mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
	ln -s ../package-test.service "$root/etc/systemd/system/multi-user.target.wants/"
	rm -f "$root/root/log"
	systemd-nspawn --quiet --register=no --keep-unit --private-network --machine="gatewayd-$$" -D "$root" --boot >"$home/boot.log" 2>&1
	local code=$?
	cat "$root/root/log"
	return $code
}

# The image's root, read-only but for the folders of its users, as them without any rights.
image() {
	local at=$home/image
	rm -rf "$at" && mkdir -p "$at" && go run ./scripts/release unpack "$release/gatewayd_${version}_image.tar" linux/amd64 "$at" && demo "$at" || return 1
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
[ $# -gt 0 ] || set -- checksums files package image arm64 rebuild
for check in "$@"; do
	if "$check"; then
		passed=$((passed + 1)) && echo "ok      $check"
	else
		failed=$((failed + 1)) && echo "FAILED  $check"
	fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
