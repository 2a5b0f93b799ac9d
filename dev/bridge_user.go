package dev

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"gatewayd/chain"
	"gatewayd/vite/core"
)

// BridgeUser is one person with a wallet on both chains who uses one token.
type BridgeUser struct {
	Token   Token
	Faucet  *EthUser
	Eth     *EthUser
	coins   *CoinUser // instead of both for the coin of --bitcoin
	Vite    *ViteUser
	Gateway *GatewayUser
	Out     io.Writer
}

// NewBridgeUser gives a fresh source-chain account coins and tokens, and takes the n-th staked
// account of the exchange chain.
func NewBridgeUser(ctx context.Context, info Info, t Token, n uint32, out io.Writer) (*BridgeUser, error) {
	exchangeKey, err := info.UserKey(n)
	if err != nil {
		return nil, err
	}
	u := &BridgeUser{Token: t, Gateway: NewGatewayUser(info.Gateway), Out: out}
	if u.Vite, err = NewViteUser(ctx, info.Exchange, exchangeKey); err != nil {
		return nil, err
	}
	if c := info.Coin; c != nil && c.Token == t {
		u.Gateway = NewGatewayUser(c.Gateway)
		return u, u.fundCoins(ctx, *c)
	}
	key, err := crypto.GenerateKey()
	if err != nil {
		return nil, err
	}
	if u.Faucet, err = info.Faucet(ctx); err != nil {
		return nil, err
	}
	if u.Eth, err = NewEthUser(ctx, info.Source, key); err != nil {
		return nil, err
	}
	return u, u.fund(ctx)
}

func (u *BridgeUser) Close() {
	if u.Eth != nil {
		u.Faucet.Client.Close()
		u.Eth.Client.Close()
	}
	u.Vite.Node.Close()
}

// fundCoins is fund for a coin of its own chain.
func (u *BridgeUser) fundCoins(ctx context.Context, c Coin) (err error) {
	if u.coins, err = c.User(rand.Text()); err != nil {
		return err
	}
	faucet, err := c.User(faucetName)
	if err == nil {
		_, err = faucet.Pay(ctx, u.coins.Address(), u.Times(100))
	}
	if err != nil {
		return fmt.Errorf("funding the user: %w", err)
	}
	return nil
}

// fund gives the user a coin for fees and a hundred times the minimum of the token.
func (u *BridgeUser) fund(ctx context.Context) error {
	gifts := map[string]chain.Amount{u.Token.Asset: u.Times(100)}
	gifts["native"] = Whole(5, 18)
	for asset, amount := range gifts {
		if _, err := u.Faucet.Pay(ctx, asset, u.Eth.Address(), amount.Uint256().ToBig(), nil); err != nil {
			return fmt.Errorf("funding the user: %w", err)
		}
	}
	return nil
}

// Times is a multiple of the token's minimum.
func (u *BridgeUser) Times(n uint64) chain.Amount {
	a, _ := chain.MustAmount(u.Token.Minimum).Mul(n)
	return a
}

// Whole converts a number of tokens to an amount.
func (u *BridgeUser) Whole(tokens uint64) chain.Amount { return Whole(tokens, u.Token.Decimals) }

// Deposit asks the gateway where to pay and pays there.
func (u *BridgeUser) Deposit(ctx context.Context, amount chain.Amount) (hash string, err error) {
	info, err := u.Gateway.DepositInfo(ctx, u.Token.Token, u.Vite.Address().String())
	if err != nil {
		return "", err
	}
	if u.coins != nil {
		hash, err = u.coins.Pay(ctx, info.DepositAddress, amount)
	} else {
		var sent common.Hash
		sent, err = u.Eth.Pay(ctx, u.Token.Asset, common.HexToAddress(info.DepositAddress), amount.Uint256().ToBig(), []byte(info.Label))
		hash = sent.Hex()
	}
	if err != nil {
		return "", fmt.Errorf("depositing: %w", err)
	}
	fmt.Fprintf(u.Out, "deposit of %s to %s %s\n  %s\n", u.Token.Text(amount), info.DepositAddress, info.Label, hash)
	return hash, nil
}

// Collect receives on the exchange chain until the user has at least an amount.
func (u *BridgeUser) Collect(ctx context.Context, amount chain.Amount) error {
	return u.Vite.Collect(ctx, u.Token.ID(), amount)
}

