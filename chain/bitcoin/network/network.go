// Package network has the parameters of Bitcoin's networks and their kin, and their addresses.
//
// It owns the addresses of the five kinds that are paid, with their scripts, and the addresses of
// an account by BIP-84 and BIP-86. It reads no block and asks no node.
package network

import (
	"math/big"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
)

// Work is the kind of a network's proof of work.
type Work string

// The kinds of proof of work. A block's name is its double SHA-256 on all networks.
const (
	SHA256d Work = "sha256d"
	Scrypt  Work = "scrypt"
)

// Network is one chain of blocks with its form of addresses.
type Network struct {
	Name      string // as the configuration has it
	Genesis   chainhash.Hash
	Work      Work
	PowLimit  *big.Int // the highest target of a block; read only
	CoinType  uint32   // SLIP-44; all test networks share 1
	Bech32    string   // the prefix of witness addresses, without the separator
	MWEB      string   // the same of the extension's addresses, which are not paid; empty without one
	dustRate  int64    // satoshi per vbyte, below which nodes relay no output
	keyHash   byte     // version of P2PKH
	hash      byte     // version of P2SH as printed
	olderHash byte     // the older version of P2SH, also read
}

// satoshi per vbyte at which an output must be worth its own spending
const (
	bitcoinDustRate  = 3
	litecoinDustRate = 30
)

const (
	bitcoinCoin  = 0
	testCoin     = 1
	litecoinCoin = 2
)

// networks are read only.
var networks = []*Network{
	bitcoin("bitcoin", bitcoinCoin, &chaincfg.MainNetParams),
	bitcoin("bitcoin-testnet3", testCoin, &chaincfg.TestNet3Params),
	bitcoin("bitcoin-testnet4", testCoin, &chaincfg.TestNet4Params),
	bitcoin("bitcoin-signet", testCoin, &chaincfg.SigNetParams),
	bitcoin("bitcoin-regtest", testCoin, &chaincfg.RegressionNetParams),
	bitcoin("bitcoin-simnet", testCoin, &chaincfg.SimNetParams),
	litecoin("litecoin", litecoinCoin, "12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2", litecoinPowLimitBits, "ltc", "ltcmweb", versions{48, 50, 5}),
	litecoin("litecoin-testnet", testCoin, "4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0", litecoinPowLimitBits, "tltc", "tmweb", versions{111, 58, 196}),
	litecoin("litecoin-regtest", testCoin, "530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9", regtestPowLimitBits, "rltc", "tmweb", versions{111, 58, 196}),
}

// Named is the network of a name in the configuration, or nil.
func Named(name string) *Network {
	if i := slices.IndexFunc(networks, func(n *Network) bool { return n.Name == name }); i >= 0 {
		return networks[i]
	}
	return nil
}

// Names are the names of all networks.
func Names() []string { return namesOf(func(*Network) bool { return true }) }

func namesOf(has func(*Network) bool) (names []string) {
	for _, n := range networks {
		if has(n) {
			names = append(names, n.Name)
		}
	}
	return names
}

func bitcoin(name string, coin uint32, p *chaincfg.Params) *Network {
	return &Network{
		Name: name, Genesis: *p.GenesisHash, Work: SHA256d, PowLimit: p.PowLimit, CoinType: coin, Bech32: p.Bech32HRPSegwit,
		dustRate: bitcoinDustRate, keyHash: p.PubKeyHashAddrID, hash: p.ScriptHashAddrID, olderHash: p.ScriptHashAddrID,
	}
}

// zero bits before the ones of Litecoin's highest targets
const (
	litecoinPowLimitBits = 20
	regtestPowLimitBits  = 1
)

// versions are the first bytes of a network's older addresses.
type versions struct{ keyHash, hash, olderHash byte }

func litecoin(name string, coin uint32, genesis string, zeros uint, bech32, mweb string, v versions) *Network {
	hash, err := chainhash.NewHashFromStr(genesis)
	if err != nil {
		panic("network: " + name + ": " + err.Error())
	}
	limit := new(big.Int).Lsh(big.NewInt(1), 256-zeros)
	return &Network{
		Name: name, Genesis: *hash, Work: Scrypt, PowLimit: limit.Sub(limit, big.NewInt(1)), CoinType: coin, Bech32: bech32, MWEB: mweb,
		dustRate: litecoinDustRate, keyHash: v.keyHash, hash: v.hash, olderHash: v.olderHash,
	}
}
