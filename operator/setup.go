package operator

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/shopspring/decimal"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
)

// Answers contain the operator's own knowledge.
type Answers struct {
	Data         string   // directory
	Database     string   // URL; empty: a file in the directory
	Networks     []Source // at least one
	Exchange     []string // URLs of nodes of the exchange chain
	ServesOrders bool     // the exchange API is served too
	Policy       string   // name of the file that daemon and signer share, where there is a signer
	Store        string   // entropy store of the daemon's keys; empty: it is to be made yet
	PasswordFile string
	Funders      []string // addresses of the operator's own money
	Listen       string   // of the gateway
	Tokens       []Token
	Signer       Signer
}

// Source is a network to serve, of the same name as its source chain.
type Source struct {
	Name  string   // empty: as chains of the kind are usually called
	Nodes []string // URLs of nodes of the source chain
}

// sourceName is the form of names of networks.
var sourceName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// ParseSource reads "NAME=URL,URL".
func ParseSource(text string) (b Source, err error) {
	name, urls, _ := strings.Cut(text, "=")
	if !sourceName.MatchString(name) || urls == "" {
		return b, errors.New("must be NAME=URL,URL, with a name of small letters, digits and hyphens")
	}
	return Source{name, strings.Split(urls, ",")}, nil
}

// Signer describes a signer in a separate process. Without Listen the daemon signs itself.
type Signer struct {
	Listen   string // unix:/path of its socket
	Data     string // directory
	Peer     string // the daemon's user; empty: whom the socket's mode lets
	Networks []Source
	Exchange []string // its own nodes; none: the daemon's
}

// Token is a token to serve, in whole units.
type Token struct {
	On        string // name of its network; empty: the only one
	Asset, ID string
	Min       decimal.Decimal // of deposits and withdrawals
	Max       decimal.Decimal // of withdrawals; zero: no maximum
	Fee       decimal.Decimal // flat
	Network   bool            // the fee is the network's instead
}

// ParseToken reads "ASSET,TOKEN,SMALLEST,LARGEST,FEE", with "NETWORK:" before it or not.
func ParseToken(text string) (t Token, err error) {
	on, terms, named := strings.Cut(text, ":")
	if !named {
		on, terms = "", text
	}
	part := strings.Split(terms, ",")
	if len(part) != 5 {
		return t, fmt.Errorf("%q: must be ASSET,TOKEN,SMALLEST,LARGEST,FEE", text)
	}
	for i := range part {
		part[i] = strings.TrimSpace(part[i])
	}
	t.On, t.Asset, t.ID = strings.TrimSpace(on), part[0], part[1]
	if t.Network = part[4] == "network"; t.Network {
		part[4] = "0"
	}
	for _, number := range []struct {
		name, text string
		to         *decimal.Decimal
	}{{"SMALLEST", part[2], &t.Min}, {"LARGEST", part[3], &t.Max}, {"FEE", part[4], &t.Fee}} {
		if *number.to, err = decimal.NewFromString(number.text); err != nil || number.to.IsNegative() {
			return t, fmt.Errorf("%s %q: must be a number of whole tokens", number.name, number.text)
		}
	}
	if t.Network && chain.Asset(t.Asset) != chain.Native {
		return t, fmt.Errorf("FEE of %s: network is for the coin only; enter a number of whole tokens, or set fee.rate in the file", t.Asset)
	}
	return t, nil
}

// servedToken is a token as the file has it.
type servedToken struct {
	Token
	Symbol                  string
	Decimals, AssetDecimals uint8
	Min, Max, Fee           string // in the smallest unit
}

// servedNetwork is a network as the file has it.
type servedNetwork struct {
	Source
	Account int // index of its address on the exchange chain
	sourceKind
	Tokens []servedToken
}

// sourceKind is the kind of a source chain, by the answers of its nodes.
type sourceKind struct {
	ChainID uint64 // of Ethereum and its kin
	Coin    string // the network of Bitcoin and its kin, such as litecoin; empty for others
}

func (k sourceKind) String() string {
	if k.Coin != "" {
		return k.Coin
	}
	return fmt.Sprintf("chain %d", k.ChainID)
}

// name is that of a network whose operator names none.
func (k sourceKind) name() string {
	switch {
	case strings.HasPrefix(k.Coin, "litecoin"):
		return "ltc"
	case k.Coin != "":
		return "btc"
	}
	return "eth"
}

// draft contains the input of the file.
type draft struct {
	Answers
	Networks []servedNetwork
	// Own writes the nodes, Shared what daemon and signer must agree on.
	Own, Shared bool
}