// Withdraw does what a wallet's withdraw page does: check the address, ask for the fee, send net +
// fee with the comment.
func (u *BridgeUser) Withdraw(ctx context.Context, to string, net chain.Amount) (core.Hash, error) {
	wallet := u.Vite.Address().String()
	var info WithdrawInfo
	if err := u.Gateway.Get(ctx, "/withdraw-info", map[string]string{"tokenId": u.Token.Token, "walletAddress": wallet}, &info); err != nil {
		return core.Hash{}, err
	}
	var check addressCheck
	if err := u.Gateway.Get(ctx, "/withdraw-address/verification", map[string]string{"tokenId": u.Token.Token, "withdrawAddress": to}, &check); err != nil {
		return core.Hash{}, err
	}
	if !check.IsValidAddress {
		return core.Hash{}, fmt.Errorf("the gateway reports that %s is not valid", to)
	}
	gross, err := u.Gateway.Gross(ctx, u.Token.Token, wallet, net)
	if err != nil {
		return core.Hash{}, err
	}
	fee, err := gross.Sub(net)
	if err != nil {
		return core.Hash{}, err
	}
	label := ""
	if u.Token.Type == 1 {
		label = "demo-42"
	}
	data, err := u.Token.Withdrawal(to, label)
	if err != nil {
		return core.Hash{}, err
	}
	hash, err := u.SendToGateway(ctx, info.GatewayAddress, gross, data)
	fmt.Fprintf(u.Out, "withdrawal of %s (+ fee %s) to %s %s\n  %s\n", u.Token.Text(net), u.Token.Text(fee), to, label, hash)
	return hash, err
}

func (u *BridgeUser) SendToGateway(ctx context.Context, gateway string, gross chain.Amount, data []byte) (core.Hash, error) {
	to, err := core.ParseAddress(gateway)
	if err != nil {
		return core.Hash{}, err
	}
	hash, err := u.Vite.Send(ctx, to, u.Token.ID(), gross.Uint256(), data)
	if err != nil {
		return core.Hash{}, fmt.Errorf("withdrawing: %w", err)
	}
	return hash, nil
}

// Paid reports whether a fresh account on the source chain has exactly an amount of the user's
// token, and prints that.
func (u *BridgeUser) Paid(ctx context.Context, to string, want chain.Amount) error {
	got, err := u.balance(ctx, to)
	if err != nil {
		return err
	}
	if got.Cmp(want.Uint256().ToBig()) != 0 {
		return fmt.Errorf("%s has %s, not %s, in smallest units", to, got, want)
	}
	fmt.Fprintf(u.Out, "  %s has %s\n", to, u.Token.Text(want))
	return nil
}

// balance returns an account's holding of the user's token on the source chain.
func (u *BridgeUser) balance(ctx context.Context, of string) (*big.Int, error) {
	if u.coins == nil {
		return u.Eth.Balance(ctx, u.Token.Asset, common.HexToAddress(of))
	}
	sum, err := u.coins.Balance(of)
	return big.NewInt(sum), err
}

// NewPayee returns a new account on the user's source chain without any payment.
func (u *BridgeUser) NewPayee() (string, error) {
	if u.coins != nil {
		fresh, err := NewCoinUser(u.coins.node, u.coins.network.Name, rand.Text())
		return fresh.Address(), err
	}
	to, err := NewPayee()
	return to.Hex(), err
}

// errStuck means that a record ended in a state it cannot leave.
var errStuck = errors.New("the record ended in another state")

// Await prints a record's states as they change until it has the wanted one.
func (u *BridgeUser) Await(ctx context.Context, path, hash, want string) (PublicRecord, error) {
	var last PublicRecord
	err := Poll(ctx, func() (bool, error) {
		r, ok, _ := u.Gateway.Record(ctx, path, u.Token.Token, u.Vite.Address().String(), hash) // a daemon that is restarted answers again soon
		if !ok {
			return false, nil
		}
		if r.State != last.State || r.InTxConfirmedCount != last.InTxConfirmedCount || r.RefundTxHash != last.RefundTxHash {
			fmt.Fprintf(u.Out, "  %-22s %d/%d %s\n", r.State, r.InTxConfirmedCount, r.InTxConfirmationCount, r.OutTxHash+r.RefundTxHash)
		}
		last = r
		if ended(r.State) && r.State != want {
			return false, fmt.Errorf("%w: %s, not %s", errStuck, r.State, want)
		}
		return r.State == want, nil
	})
	return last, err
}

// ended reports whether a record leaves the state only by an operator's action.
func ended(state string) bool {
	switch state {
	case "OPPOSITE_CONFIRMED_FAIL", "BELOW_MINIMUM", "FAILED", "TOT_EXCEED_THE_LIMIT", "WRONG_WITHDRAW_ADDRESS":
		return true
	}
	return false
}

// NewPayee returns a new account without any payment.
func NewPayee() (common.Address, error) {
	key, err := crypto.GenerateKey()
	if err != nil {
		return common.Address{}, err
	}
	return crypto.PubkeyToAddress(*key.Public().(*ecdsa.PublicKey)), nil
}
