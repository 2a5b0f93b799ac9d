package node

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holiman/uint256"
	"golang.org/x/crypto/blake2b"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

// Plan is the YAML form of an embedded chain's genesis (docs/genesis.md). Amounts are in tokens.
// Tokens are named by their symbols or IDs.
type GenesisPlan struct {
	Time          time.Time     `yaml:"time"`
	PoWDifficulty uint64        `yaml:"pow_difficulty"`
	ExchangeOwner core.Address  `yaml:"exchange_owner"`
	Tokens        []planToken   `yaml:"tokens"`
	Accounts      []planAccount `yaml:"accounts"`
	Stakes        []planStake   `yaml:"stakes"`
}

type planToken struct {
	Symbol     string       `yaml:"symbol"`
	Name       string       `yaml:"name"`     // the symbol if left out
	Decimals   uint8        `yaml:"decimals"` // of VITE and VX 18
	Owner      core.Address `yaml:"owner"`
	ID         core.TokenID `yaml:"id"` // left out, it follows from owner, symbol and index
	Index      uint16       `yaml:"index"`
	Supply     coins        `yaml:"supply"` // left out, what the accounts hold
	ReIssuable bool         `yaml:"reissuable"`
	MaxSupply  coins        `yaml:"max_supply"` // of a re-issuable one; left out, as much as there can be
}

type planAccount struct {
	Address  core.Address     `yaml:"address"`
	Balances map[string]coins `yaml:"balances"`
	Stake    coins            `yaml:"stake"` // VITE staked by the account for itself
}

type planStake struct {
	Staker      core.Address `yaml:"staker"` // the beneficiary if left out
	Beneficiary core.Address `yaml:"beneficiary"`
	Amount      coins        `yaml:"amount"`
}

// File computes and checks the complete genesis file.
func (p *GenesisPlan) File() (*GenesisFile, error) {
	f := &GenesisFile{Time: p.Time, ExchangeOwner: p.ExchangeOwner, PoWDifficulty: p.PoWDifficulty}
	tokens, err := p.tokens()
	if err != nil {
		return nil, err
	}
	if err := p.addAccounts(f, tokens); err != nil {
		return nil, err
	}
	if err := p.addStakes(f); err != nil {
		return nil, err
	}
	if err := p.addTokens(f); err != nil {
		return nil, err
	}
	genesis, err := f.genesis()
	if err != nil {
		return nil, err
	}
	return f, genesis.Check()
}

// tokenTable finds id and decimals of a token by its symbol or id.
type tokenTable map[string]GenesisToken

// tokens are the listed ones and VITE, which need not be.
func (p *GenesisPlan) tokens() (tokenTable, error) {
	table := tokenTable{}
	for i := range p.Tokens {
		t := &p.Tokens[i]
		if t.Symbol == "" {
			return nil, fmt.Errorf("token %d has no symbol", i+1)
		}
		t.complete()
		for _, name := range []string{t.Symbol, t.ID.String()} {
			if _, twice := table[name]; twice {
				return nil, fmt.Errorf("two tokens are named %s", name)
			}
			table[name] = GenesisToken{ID: t.ID, Decimals: t.Decimals}
		}
	}
	if _, listed := table[viteSymbol]; !listed {
		vite := GenesisToken{ID: core.VITE, Decimals: viteDecimals}
		table[viteSymbol], table[core.VITE.String()] = vite, vite
	}
	return table, nil
}

const (
	viteSymbol   = "VITE"
	vxSymbol     = "VX"
	viteDecimals = 18 // of both
)

// complete fills in what a description may leave out.
func (t *planToken) complete() {
	if t.Name == "" {
		t.Name = t.Symbol
	}
	if !t.ID.IsZero() {
		return
	}
	switch t.Symbol {
	case viteSymbol:
		t.ID, t.Decimals = core.VITE, viteDecimals
	case vxSymbol:
		t.ID, t.Decimals = core.VX, viteDecimals
	default:
		t.ID = core.NewTokenID(t.Owner, uint64(t.Index), blake2b.Sum256([]byte(t.Symbol)))
	}
}

func (p *GenesisPlan) addAccounts(f *GenesisFile, tokens tokenTable) error {
	for _, a := range p.Accounts {
		account := GenesisAccount{Address: a.Address, Balances: map[core.TokenID]chain.Amount{}}
		for _, name := range slices.Sorted(maps.Keys(a.Balances)) {
			token, known := tokens[name]
			if !known {
				return fmt.Errorf("account %s: no token is named %s", a.Address, name)
			}
			n, err := a.Balances[name].units(token.Decimals)
			if err != nil {
				return fmt.Errorf("account %s: %s: %w", a.Address, name, err)
			}
			if account.Balances[token.ID], err = account.Balances[token.ID].Add(n); err != nil {
				return fmt.Errorf("account %s: %s: %w", a.Address, name, err)
			}
		}
		f.Accounts = append(f.Accounts, account)
	}
	return nil
}

func (p *GenesisPlan) addStakes(f *GenesisFile) error {
	var all []planStake
	for _, a := range p.Accounts {
		if a.Stake != "" {
			all = append(all, planStake{Beneficiary: a.Address, Amount: a.Stake})
		}
	}
	for _, s := range append(all, p.Stakes...) {
		n, err := s.Amount.units(viteDecimals)
		if err != nil {
			return fmt.Errorf("stake of %s: %w", s.Beneficiary, err)
		}
		if s.Staker.IsZero() {
			s.Staker = s.Beneficiary
		}
		f.Stakes = append(f.Stakes, GenesisStake{Staker: s.Staker, Beneficiary: s.Beneficiary, Amount: n})
	}
	return nil
}

func (p *GenesisPlan) addTokens(f *GenesisFile) error {
	for _, t := range p.Tokens {
		supply, err := t.Supply.units(t.Decimals)
		if t.Supply == "" {
			supply, err = f.held(t.ID)
		}
		if err != nil {
			return fmt.Errorf("supply of %s: %w", t.Symbol, err)
		}
		most, err := t.most()
		if err != nil {
			return fmt.Errorf("maximum of %s: %w", t.Symbol, err)
		}
		f.Tokens = append(f.Tokens, GenesisToken{
			ID: t.ID, Name: t.Name, Symbol: t.Symbol, Decimals: t.Decimals, Index: t.Index, Owner: t.Owner,
			TotalSupply: supply, MaxSupply: most, ReIssuable: t.ReIssuable,
		})
	}
	return nil
}

// most is the greatest supply that a re-issuable token may reach, 0 of another.
func (t *planToken) most() (chain.Amount, error) {
	switch {
	case t.MaxSupply != "" && !t.ReIssuable:
		return chain.Amount{}, errors.New("only a re-issuable token has one (reissuable: true)")
	case t.MaxSupply != "":
		return t.MaxSupply.units(t.Decimals)
	case t.ReIssuable:
		return chain.AmountOf(new(uint256.Int).SetAllOne()), nil
	}
	return chain.Amount{}, nil
}

// held sums the balances and stakes of a token.
func (f *GenesisFile) held(id core.TokenID) (sum chain.Amount, err error) {
	for _, a := range f.Accounts {
		if sum, err = sum.Add(a.Balances[id]); err != nil {
			return sum, err
		}
	}
	for _, s := range f.Stakes {
		if id != core.VITE {
			break
		}
		if sum, err = sum.Add(s.Amount); err != nil {
			return sum, err
		}
	}
	return sum, nil
}
