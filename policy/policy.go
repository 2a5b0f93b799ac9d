// Package policy contains the operators' settings of tokens: which are served, their fees, depths
// and limits. Its results depend on their arguments alone.
package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"gatewayd/chain"
)

// Network is one source chain under one base path, with the accounts that serve it. The same token
// ID may occur in several networks (docs/gateway-clients.md 1), so everything is keyed by (network,
// token).
type Network struct {
	Name     string
	Source   chain.ID
	Exchange chain.ID
	// For people: the names of both chains.
	SourceName, ExchangeName string
	ChainID                  uint64   // of EIP-155, of the source chain; 0: it has none
	Hot                      string   // pays withdrawals on the source chain
	Hots                     []string // all accounts that do, Hot first; empty: Hot alone
	Shared                   string   // inbound address of type 1 tokens on the source chain
	Gas                      string   // tops up deposit addresses
	Gateway                  string   // takes withdrawals and pays deposits on the exchange chain
	Gateways                 []string // all accounts that pay deposits, Gateway first; empty: Gateway alone
	// Accounts that paid once and pay no more, of the source chain and the exchange chain.
	RetiredHots, RetiredGateways []string

	Funders []string // canonical senders on either chain whose transfers are the operators' own money
	Tokens  []Token
	// CoinDecimals is the number of decimals of the source chain's coin.
	CoinDecimals uint8
	// NoSenders: transfers on the source chain name no sender. What comes to an account that pays is
	// the operators' money: its address is given to no user.
	NoSenders bool
	// Explorer templates with {$tx} in place of the hash.
	SourceExplorer   string
	ExchangeExplorer string
}

// Token is a gateway token on one network. Amounts count the gateway token's units.
type Token struct {
	TokenID       string // on the exchange chain
	Symbol        string
	Decimals      uint8
	Asset         chain.Asset // on the source chain
	AssetDecimals uint8
	Type          int          // binding type
	LabelName     string       // type 1: what wallets call the label
	Issued        bool         // all of the token that exists is this gateway's to cover
	HotMin        chain.Amount // what the hot accounts should have, in the asset's units; zero: not watched
	HotMax        chain.Amount // the same of more
	// canonical address on the source chain where what is more goes, and from where it comes back;
	// empty for none
	Cold string
	// FrozenDeposits keeps deposits open while the token refuses every payment of a hot account.
	FrozenDeposits bool
	Policy         Policy
}

// Asset is a gateway token as one of its chains has it.
type Asset struct {
	Network       string
	Token         string // its token id
	Symbol        string
	Chain         chain.ID
	Asset         chain.Asset
	Decimals      uint8 // on this chain
	TokenDecimals uint8 // of the gateway token, which the amounts of configurations count
}

// Text is an amount of the asset for people.
func (a Asset) Text(n chain.Amount) string {
	return n.Whole(a.Decimals) + " " + cmp.Or(a.Symbol, a.Token)
}

// Token returns the network's token by id.
func (n Network) Token(id string) (Token, bool) {
	return n.find(func(t Token) bool { return t.TokenID == id })
}

// ByAsset returns the network's token by its source asset and binding type: two tokens may share an
// asset when their types differ.
func (n Network) ByAsset(asset chain.Asset, bindingType int) (Token, bool) {
	return n.find(func(t Token) bool { return t.Asset == asset && t.Type == bindingType })
}

func (n Network) find(is func(Token) bool) (Token, bool) {
	i := slices.IndexFunc(n.Tokens, is)
	if i < 0 {
		return Token{}, false
	}
	return n.Tokens[i], true
}

// Policy contains a token's terms at a moment. A transfer freezes it at first sight.
type Policy struct {
	Type                  int          `json:"type"`
	Decimals              uint8        `json:"decimals"`
	AssetDecimals         uint8        `json:"assetDecimals"`
	MinDeposit            chain.Amount `json:"minDeposit"`
	MinWithdraw           chain.Amount `json:"minWithdraw"`
	MaxWithdraw           chain.Amount `json:"maxWithdraw"` // zero: no maximum
	MinRefund             chain.Amount `json:"minRefund"`   // a refused withdrawal of less is kept unless an operator orders its refund
	DepositConfirmations  Depth        `json:"depositConfirmations"`
	WithdrawConfirmations Depth        `json:"withdrawConfirmations"`
	Fee                   Fee          `json:"fee"`
	Cost                  chain.Amount `json:"cost"` // network cost the fee was quoted with, in token units
}

