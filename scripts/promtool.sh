#!/usr/bin/env bash
# Prints the path of promtool, which checks ops/alerts.yml, or runs it with arguments: promtool.sh [ARGUMENTS]
# GATEWAYD_PROMTOOL names another one. Where none is there, it is taken out of Debian's package prometheus into build/: the package is not installed, since
# that would start a server. Without Debian it says what is missing and, asked for the path, fails: `make test` wants it.
set -euo pipefail
cd "$(dirname "$0")/.."

find_promtool() { command -v "${GATEWAYD_PROMTOOL:-promtool}" || { [ ! -x build/bin/promtool ] || echo "$PWD/build/bin/promtool"; }; }

promtool=$(find_promtool)
if [ -z "$promtool" ] && command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
	mkdir -p build/bin
	exec 9>build/promtool.lock
	flock 9 # two test runs may ask at once
	promtool=$(find_promtool)
	if [ -z "$promtool" ]; then
		echo "promtool: taking it out of Debian's package prometheus" >&2
		dir=$(mktemp -d)
		trap 'rm -rf "$dir"' EXIT
		chmod 755 "$dir" # apt-get reads and writes there as another user
		(cd "$dir" && { apt-get download -q prometheus >/dev/null 2>&1 || { apt-get update -q >/dev/null && apt-get download -q prometheus >/dev/null; }; }) || true
		if compgen -G "$dir/prometheus_*.deb" >/dev/null; then
			dpkg-deb --fsys-tarfile "$dir"/prometheus_*.deb | tar -x -C "$dir" ./usr/bin/promtool
			mv "$dir/usr/bin/promtool" build/bin/promtool
			promtool=$(find_promtool)
		fi
	fi
fi
if [ -z "$promtool" ]; then
	echo "promtool: not here; install Prometheus, or name it in GATEWAYD_PROMTOOL" >&2
	[ $# != 0 ]
	exit
fi
if [ $# = 0 ]; then
	echo "$promtool"
	exit
fi
exec "$promtool" "$@"
