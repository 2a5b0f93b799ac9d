package ledger

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holiman/uint256"
	"golang.org/x/crypto/blake2b"

	"gatewayd/vite/core"
)

// Genesis is the initial state of the chain. The same genesis gives the same hashes.
type Genesis struct {
	// Time of snapshot block 1, truncated to seconds. Zero is 2019-05-21 04:00:00 UTC, as on the
	// main network.
	Time time.Time
	// ProducerSeed is the seed of the key that signs snapshot blocks and contract receives; all
	// zero is a fixed well-known key.
	ProducerSeed [core.SeedSize]byte
	// Tokens, VITE among them or not: without it VITE is added with its usual description and the
	// supply that the accounts hold.
	Tokens []TokenInfo
	// Accounts with balances, each balance's token being VITE or listed in Tokens.
	Accounts []GenesisAccount
	// Stakes of the older kind (zero id), besides the balances; they expire at height StakeLock.
	Stakes []GenesisStake
	// StakeLock is the lock of a stake in snapshot blocks; 0 is 259200, three days.
	StakeLock uint64
	// ExchangeOwner is who may call dexFund's DexAdminConfig until that has stored an owner; zero:
	// the exchange stays closed.
	ExchangeOwner core.Address
	// PoWDifficulty is the difficulty of the work that pays for one transfer; what more quota takes
	// follows from it. 0 is that of the main network, 67108863; at most 2^40.
	PoWDifficulty uint64
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

// ErrGenesis marks a genesis that contradicts itself.
var ErrGenesis = errors.New("genesis is not valid")

// Check reports faults of the genesis; nil if a chain can begin with it. Errors are ErrGenesis.
func (g Genesis) Check() error {
	_, err := g.Normalised()
	return err
}

// Normalised fills in what the genesis leaves out and orders what has no order.
func (g Genesis) Normalised() (Genesis, error) {
	if g.Time.IsZero() {
		g.Time = time.Date(2019, 5, 21, 4, 0, 0, 0, time.UTC)
	}
	if g.StakeLock == 0 {
		g.StakeLock = defaultStakeLock
	}
	if g.PoWDifficulty == 0 {
		g.PoWDifficulty = MainDifficulty
	}
	g.Accounts = slices.SortedFunc(slices.Values(g.Accounts), func(a, b GenesisAccount) int {
		return CompareAddresses(a.Address, b.Address)
	})
	held, err := g.held()
	if err != nil {
		return g, err
	}
	g.Tokens = slices.Clone(g.Tokens)
	if !slices.ContainsFunc(g.Tokens, func(t TokenInfo) bool { return t.ID == core.VITE }) {
		g.Tokens = append(g.Tokens, viteToken(held[core.VITE]))
	}
	slices.SortFunc(g.Tokens, func(a, b TokenInfo) int { return compareTokens(a.ID, b.ID) })
	return g, g.check(held)
}

// viteToken is VITE as the main network describes it.
func viteToken(supply uint256.Int) TokenInfo {
	return TokenInfo{
		ID: core.VITE, Name: "Vite Token", Symbol: "VITE", Decimals: 18, ReIssuable: true,
		TotalSupply: supply, MaxSupply: *new(uint256.Int).SetAllOne(),
	}
}

// held sums what accounts and stakes hold per token.
func (g Genesis) held() (map[core.TokenID]uint256.Int, error) {
	sums := map[core.TokenID]uint256.Int{}
	add := func(token core.TokenID, amount uint256.Int) error {
		sum := sums[token]
		if _, over := sum.AddOverflow(&sum, &amount); over {
			return fmt.Errorf("%w: balances of %s exceed 2^256", ErrGenesis, token)
		}
		sums[token] = sum
		return nil
	}
	for _, a := range g.Accounts {
		for token, amount := range a.Balances {
			if err := add(token, amount); err != nil {
				return nil, err
			}
		}
	}
	for _, k := range g.Stakes {
		if err := add(core.VITE, k.Amount); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

func (g Genesis) check(held map[core.TokenID]uint256.Int) error {
	supply := map[core.TokenID]uint256.Int{}
	for _, t := range g.Tokens {
		if _, twice := supply[t.ID]; twice || t.ID.IsZero() {
			return fmt.Errorf("%w: token %s is listed twice or is zero", ErrGenesis, t.ID)
		}
		if t.Index > MaxTokenIndex {
			return fmt.Errorf("%w: token %s has index %d, at most %d", ErrGenesis, t.ID, t.Index, MaxTokenIndex)
		}
		supply[t.ID] = t.TotalSupply
	}
	for token, sum := range held {
		total, known := supply[token]
		if !known || sum.Gt(&total) {
			return fmt.Errorf("%w: accounts hold %s of %s, whose supply is %s", ErrGenesis, sum.Dec(), token, total.Dec())
		}
	}
	for i, a := range g.Accounts {
		if i > 0 && a.Address == g.Accounts[i-1].Address || a.Address.IsContract() || a.Address.IsZero() {
			return fmt.Errorf("%w: account %s is listed twice or is not a user's", ErrGenesis, a.Address)
		}
	}
	if g.ExchangeOwner.IsContract() {
		return fmt.Errorf("%w: the exchange's owner %s is not a user", ErrGenesis, g.ExchangeOwner)
	}
	if g.PoWDifficulty > MaxDifficulty {
		return fmt.Errorf("%w: the PoW difficulty is %d, at most %d", ErrGenesis, g.PoWDifficulty, uint64(MaxDifficulty))
	}
	for i, k := range g.Stakes {
		if k.Amount.Lt(vite(minStake)) {
			return fmt.Errorf("%w: stake %d is below %d VITE", ErrGenesis, i, minStake)
		}
	}
	return nil
}

// Digest commits to a complete normalised genesis. The hash of snapshot block 1 contains it.
func (g Genesis) Digest() core.Hash {
	w := &Writer{}
	w.int(g.Time.Unix())
	w.Raw(g.ProducerSeed[:])
	w.Uint(g.StakeLock)
	w.Uint(uint64(len(g.Tokens)))
	for i := range g.Tokens {
		w.token(&g.Tokens[i])
	}
	w.Uint(uint64(len(g.Accounts)))
	for _, a := range g.Accounts {
		w.Raw(a.Address[:])
		w.balances(a.Balances)
	}
	w.Uint(uint64(len(g.Stakes)))
	for _, k := range g.Stakes {
		w.Raw(k.Staker[:])
		w.Raw(k.Beneficiary[:])
		w.Amount(k.Amount)
	}
	if !g.ExchangeOwner.IsZero() {
		w.Raw(g.ExchangeOwner[:])
	}
	if g.PoWDifficulty != MainDifficulty {
		w.Uint(g.PoWDifficulty)
	}
	return blake2b.Sum256(w.Data)
}

// Rules returns the permanent rules of the genesis.
func (g Genesis) Rules() (Rules, error) {
	seed := g.ProducerSeed
	if seed == ([core.SeedSize]byte{}) {
		seed = blake2b.Sum256([]byte("gatewayd exchange chain producer"))
	}
	key, err := core.NewPrivateKey(seed[:])
	if err != nil {
		return Rules{}, fmt.Errorf("making the producer's key: %w", err)
	}
	return Rules{
		Producer: key, Digest: g.Digest(), stakeLock: g.StakeLock, exchangeOwner: g.ExchangeOwner, Difficulty: g.PoWDifficulty,
		Retention: DefaultRetention,
	}, nil
}

// NewState makes snapshot block 1. The genesis must be normalised.
func NewState(g Genesis, r Rules) *State {
	s := emptyState(r)
	for i := range g.Tokens {
		t := &g.Tokens[i]
		put(&s.journal, s.Tokens, t.ID, t)
		put(&s.journal, s.Symbols, t.Symbol, max(s.Symbols[t.Symbol], t.Index+1))
	}
	for _, a := range g.Accounts {
		acc := s.account(a.Address)
		for token, amount := range a.Balances {
			s.credit(acc, token, amount)
		}
		s.append(acc, genesisBlock(a.Address, nil))
	}
	s.openContracts(g)
	s.Seal(g.Time)
	s.Floor = s.Height()
	return s
}

// openContracts makes the built-in contracts' first blocks. The asset contract's has a log per
// token, as on a real chain.
func (s *State) openContracts(g Genesis) {
	for _, a := range slices.SortedFunc(maps.Keys(builtins), CompareAddresses) {
		acc := s.account(a)
		set(&s.journal, &acc.Contract, builtinInfo())
		if a == core.DexFundContract || a == core.DexTradeContract {
			continue // begin without a block, as on a real chain
		}
		var logs []VMLog
		if a == core.AssetContract {
			logs = mintLogs(g.Tokens)
		}
		s.append(acc, genesisBlock(a, logs))
	}
	for _, k := range g.Stakes {
		s.credit(s.account(core.QuotaContract), core.VITE, k.Amount)
		s.addStake(Stake{
			Staker: k.Staker, Beneficiary: k.Beneficiary, Amount: k.Amount, ExpirationHeight: g.StakeLock,
		})
	}
}

func mintLogs(tokens []TokenInfo) []VMLog {
	var logs []VMLog
	for _, t := range tokens {
		topics, data, err := core.MintEvent.Pack(t.ID)
		if err != nil {
			panic("node: packing the mint event: " + err.Error())
		}
		logs = append(logs, VMLog{Topics: topics, Data: data})
	}
	return logs
}

func genesisBlock(a core.Address, logs []VMLog) *Entry {
	b := &core.AccountBlock{BlockType: core.GenesisReceive, Height: 1, Address: a}
	if len(logs) > 0 {
		h := LogHash(logs, b)
		b.VMLogHash = &h
	}
	b.Hash = b.ComputeHash()
	return &Entry{Block: b, Logs: logs}
}
