#!/usr/bin/env bash
# Builds the pages of web/ui into web/dist, which is committed and is part of the program: building that takes no Node. With
# --check it builds into build/web only and fails if the result differs from the committed one. The packages are those of
# web/ui/package-lock.json; they and intermediate files stay in build/web, which is a module of its own for Go.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p build/web
exec 9>build/web/.lock
flock 9 # two test runs may ask at once
rm -rf build/web/src build/web/out
cp -r web/ui/. build/web/
echo "module pages" >build/web/go.mod # some packages contain Go files, which are no packages of this module
cd build/web
if ! cmp -s package-lock.json .installed; then
	npm ci --no-audit --no-fund --loglevel=error
	cp package-lock.json .installed
fi
node node_modules/vite/bin/vite.js build --outDir out --emptyOutDir --logLevel warn
cd ../..

case "${1:-}" in
--check) diff -r build/web/out web/dist || { echo "web/dist differs from the sources in web/ui: run scripts/web.sh" >&2 && exit 1; } ;;
"")
	rm -rf web/dist
	cp -r build/web/out web/dist
	;;
*)
	echo "usage: $0 [--check]" >&2
	exit 2
	;;
esac
