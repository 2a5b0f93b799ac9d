#!/usr/bin/env bash
# Runs a command beside a throw-away PostgreSQL server: postgres.sh COMMAND [ARGUMENT ...]
# The command finds a superuser's URL in GATEWAYD_TEST_POSTGRES. The server listens on a Unix socket only, keeps its files in
# a temporary folder, does not care for a power cut, and is gone when the command ends, however it ends.
# Missing programs are installed from Debian's postgresql when this runs as root.
set -euo pipefail

# The Debian package keeps its programs out of PATH, one folder for each version.
programs() {
	local found
	found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
	if [ -n "$found" ] && [ -x "$found/initdb" ]; then
		echo "$found"
	elif found=$(command -v initdb); then
		dirname "$(readlink -f "$found")"
	fi
}

bin=$(programs)
if [ -z "$bin" ]; then
	if [ "$(id -u)" != 0 ]; then
		echo "postgres: no initdb here; install PostgreSQL" >&2
		exit 1
	fi
	echo "postgres: installing Debian's postgresql"
	export DEBIAN_FRONTEND=noninteractive
	apt-get update -q >/dev/null
	apt-get install -y -q --no-install-recommends postgresql >/dev/null
	bin=$(programs)
fi

# The server refuses to run as root.
as() {
	if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

home=$(mktemp -d /tmp/gatewayd-postgres.XXXXXX)
stop() {
	(cd / && as "$bin/pg_ctl" -D "$home/data" -m immediate -s stop) 2>/dev/null || true
	rm -rf "$home"
}
trap stop EXIT
trap 'exit 130' INT TERM HUP

if [ "$(id -u)" = 0 ]; then chown postgres "$home"; fi
(
	cd /
	as "$bin/initdb" -D "$home/data" -U postgres --auth=trust --no-sync --encoding=UTF8 --locale=C >"$home/initdb.log" 2>&1 ||
		{ cat "$home/initdb.log" >&2 && exit 1; }
	as "$bin/pg_ctl" -D "$home/data" -s -w -l "$home/data/server.log" start -o "-k $home -c listen_addresses= \
		-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=200" ||
		{ cat "$home/data/server.log" >&2 && exit 1; }
)

export GATEWAYD_TEST_POSTGRES="postgres://postgres@/postgres?host=$home"
"$@"
