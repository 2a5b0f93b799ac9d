#!/usr/bin/env bash
# Prints the path of SoftHSM2's PKCS#11 module, on which keys in a hardware security module are tested: softhsm.sh
# GATEWAYD_PKCS11 names another one. Where none is there, Debian's package is installed when this runs as root; else this says what is missing, prints no
# path and succeeds: the tests that need a module then say that they did not run.
set -euo pipefail

find_module() {
	local path
	for path in "${GATEWAYD_PKCS11:-}" /usr/lib/softhsm/libsofthsm2.so /usr/lib64/pkcs11/libsofthsm2.so /usr/lib/*/softhsm/libsofthsm2.so; do
		if [ -n "$path" ] && [ -f "$path" ]; then
			echo "$path"
			return
		fi
	done
}

module=$(find_module)
if [ -z "$module" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	exec 9>/tmp/gatewayd-softhsm.lock
	flock 9 # two test runs may ask at once
	module=$(find_module)
	if [ -z "$module" ]; then
		echo "softhsm: installing Debian's softhsm2" >&2
		export DEBIAN_FRONTEND=noninteractive
		apt-get install -y -q --no-install-recommends softhsm2 >/dev/null 2>&1 || { apt-get update -q >/dev/null && apt-get install -y -q --no-install-recommends softhsm2 >/dev/null; }
		module=$(find_module)
	fi
fi
[ -n "$module" ] || echo "softhsm: no SoftHSM2 here; install it, or name a PKCS#11 module in GATEWAYD_PKCS11" >&2
echo "$module"
