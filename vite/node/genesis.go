package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
)

// GenesisFile is the JSON form of an embedded chain's beginning (docs/genesis.md).
type GenesisFile struct {
	Time     time.Time        `json:"time,omitzero"`
	Tokens   []GenesisToken   `json:"tokens,omitempty"`
	Accounts []GenesisAccount `json:"accounts,omitempty"`
	Stakes   []GenesisStake   `json:"stakes,omitempty"`

	ExchangeOwner core.Address `json:"exchangeOwner,omitzero"`  // who may open the exchange; left out, it stays closed
	PoWDifficulty uint64       `json:"powDifficulty,omitempty"` // of the work that pays for one transfer; left out, the main network's
}

type GenesisToken struct {
	ID          core.TokenID `json:"id"`
	Name        string       `json:"name"`
	Symbol      string       `json:"symbol"`
	Decimals    uint8        `json:"decimals"`
	Index       uint16       `json:"index"`
	Owner       core.Address `json:"owner"`
	TotalSupply chain.Amount `json:"totalSupply"`
	MaxSupply   chain.Amount `json:"maxSupply"`
	ReIssuable  bool         `json:"isReIssuable"`
}

type GenesisAccount struct {
	Address  core.Address                  `json:"address"`
	Balances map[core.TokenID]chain.Amount `json:"balances"`
}

type GenesisStake struct {
	Staker      core.Address `json:"staker"`
	Beneficiary core.Address `json:"beneficiary"`
	Amount      chain.Amount `json:"amount"`
}

// ReadGenesis reads a genesis file.
func ReadGenesis(path string) (ledger.Genesis, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return ledger.Genesis{}, fmt.Errorf("reading the genesis: %w", err)
	}
	var file GenesisFile
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&file); err != nil {
		return ledger.Genesis{}, fmt.Errorf("genesis %s: %w", path, err)
	}
	genesis, err := file.genesis()
	if err != nil {
		return ledger.Genesis{}, fmt.Errorf("genesis %s: %w", path, err)
	}
	return genesis, nil
}

func (f GenesisFile) genesis() (ledger.Genesis, error) {
	g := ledger.Genesis{Time: f.Time, ExchangeOwner: f.ExchangeOwner, PoWDifficulty: f.PoWDifficulty}
	for _, t := range f.Tokens {
		g.Tokens = append(g.Tokens, ledger.TokenInfo{
			ID: t.ID, Name: t.Name, Symbol: t.Symbol, Decimals: t.Decimals, Index: t.Index, Owner: t.Owner,
			TotalSupply: *t.TotalSupply.Uint256(), MaxSupply: *t.MaxSupply.Uint256(), ReIssuable: t.ReIssuable,
		})
	}
	for _, a := range f.Accounts {
		account := ledger.GenesisAccount{Address: a.Address, Balances: map[core.TokenID]uint256.Int{}}
		for token, amount := range a.Balances {
			account.Balances[token] = *amount.Uint256()
		}
		g.Accounts = append(g.Accounts, account)
	}
	for _, s := range f.Stakes {
		if s.Amount.IsZero() {
			return g, fmt.Errorf("stake of %s: the amount must be above zero", s.Staker)
		}
		g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: s.Staker, Beneficiary: s.Beneficiary, Amount: *s.Amount.Uint256()})
	}
	return g, nil
}
