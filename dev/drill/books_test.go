package drill

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"gatewayd/chain/ethereum"
	"gatewayd/dev"
	"gatewayd/wallet"
)

// openBooks notes what the gateway begins with.
func (w *drillEnv) openBooks(ctx context.Context) (err error) {
	w.due, err = w.holdings(ctx)
	return err
}

// addExpected adds to what the gateway must have of one thing; a negative amount subtracts.
func (w *drillEnv) addExpected(what string, amount *big.Int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due.Add(what, amount)
}

// addAddress adds a user's deposit address, with its balance: anvil has coins for some of the
// public keys.
func (w *drillEnv) addAddress(ctx context.Context, address string) error {
	if ours, err := w.accounts(); err != nil || ours[common.HexToAddress(address)] {
		return err
	}
	have, err := w.anvil.Client().BalanceAt(ctx, common.HexToAddress(address), nil)
	if err == nil {
		w.ours[address] = true
		w.addExpected("source native", have)
	}
	return err
}

// accounts lists the gateway's addresses on the source chain: its own, and the users' deposit
// addresses.
func (w *drillEnv) accounts() (map[common.Address]bool, error) {
	gas, err := w.keys.Address(wallet.SourcePaths(ethereum.CoinType).Gas())
	ours := map[common.Address]bool{common.HexToAddress(w.hot): true, common.HexToAddress(gas): true}
	for address := range w.ours {
		ours[common.HexToAddress(address)] = true
	}
	return ours, err
}

func (w *drillEnv) holdings(ctx context.Context) (dev.Holdings, error) {
	ours, err := w.accounts()
	if err != nil {
		return nil, err
	}
	return dev.ReadHoldings(ctx, w.info, w.anvil.Client(), ours, w.home)
}

// expected computes the gateway's present holdings: its income, less the fees of its transactions.
func (w *drillEnv) expected(ctx context.Context) (dev.Holdings, error) {
	ours, err := w.accounts()
	if err != nil {
		return nil, err
	}
	fees, err := dev.FeesOf(ctx, w.anvil.Client(), ours)
	if err != nil {
		return nil, err
	}
	h := dev.Holdings{}
	for what, amount := range w.due {
		h.Add(what, amount)
	}
	h.Sub("source native", fees)
	return h, nil
}

// checkBooks compares both chains with what users sent, and then the daemon's own books with the
// chains.
func (w *drillEnv) checkBooks(ctx context.Context) error {
	for _, u := range slices.Concat(w.users, w.rich) {
		var wrong error
		err := dev.Within(ctx, drillPatience, "exact balances", func() (bool, error) { wrong = u.checkBalances(ctx); return wrong == nil, w.alive() })
		if err != nil {
			return errors.Join(err, wrong)
		}
	}
	var have, want dev.Holdings
	err := dev.Within(ctx, drillPatience, "exact books", func() (_ bool, err error) {
		if want, err = w.expected(ctx); err != nil {
			return false, err
		}
		have, err = w.holdings(ctx)
		return want.Equal(have), err
	})
	for _, what := range slices.Sorted(maps.Keys(want)) {
		w.log.Note("%-60s has %s, must have %s", what, have[what], want[what])
	}
	if err != nil {
		return err
	}
	return w.mustCommand(ctx, "audit")
}
