package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/records"
	"gatewayd/vite/core"
	"gatewayd/wallet"
)

// NetworkRecord is a configured network without our accounts.
func (c Config) NetworkRecord(n Network) records.Network {
	out := records.Network{
		Name: n.Name, Source: n.Source, Exchange: n.Exchange, Funders: n.Funders, CoinDecimals: c.coinDecimals(n.Source),
		SourceExplorer: n.SourceExplorer, ExchangeExplorer: n.ExchangeExplorer,
	}
	source, _ := c.Chain(n.Source)
	exchange, _ := c.Chain(n.Exchange)
	out.NoSenders, out.ChainID = source.Coins != "", source.ChainID
	out.SourceName, out.ExchangeName = cmp.Or(n.SourceName, source.title()), cmp.Or(n.ExchangeName, exchange.title())
	for _, t := range n.Tokens {
		out.Tokens = append(out.Tokens, t.token())
		if cold := t.coldAddress(); cold != "" && !slices.Contains(out.Funders, cold) {
			out.Funders = append(slices.Clone(out.Funders), cold)
		}
	}
	return out
}

// Network is one source chain under one base path.
type Network struct {
	Name             string   `yaml:"name"`
	Path             string   `yaml:"path"`
	Source           chain.ID `yaml:"source"`
	Exchange         chain.ID `yaml:"exchange"`
	Account          uint32   `yaml:"account"` // which address of the wallet is the gateway's on the exchange chain
	Funders          []string `yaml:"funders"`
	SourceExplorer   string   `yaml:"source_explorer"`
	ExchangeExplorer string   `yaml:"exchange_explorer"`
	SourceName       string   `yaml:"source_name,omitempty"`   // of the chain, for users; default: by its chain id
	ExchangeName     string   `yaml:"exchange_name,omitempty"` // default: Vite
	Tokens           []Token  `yaml:"tokens"`
	// TokenDefaults has the keys of tokens that do not set them. Load leaves it empty.
	TokenDefaults *Token `yaml:"token_defaults,omitempty"`
}

// Token is one gateway token. Amounts are integers in the gateway token's smallest unit.
type Token struct {
	Token         string      `yaml:"token"`
	Symbol        string      `yaml:"symbol"`
	Decimals      uint8       `yaml:"decimals"`
	Asset         chain.Asset `yaml:"asset"` // native, or the address of the ERC-20 contract
	AssetDecimals uint8       `yaml:"asset_decimals"`
	Type          int         `yaml:"type"`
	LabelName     string      `yaml:"label_name"`
	// the gateway is the token's only issuer; detected automatically where an account of the
	// gateway owns the token
	Issued      bool          `yaml:"issued"`
	MinDeposit  chain.Amount  `yaml:"min_deposit"`
	MinWithdraw chain.Amount  `yaml:"min_withdraw"`
	MaxWithdraw chain.Amount  `yaml:"max_withdraw"`
	MinRefund   *chain.Amount `yaml:"min_refund"` // default: a hundredth of MinWithdraw
	// address on the source chain that the operators keep offline; what is above hot_max goes
	// there, its transfers are funding
	Cold   string       `yaml:"cold"`
	HotMin chain.Amount `yaml:"hot_min"` // minimum total of the hot accounts; less is reported
	HotMax chain.Amount `yaml:"hot_max"` // the same of more
	// FrozenDeposits keeps deposits open while the token refuses every payment of a hot account.
	FrozenDeposits bool          `yaml:"frozen_deposits"`
	Deposits       records.Depth `yaml:"deposit_confirmations"`
	Withdrawals    records.Depth `yaml:"withdraw_confirmations"`
	Fee            records.Fee   `yaml:"fee"`
}

// CanonicalAddress is an address of any ledger as the records have it.
func CanonicalAddress(text string) (string, error) {
	if address, ok := canonicalCoinAddress(text); ok {
		return address, nil
	}
	return senderAddress(text)
}

// senderAddress is an address as transfers name their senders. Those of ledgers of coins name none.
func senderAddress(text string) (string, error) {
	if strings.HasPrefix(text, "0x") {
		return ethereum.CanonicalAddress(text)
	}
	a, err := core.ParseAddress(text)
	return a.String(), err
}

func (c Config) checkNetworks(chains map[chain.ID]Chain) error {
	if len(c.Networks) == 0 && c.Exchange == nil {
		return errors.New("at least one, or the section exchange, is required")
	}
	var faults []error
	sources, accounts, names, paths := map[chain.ID]bool{}, map[uint32]bool{}, map[string]bool{}, map[string]bool{}
	for _, n := range c.Networks {
		path := strings.Trim(n.Path, "/")
		switch {
		case n.Name == "" || names[n.Name]:
			faults = append(faults, fmt.Errorf("name %q is empty or used twice", n.Name))
		case paths[path]:
			faults = append(faults, fmt.Errorf("%s: path %q is used twice", n.Name, n.Path))
		case !chains[n.Source].Source || chains[n.Exchange].Source || chains[n.Exchange].ID == "":
			faults = append(faults, fmt.Errorf("%s: source %q and exchange %q must be ids, of the lists ethereum or bitcoin and vite", n.Name, n.Source, n.Exchange))
		case sources[n.Source]:
			faults = append(faults, fmt.Errorf("%s: source %q already serves another network", n.Name, n.Source))
		case accounts[n.Account]:
			faults = append(faults, fmt.Errorf("%s: account %d already serves another network; wallets distinguish networks by the gateway address", n.Name, n.Account))
		}
		sources[n.Source], accounts[n.Account], names[n.Name], paths[path] = true, true, true, true
		faults = append(faults, n.checkFunders()...)
		faults = append(faults, n.checkTokens(chains[n.Source])...)
	}
	return errors.Join(faults...)
}

