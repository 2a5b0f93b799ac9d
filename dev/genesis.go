package dev

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/url"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/dev/ethnode"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/wallet"
)

// Whole converts tokens to smallest units.
func Whole(tokens uint64, decimals uint8) chain.Amount {
	amount, _, _ := chain.NewAmount(tokens).Rescale(0, decimals)
	return amount
}

// Users is the number of exchange-chain accounts with staked quota in a development environment;
// the first is wallet path devUserBase.
const (
	Users    = 20
	UserBase = 10
)

// Asset is a gateway token of a development environment.
type Asset struct {
	ledger.TokenInfo
	asset            chain.Asset
	binding          int
	labelName        string
	minimum, maximum uint64 // thousandths of a token
}

// Units turns thousandths of a token into smallest units.
func (a Asset) Units(thousandths uint64) chain.Amount {
	scaled, _, _ := chain.NewAmount(thousandths).Rescale(3, a.Decimals)
	return scaled
}

// Tokens are native coin and two tokens, one of them with a label instead of an address per user.
func Tokens() []Asset {
	contracts := ethnode.ContractsOf(crypto.PubkeyToAddress(ethnode.FaucetKey().PublicKey))
	token := func(id core.TokenID, name, symbol string, decimals uint8, supply uint64) ledger.TokenInfo {
		return ledger.TokenInfo{ID: id, Name: name, Symbol: symbol, Decimals: decimals, TotalSupply: *Whole(supply, decimals).Uint256()}
	}
	return []Asset{
		{TokenInfo: token(MustToken("tti_687d8a93915393b219212c73"), "Ether", "ETH", 18, 1_000_000), asset: chain.Native, minimum: 10, maximum: 100_000},
		{TokenInfo: token(MustToken("tti_80f3751485e4e83456059473"), "Tether USD", "USDT", 6, 500_000_000), asset: chain.Asset(contracts.USDT.Hex()), minimum: 1000, maximum: 1_000_000},
		{
			TokenInfo: token(core.TokenID([]byte("DAI BY TAG")), "Labelled Dai", "DAI", 18, 100_000_000), asset: chain.Asset(contracts.DAI.Hex()),
			binding: 1, labelName: "Memo", minimum: 1000, maximum: 1_000_000,
		},
	}
}

func MustToken(text string) core.TokenID {
	id, err := core.ParseTokenID(text)
	if err != nil {
		panic(err)
	}
	return id
}

// Stakes of a development environment's accounts, in VITE. The gateway has the stake for the
// maximum quota of an account, 47 transfers with each snapshot block; the others have nine.
const (
	GatewayStake = 2_320_000
	UserStake    = 100_000
)

// newcomerWork is the difficulty of the work that pays for a transfer of an account without a
// stake: a millisecond, on the main network half a minute.
const newcomerWork = 1000

// Genesis gives the gateway all its tokens, and the exchange's operator the exchange's own token.
// The operator and the users get stakes, so that proof of work is not needed.
func Genesis(keys *wallet.Keys) (ledger.Genesis, error) {
	gateway, err := daemon.ExchangeAddress(keys, wallet.GatewayPath(0))
	if err != nil {
		return ledger.Genesis{}, err
	}
	million, most, stake := Whole(1_000_000, 18), Whole(GatewayStake, 18), Whole(UserStake, 18)
	balances := map[core.TokenID]uint256.Int{core.VITE: *million.Uint256()}
	operator, err := daemon.ExchangeAddress(keys, devOperatorPath())
	if err != nil {
		return ledger.Genesis{}, err
	}
	g := ledger.Genesis{ExchangeOwner: operator, PoWDifficulty: newcomerWork, Stakes: []ledger.GenesisStake{{Staker: gateway, Beneficiary: gateway, Amount: *most.Uint256()}}}
	for _, t := range Tokens() {
		t.Owner = operator
		g.Tokens = append(g.Tokens, t.TokenInfo)
		balances[t.ID] = t.TotalSupply
	}
	vx := genesisVX(operator)
	g.Tokens = append(g.Tokens, vx)
	g.Accounts = []ledger.GenesisAccount{{Address: gateway, Balances: balances}}
	for i := uint32(devOperator); i < UserBase+Users; i++ {
		user, err := daemon.ExchangeAddress(keys, wallet.GatewayPath(i))
		if err != nil {
			return ledger.Genesis{}, err
		}
		g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: gateway, Beneficiary: user, Amount: *stake.Uint256()})
		held := map[core.TokenID]uint256.Int{core.VITE: *million.Uint256()}
		if i == devOperator {
			held[vx.ID] = vx.TotalSupply
		}
		g.Accounts = append(g.Accounts, ledger.GenesisAccount{Address: user, Balances: held})
	}
	return g, nil
}

