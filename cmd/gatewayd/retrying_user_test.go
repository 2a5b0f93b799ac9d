package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"gatewayd/chain"
	"gatewayd/dev"
	"gatewayd/vite/core"
)

// retryingUser is a user of a daemon that is killed repeatedly, with its embedded chains. Each call
// is retried until it succeeds, at the addresses of the running daemon, and nothing is sent again
// without a check whether it was done.
type retryingUser struct {
	*testUser
	dir string // of the daemon
	rng *rand.Rand

	deposited   chain.Amount            // in all
	spent       chain.Amount            // in all, with fees, by withdrawals that are not refused
	paid        map[string]chain.Amount // what each payee must have
	deposits    map[string]bool         // hashes of transactions
	withdrawals map[string]string       // by hash: the state it must end in
}

func newRetryingUser(u *testUser, dir string, seed uint64) *retryingUser {
	rng := rand.New(rand.NewPCG(seed, uint64(u.Vite.Address()[3])))
	return &retryingUser{testUser: u, dir: dir, rng: rng, paid: map[string]chain.Amount{}, deposits: map[string]bool{}, withdrawals: map[string]string{}}
}

// retry repeats an act until it succeeds.
func retry(ctx context.Context, what string, act func() error) error {
	var last error
	err := dev.Poll(ctx, func() (bool, error) {
		last = act()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w: %w", what, err, last)
	}
	return nil
}

// reconnect dials gateway and nodes at the addresses of the daemon that runs now.
func (u *retryingUser) reconnect(ctx context.Context) error {
	info, err := dev.ReadInfo(filepath.Join(u.dir, "dev.json"))
	if err != nil {
		return err
	}
	if u.Gateway.Base != info.Gateway {
		u.Gateway = dev.NewGatewayUser(info.Gateway)
		u.Gateway.HTTP.Timeout = 5 * time.Second
	}
	eth, err := dev.NewEthUser(ctx, info.Source, u.Eth.Key)
	if err != nil {
		return err
	}
	vite, err := dev.NewViteUser(ctx, info.Exchange, u.Vite.Key)
	if err != nil {
		eth.Client.Close()
		return err
	}
	u.Eth.Client.Close()
	u.Vite.Node.Close()
	u.Eth, u.Vite = eth, vite
	return nil
}

// bridgeUntil deposits and withdraws at random until ctx ends, at least one of each. It finishes
// open transfers by the deadline.
func (u *retryingUser) bridgeUntil(ctx, deadline context.Context) error {
	for ctx.Err() == nil || len(u.deposits) == 0 || len(u.withdrawals) == 0 {
		act := u.depositSome
		if u.rng.IntN(3) > 0 {
			act = u.withdrawSome
		}
		if err := act(deadline); err != nil {
			return err
		}
		select {
		case <-deadline.Done():
			return deadline.Err()
		case <-time.After(time.Duration(u.rng.IntN(1000)) * time.Millisecond):
		}
	}
	return nil
}

func (u *retryingUser) depositSome(ctx context.Context) error {
	amount := u.Times(5 + u.rng.Uint64N(10))
	var info dev.DepositInfo
	err := retry(ctx, "deposit-info", func() error {
		if err := u.reconnect(ctx); err != nil {
			return err
		}
		return u.Gateway.Get(ctx, "/deposit-info", map[string]string{"tokenId": u.Token.Token, "walletAddress": u.Vite.Address().String()}, &info)
	})
	if err != nil {
		return err
	}
	hash, err := u.transact(ctx, common.HexToAddress(info.DepositAddress), amount, []byte(info.Label))
	if err != nil {
		return err
	}
	u.deposits[hash] = true
	u.deposited, err = u.deposited.Add(amount)
	return err
}

// transact signs once and sends the same transaction until a block has it.
func (u *retryingUser) transact(ctx context.Context, to common.Address, amount chain.Amount, data []byte) (string, error) {
	var tx *types.Transaction
	failed := false
	err := retry(ctx, "a transaction in a block", func() (err error) {
		if err := u.reconnect(ctx); err != nil {
			return err
		}
		if tx == nil {
			if tx, err = u.signTransfer(ctx, to, amount, data); err != nil {
				return err
			}
		}
		sending := u.Eth.Client.SendTransaction(ctx, tx) // refused when it is known
		receipt, err := u.Eth.Client.TransactionReceipt(ctx, tx.Hash())
		if err != nil {
			return errors.Join(err, sending)
		}
		failed = receipt.Status != types.ReceiptStatusSuccessful
		return nil
	})
	if err != nil || failed {
		return "", errors.Join(err, fmt.Errorf("sending %s of %s: the transaction failed: %t", amount, u.Token.Symbol, failed))
	}
	return tx.Hash().Hex(), nil
}

func (u *retryingUser) signTransfer(ctx context.Context, to common.Address, amount chain.Amount, data []byte) (*types.Transaction, error) {
	nonce, err := u.Eth.Client.NonceAt(ctx, u.Eth.Address(), nil)
	if err != nil {
		return nil, err
	}
	target, value, call := dev.TransferOf(u.Token.Asset, to, amount.Uint256().ToBig(), data)
	return u.Eth.Sign(ctx, nonce, target, value, call)
}

// withdrawSome receives what waits and withdraws a little, one time in five to an address that is
// refused.
func (u *retryingUser) withdrawSome(ctx context.Context) error {
	if err := u.receiveAll(ctx); err != nil {
		return err
	}
	net, fee := u.Times(1+u.rng.Uint64N(3)), u.Times(1)
	gross, err := net.Add(fee)
	if err != nil {
		return err
	}
	if have, err := u.balance(ctx); err != nil || have.Less(gross) {
		return err
	}
	to, err := dev.NewPayee()
	if err != nil {
		return err
	}
	comment, state := core.Comment{Type: uint8(u.Token.Type), Address: to.Hex()}, "OPPOSITE_CONFIRMED"
	refused := u.rng.IntN(5) == 0
	if refused {
		comment.Address, state = badPayee, "WRONG_WITHDRAW_ADDRESS"
	}
	data, err := comment.Encode()
	if err != nil {
		return err
	}
	hash, err := u.sendWithdrawal(ctx, gross, data)
	if err != nil {
		return err
	}
	u.withdrawals[hash] = state
	if refused {
		return nil
	}
	u.paid[to.Hex()] = net
	u.spent, err = u.spent.Add(gross)
	return err
}

func (u *retryingUser) sendWithdrawal(ctx context.Context, gross chain.Amount, data []byte) (string, error) {
	token, err := core.ParseTokenID(u.Token.Token)
	if err != nil {
		return "", err
	}
	var info dev.WithdrawInfo
	err = retry(ctx, "withdraw-info", func() error {
		if err := u.reconnect(ctx); err != nil {
			return err
		}
		return u.Gateway.Get(ctx, "/withdraw-info", map[string]string{"tokenId": u.Token.Token, "walletAddress": u.Vite.Address().String()}, &info)
	})
	if err != nil {
		return "", err
	}
	to, err := core.ParseAddress(info.GatewayAddress)
	if err != nil {
		return "", err
	}
	b := &core.AccountBlock{BlockType: core.SendCall, ToAddress: to, TokenID: token, Amount: *gross.Uint256(), Data: data}
	err = u.sendBlock(ctx, b)
	return b.Hash.String(), err
}

// sendBlock sends a block until it is the account's newest. The account has no other writer, so the
// same block exists nowhere else.
func (u *retryingUser) sendBlock(ctx context.Context, b *core.AccountBlock) error {
	return retry(ctx, "a block on the exchange chain", func() error {
		if err := u.reconnect(ctx); err != nil {
			return err
		}
		latest, err := u.Vite.Node.LatestAccountBlock(ctx, u.Vite.Address())
		if err != nil {
			return err
		}
		if latest != nil && latest.Hash == b.Hash {
			return nil
		}
		b.Address, b.Height, b.PreviousHash = u.Vite.Address(), 1, core.Hash{}
		if latest != nil {
			b.Height, b.PreviousHash = latest.Height+1, latest.Hash
		}
		b.SignWith(u.Vite.Key)
		return u.Vite.Node.SendRawTransaction(ctx, b)
	})
}

// receiveAll receives every block that waits.
func (u *retryingUser) receiveAll(ctx context.Context) error {
	return retry(ctx, "receiving", func() error {
		if err := u.reconnect(ctx); err != nil {
			return err
		}
		return u.Vite.ReceiveAll(ctx)
	})
}

func (u *retryingUser) balance(ctx context.Context) (have chain.Amount, err error) {
	token, err := core.ParseTokenID(u.Token.Token)
	if err != nil {
		return have, err
	}
	err = retry(ctx, "the balance", func() (err error) {
		if err := u.reconnect(ctx); err != nil {
			return err
		}
		have, err = u.Vite.Balance(ctx, token)
		return err
	})
	return have, err
}

// expectedBalance is the user's correct final balance on the exchange chain.
func (u *retryingUser) expectedBalance() (chain.Amount, error) { return u.deposited.Sub(u.spent) }
