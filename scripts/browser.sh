#!/usr/bin/env bash
# Prints the path of a browser that can be driven (Chromium or Chrome), for the tests of pages: browser.sh
# GATEWAYD_BROWSER names another one. Where none is there, Debian's chromium is installed when this runs as root; else this
# says what is missing, prints no path and succeeds: the tests that need a browser then say that they did not run.
set -euo pipefail

# works PROGRAM: a stub that asks for another installer does not.
works() { command -v "$1" >/dev/null && timeout 60 "$1" --version >/dev/null 2>&1; }

find_browser() {
	local name
	for name in "${GATEWAYD_BROWSER:-}" chromium chromium-browser google-chrome google-chrome-stable; do
		if [ -n "$name" ] && works "$name"; then
			command -v "$name"
			return
		fi
	done
}

# wanted lists the Debian packages that are missing: a browser, and a font with Chinese characters, without which the pages' pictures have empty boxes.
wanted() {
	[ -n "$browser" ] || echo chromium fonts-dejavu-core
	[ -n "$(fc-list :lang=zh 2>/dev/null)" ] || echo fonts-wqy-microhei
}

browser=$(find_browser)
if [ -n "$(wanted)" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
	exec 9>/tmp/gatewayd-browser.lock
	flock 9 # two test runs may ask at once
	browser=$(find_browser)
	packages=$(wanted)
	if [ -n "$packages" ]; then
		echo "browser: installing" $packages >&2
		export DEBIAN_FRONTEND=noninteractive
		apt-get update -q >/dev/null
		# shellcheck disable=SC2086
		apt-get install -y -q --no-install-recommends $packages >/dev/null
		browser=$(find_browser)
	fi
fi
if [ -z "$browser" ]; then
	echo "browser: no Chromium or Chrome here; install one, or name it in GATEWAYD_BROWSER" >&2
	exit 0
fi
echo "$browser"
