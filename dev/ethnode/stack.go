package ethnode

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/eth/ethconfig"
	"github.com/ethereum/go-ethereum/eth/filters"
	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native" // callTracer registers itself
	"github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/p2p"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rpc"
)

// gasSink is the address of a contract that uses up all gas it is given.
func gasSink() common.Address {
	return common.HexToAddress("0x00000000000000000000000000000000000ba5ed")
}

// newStack builds the node with its chain at genesis in memory. Nothing runs and nothing listens
// yet.
func newStack(c Config) (*node.Node, *eth.Ethereum, error) {
	nodeConfig, err := nodeSettings(c)
	if err != nil {
		return nil, nil, err
	}
	stack, err := node.New(nodeConfig)
	if err != nil {
		return nil, nil, fmt.Errorf("making the node: %w", err)
	}
	backend, err := eth.New(stack, chainSettings(c))
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("making the chain: %w", err), stack.Close())
	}
	filterSystem := filters.NewFilterSystem(backend.APIBackend, filters.Config{})
	stack.RegisterAPIs([]rpc.API{{Namespace: "eth", Service: filters.NewFilterAPI(filterSystem)}})
	stack.RegisterAPIs(tracers.APIs(backend.APIBackend))
	return stack, backend, nil
}

func nodeSettings(c Config) (*node.Config, error) {
	host, port, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	settings := node.DefaultConfig
	settings.Name = "gatewayd-devnode"
	settings.DataDir = "" // in memory; the block log is durable
	settings.IPCPath = ""
	settings.P2P = p2p.Config{NoDiscovery: true, NoDial: true}
	modules := []string{"eth", "net", "web3", "txpool"}
	if !c.Public {
		modules = append(modules, "debug")
	}
	settings.HTTPHost, settings.HTTPPort, settings.HTTPModules = host, port, modules
	settings.HTTPCors, settings.WSOrigins = []string{"*"}, []string{"*"} // pages of any origin may try it; its keys are public
	settings.WSHost, settings.WSPort, settings.WSModules = host, port, modules
	return &settings, nil
}

func chainSettings(c Config) *ethconfig.Config {
	settings := ethconfig.Defaults
	settings.Genesis = genesis(c)
	settings.SyncMode = ethconfig.FullSync
	settings.NetworkId = c.ChainID
	settings.StateScheme = rawdb.HashScheme
	settings.NoPruning = true // a follower that was away may ask for the trace of any block
	settings.SnapshotCache = 0
	settings.TrieCleanCache = 16
	settings.DatabaseCache = 16
	settings.LogNoHistory = true
	settings.TransactionHistory = 0 // all of it
	settings.TxPool.NoLocals = true
	settings.TxPool.Journal = ""
	settings.Miner.GasCeil = gasLimit
	return &settings
}

// genesis is the same for the same Config, so that a block log fits the chain it came from.
func genesis(c Config) *core.Genesis {
	g := &core.Genesis{
		Config:     rules(c),
		GasLimit:   gasLimit,
		BaseFee:    big.NewInt(params.InitialBaseFee),
		Difficulty: common.Big0,
		Alloc:      allocation(c),
	}
	if c.Legacy {
		g.BaseFee, g.Difficulty = nil, params.MinimumDifficulty
	}
	return g
}

// rules are those of the public network, all from block zero on.
func rules(c Config) *params.ChainConfig {
	if c.Legacy {
		return legacyRules(c)
	}
	zero := uint64(0)
	r := *params.AllDevChainProtocolChanges
	r.ChainID = new(big.Int).SetUint64(c.ChainID)
	r.BogotaTime, r.AmsterdamTime = nil, nil
	if c.Amsterdam {
		r.AmsterdamTime = &zero
	}
	return &r
}

// legacyRules are those before proof of stake and, up to London, before the base fee.
func legacyRules(c Config) *params.ChainConfig {
	r := *params.AllEthashProtocolChanges
	r.ChainID = new(big.Int).SetUint64(c.ChainID)
	r.TerminalTotalDifficulty = new(big.Int).Lsh(common.Big1, 255) // never reached
	r.LondonBlock, r.ArrowGlacierBlock, r.GrayGlacierBlock = nil, nil, nil
	if c.London > 0 {
		r.LondonBlock = new(big.Int).SetUint64(c.London)
	}
	return &r
}

// allocation gives the system contracts that blocks cannot do without, and the accounts with coins.
//
// Left out on purpose are the two contracts that write the parent's hashes into the state of each
// block (EIP-2935 and EIP-4788): without them an empty block leaves the state as it was, and a
// chain that makes one each second for days stays small.
func allocation(c Config) types.GenesisAlloc {
	alloc := core.SystemContractAllocs()
	delete(alloc, params.HistoryStorageAddress)
	delete(alloc, params.BeaconRootsAddress)
	alloc[gasSink()] = types.Account{Nonce: 1, Balance: common.Big0, Code: []byte{0xfe}} // INVALID
	plenty := new(big.Int).Lsh(common.Big1, 200)
	for address, wei := range c.Alloc {
		alloc[address] = types.Account{Balance: wei}
	}
	alloc[crypto.PubkeyToAddress(burnerKey().PublicKey)] = types.Account{Balance: plenty}
	alloc[crypto.PubkeyToAddress(c.FaucetKey.PublicKey)] = types.Account{Balance: plenty}
	return alloc
}
