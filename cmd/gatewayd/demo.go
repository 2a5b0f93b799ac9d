package main

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/devnode/external"
	"gatewayd/chain/vite/core"
	"gatewayd/wallet/entropy"
)

func demoCommand(w world) *cobra.Command {
	var source, info string
	var patience time.Duration
	c := &cobra.Command{
		Use: "demo", Short: "Make deposits and withdrawals as a user, against a running `gatewayd dev`", Args: cobra.NoArgs,
		Long: "Make a deposit and a withdrawal of each kind of token as a user and print every state they pass.\n" +
			"With --source anvil or geth it starts that node and a daemon on it first.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), patience)
			defer cancel()
			if source == "embedded" {
				return demo(ctx, info, w.stdout)
			}
			return demoOn(ctx, external.Kind(source), w)
		},
	}
	c.Flags().StringVar(&source, "source", "embedded", "source chain: embedded (a running `gatewayd dev`), anvil or geth")
	c.Flags().StringVar(&info, "info", devInfoPath(), "description of the development world")
	c.Flags().DurationVar(&patience, "timeout", 5*time.Minute, "give up after this long")
	c.AddCommand(demoExchangeCommand(w), demoBurstCommand(w), demoDrillCommand(w))
	return c
}

// demoOn starts a real node and a daemon that follows it, and runs the demo against them.
func demoOn(ctx context.Context, kind external.Kind, w world) (err error) {
	fmt.Fprintf(w.stdout, "Starting %s and a daemon on it.\n", kind)
	n, err := external.Start(ctx, external.Config{Kind: kind, Period: time.Second})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	dir, err := os.MkdirTemp("", "gatewayd-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o := devOptions{dir: dir, listen: "127.0.0.1:0", exchangeListen: "127.0.0.1:0", source: n.URL(), sweep: everyMinute}
	d, err := openDevelopment(ctx, o, w)
	if err != nil {
		return err
	}
	defer d.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.Run(ctx) })
	g.Go(func() error {
		defer stop()
		if err := d.Ready(ctx); err != nil {
			return err
		}
		return demo(ctx, filepath.Join(dir, "dev.json"), w.stdout)
	})
	return g.Wait()
}

// demo walks through every token of a development world.
func demo(ctx context.Context, infoPath string, out io.Writer) error {
	info, err := awaitDaemon(ctx, infoPath)
	if err != nil {
		return err
	}
	for i, t := range info.Tokens {
		u, err := newBridgeUser(ctx, info, t, uint32(i), out)
		if err != nil {
			return fmt.Errorf("%s: %w", t.Symbol, err)
		}
		err = u.walk(ctx)
		u.close()
		if err != nil {
			return fmt.Errorf("%s: %w", t.Symbol, err)
		}
	}
	fmt.Fprintln(out, "All records are final.")
	return nil
}

// awaitDaemon finds the development world; one that was started just now gets half a minute to answer.
func awaitDaemon(ctx context.Context, infoPath string) (info devInfo, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	waited := poll(ctx, func() (bool, error) {
		if info, err = readDevInfo(infoPath); err == nil {
			err = askHealth(ctx, rootOf(info.Gateway)+"/health")
		}
		return err == nil, nil
	})
	if waited != nil {
		return info, fmt.Errorf("no daemon answers: %w (start one with `make run` in another terminal)", err)
	}
	return info, nil
}

// bridgeUser is one person with a wallet on both chains who uses one token.
type bridgeUser struct {
	token   devToken
	faucet  *ethUser
	eth     *ethUser
	vite    *viteUser
	gateway *gatewayUser
	out     io.Writer
}

// newBridgeUser gives a fresh source-chain account coins and tokens, and takes the n-th staked account of the exchange chain.
func newBridgeUser(ctx context.Context, info devInfo, t devToken, n uint32, out io.Writer) (*bridgeUser, error) {
	faucetKey, err := crypto.HexToECDSA(info.FaucetKey)
	if err != nil {
		return nil, fmt.Errorf("faucet key: %w", err)
	}
	key, err := crypto.GenerateKey()
	if err != nil {
		return nil, err
	}
	exchangeKey, err := entropy.NewKeys(entropy.Seed(info.Mnemonic, "")).ByIndex(devUserBase + n%devUsers)
	if err != nil {
		return nil, err
	}
	u := &bridgeUser{token: t, gateway: newGatewayUser(info.Gateway), out: out}
	if u.faucet, err = newEthUser(ctx, info.Source, faucetKey); err != nil {
		return nil, err
	}
	if u.eth, err = newEthUser(ctx, info.Source, key); err != nil {
		return nil, err
	}
	if u.vite, err = newViteUser(ctx, info.Exchange, exchangeKey); err != nil {
		return nil, err
	}
	return u, u.fund(ctx)
}

