package ledger

import (
	"regexp"
	"slices"

	"github.com/holiman/uint256"

	"gatewayd/vite/core"
	"gatewayd/vite/dex"
)

// assetMethods issue and manage tokens (docs/exchange-chain-wire.md 6.2). The older names do the
// same; the first two emit their older events.
var assetMethods = []method{
	{core.IssueToken, checkIssue, issueWith(core.IssueTokenEvent)},
	{core.Mint, checkIssue, issueWith(core.MintEvent)},
	{core.ReIssue, checkReIssue, reIssueWith(core.ReIssueEvent)},
	{core.Issue, checkReIssue, reIssueWith(core.IssueEvent)},
	{core.Burn, checkBurn, burn},
	{core.TransferOwnership, checkTransferOwnership, transferOwnership},
	{core.TransferOwner, checkTransferOwnership, transferOwnership},
	{core.DisableReIssue, checkNoAmount, disableReIssue},
	{core.ChangeTokenType, checkNoAmount, disableReIssue},
	{core.GetTokenInformation, fromContract, answerTokenInfo},
}

const (
	maxNameSize   = 40
	MaxTokenIndex = 999
)

var (
	tokenName       = regexp.MustCompile(`^([a-zA-Z_]+[ ]?)*[a-zA-Z_]$`)
	tokenSymbol     = regexp.MustCompile(`^[A-Z0-9]{1,10}$`)
	reservedSymbols = []string{"VITE", "VCP", "VX"}
)

func checkNoAmount(b *core.AccountBlock, _ []any) error {
	if !b.Amount.IsZero() {
		return ErrMethodParam
	}
	return nil
}

// issuance contains the arguments of IssueToken.
type issuance struct {
	reIssuable    bool
	name, symbol  string
	total         uint256.Int
	decimals      uint8
	max           uint256.Int
	ownerBurnOnly bool
}

func issuanceOf(args []any) issuance {
	return issuance{
		args[0].(bool), args[1].(string), args[2].(string),
		args[3].(uint256.Int), args[4].(uint8), args[5].(uint256.Int), args[6].(bool),
	}
}

func checkIssue(b *core.AccountBlock, args []any) error {
	i := issuanceOf(args)
	if !b.Amount.IsZero() || !i.named() || !i.supplied() {
		return ErrMethodParam
	}
	return nil
}

func (i issuance) named() bool {
	return len(i.name) <= maxNameSize && tokenName.MatchString(i.name) &&
		tokenSymbol.MatchString(i.symbol) && !slices.Contains(reservedSymbols, i.symbol)
}

func (i issuance) supplied() bool {
	if i.reIssuable {
		return !i.total.Gt(&i.max)
	}
	return !i.total.IsZero() && i.max.IsZero() && !i.ownerBurnOnly
}

// issueWith makes the token and sends its first supply to the issuer. The id follows from the
// contract's own height, so it is not known before.
func issueWith(event core.Event) func(*execution, []any) error {
	return func(x *execution, args []any) error {
		i, s := issuanceOf(args), x.state
		index := s.Symbols[i.symbol]
		if index > MaxTokenIndex {
			return errTooMany
		}
		token := &TokenInfo{
			ID:   core.NewTokenID(x.send.Address, x.block.Height, x.send.Hash),
			Name: i.name, Symbol: i.symbol, Decimals: i.decimals, Owner: x.send.Address, TotalSupply: i.total,
			MaxSupply: i.max, ReIssuable: i.reIssuable, OwnerBurnOnly: i.ownerBurnOnly, Index: index,
		}
		put(&s.journal, s.Symbols, i.symbol, index+1)
		put(&s.journal, s.Tokens, token.ID, token)
		if !i.total.IsZero() {
			x.mint(x.send.Address, token.ID, i.total)
		}
		return x.emit(event, token.ID)
	}
}

func checkReIssue(b *core.AccountBlock, args []any) error {
	if amount := args[1].(uint256.Int); amount.IsZero() {
		return ErrMethodParam
	}
	return checkNoAmount(b, args)
}

func reIssueWith(event core.Event) func(*execution, []any) error {
	return func(x *execution, args []any) error {
		id, amount, to := args[0].(core.TokenID), args[1].(uint256.Int), args[2].(core.Address)
		token, err := x.owned(id)
		if err != nil {
			return err
		}
		_, over := token.TotalSupply.AddOverflow(&token.TotalSupply, &amount)
		if over || !token.ReIssuable || token.TotalSupply.Gt(&token.MaxSupply) {
			return errSupply
		}
		if to.IsContract() && !x.state.steps.toContracts {
			return errNoReceiver
		}
		put(&x.state.journal, x.state.Tokens, id, token)
		x.mint(to, id, amount)
		return x.emit(event, id)
	}
}

func checkBurn(b *core.AccountBlock, _ []any) error {
	if b.Amount.IsZero() {
		return ErrMethodParam
	}
	return nil
}

// burn destroys what the call brought.
func burn(x *execution, _ []any) error {
	id, amount := x.send.TokenID, x.send.Amount
	token := *x.state.Tokens[id] // exists: the send was accepted with it
	if token.OwnerBurnOnly && token.Owner != x.send.Address {
		return errNotOwner
	}
	if _, under := token.TotalSupply.SubOverflow(&token.TotalSupply, &amount); under {
		return errSupply
	}
	if err := x.state.debit(x.self, id, amount); err != nil {
		return err
	}
	put(&x.state.journal, x.state.Tokens, id, &token)
	return x.emit(core.BurnEvent, id, x.send.Address, amount)
}

func checkTransferOwnership(b *core.AccountBlock, args []any) error {
	if args[1].(core.Address) == b.Address {
		return ErrMethodParam
	}
	return checkNoAmount(b, args)
}

func transferOwnership(x *execution, args []any) error {
	id, to := args[0].(core.TokenID), args[1].(core.Address)
	token, err := x.owned(id)
	if err != nil {
		return err
	}
	token.Owner = to
	put(&x.state.journal, x.state.Tokens, id, token)
	return x.emit(core.TransferOwnershipEvent, id, to)
}

func disableReIssue(x *execution, args []any) error {
	id := args[0].(core.TokenID)
	token, err := x.owned(id)
	if err != nil {
		return err
	}
	if !token.ReIssuable {
		return errSupply
	}
	token.ReIssuable, token.MaxSupply, token.OwnerBurnOnly = false, uint256.Int{}, false
	put(&x.state.journal, x.state.Tokens, id, token)
	return x.emit(core.DisableReIssueEvent, id)
}

// owned is a copy of the sender's token.
func (x *execution) owned(id core.TokenID) (*TokenInfo, error) {
	token := x.state.Tokens[id]
	switch {
	case token == nil:
		return nil, errNoSuchToken
	case token.Owner != x.send.Address:
		return nil, errNotOwner
	}
	changed := *token
	return &changed, nil
}

// answerTokenInfo answers the contract that asks for a token.
func answerTokenInfo(x *execution, args []any) error {
	id := args[0].(core.TokenID)
	token, known := x.state.Tokens[id]
	if !known {
		token = &TokenInfo{}
	}
	return x.sendContractCall(x.send.Address, dex.FundTokenInfo, id, known, token.Decimals, token.Symbol, token.Index, token.Owner)
}