func (n Network) checkFunders() (faults []error) {
	for _, text := range n.Funders {
		if _, err := senderAddress(text); err != nil {
			faults = append(faults, fmt.Errorf("%s: funders: %q is not an address: %w", n.Name, text, err))
		}
	}
	return faults
}

func (n Network) checkTokens(source Chain) (faults []error) {
	seen, assets, colds := map[string]bool{}, map[string]bool{}, map[chain.Asset]string{}
	for _, t := range n.Tokens {
		if cold, known := colds[t.Asset]; known && cold != t.coldAddress() {
			faults = append(faults, fmt.Errorf("%s token %s: cold: %q differs from %q of another token of the same asset: they share hot and cold funds", n.Name, t.Token, t.Cold, cold))
		}
		colds[t.Asset] = t.coldAddress()
		if seen[t.Token] {
			faults = append(faults, fmt.Errorf("%s: token %s is listed twice", n.Name, t.Token))
		}
		key := fmt.Sprint(t.Asset, t.Type)
		if assets[key] {
			faults = append(faults, fmt.Errorf("%s: asset %s serves two tokens of type %d", n.Name, t.Asset, t.Type))
		}
		seen[t.Token], assets[key] = true, true
		err := source.checkToken(t)
		if err == nil {
			err = t.Check()
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s token %s: %w", n.Name, t.Token, err))
		}
	}
	return faults
}

// Check reports a token's faults without the rest of the configuration.
func (t Token) Check() error {
	_, _, bounds := t.hotBounds()
	switch {
	case t.Token == "" || t.Asset == "":
		return errors.New("token and asset are required")
	case !isTokenID(t.Token):
		return errors.New("token: must be tti_ and 24 digits, of which the last four are a checksum; check for a typing error")
	case t.Type != 0 && t.Type != 1:
		return fmt.Errorf("type %d: must be 0 (an address per user) or 1 (a label per user)", t.Type)
	case (t.Type == 1) != (t.LabelName != ""):
		return errors.New("label_name: required for type 1, and only allowed there")
	case t.Decimals > 30 || t.AssetDecimals > 30:
		return errors.New("at most 30 decimals")
	case !t.MaxWithdraw.IsZero() && t.MaxWithdraw.Less(t.MinWithdraw):
		return errors.New("max_withdraw is below min_withdraw")
	case t.MinWithdraw.Less(t.minRefund()):
		return errors.New("min_refund is above min_withdraw")
	case !t.HotMax.IsZero() && t.HotMax.Less(t.HotMin):
		return errors.New("hot_max is below hot_min")
	case t.Cold != "" && t.coldAddress() == "":
		return fmt.Errorf("cold: %q is not an address of a source chain", t.Cold)
	case bounds != nil:
		return bounds
	case t.Deposits.Count == 0 || t.Withdrawals.Count == 0:
		return errors.New("deposit_confirmations.count and withdraw_confirmations.count must be at least 1")
	case t.Fee.Kind == "network" && t.Asset != chain.Native && !t.Fee.Rate.IsPositive():
		return errors.New("fee kind network: rate, the price of one coin in whole tokens, must be above zero")
	}
	return t.Fee.Check()
}

// hotBounds are hot_min and hot_max in the asset's units.
func (t Token) hotBounds() (least, most chain.Amount, err error) {
	if least, _, err = t.HotMin.Rescale(t.Decimals, t.AssetDecimals); err != nil {
		return least, most, fmt.Errorf("hot_min: %w", err)
	}
	if most, _, err = t.HotMax.Rescale(t.Decimals, t.AssetDecimals); err != nil {
		return least, most, fmt.Errorf("hot_max: %w", err)
	}
	return least, most, nil
}

// coldAddress is Cold as transfers name it; empty for none.
func (t Token) coldAddress() string {
	if address, ok := canonicalCoinAddress(t.Cold); ok { // checkToken requires that of its chain
		return address
	}
	address, err := ethereum.CanonicalAddress(t.Cold)
	if err != nil {
		return ""
	}
	return address
}

func isTokenID(text string) bool {
	_, err := core.ParseTokenID(text)
	return err == nil
}

