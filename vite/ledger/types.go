package ledger

import (
	"time"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
)

// Transfer is value on its way from one account to another.
type Transfer struct {
	From, To    core.Address
	Token       core.TokenID
	Amount, Fee uint256.Int
}

// BlockID places an account block in its account's chain.
type BlockID struct {
	Height uint64
	Hash   core.Hash
}

// Point is a place in the snapshot chain.
type Point struct {
	Height uint64
	Hash   core.Hash
	Time   time.Time // full seconds
}

// TokenInfo is a token as the asset contract keeps it.
type TokenInfo struct {
	_                         struct{} `cbor:",toarray"`
	ID                        core.TokenID
	Name, Symbol              string
	Decimals                  uint8
	Owner                     core.Address
	TotalSupply               uint256.Int
	MaxSupply                 uint256.Int // 0 for a fixed supply
	ReIssuable, OwnerBurnOnly bool
	Index                     uint16 // counts tokens of one symbol from 0
}

// Stake is one staking record.
type Stake struct {
	_                struct{}  `cbor:",toarray"`
	ID               core.Hash // hash of the staking send; zero for the older kind (Stake, Pledge, genesis)
	Staker           core.Address
	Beneficiary      core.Address
	Amount           uint256.Int
	ExpirationHeight uint64
	ExpirationTime   time.Time `cbor:"-"` // at one snapshot block per second
}

// ContractInfo describes a contract account.
type ContractInfo struct {
	_               struct{} `cbor:",toarray"`
	Code            []byte   // nil for a built-in contract
	GID             core.GID
	ResponseLatency uint8
	RandomDegree    uint8
	QuotaMultiplier uint8
	Builtin         bool
}

// VMLog is an event that a contract's receive block emitted.
type VMLog struct {
	Topics []core.Hash
	Data   []byte
}
