package node

import (
	"time"

	"github.com/holiman/uint256"

	"gatewayd/chain/vite/core"
)

// Genesis is what the chain begins with. The same genesis gives the same hashes.
type Genesis struct {
	// Time of snapshot block 1, cut to whole seconds. Zero is 2019-05-21 04:00:00 UTC, as on the main network.
	Time time.Time
	// ProducerSeed is the seed of the key that signs snapshot blocks and contract receives; all zero is a fixed
	// well-known key.
	ProducerSeed [core.SeedSize]byte
	// Tokens, VITE among them or not: without it VITE is added with its usual description and the supply that the
	// accounts hold.
	Tokens []TokenInfo
	// Accounts with balances, each balance's token being VITE or listed in Tokens.
	Accounts []GenesisAccount
	// Stakes of the older kind (zero id), besides the balances; they expire at height 259200.
	Stakes []GenesisStake
}

// GenesisAccount has a genesis receive block (type 7) at height 1.
type GenesisAccount struct {
	Address  core.Address
	Balances map[core.TokenID]uint256.Int
}

// GenesisStake is VITE locked for a beneficiary's quota.
type GenesisStake struct {
	Staker, Beneficiary core.Address
	Amount              uint256.Int
}
