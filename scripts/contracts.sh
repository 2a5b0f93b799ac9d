#!/usr/bin/env bash
# Regenerates chain/ethereum/contracts (abi, bin, Go bindings) from its Solidity sources: contracts.sh
# With --check it changes nothing and fails if what is committed differs from what the sources give.
set -euo pipefail
cd "$(dirname "$0")/.."

home=chain/ethereum/contracts
names=(Payouts HostilePayee HostileToken TestToken TestFeed FeeToken FreezableToken RebasingToken SilentToken LyingToken BatchPayer Forwarder Rejector)

generate() { # target folder
	node scripts/solc.js $home/src "$1/abi"
	rm -f "$1/abi/Ephemeral".* # made by Forwarder only
	for name in "${names[@]}"; do
		file=$(echo "$name" | sed -E 's/([a-z])([A-Z])/\1_\2/g' | tr '[:upper:]' '[:lower:]')
		build/bin/abigen --v2 --abi "$1/abi/$name.abi" --bin "$1/abi/$name.bin" --pkg contracts --type "$name" --out "$1/${file}_gen.go"
	done
	gofmt -w "$1"/*_gen.go
	chmod 644 "$1"/*_gen.go
}

scripts/npm-install.sh
scripts/go-tool.sh abigen

if [ "${1:-}" != --check ]; then
	rm -f $home/*_gen.go $home/abi/*
	generate $home
	exit 0
fi

mkdir -p build
fresh=$(mktemp -d build/contracts.XXXXXX)
trap 'rm -rf "$fresh"' EXIT
generate "$fresh"
diff -r --exclude=src --exclude=doc.go --exclude='*_test.go' "$fresh" $home >&2 || {
	echo "contracts: the committed files differ from what src/ gives; run make contracts" >&2
	exit 1
}
