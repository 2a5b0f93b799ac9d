package main

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
	"gatewayd/chain/ethereum/devnode"
	"gatewayd/chain/vite/core"
	"gatewayd/chain/vite/node"
	"gatewayd/wallet"
)

// devUsers is how many exchange-chain accounts a development world stakes quota for; the first is wallet path devUserBase.
const (
	devUsers    = 20
	devUserBase = 10
)

// devAsset is a gateway token of a development world.
type devAsset struct {
	node.TokenInfo
	asset            chain.Asset
	binding          int
	labelName        string
	minimum, maximum uint64 // thousandths of a token
}

// units turns thousandths of a token into smallest units.
func (a devAsset) units(thousandths uint64) chain.Amount {
	scaled, _, _ := chain.NewAmount(thousandths).Rescale(3, a.Decimals)
	return scaled
}

// devTokens are native coin and two tokens, one of them with a label instead of an address per user.
func devTokens() []devAsset {
	contracts := devnode.ContractsOf(crypto.PubkeyToAddress(devnode.FaucetKey().PublicKey))
	supply, _, _ := chain.NewAmount(1_000_000_000).Rescale(0, 18)
	token := func(id core.TokenID, name, symbol string, decimals uint8) node.TokenInfo {
		return node.TokenInfo{ID: id, Name: name, Symbol: symbol, Decimals: decimals, TotalSupply: *supply.Uint256()}
	}
	return []devAsset{
		{TokenInfo: token(mustToken("tti_687d8a93915393b219212c73"), "Ether", "ETH", 18), asset: chain.Native, minimum: 10, maximum: 100_000},
		{TokenInfo: token(mustToken("tti_80f3751485e4e83456059473"), "Tether USD", "USDT", 6), asset: chain.Asset(contracts.USDT.Hex()), minimum: 1000, maximum: 1_000_000},
		{
			TokenInfo: token(core.TokenID([]byte("DAI BY TAG")), "Labelled Dai", "DAI", 18), asset: chain.Asset(contracts.DAI.Hex()),
			binding: 1, labelName: "Memo", minimum: 1000, maximum: 1_000_000,
		},
	}
}

func mustToken(text string) core.TokenID {
	id, err := core.ParseTokenID(text)
	if err != nil {
		panic(err)
	}
	return id
}

// What is staked for accounts of a development world, in whole VITE: for the gateway what gives an account all the quota there is, 47 transfers
// with each snapshot block; for the others nine.
const (
	gatewayStake = 2_320_000
	userStake    = 100_000
)

// devGenesis gives the gateway all its tokens, the exchange's operator the exchange's own one, and the exchange's operator and users stakes so that nobody has to grind.
func devGenesis(keys *wallet.Keys) (node.Genesis, error) {
	gateway, err := exchangeAddress(keys, wallet.GatewayPath(0))
	if err != nil {
		return node.Genesis{}, err
	}
	million, _, _ := chain.NewAmount(1_000_000).Rescale(0, 18)
	most, _, _ := chain.NewAmount(gatewayStake).Rescale(0, 18)
	stake, _, _ := chain.NewAmount(userStake).Rescale(0, 18)
	balances := map[core.TokenID]uint256.Int{core.VITE: *million.Uint256()}
	operator, err := exchangeAddress(keys, devOperatorPath())
	if err != nil {
		return node.Genesis{}, err
	}
	g := node.Genesis{ExchangeOwner: operator, Stakes: []node.GenesisStake{{Staker: gateway, Beneficiary: gateway, Amount: *most.Uint256()}}}
	for _, t := range devTokens() {
		t.Owner = operator
		g.Tokens = append(g.Tokens, t.TokenInfo)
		balances[t.ID] = t.TotalSupply
	}
	vx := devVX(operator)
	g.Tokens = append(g.Tokens, vx)
	g.Accounts = []node.GenesisAccount{{Address: gateway, Balances: balances}}
	for i := uint32(devOperator); i < devUserBase+devUsers; i++ {
		user, err := exchangeAddress(keys, wallet.GatewayPath(i))
		if err != nil {
			return node.Genesis{}, err
		}
		g.Stakes = append(g.Stakes, node.GenesisStake{Staker: gateway, Beneficiary: user, Amount: *stake.Uint256()})
		held := map[core.TokenID]uint256.Int{core.VITE: *million.Uint256()}
		if i == devOperator {
			held[vx.ID] = vx.TotalSupply
		}
		g.Accounts = append(g.Accounts, node.GenesisAccount{Address: user, Balances: held})
	}
	return g, nil
}

