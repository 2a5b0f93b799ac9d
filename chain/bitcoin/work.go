package bitcoin

import (
	"bytes"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"
	"golang.org/x/crypto/scrypt"

	"gatewayd/chain/bitcoin/network"
)

const (
	headerSize    = wire.MaxBlockHeaderPayload
	maxHeaderSize = headerSize
	// maxHeight is beyond any block's, and bounds what a node may claim.
	maxHeight = 1 << 30
	// medianBlocks are the blocks whose median time a new block must exceed.
	medianBlocks = 11
)

// rules are a network's rules for headers.
type rules struct {
	network *network.Network
	params  *chaincfg.Params
}

// paramsOf are the parameters of a network that rules of headers depend on. Those of Litecoin are
// as its nodes have them.
func paramsOf(n *network.Network) *chaincfg.Params {
	known := []*chaincfg.Params{&chaincfg.MainNetParams, &chaincfg.TestNet3Params, &chaincfg.TestNet4Params, &chaincfg.SigNetParams, &chaincfg.RegressionNetParams, &chaincfg.SimNetParams}
	if i := slices.IndexFunc(known, func(p *chaincfg.Params) bool { return *p.GenesisHash == n.Genesis }); i >= 0 {
		return known[i]
	}
	p := &chaincfg.Params{
		PowLimit: n.PowLimit, PowLimitBits: blockchain.BigToCompact(n.PowLimit),
		TargetTimespan: 84 * time.Hour, TargetTimePerBlock: 150 * time.Second, RetargetAdjustmentFactor: 4,
		BIP0034Height: 710_000, BIP0065Height: 918_684, BIP0066Height: 811_879,
	}
	if n.CoinType == testCoin {
		p.ReduceMinDifficulty, p.MinDiffReductionTime = true, 2*p.TargetTimePerBlock
		p.BIP0034Height, p.BIP0065Height, p.BIP0066Height = 76, 76, 76
	}
	if n.Name == "litecoin-regtest" {
		p.PoWNoRetargeting = true
		p.BIP0034Height, p.BIP0065Height, p.BIP0066Height = 500, 1351, 1251
	}
	return p
}

// testCoin is the type of SLIP-44 of all test networks.
const testCoin = 1

// checkWork checks that a header meets its target, and that the network allows such a target.
func (r rules) checkWork(h *wire.BlockHeader) error {
	target := blockchain.CompactToBig(h.Bits)
	if target.Sign() <= 0 || target.Cmp(r.network.PowLimit) > 0 {
		return fmt.Errorf("its target %08x is none of %s", h.Bits, r.network.Name)
	}
	hash := h.BlockHash()
	if r.network.Work == network.Scrypt {
		var raw bytes.Buffer
		if err := h.Serialize(&raw); err != nil {
			return err
		}
		key, err := scrypt.Key(raw.Bytes(), raw.Bytes(), 1024, 1, 1, chainhash.HashSize)
		if err != nil {
			return err
		}
		hash = chainhash.Hash(key)
	}
	if blockchain.HashToBig(&hash).Cmp(target) > 0 {
		return fmt.Errorf("its hash does not meet its target %08x: there is no work in it", h.Bits)
	}
	return nil
}

// checkNext checks a header against the rules that follow from those below it: its target and time.
func (r rules) checkNext(h *wire.BlockHeader, parent *header) error {
	return blockchain.CheckBlockHeaderContext(h, below{parent, r}, blockchain.BFNone, r, true)
}

// lowest is the lowest block that the rules for the blocks above a height look at.
func (r rules) lowest(height uint64) uint64 {
	low := height
	if !r.params.PoWNoRetargeting {
		low -= low % uint64(r.BlocksPerRetarget())
		low -= min(low, 1) // Litecoin's
	}
	return min(low, height-min(height, medianBlocks))
}

// ChainParams, and what follows, are blockchain.ChainCtx.
func (r rules) ChainParams() *chaincfg.Params { return r.params }

func (r rules) BlocksPerRetarget() int32 {
	return int32(r.params.TargetTimespan / r.params.TargetTimePerBlock)
}

func (r rules) MinRetargetTimespan() int64 {
	return int64(r.params.TargetTimespan/time.Second) / r.params.RetargetAdjustmentFactor
}

func (r rules) MaxRetargetTimespan() int64 {
	return int64(r.params.TargetTimespan/time.Second) * r.params.RetargetAdjustmentFactor
}

func (r rules) VerifyCheckpoint(int32, *chainhash.Hash) bool { return true }

func (r rules) FindPreviousCheckpoint() (blockchain.HeaderCtx, error) { return nil, nil }

// header is a header whose work and place are proven, with those below it.
type header struct {
	wire.BlockHeader
	hash   chainhash.Hash
	height uint64
	work   *big.Int // of all blocks from the first kept one to this
	parent *header  // nil: it is the lowest that is kept
}

// ancestor is the header at a height at or below; nil: it is not kept.
func (h *header) ancestor(height uint64) *header {
	for h != nil && h.height > height {
		h = h.parent
	}
	if h == nil || h.height != height {
		return nil
	}
	return h
}

// below is a header as the rules look at it.
type below struct {
	header *header
	rules  rules
}

func (b below) Height() int32 { return int32(b.header.height) }

func (b below) Bits() uint32 { return b.header.Bits }

func (b below) Timestamp() int64 { return b.header.BlockHeader.Timestamp.Unix() }

func (b below) Parent() blockchain.HeaderCtx {
	if b.header.parent == nil {
		return nil
	}
	return below{b.header.parent, b.rules}
}

// RelativeAncestorCtx returns the block of a distance below. The rules ask for the first block of a
// period with it. Litecoin measures a period from the block before, except the first.
func (b below) RelativeAncestorCtx(distance int32) blockchain.HeaderCtx {
	height := b.header.height - uint64(distance)
	if b.rules.network.Work == network.Scrypt && height > 0 {
		height--
	}
	if found := b.header.ancestor(height); found != nil {
		return below{found, b.rules}
	}
	return nil
}