// Evm and Coins are the networks of each kind.
func (d draft) Evm() []servedNetwork   { return d.ofKind(false) }
func (d draft) Coins() []servedNetwork { return d.ofKind(true) }

func (d draft) ofKind(coins bool) (list []servedNetwork) {
	for _, n := range d.Networks {
		if (n.Coin != "") == coins {
			list = append(list, n)
		}
	}
	return list
}

//go:embed *.tmpl
var templates embed.FS

// Files are the texts of a first configuration.
type Files struct {
	Daemon []byte
	Signer []byte // nil: the daemon signs itself
	Policy []byte // that both include; nil without a signer
}

// Write asks the nodes for what they know, and answers the texts.
func Write(ctx context.Context, a Answers) (files Files, err error) {
	if err := a.Signer.check(); err != nil {
		return files, err
	}
	a.Funders = append([]string{}, a.Funders...) // [] in the file, not null
	d, err := askNodes(ctx, a)
	if err != nil {
		return files, err
	}
	page, err := template.New("").Funcs(template.FuncMap{"quoted": quoted}).ParseFS(templates, "*.tmpl")
	if err != nil {
		return files, err
	}
	d.Own, d.Shared = true, a.Signer.Listen == ""
	if files.Daemon, err = fill(page, "config.yaml.tmpl", d); err != nil || a.Signer.Listen == "" {
		return files, err
	}
	d.Own, d.Shared = false, true
	if files.Policy, err = fill(page, "policy.yaml.tmpl", d); err != nil {
		return files, err
	}
	own, err := askNodes(ctx, a.ofSigner())
	if err != nil {
		return files, fmt.Errorf("the signer's nodes: %w", err)
	}
	for i, n := range own.Networks {
		if theirs := d.Networks[i].sourceKind; n.sourceKind != theirs {
			return files, fmt.Errorf("the signer's nodes of the source chain %s are of %s, the daemon's of %s: both must be of the same chain", n.Name, n.sourceKind, theirs)
		}
	}
	own.Own = true
	files.Signer, err = fill(page, "signer.yaml.tmpl", own)
	return files, err
}

// check takes what one machine has: certificates for another one are written into the files by
// hand.
func (s Signer) check() error {
	if path, unix := strings.CutPrefix(s.Listen, "unix:"); s.Listen != "" && (!unix || !filepath.IsAbs(path)) {
		return fmt.Errorf("signer %q: must be unix: and the absolute path of a socket; for https write signer.listen, wallet.signer and the certificates of both sides into the files", s.Listen)
	}
	return nil
}

// ofSigner are the answers of which the signer's file is made.
func (a Answers) ofSigner() Answers {
	a.Data = a.Signer.Data
	a.Networks = slices.Clone(a.Networks)
	for i, n := range a.Networks {
		for _, s := range a.Signer.Networks {
			if s.Name == n.Name {
				a.Networks[i] = s
			}
		}
	}
	if len(a.Signer.Exchange) > 0 {
		a.Exchange = a.Signer.Exchange
	}
	return a
}

func fill(page *template.Template, name string, d draft) ([]byte, error) {
	var text bytes.Buffer
	err := page.ExecuteTemplate(&text, name, d)
	return text.Bytes(), err
}

// askNodes reads from the nodes what they know.
func askNodes(ctx context.Context, a Answers) (d draft, err error) {
	kinds := make([]sourceKind, len(a.Networks))
	a.Networks = slices.Clone(a.Networks)
	for i, n := range a.Networks {
		if kinds[i], err = kindOf(ctx, n); err != nil && len(a.Networks) > 1 {
			err = fmt.Errorf("network %s: %w", n.Name, err)
		}
		if err != nil {
			return d, err
		}
		a.Networks[i].Name = cmp.Or(n.Name, kinds[i].name())
	}
	if len(a.Signer.Networks) == 1 && a.Signer.Networks[0].Name == "" {
		a.Signer.Networks = []Source{{a.Networks[0].Name, a.Signer.Networks[0].Nodes}}
	}
	d.Answers = a
	if err := a.checkNames(); err != nil {
		return d, err
	}
	exchange, err := vite.New(vite.Config{ID: "vite", Nodes: a.Exchange}, nil)
	if err != nil {
		return d, fmt.Errorf("exchange chain: %w", err)
	}
	defer exchange.Close()
	for i, n := range a.Networks {
		served, err := a.ask(ctx, servedNetwork{Source: n, Account: i, sourceKind: kinds[i]}, exchange)
		if err != nil {
			return d, err
		}
		d.Networks = append(d.Networks, served)
	}
	return d, nil
}

