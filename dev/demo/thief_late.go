package demo

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/records/signguard"
	"gatewayd/wallet"
)

// depositAddress is the deposit address of an index, by the public key that the daemon has.
func (th *thief) depositAddress(ctx context.Context, index uint32) (string, error) {
	known, err := th.signer.DepositKey(ctx, "eth")
	if err != nil {
		return "", err
	}
	key, err := wallet.ParseDepositKey(known.Public, known.Chain)
	if err != nil {
		return "", err
	}
	return key.Address(index)
}

// expect sends a claim until the signer has an answer that time does not change, which must be a
// refusal in the words that are expected.
func (th *thief) expect(ctx context.Context, what string, id chain.ID, c chain.Claim, want string) error {
	var v chain.Verdict
	err := dev.Poll(ctx, func() (bool, error) {
		verdicts, err := th.signer.Authorize(ctx, id, c)
		if err == nil {
			v = verdicts[0]
		}
		return err == nil && (v.State != chain.LaterClaim || strings.Contains(v.Text, want)), err
	})
	if err != nil {
		return fmt.Errorf("%s: %w: the signer answers %s", what, err, v.Text)
	}
	if v.State == chain.Authorized || !strings.Contains(v.Text, want) {
		return fmt.Errorf("%s: %w: the signer answers %s %s, not %q", what, errPassed, v.State, v.Text, want)
	}
	th.logAnswer(what, v.Text)
	return nil
}

// lateWay is a deposit that names no user, and what the thief then asks for.
type lateWay struct {
	what, symbol string
	index        uint32 // of the deposit address
	label        string // at the hot account instead
	wait         bool   // for one more block, before he asks
}

// tryLate has others pay to addresses and with labels that no user has, and asks for these then.
func (th *thief) tryLate(ctx context.Context) error {
	for i, way := range []lateWay{
		{what: "an address that he asks for as soon as its deposit is in a block", symbol: "USDT", index: 1001},
		{what: "an address that he asks for a block after its deposit", symbol: "USDT", index: 1002, wait: true},
		{what: "a label that he asks for as soon as its deposit is in a block", symbol: "DAI", label: "BND23456"},
		{what: "a label that he asks for a block after its deposit", symbol: "DAI", label: "BND23457", wait: true},
	} {
		c, err := th.late(ctx, way)
		if err != nil {
			return fmt.Errorf("%s: %w", way.what, err)
		}
		c.Payment.ID = 4_000_000 + uint64(i)
		if err := th.expect(ctx, way.what, "vite", c, "came before its address or label was issued"); err != nil {
			return err
		}
	}
	return nil
}

// late pays, has the address or label given to the thief, and answers the claim of the deposit.
func (th *thief) late(ctx context.Context, way lateWay) (c chain.Claim, err error) {
	token, err := th.Info.Token(way.symbol)
	if err != nil {
		return c, err
	}
	b := signguard.Binding{Network: "eth", Chain: "eth", Index: way.index, Label: way.label, User: th.owner}
	to := th.hot
	if way.label == "" {
		if b.Address, err = th.depositAddress(ctx, way.index); err != nil {
			return c, err
		}
		to = b.Address
	}
	least := chain.MustAmount(token.Minimum)
	hash, err := th.user.Faucet.Pay(ctx, token.Asset, common.HexToAddress(to), least.Uint256().ToBig(), []byte(way.label))
	if err != nil {
		return c, err
	}
	receipt, err := th.user.Eth.Client.TransactionReceipt(ctx, hash)
	if err != nil {
		return c, err
	}
	if way.wait {
		if err := th.blockAfter(ctx, receipt.BlockNumber); err != nil {
			return c, err
		}
	}
	if way.label == "" {
		_, err = th.signer.GiveAddress(ctx, b)
	} else {
		err = th.signer.GiveLabel(ctx, b)
	}
	c = th.credit
	// The deposit is the first log of its transaction.
	c.Cause.Ref, c.Cause.Height, c.Cause.Sender = hash.Hex()+":log:0", receipt.BlockNumber.Uint64(), th.user.Faucet.Address().Hex()
	c.Cause.User, c.Cause.Token = th.owner, token.Token
	c.Payment.To, c.Payment.Asset, c.Payment.Amount = th.owner, chain.Asset(token.Token), least
	return c, err
}

func (th *thief) blockAfter(ctx context.Context, height *big.Int) error {
	return dev.Poll(ctx, func() (bool, error) {
		head, err := th.user.Eth.Client.BlockNumber(ctx)
		return err == nil && head > height.Uint64(), err
	})
}

// tryGas asks for coin for an address that no one uses, and for more than the fees of one that is
// used.
func (th *thief) tryGas(ctx context.Context) error {
	source, ok := th.daemonConfig.Chain("eth")
	if !ok {
		return errors.New("the configuration has no chain eth")
	}
	accounts, err := th.signer.Accounts(ctx, "eth", wallet.SourcePaths(source.CoinType).Gas())
	if err != nil {
		return err
	}
	unused, err := th.depositAddress(ctx, 1003)
	if err != nil {
		return err
	}
	if _, err := th.signer.GiveAddress(ctx, signguard.Binding{Network: "eth", Chain: "eth", Index: 1003, Address: unused, User: th.owner}); err != nil {
		return err
	}
	used, err := th.depositAddress(ctx, 1001)
	if err != nil {
		return err
	}
	for i, way := range []struct{ what, to, want string }{
		{"the gas account emptied into an unused address", unused, "has no tokens worth a sweep"},
		{"the gas account emptied into an address with a deposit", used, "is limited to"},
	} {
		c := chain.Claim{
			Account: accounts[0], Cause: chain.Cause{Network: "eth", Mark: fmt.Sprint("gas ", i)},
			Payment: chain.Payment{ID: 5_000_000 + uint64(i), Purpose: chain.Gas, Asset: chain.Native, To: way.to, Amount: dev.Whole(1, 18)},
		}
		if err := th.expect(ctx, way.what, "eth", c, way.want); err != nil {
			return err
		}
	}
	return nil
}
