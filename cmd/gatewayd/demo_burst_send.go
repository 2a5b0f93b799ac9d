package main

import (
	"context"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"

	"gatewayd/chain/vite/core"
)

// depositAll signs every deposit with the payer's next nonces and sends them in batches, in order.
func (b *burst) depositAll(ctx context.Context) error {
	var batch []rpc.BatchElem
	for i, u := range b.users {
		target, value, call := transferOf(u.token.Asset, common.HexToAddress(u.place.DepositAddress), u.deposit.Uint256().ToBig(), []byte(u.place.Label))
		tx, err := b.payer.sign(ctx, b.payer.next+uint64(i), target, value, call)
		if err != nil {
			return err
		}
		raw, err := tx.MarshalBinary()
		if err != nil {
			return err
		}
		u.deposited = tx.Hash()
		batch = append(batch, rpc.BatchElem{Method: "eth_sendRawTransaction", Args: []any{hexutil.Encode(raw)}, Result: new(string)})
	}
	b.payer.next += uint64(len(b.users))
	return inBatches(ctx, b.payer.client.Client(), batch)
}

// inBatches sends calls in their order, a hundred at a time, and answers the first refusal.
func inBatches(ctx context.Context, node *rpc.Client, calls []rpc.BatchElem) error {
	const size = 100
	for len(calls) > 0 {
		some := calls[:min(size, len(calls))]
		if err := node.BatchCallContext(ctx, some); err != nil {
			return fmt.Errorf("sending a batch: %w", err)
		}
		for _, c := range some {
			if c.Error != nil {
				return fmt.Errorf("%s: %w", c.Method, c.Error)
			}
		}
		calls = calls[len(some):]
	}
	return nil
}

// withdrawAll has every user send to the gateway with the comment that names their payee.
func (b *burst) withdrawAll(ctx context.Context) error {
	return each(ctx, len(b.users), func(ctx context.Context, i int) (err error) {
		u := b.users[i]
		comment := core.Comment{Type: uint8(u.token.Type), Address: u.payee.Hex()}
		if u.token.Type == 1 {
			comment.Label = "burst"
		}
		data, err := comment.Encode()
		if err != nil {
			return err
		}
		if u.withdrawn, err = u.send(ctx, b.home, u.id, u.gross.Uint256(), data); err != nil {
			return fmt.Errorf("withdrawing: %w", err)
		}
		return nil
	})
}

// count says whether the user has exactly the deposit, since what they had before was withdrawn, and the payee exactly the withdrawal.
func (u *burstUser) count(ctx context.Context, b *burst) error {
	if err := u.receiveAll(ctx); err != nil {
		return err
	}
	have, err := u.balance(ctx, u.id)
	if err != nil {
		return err
	}
	if have != u.deposit {
		return fmt.Errorf("%w: %s has %s of %s, not %s", errAmount, u.address(), have, u.token.Symbol, u.deposit)
	}
	got, err := b.payer.balance(ctx, u.token.Asset, u.payee)
	if err != nil {
		return err
	}
	if got.Cmp(u.net.Uint256().ToBig()) != 0 {
		return fmt.Errorf("%w: %s has %s of %s, not %s", errAmount, u.payee, got, u.token.Symbol, u.net)
	}
	return nil
}
