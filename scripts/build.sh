#!/usr/bin/env bash
# Builds gatewayd as one static file: build.sh ARCHITECTURE VERSION COMMIT OUTPUT [PROGRAM]
# PROGRAM is another folder of cmd.
# cgo is for SQLite. The tags keep the C library's resolver, user database and loader out, so that linking it statically is sound.
# The same sources, Go and C compiler give the same bytes, whatever folder they are in.
set -euo pipefail
arch=$1 version=$2 commit=$3 output=$(realpath -m "$4") program=${5:-gatewayd}
cd "$(dirname "$0")/.."

export GOOS=linux GOARCH=$arch CGO_ENABLED=1
if [ "$arch" != "$(go env GOHOSTARCH)" ]; then
	case $arch in
	amd64) compiler=x86_64-linux-gnu ;;
	arm64) compiler=aarch64-linux-gnu ;;
	*) echo "build: no cross compiler is known for $arch" >&2 && exit 1 ;;
	esac
	export CC=$compiler-gcc
	if ! command -v "$CC" >/dev/null; then
		[ "$(id -u)" = 0 ] || { echo "build: $CC is wanted; install gcc-${compiler/_/-}" >&2 && exit 1; }
		apt-get update -q >/dev/null
		DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "gcc-${compiler/_/-}" "libc6-dev-$arch-cross" >/dev/null
	fi
fi
go build -trimpath -buildvcs=false -tags netgo,osusergo,sqlite_omit_load_extension,timetzdata \
	-ldflags "-s -w -linkmode external -extldflags \"-static\" -X gatewayd/daemon.version=$version -X gatewayd/daemon.commit=$commit" \
	-o "$output" "./cmd/$program"
