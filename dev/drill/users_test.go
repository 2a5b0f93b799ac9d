package drill

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/dev"
)

// drillUser bridges one token all through the drill and remembers what it must have in the end.
type drillUser struct {
	*dev.BridgeUser
	env     *drillEnv
	place   dev.DepositInfo
	balance *big.Int                    // due on the exchange chain, in smallest units
	payees  map[common.Address]*big.Int // due on the source chain
}

// openUsers makes one user of each token and has them bridge, which takes all accounts into use:
// what an account did before its first payment is its past. The rich ones bridge nothing yet.
func (w *drillEnv) openUsers(ctx context.Context) (err error) {
	for i, t := range w.info.Tokens {
		u, err := w.newUser(ctx, t, uint32(i))
		if err != nil {
			return err
		}
		w.users = append(w.users, u)
	}
	for i, t := range dev.Tokens()[:dev.Users-drillRich] {
		u, err := w.newUser(ctx, w.info.Tokens[i], drillRich+uint32(i))
		if err != nil {
			return err
		}
		u.balance = richIn(t).ToBig()
		w.rich = append(w.rich, u)
	}
	return w.each(ctx, func(ctx context.Context, u *drillUser) error {
		in, err := u.deposit(ctx, 60)
		if err != nil {
			return err
		}
		if err := u.waitForPaid(ctx, in, ""); err != nil {
			return err
		}
		if err := u.Collect(ctx, u.Times(60)); err != nil {
			return err
		}
		out, err := u.withdraw(ctx, u.Times(1))
		if err != nil {
			return err
		}
		return u.waitForPaid(ctx, "", out)
	})
}

func (w *drillEnv) newUser(ctx context.Context, t dev.Token, n uint32) (*drillUser, error) {
	b, err := dev.NewBridgeUser(ctx, w.info, t, n, io.Discard)
	if err != nil {
		return nil, err
	}
	w.onClose(func() error { b.Close(); return nil })
	u := &drillUser{BridgeUser: b, env: w, balance: new(big.Int), payees: map[common.Address]*big.Int{}}
	u.place, err = u.depositInfo(ctx, t.Token)
	return u, err
}

// depositInfo asks where to deposit a token.
func (u *drillUser) depositInfo(ctx context.Context, token string) (dev.DepositInfo, error) {
	place, err := u.Gateway.DepositInfo(ctx, token, u.Vite.Address().String())
	if err != nil {
		return place, err
	}
	return place, u.env.addAddress(ctx, place.DepositAddress)
}

// each has all users do something at the same time.
func (w *drillEnv) each(ctx context.Context, act func(context.Context, *drillUser) error) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, u := range w.users {
		g.Go(func() error {
			if err := act(ctx, u); err != nil {
				return fmt.Errorf("%s: %w", u.Token.Symbol, err)
			}
			return nil
		})
	}
	return g.Wait()
}

// bridge has every user withdraw and deposit, and waits for both.
func (w *drillEnv) bridge(ctx context.Context) error {
	return w.each(ctx, func(ctx context.Context, u *drillUser) error {
		out, err := u.withdraw(ctx, u.Times(1))
		if err != nil {
			return err
		}
		in, err := u.deposit(ctx, 3)
		if err != nil {
			return err
		}
		if err := u.waitForPaid(ctx, in, out); err != nil {
			return err
		}
		return u.Vite.ReceiveAll(ctx)
	})
}

// addCredit adds to what a user must get on the exchange chain, which the gateway pays.
func (u *drillUser) addCredit(amount *big.Int) {
	u.balance.Add(u.balance, amount)
	u.env.addExpected("exchange "+u.Token.Token, new(big.Int).Neg(amount))
}

// deposit sends a deposit of so many minimums to an address that is known already, without a
// request to the gateway.
func (u *drillUser) deposit(ctx context.Context, n uint64) (hash string, err error) {
	hash, err = u.depositTo(ctx, u.place.DepositAddress, n, []byte(u.place.Label))
	if err == nil {
		u.addCredit(u.Times(n).Uint256().ToBig())
	}
	return hash, err
}

// depositTo sends so many minimums to one of the gateway's addresses.
func (u *drillUser) depositTo(ctx context.Context, to string, n uint64, label []byte) (hash string, err error) {
	amount := u.Times(n).Uint256().ToBig()
	tx, err := u.Eth.Pay(ctx, u.Token.Asset, common.HexToAddress(to), amount, label)
	if err != nil {
		return "", fmt.Errorf("depositing: %w", err)
	}
	u.env.addExpected("source "+u.Token.Asset, amount)
	return tx.Hex(), nil
}

// withdraw sends a withdrawal to a new payee.
func (u *drillUser) withdraw(ctx context.Context, net chain.Amount) (hash string, err error) {
	to, err := dev.NewPayee()
	if err != nil {
		return "", err
	}
	data, err := u.Token.Withdrawal(to.Hex(), "drill")
	if err != nil {
		return "", err
	}
	gross, err := net.Add(u.Times(1)) // the fee in a development environment
	if err != nil {
		return "", err
	}
	sent, err := u.SendToGateway(ctx, u.env.home.String(), gross, data)
	if err != nil {
		return "", err
	}
	u.addCredit(new(big.Int).Neg(gross.Uint256().ToBig()))
	u.payees[to] = net.Uint256().ToBig()
	u.env.addExpected("source "+u.Token.Asset, new(big.Int).Neg(u.payees[to]))
	return sent.String(), nil
}

// waitForPaid waits until a deposit or a withdrawal is paid.
func (u *drillUser) waitForPaid(ctx context.Context, deposit, withdrawal string) error {
	for _, leg := range []struct{ path, hash, state string }{
		{"/deposit-records", deposit, "TOT_CONFIRMED"}, {"/withdraw-records", withdrawal, "OPPOSITE_CONFIRMED"},
	} {
		if leg.hash == "" {
			continue
		}
		if _, err := u.Await(ctx, leg.path, leg.hash, leg.state); err != nil {
			return fmt.Errorf("%s %s: %w", leg.path, leg.hash, err)
		}
	}
	return nil
}

// checkBalances compares what a user and the payees have with what they must have.
func (u *drillUser) checkBalances(ctx context.Context) error {
	if err := u.Vite.ReceiveAll(ctx); err != nil {
		return err
	}
	have, err := u.Vite.Balance(ctx, dev.MustToken(u.Token.Token))
	if err != nil {
		return err
	}
	if have.Uint256().ToBig().Cmp(u.balance) != 0 {
		return fmt.Errorf("%s has %s %s and must have %s", u.Vite.Address(), have, u.Token.Symbol, u.balance)
	}
	for payee, due := range u.payees {
		have, err := u.Eth.Balance(ctx, u.Token.Asset, payee)
		if err != nil {
			return err
		}
		if have.Cmp(due) != 0 {
			return fmt.Errorf("%s has %s %s and must have %s", payee, have, u.Token.Symbol, due)
		}
	}
	return nil
}
