package main

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"gatewayd/chain"
	"gatewayd/chain/vite/core"
)

// drillUser bridges one token all through the drill and remembers what it must have in the end.
type drillUser struct {
	*bridgeUser
	books   *drillBooks
	place   depositInfo
	balance *big.Int                    // due on the exchange chain, in smallest units
	payees  map[common.Address]*big.Int // due on the source chain
}

// newDrillUsers are one user of each token.
func newDrillUsers(ctx context.Context, w *drillWorld, books *drillBooks) (users []*drillUser, err error) {
	for i, t := range w.info.Tokens {
		u, err := newDrillUser(ctx, w, books, t, uint32(i))
		if err != nil {
			return nil, err
		}
		users = append(users, u)
	}
	return users, nil
}

func newDrillUser(ctx context.Context, w *drillWorld, books *drillBooks, t devToken, n uint32) (*drillUser, error) {
	b, err := newBridgeUser(ctx, w.info, t, n, io.Discard)
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, func() error { b.close(); return nil })
	u := &drillUser{bridgeUser: b, books: books, balance: new(big.Int), payees: map[common.Address]*big.Int{}}
	query := map[string]string{"tokenId": t.Token, "walletAddress": b.vite.address().String()}
	if err := b.gateway.get(ctx, "/deposit-info", query, &u.place); err != nil {
		return nil, err
	}
	return u, books.took(ctx, w, common.HexToAddress(u.place.DepositAddress))
}

// pays sends a deposit of so many minimums without asking the gateway anything, as a wallet that knows the address does.
func (u *drillUser) pays(ctx context.Context, n uint64) (hash string, err error) {
	amount := u.times(n)
	tx, err := u.eth.pay(ctx, u.token.Asset, common.HexToAddress(u.place.DepositAddress), amount.Uint256().ToBig(), []byte(u.place.Label))
	if err != nil {
		return "", fmt.Errorf("depositing: %w", err)
	}
	u.balance.Add(u.balance, amount.Uint256().ToBig())
	u.books.moves("source "+u.token.Asset, amount.Uint256().ToBig())
	u.books.moves("exchange "+u.token.Token, new(big.Int).Neg(amount.Uint256().ToBig()))
	return tx.Hex(), nil
}

// drillFee is what each withdrawal costs in the development world, in minimums.
const drillFee = 1

// asks sends a withdrawal of so many minimums net to a new payee.
func (u *drillUser) asks(ctx context.Context, w *drillWorld, n uint64) (hash string, err error) {
	return u.asksFor(ctx, w, u.times(n))
}

func (u *drillUser) asksFor(ctx context.Context, w *drillWorld, net chain.Amount) (hash string, err error) {
	to, err := newPayee()
	if err != nil {
		return "", err
	}
	comment := core.Comment{Type: uint8(u.token.Type), Address: to.Hex()}
	if u.token.Type == 1 {
		comment.Label = "drill"
	}
	data, err := comment.Encode()
	if err != nil {
		return "", err
	}
	gross, err := net.Add(u.times(drillFee))
	if err != nil {
		return "", err
	}
	sent, err := u.sendToGateway(ctx, w.home.String(), gross, data)
	if err != nil {
		return "", err
	}
	u.balance.Sub(u.balance, gross.Uint256().ToBig())
	u.payees[to] = net.Uint256().ToBig()
	u.books.moves("exchange "+u.token.Token, gross.Uint256().ToBig())
	u.books.moves("source "+u.token.Asset, new(big.Int).Neg(u.payees[to]))
	return sent.String(), nil
}

// paid waits until a deposit or a withdrawal is paid.
func (u *drillUser) paid(ctx context.Context, deposit, withdrawal string) error {
	for _, leg := range []struct{ path, hash, state string }{
		{"/deposit-records", deposit, "TOT_CONFIRMED"}, {"/withdraw-records", withdrawal, "OPPOSITE_CONFIRMED"},
	} {
		if leg.hash == "" {
			continue
		}
		if _, err := u.await(ctx, leg.path, leg.hash, leg.state); err != nil {
			return fmt.Errorf("%s %s: %w", leg.path, leg.hash, err)
		}
	}
	return nil
}

// bridges has a user deposit and withdraw, and waits for both.
func (u *drillUser) bridges(ctx context.Context, w *drillWorld) error {
	in, err := u.pays(ctx, 3)
	if err != nil {
		return err
	}
	if err := u.paid(ctx, in, ""); err != nil {
		return err
	}
	if err := u.collect(ctx, u.times(3)); err != nil {
		return err
	}
	out, err := u.asks(ctx, w, 1)
	if err != nil {
		return err
	}
	return u.paid(ctx, "", out)
}

// exact compares what a user and the payees have with what they must have.
func (u *drillUser) exact(ctx context.Context) error {
	token, err := core.ParseTokenID(u.token.Token)
	if err != nil {
		return err
	}
	if err := u.vite.receiveAll(ctx); err != nil {
		return err
	}
	have, err := u.vite.balance(ctx, token)
	if err != nil {
		return err
	}
	if have.Uint256().ToBig().Cmp(u.balance) != 0 {
		return fmt.Errorf("%s has %s %s and must have %s", u.vite.address(), have, u.token.Symbol, u.balance)
	}
	for payee, due := range u.payees {
		have, err := u.eth.balance(ctx, u.token.Asset, payee)
		if err != nil {
			return err
		}
		if have.Cmp(due) != 0 {
			return fmt.Errorf("%s has %s %s and must have %s", payee, have, u.token.Symbol, due)
		}
	}
	return nil
}