// Depth defines finality: Count blocks deep (1 = in the latest block), and never before the chain's
// own final point when Tag is set. Wallets show Count as the number of confirmations.
type Depth struct {
	Count uint64 `json:"count" yaml:"count"`
	Tag   bool   `json:"tag" yaml:"tag"`
}

// Reached reports whether a block at height is final under the rule.
func (d Depth) Reached(height, head, final uint64) bool {
	if d.Tag {
		return height <= final
	}
	return head+1 >= height+d.Count
}

// AmountText formats an amount on one of the network's chains for people: whole units and the
// symbol, "0.5 ETH". An asset that the network does not serve stays in smallest units.
func (n Network) AmountText(id chain.ID, asset chain.Asset, a chain.Amount) string {
	for _, t := range n.Tokens {
		switch {
		case id == n.Exchange && string(asset) == t.TokenID:
			return a.Whole(t.Decimals) + " " + cmp.Or(t.Symbol, t.TokenID)
		case id == n.Source && asset == t.Asset:
			return a.Whole(t.AssetDecimals) + " " + t.SourceSymbol()
		}
	}
	if id == n.Source && asset == chain.Native {
		return a.Whole(n.CoinDecimals) + " coins"
	}
	return a.String() + " units of " + string(asset)
}

// SourceSymbol is the name of the token's asset on its own chain: the gateway token's without the
// number that the exchange chain adds.
func (t Token) SourceSymbol() string {
	symbol, number, ok := strings.Cut(t.Symbol, "-")
	if !ok || strings.Trim(number, "0123456789") != "" {
		symbol = t.Symbol
	}
	return cmp.Or(symbol, string(t.Asset))
}

// Paying returns the accounts that pay on a chain of the network. The first is the published one.
func (n Network) Paying(id chain.ID) []string {
	pool, first := n.Gateways, n.Gateway
	if id == n.Source {
		pool, first = n.Hots, n.Hot
	}
	if len(pool) == 0 {
		return []string{first}
	}
	return pool
}

// Pays reports whether an account pays users on a chain of the network. One that is retired does
// not.
func (n Network) Pays(id chain.ID, account string) bool {
	return slices.Contains(n.Paying(id), account)
}

// RefunderOf is the account of a transfer's own chain that gives it back: the one that it came to,
// unless that is retired.
func (n Network) RefunderOf(t chain.Transfer, on chain.ID) string {
	if n.Pays(on, t.To) {
		return t.To
	}
	return n.PayerOf(on, t, on)
}

// PayerOf returns the account of a chain that pays for a transfer. It depends on nothing but the
// transfer's place on its own ledger and the set of accounts. So a restored database gives the
// transfer to the account that may have paid it already, which its ledger shows. An added account
// takes over its share of new transfers only.
func (n Network) PayerOf(id chain.ID, t chain.Transfer, from chain.ID) string {
	return slices.MaxFunc(n.Paying(id), func(a, b string) int { return cmp.Compare(draw(a, t, from), draw(b, t, from)) })
}

// draw is the account's lot for a transfer (rendezvous hashing).
func draw(account string, t chain.Transfer, from chain.ID) uint64 {
	sum := sha256.Sum256([]byte(string(from) + "\n" + t.Ref + "\n" + account))
	return binary.BigEndian.Uint64(sum[:])
}

// LeastSweep is the least of an asset that is worth a cost in coin: its smallest deposit, which
// several smaller ones may make up together, and where the price of coin is known what the cost is
// worth. It is nothing where the asset is not served any more.
func (n Network) LeastSweep(asset chain.Asset, cost chain.Amount) (least chain.Amount, err error) {
	for _, t := range n.Tokens {
		if t.Asset != asset {
			continue
		}
		units := t.Policy.MinDeposit
		if t.Policy.Fee.Rate.IsPositive() {
			worth, err := t.Policy.Fee.FromNative(cost, n.CoinDecimals, t)
			if err != nil {
				return least, err
			}
			if units.Less(worth) {
				units = worth
			}
		}
		if units, _, err = units.Rescale(t.Decimals, t.AssetDecimals); err != nil {
			return least, err
		}
		if least.IsZero() || units.Less(least) {
			least = units
		}
	}
	return least, nil
}
