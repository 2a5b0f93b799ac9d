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
	"gatewayd/devnet"
	"gatewayd/vite/core"
)

// patient is a user whose daemon dies all the time, and the embedded chains with it: whatever fails is asked again, at the place where the
// daemon lives now, and what may have been done is looked up before it is done again.
type patient struct {
	*testUser
	dir string // of the daemon
	rng *rand.Rand

	deposited chain.Amount            // in all
	spent     chain.Amount            // in all, with fees, by withdrawals that are not refused
	paid      map[string]chain.Amount // what each payee must have
	deposits  map[string]bool         // hashes of transactions
	wanted    map[string]string       // withdrawal's hash -> state it must end in
}

func newPatient(u *testUser, dir string, seed uint64) *patient {
	rng := rand.New(rand.NewPCG(seed, uint64(u.Vite.Address()[3])))
	return &patient{testUser: u, dir: dir, rng: rng, paid: map[string]chain.Amount{}, deposits: map[string]bool{}, wanted: map[string]string{}}
}

// until repeats an act that may fail until it does not.
func until(ctx context.Context, what string, act func() error) error {
	var last error
	err := devnet.Poll(ctx, func() (bool, error) {
		last = act()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w: %w", what, err, last)
	}
	return nil
}

// reach dials everything anew at the addresses of the daemon that lives now.
func (u *patient) reach(ctx context.Context) error {
	info, err := devnet.ReadInfo(filepath.Join(u.dir, "dev.json"))
	if err != nil {
		return err
	}
	if u.Gateway.Base != info.Gateway {
		u.Gateway = devnet.NewGatewayUser(info.Gateway)
		u.Gateway.HTTP.Timeout = 5 * time.Second
	}
	eth, err := devnet.NewEthUser(ctx, info.Source, u.Eth.Key)
	if err != nil {
		return err
	}
	vite, err := devnet.NewViteUser(ctx, info.Exchange, u.Vite.Key)
	if err != nil {
		eth.Client.Close()
		return err
	}
	u.Eth.Client.Close()
	u.Vite.Node.Close()
	u.Eth, u.Vite = eth, vite
	return nil
}

// live deposits and withdraws at random until ctx ends and there was one of each at least; then nothing of it is left half done.
func (u *patient) live(ctx, patience context.Context) error {
	for ctx.Err() == nil || len(u.deposits) == 0 || len(u.wanted) == 0 {
		act := u.depositSome
		if u.rng.IntN(3) > 0 {
			act = u.withdrawSome
		}
		if err := act(patience); err != nil {
			return err
		}
		select {
		case <-patience.Done():
			return patience.Err()
		case <-time.After(time.Duration(u.rng.IntN(1000)) * time.Millisecond):
		}
	}
	return nil
}

func (u *patient) depositSome(ctx context.Context) error {
	amount := u.Times(5 + u.rng.Uint64N(10))
	var info devnet.DepositInfo
	err := until(ctx, "deposit-info", func() error {
		if err := u.reach(ctx); err != nil {
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
func (u *patient) transact(ctx context.Context, to common.Address, amount chain.Amount, data []byte) (string, error) {
	var tx *types.Transaction
	failed := false
	err := until(ctx, "a transaction in a block", func() (err error) {
		if err := u.reach(ctx); err != nil {
			return err
		}
		if tx == nil {
			if tx, err = u.signed(ctx, to, amount, data); err != nil {
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

func (u *patient) signed(ctx context.Context, to common.Address, amount chain.Amount, data []byte) (*types.Transaction, error) {
	nonce, err := u.Eth.Client.NonceAt(ctx, u.Eth.Address(), nil)
	if err != nil {
		return nil, err
	}
	target, value, call := devnet.TransferOf(u.Token.Asset, to, amount.Uint256().ToBig(), data)
	return u.Eth.Sign(ctx, nonce, target, value, call)
}

// withdrawSome takes in what waits and withdraws a little, one time in five to an address that is refused.
func (u *patient) withdrawSome(ctx context.Context) error {
	if err := u.takeIn(ctx); err != nil {
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
	to, err := devnet.NewPayee()
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
	hash, err := u.sendOut(ctx, gross, data)
	if err != nil {
		return err
	}
	u.wanted[hash] = state
	if refused {
		return nil
	}
	u.paid[to.Hex()] = net
	u.spent, err = u.spent.Add(gross)
	return err
}

func (u *patient) sendOut(ctx context.Context, gross chain.Amount, data []byte) (string, error) {
	token, err := core.ParseTokenID(u.Token.Token)
	if err != nil {
		return "", err
	}
	var info devnet.WithdrawInfo
	err = until(ctx, "withdraw-info", func() error {
		if err := u.reach(ctx); err != nil {
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
	err = u.put(ctx, b)
	return b.Hash.String(), err
}

// put sends a block until it is the account's newest. Nobody else writes to the account, so the same block stands nowhere else.
func (u *patient) put(ctx context.Context, b *core.AccountBlock) error {
	return until(ctx, "a block on the exchange chain", func() error {
		if err := u.reach(ctx); err != nil {
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

// takeIn receives everything that waits.
func (u *patient) takeIn(ctx context.Context) error {
	return until(ctx, "receiving", func() error {
		if err := u.reach(ctx); err != nil {
			return err
		}
		return u.Vite.ReceiveAll(ctx)
	})
}

func (u *patient) balance(ctx context.Context) (have chain.Amount, err error) {
	token, err := core.ParseTokenID(u.Token.Token)
	if err != nil {
		return have, err
	}
	err = until(ctx, "the balance", func() (err error) {
		if err := u.reach(ctx); err != nil {
			return err
		}
		have, err = u.Vite.Balance(ctx, token)
		return err
	})
	return have, err
}

// must is what the user has to have on the exchange chain in the end.
func (u *patient) must() (chain.Amount, error) { return u.deposited.Sub(u.spent) }