func (u *bridgeUser) close() {
	u.faucet.client.Close()
	u.eth.client.Close()
	u.vite.node.Close()
}

// fund gives the user a coin for fees and a hundred times the minimum of the token.
func (u *bridgeUser) fund(ctx context.Context) error {
	ether := new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)
	if _, err := u.faucet.pay(ctx, "native", u.eth.address(), new(big.Int).Mul(ether, big.NewInt(5)), nil); err != nil {
		return fmt.Errorf("funding the user: %w", err)
	}
	if u.token.Asset == "native" {
		return nil
	}
	if _, err := u.faucet.pay(ctx, u.token.Asset, u.eth.address(), u.times(100).Uint256().ToBig(), nil); err != nil {
		return fmt.Errorf("funding the user: %w", err)
	}
	return nil
}

// times is a multiple of the token's minimum.
func (u *bridgeUser) times(n uint64) chain.Amount {
	a, _ := chain.MustAmount(u.token.Minimum).Mul(n)
	return a
}

// walk deposits fifty times the minimum and withdraws twenty.
func (u *bridgeUser) walk(ctx context.Context) error {
	fmt.Fprintf(u.out, "\n%s (type %d), wallet %s\n", u.token.Symbol, u.token.Type, u.vite.address())
	hash, err := u.deposit(ctx, u.times(50))
	if err != nil {
		return err
	}
	if _, err := u.await(ctx, "/deposit-records", hash.Hex(), "TOT_CONFIRMED"); err != nil {
		return err
	}
	if err := u.collect(ctx, u.times(50)); err != nil {
		return err
	}
	to, err := newPayee()
	if err != nil {
		return err
	}
	sent, err := u.withdraw(ctx, to, u.times(20))
	if err != nil {
		return err
	}
	if _, err := u.await(ctx, "/withdraw-records", sent.String(), "OPPOSITE_CONFIRMED"); err != nil {
		return err
	}
	got, err := u.eth.balance(ctx, u.token.Asset, to)
	if err != nil {
		return err
	}
	if got.Cmp(u.times(20).Uint256().ToBig()) != 0 {
		return fmt.Errorf("%s has %s, not %s", to, got, u.times(20))
	}
	fmt.Fprintf(u.out, "  %s has %s\n", to, got)
	return nil
}

// deposit asks the gateway where to pay and pays there.
func (u *bridgeUser) deposit(ctx context.Context, amount chain.Amount) (common.Hash, error) {
	var info depositInfo
	err := u.gateway.get(ctx, "/deposit-info", map[string]string{"tokenId": u.token.Token, "walletAddress": u.vite.address().String()}, &info)
	if err != nil {
		return common.Hash{}, err
	}
	hash, err := u.eth.pay(ctx, u.token.Asset, common.HexToAddress(info.DepositAddress), amount.Uint256().ToBig(), []byte(info.Label))
	if err != nil {
		return common.Hash{}, fmt.Errorf("depositing: %w", err)
	}
	fmt.Fprintf(u.out, "deposit of %s to %s %s\n  %s\n", amount, info.DepositAddress, info.Label, hash)
	return hash, nil
}

// collect receives on the exchange chain until the user has at least an amount.
func (u *bridgeUser) collect(ctx context.Context, amount chain.Amount) error {
	token, err := core.ParseTokenID(u.token.Token)
	if err != nil {
		return err
	}
	return poll(ctx, func() (bool, error) {
		if err := u.vite.receiveAll(ctx); err != nil {
			return false, err
		}
		have, err := u.vite.balance(ctx, token)
		return !have.Less(amount), err
	})
}