// stakePool stakes for every paying account what the first one has, or what is asked for.
func stakePool(g *ledger.Genesis, keys *wallet.Keys, o Options) error {
	if err := config.CheckAccounts(o.Accounts); err != nil {
		return err
	}
	gateway := &g.Stakes[0]
	if o.stake > 0 {
		stake, _, err := chain.NewAmount(o.stake).Rescale(0, 18)
		if err != nil {
			return err
		}
		gateway.Amount = *stake.Uint256()
	}
	for i := 1; i < o.Accounts; i++ {
		account, err := daemon.ExchangeAddress(keys, wallet.GatewayPathOf(0, i))
		if err != nil {
			return err
		}
		g.Stakes = append(g.Stakes, ledger.GenesisStake{Staker: g.Stakes[0].Staker, Beneficiary: account, Amount: g.Stakes[0].Amount})
	}
	return nil
}

// gift is the initial balance of an account in a new development environment.
type gift struct {
	Asset  string
	To     common.Address
	Amount *big.Int
}

// FundSource gives the hot account coins and tokens and the gas account coins, unless they have
// some, and sends the other gifts likewise. mine makes a block at once on a chain of ours; nil
// waits for the node's next one.
func FundSource(ctx context.Context, info Info, keys *wallet.Keys, mine func() error, others ...gift) error {
	faucet, err := NewEthUser(ctx, info.Source, ethnode.FaucetKey())
	if err != nil {
		return err
	}
	defer faucet.Client.Close()
	gifts, err := Gifts(info, keys)
	if err != nil {
		return err
	}
	nonce, err := faucet.Client.PendingNonceAt(ctx, faucet.Address())
	if err != nil {
		return fmt.Errorf("asking for the nonce: %w", err)
	}
	var sent []common.Hash
	for _, g := range append(gifts, others...) {
		have, err := faucet.Balance(ctx, g.Asset, g.To)
		if err != nil {
			return fmt.Errorf("asking for %s of %s: %w", g.Asset, g.To, err)
		}
		if have.Sign() > 0 {
			continue
		}
		target, value, call := TransferOf(g.Asset, g.To, g.Amount, nil)
		tx, err := faucet.Sign(ctx, nonce+uint64(len(sent)), target, value, call)
		if err != nil {
			return err
		}
		if err := faucet.Client.SendTransaction(ctx, tx); err != nil {
			return fmt.Errorf("sending: %w", err)
		}
		sent = append(sent, tx.Hash())
	}
	if mine != nil && len(sent) > 0 {
		if err := mine(); err != nil {
			return err
		}
	}
	for _, hash := range sent {
		if err := faucet.Mined(ctx, hash); err != nil {
			return err
		}
	}
	return nil
}

// Gifts are ten thousand of each asset for the hot account, and a hundred coins to top up deposit
// addresses with.
func Gifts(info Info, keys *wallet.Keys) ([]gift, error) {
	hot, err := keys.Address(wallet.SourcePaths(ethereum.CoinType).Hot(0))
	if err != nil {
		return nil, err
	}
	gas, err := keys.Address(wallet.SourcePaths(ethereum.CoinType).Gas())
	if err != nil {
		return nil, err
	}
	list := []gift{{"native", common.HexToAddress(gas), Whole(100, 18).Uint256().ToBig()}}
	for _, t := range info.Tokens {
		list = append(list, gift{t.Asset, common.HexToAddress(hot), Whole(10_000, t.Decimals).Uint256().ToBig()})
	}
	return list, nil
}

func FaucetAddress() string { return crypto.PubkeyToAddress(ethnode.FaucetKey().PublicKey).Hex() }

func keyHex(k *ecdsa.PrivateKey) string { return hex.EncodeToString(crypto.FromECDSA(k)) }

// RootOf is a URL without its path.
func RootOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	u.Path = ""
	return u.String()
}
