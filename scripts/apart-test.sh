# What package-test.sh and image-test.sh share: both chains, the configuration of a gateway whose signer is another user's, and a user of it.
# They set `program` and `demo`, the commands that run gatewayd and gatewaydemo as the daemon's user, and `folder`, where that user may write.
token=tti_687d8a93915393b219212c73 everybody='climb weasel symbol pluck police congress industry crunch lawsuit auto arch gallery'
source=http://127.0.0.1:18545 exchange=http://127.0.0.1:18133 gateway=127.0.0.1:8081

# chains starts them as processes of their own; everybody's accounts have coins there, and nobody uses the gateway that comes with the first:
# it has the same keys, and halts its account when the other one has paid with it, which only its log need say.
chains() {
	"${program[@]}" dev --market=false --dir "$inside/source-chain" --source-listen "${source#http://}" --listen 127.0.0.1:18080 --operators 127.0.0.1:18070 \
		--exchange-listen 127.0.0.1:18132 --api '' >/dev/null 2>"$folder/source-chain.log" &
	"${program[@]}" chain run --dir "$inside/exchange-chain" --listen "${exchange#http://}" --ws 127.0.0.1:18134 --snapshot-interval 200ms >/dev/null &
	eventually "${program[@]}" health --url http://127.0.0.1:18080/health
}

# configure makes config.yaml, signer.yaml and policy.yaml in the folder: configure DATA SIGNER-DATA STORE PASSWORD-FILE PEER
configure() {
	"${program[@]}" config init -c "$inside/config.yaml" --data "$1" --source-node $source --exchange-node $exchange --token native,$token,0.01,0,0.01 --listen $gateway \
		--signer unix:/run/gatewayd-signer/signer.sock --signer-config "$inside/signer.yaml" --signer-data "$2" --store "$3" --password-file "$4" --signer-peer "$5" 2>/dev/null </dev/null
	# Money should arrive while somebody watches.
	sed -i 's/finality: finalized/finality: "3"/; s/confirmations: 180/confirmations: 2/; s/{count: 64, tag: true}/{count: 3}/; s/{count: 180}/{count: 2}/' "$folder/policy.yaml"
}

# bridged has a user deposit and withdraw.
bridged() {
	local key
	key=$(sed -n 's/.*"faucetKey": "\(.*\)".*/\1/p' "$folder/source-chain/dev.json")
	printf '{"gateway":"http://%s/gateway/eth","source":"%s","exchange":"%s","mnemonic":"%s","faucetKey":"%s","tokens":[{"symbol":"ETH-000","token":"%s","asset":"native","decimals":18,"minimum":"10000000000000000"}]}' \
		$gateway $source $exchange "$everybody" "$key" $token >"$folder/user.json"
	chmod 644 "$folder/user.json"
	"${demo[@]}" --info "$inside/user.json"
}