// withdraw does what a wallet's withdraw page does: check the address, ask for the fee, send net + fee with the comment.
func (u *bridgeUser) withdraw(ctx context.Context, to common.Address, net chain.Amount) (core.Hash, error) {
	wallet := u.vite.address().String()
	var info withdrawInfo
	if err := u.gateway.get(ctx, "/withdraw-info", map[string]string{"tokenId": u.token.Token, "walletAddress": wallet}, &info); err != nil {
		return core.Hash{}, err
	}
	var check addressCheck
	if err := u.gateway.get(ctx, "/withdraw-address/verification", map[string]string{"tokenId": u.token.Token, "withdrawAddress": to.Hex()}, &check); err != nil {
		return core.Hash{}, err
	}
	if !check.IsValidAddress {
		return core.Hash{}, fmt.Errorf("the gateway says that %s is not valid", to)
	}
	var fee withdrawFee
	query := map[string]string{"tokenId": u.token.Token, "walletAddress": wallet, "amount": net.String(), "containsFee": "false"}
	if err := u.gateway.get(ctx, "/withdraw-fee", query, &fee); err != nil {
		return core.Hash{}, err
	}
	charged, err := chain.ParseAmount(fee.Fee)
	if err != nil {
		return core.Hash{}, fmt.Errorf("fee: %w", err)
	}
	gross, err := net.Add(charged)
	if err != nil {
		return core.Hash{}, err
	}
	comment := core.Comment{Type: uint8(u.token.Type), Address: to.Hex()}
	if u.token.Type == 1 {
		comment.Label = "demo-42"
	}
	data, err := comment.Encode()
	if err != nil {
		return core.Hash{}, err
	}
	hash, err := u.sendToGateway(ctx, info.GatewayAddress, gross, data)
	fmt.Fprintf(u.out, "withdrawal of %s (+ fee %s) to %s %s\n  %s\n", net, charged, to, comment.Label, hash)
	return hash, err
}

func (u *bridgeUser) sendToGateway(ctx context.Context, gateway string, gross chain.Amount, data []byte) (core.Hash, error) {
	to, err := core.ParseAddress(gateway)
	if err != nil {
		return core.Hash{}, err
	}
	token, err := core.ParseTokenID(u.token.Token)
	if err != nil {
		return core.Hash{}, err
	}
	hash, err := u.vite.send(ctx, to, token, gross.Uint256(), data)
	if err != nil {
		return core.Hash{}, fmt.Errorf("withdrawing: %w", err)
	}
	return hash, nil
}

// errStuck says that a record ended in a state it cannot leave.
var errStuck = errors.New("the record ended in another state")

// await prints a record's states as they change until it has the wanted one.
func (u *bridgeUser) await(ctx context.Context, path, hash, want string) (publicRecord, error) {
	var last publicRecord
	err := poll(ctx, func() (bool, error) {
		r, ok, _ := u.gateway.record(ctx, path, u.token.Token, u.vite.address().String(), hash) // a daemon that is restarted answers again soon
		if !ok {
			return false, nil
		}
		if r.State != last.State || r.InTxConfirmedCount != last.InTxConfirmedCount || r.RefundTxHash != last.RefundTxHash {
			fmt.Fprintf(u.out, "  %-22s %d/%d %s\n", r.State, r.InTxConfirmedCount, r.InTxConfirmationCount, r.OutTxHash+r.RefundTxHash)
		}
		last = r
		if ended(r.State) && r.State != want {
			return false, fmt.Errorf("%w: %s, not %s", errStuck, r.State, want)
		}
		return r.State == want, nil
	})
	return last, err
}

// ended tells the states that a record leaves only by an operator's hand.
func ended(state string) bool {
	switch state {
	case "OPPOSITE_CONFIRMED_FAIL", "BELOW_MINIMUM", "FAILED", "TOT_EXCEED_THE_LIMIT", "WRONG_WITHDRAW_ADDRESS":
		return true
	}
	return false
}

// poll asks five times a second until the answer is yes.
func poll(ctx context.Context, done func() (bool, error)) error {
	for {
		ok, err := done()
		if err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting: %w", ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// newPayee is a fresh account that nobody has paid before.
func newPayee() (common.Address, error) {
	key, err := crypto.GenerateKey()
	if err != nil {
		return common.Address{}, err
	}
	return crypto.PubkeyToAddress(*key.Public().(*ecdsa.PublicKey)), nil
}