// checkNames refuses networks of one name, and what names a network that does not exist.
func (a Answers) checkNames() error {
	names := map[string]bool{}
	for _, n := range a.Networks {
		if names[n.Name] {
			return fmt.Errorf("network %s is named twice", n.Name)
		}
		names[n.Name] = true
	}
	for _, n := range a.Signer.Networks {
		if !names[n.Name] {
			return fmt.Errorf("signer network %s: there is no such network", n.Name)
		}
	}
	for _, t := range a.Tokens {
		switch {
		case t.On != "" && !names[t.On]:
			return fmt.Errorf("token %s: there is no network %s", t.ID, t.On)
		case t.On == "" && len(names) > 1:
			return fmt.Errorf("token %s: write its network before it, as NETWORK:ASSET,TOKEN", t.ID)
		}
	}
	return nil
}

// ask reads what the nodes know of a network's tokens.
func (a Answers) ask(ctx context.Context, n servedNetwork, exchange *vite.Chain) (servedNetwork, error) {
	decimals := func(context.Context, chain.Asset) (uint8, error) { return 0, errors.New("the chain has no contracts") }
	if n.Coin == "" {
		source, err := ethereum.New(ethereum.Config{ID: chain.ID(n.Name), ChainID: n.ChainID, Nodes: n.Nodes}, nil)
		if err != nil {
			return n, fmt.Errorf("source chain: %w", err)
		}
		defer source.Close()
		decimals = source.TokenDecimals
	}
	for _, t := range a.Tokens {
		if t.On != "" && t.On != n.Name {
			continue
		}
		one := servedToken{Token: t, AssetDecimals: ethereum.CoinDecimals}
		if n.Coin != "" {
			one.AssetDecimals = bitcoin.CoinDecimals
		}
		if err := one.read(ctx, decimals, exchange); err != nil {
			return n, err
		}
		n.Tokens = append(n.Tokens, one)
	}
	return n, nil
}

// quoted is a value as JSON has it, which YAML reads too.
func quoted(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

// kindOf asks all nodes of a source chain, which must name the same.
func kindOf(ctx context.Context, n Source) (first sourceKind, err error) {
	for i, node := range n.Nodes {
		kind, err := nodeKind(ctx, node)
		switch {
		case err != nil:
			return kind, fmt.Errorf("source chain: node %d: %w", i+1, err)
		case i > 0 && kind != first:
			return kind, fmt.Errorf("source chain: node %d is of %s, node 1 of %s: all must be of the same chain", i+1, kind, first)
		}
		first = kind
	}
	return first, nil
}

// nodeKind asks a node as one of Ethereum, and if it does not know the question as one of Bitcoin.
func nodeKind(ctx context.Context, node string) (k sourceKind, err error) {
	if k.ChainID, err = chainID(ctx, node); err == nil || errors.As(err, new(net.Error)) {
		return k, err
	}
	var other error
	if k.Coin, other = bitcoin.NetworkOf(ctx, node); other != nil {
		return k, err
	}
	return k, nil
}

// answerTime bounds a node's first answer.
const answerTime = 20 * time.Second

// chainID asks a node. Its URL, which may hold a key, is in no error.
func chainID(ctx context.Context, node string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	client, err := ethclient.DialContext(ctx, node)
	if err == nil {
		defer client.Close()
		var id *big.Int
		if id, err = client.ChainID(ctx); err == nil {
			return id.Uint64(), nil
		}
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return 0, fmt.Errorf("eth_chainId: %w", err)
}

// read reads a token's figures from both chains.
func (t *servedToken) read(ctx context.Context, decimals func(context.Context, chain.Asset) (uint8, error), exchange *vite.Chain) error {
	info, err := exchange.TokenInfo(ctx, chain.Asset(t.ID))
	if err != nil {
		return fmt.Errorf("token %s: %w", t.ID, err)
	}
	t.Symbol, t.Decimals = info.Symbol, info.Decimals
	if chain.Asset(t.Asset) != chain.Native {
		if t.AssetDecimals, err = decimals(ctx, chain.Asset(t.Asset)); err != nil {
			return fmt.Errorf("token %s: contract %s: %w", t.ID, t.Asset, err)
		}
	}
	for _, amount := range []struct {
		whole decimal.Decimal
		to    *string
	}{{t.Token.Min, &t.Min}, {t.Token.Max, &t.Max}, {t.Token.Fee, &t.Fee}} {
		units := amount.whole.Shift(int32(t.Decimals))
		if !units.IsInteger() {
			return fmt.Errorf("token %s: %s has more than its %d decimals", t.ID, amount.whole, t.Decimals)
		}
		*amount.to = units.String()
	}
	return nil
}