// minRefund is the smallest withdrawal that is refunded automatically.
func (t Token) minRefund() chain.Amount {
	if t.MinRefund != nil {
		return *t.MinRefund
	}
	hundredth, _, _ := t.MinWithdraw.MulDiv(1, 100) // what is less than the amount always fits
	return hundredth
}

// token is the same in the words of records.
func (t Token) token() records.Token {
	least, most, _ := t.hotBounds() // Check has found no fault with them
	return records.Token{
		HotMin: least, HotMax: most, Cold: t.coldAddress(), FrozenDeposits: t.FrozenDeposits,
		TokenID: t.Token, Symbol: t.Symbol, Decimals: t.Decimals, Asset: t.Asset, AssetDecimals: t.AssetDecimals, Type: t.Type, LabelName: t.LabelName, Issued: t.Issued,
		Policy: records.Policy{
			Type: t.Type, Decimals: t.Decimals, AssetDecimals: t.AssetDecimals,
			MinDeposit: t.MinDeposit, MinWithdraw: t.MinWithdraw, MaxWithdraw: t.MaxWithdraw, MinRefund: t.minRefund(),
			DepositConfirmations: t.Deposits, WithdrawConfirmations: t.Withdrawals, Fee: t.Fee,
		},
	}
}

// NetworkRecords are the configured networks without our accounts.
func (c Config) NetworkRecords() []records.Network {
	list := make([]records.Network, len(c.Networks))
	for i, n := range c.Networks {
		list[i] = c.NetworkRecord(n)
	}
	return list
}

// Symbol is the token's name for people.
func (c Config) Symbol(network, token string) string {
	if t, known := c.token(network, token); known {
		return t.Symbol
	}
	return token
}

// TxURL returns the explorer's page of a transaction; empty if no network names one for the chain.
func (c Config) TxURL(id chain.ID, tx string) string {
	for _, n := range c.Networks {
		template := map[chain.ID]string{n.Source: n.SourceExplorer, n.Exchange: n.ExchangeExplorer}[id]
		if template != "" && tx != "" {
			return strings.ReplaceAll(template, "{$tx}", tx)
		}
	}
	return ""
}

func (c Config) NetworkNames() (names []string) {
	for _, n := range c.Networks {
		names = append(names, n.Name)
	}
	return names
}

// ChainIDs are the configured chains in the file's order.
func (c Config) ChainIDs() (ids []chain.ID) {
	for _, k := range c.Chains() {
		ids = append(ids, k.ID)
	}
	return ids
}

// OwnAccount is a configured account. A retired one is watched, receives, and sends its balance to
// those that pay.
type OwnAccount struct {
	records.Account
	Retired bool
}

// OwnAccounts are the configured accounts of a network, without their addresses. Of each kind the
// first that is not retired is the published one.
func (c Config) OwnAccounts(n Network) (list []OwnAccount) {
	add := func(id chain.ID, kind records.AccountKind, path string, retired bool) {
		list = append(list, OwnAccount{records.Account{Chain: id, Kind: kind, Network: n.Name, KeyPath: path, State: records.AccountNew}, retired})
	}
	source, _ := c.Chain(n.Source)
	exchange, _ := c.Chain(n.Exchange)
	if source.Coins != "" {
		add(n.Source, records.KindHot, source.Coins.Pool(), false)
	} else {
		paths := wallet.SourcePaths(source.CoinType)
		for i := range source.count() {
			add(n.Source, records.KindHot, paths.Hot(i), slices.Contains(source.Retired, i))
		}
		add(n.Source, records.KindGas, paths.Gas(), false)
	}
	for i := range exchange.count() {
		add(n.Exchange, records.KindGateway, wallet.GatewayPathOf(n.Account, i), slices.Contains(exchange.Retired, i))
	}
	return list
}

// Retired reports whether a stored account paid users once and does no more: it is retired, or has
// left the configuration.
func (c Config) Retired(a records.Account) bool {
	if a.Kind != records.KindHot && a.Kind != records.KindGateway && a.Kind != records.KindGas {
		return false
	}
	for _, n := range c.Networks {
		if n.Name != a.Network {
			continue
		}
		return !slices.ContainsFunc(c.OwnAccounts(n), func(o OwnAccount) bool { return !o.Retired && o.Chain == a.Chain && o.KeyPath == a.KeyPath })
	}
	return true
}

// WithAccount adds an account to its network, with those that pay or with those that are retired.
// The first of a kind is the published one.
func WithAccount(n records.Network, a OwnAccount) records.Network {
	address := a.Account.Account
	switch {
	case a.Retired && a.Kind == records.KindHot:
		n.RetiredHots = append(n.RetiredHots, address)
	case a.Retired:
		n.RetiredGateways = append(n.RetiredGateways, address)
	case a.Kind == records.KindHot:
		n.Hots = append(n.Hots, address)
		n.Hot, n.Shared = n.Hots[0], n.Hots[0]
	case a.Kind == records.KindGas:
		n.Gas = address
	case a.Kind == records.KindGateway:
		n.Gateways = append(n.Gateways, address)
		n.Gateway = n.Gateways[0]
	}
	return n
}
