#!/usr/bin/env bash
# Prints the path of HAProxy for the test of ops/haproxy.cfg: haproxy.sh
# Debian's haproxy is installed where it is missing and this runs as root.
set -euo pipefail

if ! command -v haproxy; then
	if [ "$(id -u)" != 0 ]; then
		echo "haproxy: not found; install HAProxy" >&2
		exit 1
	fi
	echo "haproxy: installing Debian's haproxy" >&2
	export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
	apt-get update -q >/dev/null
	apt-get install -y -q --no-install-recommends haproxy >/dev/null
	command -v haproxy
fi
