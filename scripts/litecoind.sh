#!/usr/bin/env bash
# Prints the path of litecoind for the tests of chain/bitcoin: litecoind.sh
# GATEWAYD_LITECOIND names another one. Debian's package and its libraries are unpacked in build/litecoind, without root; a call that finds them does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${GATEWAYD_LITECOIND:-}" ]; then
	echo "$GATEWAYD_LITECOIND"
	exit
fi
target=$PWD/build/litecoind
if [ ! -x "$target/litecoind" ]; then
	mkdir -p "$target/packages"
	exec 9>"$target/lock"
	flock 9 # two test runs may ask at once
fi
if [ ! -x "$target/litecoind" ]; then
	echo "litecoind: unpacking Debian's litecoind into build/litecoind" >&2
	cd "$target/packages"
	# libsnappy1v5 is a library of libleveldb1d. What every Debian system has is not fetched.
	fetch() {
		wanted=$(apt-cache depends litecoind | awk '$1=="Depends:" && $2!~/^(libc6|libgcc-s1|libstdc\+\+6|libssl3)$/ {print $2}')
		# shellcheck disable=SC2086
		[ -n "$wanted" ] && apt-get download -q litecoind libsnappy1v5 $wanted >/dev/null 2>&1
	}
	fetch || { apt-get update -q >/dev/null && fetch; }
	for package in *.deb; do dpkg-deb -x "$package" "$target/root"; done
	libraries=$(find "$target/root/usr/lib" -maxdepth 1 -name '*-linux-gnu')
	program=$target/root/usr/lib/litecoin/litecoind
	if LD_LIBRARY_PATH=$libraries ldd "$program" | grep 'not found' >&2; then
		exit 1
	fi
	cat >"$target/litecoind.new" <<-EOF
		#!/bin/sh
		LD_LIBRARY_PATH=$libraries exec $program "\$@"
	EOF
	chmod +x "$target/litecoind.new"
	mv "$target/litecoind.new" "$target/litecoind"
	rm -r "$target/packages"
fi
echo "$target/litecoind"