// stakePool stakes for every paying account what the first one has, or what is asked for.
func stakePool(g *node.Genesis, keys *wallet.Keys, o devOptions) error {
	if err := checkAccounts(o.accounts); err != nil {
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
	for i := 1; i < o.accounts; i++ {
		account, err := exchangeAddress(keys, wallet.GatewayPathOf(0, i))
		if err != nil {
			return err
		}
		g.Stakes = append(g.Stakes, node.GenesisStake{Staker: g.Stakes[0].Staker, Beneficiary: account, Amount: g.Stakes[0].Amount})
	}
	return nil
}

func exchangeAddress(keys *wallet.Keys, path string) (core.Address, error) {
	text, err := keys.Address(path)
	if err != nil {
		return core.Address{}, err
	}
	return core.ParseAddress(text)
}

// gift is what a new development world gives one of the gateway's accounts.
type gift struct {
	asset  string
	to     common.Address
	amount *big.Int
}

// fundSource gives the hot account coins and tokens and the gas account coins, unless they have some. mine makes a block at once on a chain
// of ours; nil waits for the node's next one.
func fundSource(ctx context.Context, info devInfo, keys *wallet.Keys, mine func() error) error {
	faucet, err := newEthUser(ctx, info.Source, devnode.FaucetKey())
	if err != nil {
		return err
	}
	defer faucet.client.Close()
	gifts, err := gifts(info, keys)
	if err != nil {
		return err
	}
	nonce, err := faucet.client.PendingNonceAt(ctx, faucet.address())
	if err != nil {
		return fmt.Errorf("asking for the nonce: %w", err)
	}
	var sent []common.Hash
	for _, g := range gifts {
		have, err := faucet.balance(ctx, g.asset, g.to)
		if err != nil {
			return fmt.Errorf("asking for %s of %s: %w (are the test contracts on the node? gatewayd demo --source puts them there)", g.asset, g.to, err)
		}
		if have.Sign() > 0 {
			continue
		}
		target, value, call := transferOf(g.asset, g.to, g.amount, nil)
		tx, err := faucet.sign(ctx, nonce+uint64(len(sent)), target, value, call)
		if err != nil {
			return err
		}
		if err := faucet.client.SendTransaction(ctx, tx); err != nil {
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
		if err := faucet.mined(ctx, hash); err != nil {
			return err
		}
	}
	return nil
}

// gifts are ten thousand of each asset for the hot account, and a hundred coins to top up deposit addresses with.
func gifts(info devInfo, keys *wallet.Keys) ([]gift, error) {
	hot, err := keys.Address(wallet.HotPath)
	if err != nil {
		return nil, err
	}
	gas, err := keys.Address(wallet.GasPath)
	if err != nil {
		return nil, err
	}
	ether := new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)
	list := []gift{{"native", common.HexToAddress(gas), new(big.Int).Mul(ether, big.NewInt(100))}}
	for _, t := range info.Tokens {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Decimals)), nil)
		list = append(list, gift{t.Asset, common.HexToAddress(hot), unit.Mul(unit, big.NewInt(10_000))})
	}
	return list, nil
}

func devnodeFaucet() string { return crypto.PubkeyToAddress(devnode.FaucetKey().PublicKey).Hex() }

func keyHex(k *ecdsa.PrivateKey) string { return hex.EncodeToString(crypto.FromECDSA(k)) }

// rootOf is a URL without its path.
func rootOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	u.Path = ""
	return u.String()
}
