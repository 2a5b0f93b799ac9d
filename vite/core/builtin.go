package core

import (
	"github.com/holiman/uint256"
)

// Builtin is a method of a built-in contract with what a call of it costs
// (docs/exchange-chain-wire.md 4.5, 4.6).
type Builtin struct {
	Method
	Quota uint64 // flat, whatever the size of the data; 0 where the call costs as a transfer does
}

// Methods of the asset contract (docs/exchange-chain-wire.md 6.2). Mint, Issue, TransferOwner and
// ChangeTokenType are older names, equal in everything but the selector.
var (
	IssueToken          = MustMethod("IssueToken(bool,string,string,uint256,uint8,uint256,bool)")
	Mint                = MustMethod("Mint(bool,string,string,uint256,uint8,uint256,bool)")
	ReIssue             = MustMethod("ReIssue(tokenId,uint256,address)")
	Issue               = MustMethod("Issue(tokenId,uint256,address)")
	Burn                = MustMethod("Burn()")
	TransferOwnership   = MustMethod("TransferOwnership(tokenId,address)")
	TransferOwner       = MustMethod("TransferOwner(tokenId,address)")
	DisableReIssue      = MustMethod("DisableReIssue(tokenId)")
	ChangeTokenType     = MustMethod("ChangeTokenType(tokenId)")
	GetTokenInformation = MustMethod("GetTokenInformation(tokenId)")
)

// Methods of the quota contract (docs/exchange-chain-wire.md 6.3). Stake and Pledge are older forms
// that merge the stakes of one beneficiary, CancelStake ends those.
var (
	StakeForQuota      = MustMethod("StakeForQuota(address)")
	CancelQuotaStaking = MustMethod("CancelQuotaStaking(bytes32)")
	Stake              = MustMethod("Stake(address)")
	Pledge             = MustMethod("Pledge(address)")
	CancelStake        = MustMethod("CancelStake(address,uint256)")
)

// Methods of the governance contract that users call.
var (
	VoteForSBP      = MustMethod("VoteForSBP(string)")
	CancelSBPVoting = MustMethod("CancelSBPVoting()")
)

// Events of the asset contract. MintEvent and IssueEvent are the older names of the first two.
var (
	IssueTokenEvent        = MustEvent("issueToken(tokenId indexed)")
	ReIssueEvent           = MustEvent("reIssue(tokenId indexed)")
	BurnEvent              = MustEvent("burn(tokenId indexed,address,uint256)")
	TransferOwnershipEvent = MustEvent("transferOwnership(tokenId indexed,address)")
	DisableReIssueEvent    = MustEvent("disableReIssue(tokenId indexed)")
	MintEvent              = MustEvent("mint(tokenId indexed)")
	IssueEvent             = MustEvent("issue(tokenId indexed)")
)

// Older names cost the same as the newer names that replaced them.
var builtinMethods = map[Address][]Builtin{
	AssetContract: {
		{IssueToken, 189000}, {Mint, 189000},
		{ReIssue, 126000}, {Issue, 126000},
		{Burn, 115500},
		{TransferOwnership, 136500}, {TransferOwner, 136500},
		{DisableReIssue, 115500}, {ChangeTokenType, 115500},
		{GetTokenInformation, 0},
	},
	QuotaContract: {
		{StakeForQuota, 105000}, {Stake, 105000}, {Pledge, 105000},
		{CancelQuotaStaking, 105000}, {CancelStake, 105000},
	},
	GovernanceContract: {{VoteForSBP, 0}, {CancelSBPVoting, 0}},
}

// BuiltinMethod finds the method of the asset, quota or governance contract that data calls. The
// exchange contracts' methods are known to package dex.
func BuiltinMethod(contract Address, data []byte) (Builtin, bool) {
	for _, m := range builtinMethods[contract] {
		if m.Matches(data) {
			return m, true
		}
	}
	return Builtin{}, false
}

// RequiredFee returns the fee in VITE's smallest unit that a user's block must state exactly: 10
// VITE to create a contract, 1000 to issue a token, else nothing (docs/exchange-chain-wire.md 4.5).
func RequiredFee(t BlockType, to Address, data []byte) uint256.Int {
	switch {
	case t == SendCreate:
		return wholeVITE(10)
	case t == SendCall && to == AssetContract && (IssueToken.Matches(data) || Mint.Matches(data)):
		return wholeVITE(1000)
	}
	return uint256.Int{}
}
