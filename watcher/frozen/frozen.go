package frozen

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gatewayd/chain"
	"gatewayd/records"
)

const (
	// Prefix begins the reason of channels that are stopped because a token refuses every
	// payment of a hot account.
	Prefix = "frozen: "
	// byFalse is in the reason where the token answers false instead of reverting.
	byFalse = "the token answers false"
)

// Close stops the channels of an asset that a hot account cannot pay. Deposits stop too,
// unless the token's policy keeps them open. Nothing is written where the channels are stopped
// already.
func (tk *Tokens) Close(tx *records.Tx, n records.Network, asset chain.Asset, account string, why error) error {
	for _, t := range n.Tokens {
		if t.Asset != asset {
			continue
		}
		how := "transfers revert"
		if errors.Is(why, chain.ErrFalse) {
			how = byFalse
		}
		text := fmt.Sprintf("%shot account %s on %s cannot pay %s (%s): the token is paused, or its issuer has frozen the account. "+
			"Payments wait until it ends", Prefix, account, n.Source, t.SourceSymbol(), how)
		for _, d := range []records.Direction{records.Withdrawal, records.Deposit} {
			want := records.ChannelMaintain
			if d == records.Deposit && t.FrozenDeposits {
				want = records.ChannelOpen
			}
			if err := tk.set(tx, n, t, d, want, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// open opens the channels of an asset that Close has stopped.
func (tk *Tokens) open(tx *records.Tx, n records.Network, asset chain.Asset) error {
	for _, t := range n.Tokens {
		for _, d := range []records.Direction{records.Withdrawal, records.Deposit} {
			if t.Asset != asset {
				continue
			}
			if err := tk.set(tx, n, t, d, records.ChannelOpen, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

func (tk *Tokens) set(tx *records.Tx, n records.Network, t records.Token, d records.Direction, want, why string) error {
	changed, err := records.SetByCheck(tx, n.Name, t.TokenID, d, Prefix, want, why)
	if changed {
		tk.Log.WithField("network", n.Name).WithField("token", t.TokenID).Warnf("channel of %ss: automatic %s %s", d, want, why)
	}
	return err
}

// Try tries whether each hot account can pay each of its tokens at all, and stops or opens
// the channels accordingly. It sends nothing. An account without a balance of a token gives no
// result for it.
func (tk *Tokens) Try(ctx context.Context) error {
	var faults []error
	for _, n := range tk.Networks() {
		if c := chain.CapabilitiesOf(tk.Chains[n.Source]).Tries; c != nil && tk.Owns(n.Source) {
			if err := tk.tryNetwork(ctx, c, n); err != nil {
				faults = append(faults, fmt.Errorf("checking whether the tokens of network %s can be paid: %w", n.Name, err))
			}
		}
	}
	return errors.Join(faults...)
}

// payability is the known state of an asset at all hot accounts.
type payability struct {
	pays   bool
	frozen error  // ErrFrozen; nil: at no account
	at     string // the first account that cannot pay it
}

func (tk *Tokens) tryNetwork(ctx context.Context, c chain.Trier, n records.Network) error {
	assets, stopped, err := tk.tokensToTry(ctx, n)
	if err != nil || len(assets) == 0 {
		return err
	}
	known := make(map[chain.Asset]payability)
	for _, account := range n.Paying(n.Source) {
		if err := tk.tryAccount(ctx, c, n, account, assets, stopped, known); err != nil {
			return err
		}
	}
	return tk.Store.Update(ctx, func(tx *records.Tx) error {
		for _, asset := range assets {
			k := known[asset]
			switch {
			case k.frozen != nil:
				err = tk.Close(tx, n, asset, k.at, k.frozen)
			case k.pays:
				err = tk.open(tx, n, asset)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// tokensToTry are the tokens of a network's source chain, and those of which a channel is stopped
// because they answer false.
func (tk *Tokens) tokensToTry(ctx context.Context, n records.Network) (assets []chain.Asset, answerFalse map[chain.Asset]bool, err error) {
	answerFalse = make(map[chain.Asset]bool)
	seen := make(map[chain.Asset]bool)
	err = tk.Store.View(ctx, func(tx *records.Tx) error {
		for _, t := range n.Tokens {
			if t.Asset == chain.Native {
				continue
			}
			if !seen[t.Asset] {
				seen[t.Asset], assets = true, append(assets, t.Asset)
			}
			channel, err := records.ChannelOf(tx, n.Name, t.TokenID, records.Withdrawal)
			if err != nil {
				return err
			}
			if strings.HasPrefix(channel.Why, Prefix) && strings.Contains(channel.Why, byFalse) {
				answerFalse[t.Asset] = true
			}
		}
		return nil
	})
	return assets, answerFalse, err
}

// tryAccount tries the least unit of every token to one payee, and of those that are refused more.
func (tk *Tokens) tryAccount(ctx context.Context, c chain.Trier, n records.Network, account string, assets []chain.Asset, answerFalse map[chain.Asset]bool, known map[chain.Asset]payability) error {
	others, err := tk.otherPayees(ctx, n, account, "", "")
	if err != nil || len(others) == 0 {
		return err
	}
	first := make([]chain.Payment, len(assets))
	for i, asset := range assets {
		first[i] = chain.Payment{Purpose: chain.Credit, Asset: asset, To: others[0], Amount: chain.NewAmount(1)}
	}
	results, err := c.Try(ctx, 0, account, first)
	if err != nil {
		return err
	}
	for i, asset := range assets {
		k := known[asset]
		switch byFalse := answerFalse[asset]; {
		case passes(results[i], byFalse):
			k.pays = true
		case refuses(results[i], byFalse):
			pays, err := tk.paysSomebody(ctx, c, n, account, first[i], byFalse)
			if err != nil {
				return err
			}
			if k.pays = k.pays || pays; !pays && k.frozen == nil {
				k.frozen, k.at = frozenError(errors.Is(results[i], chain.ErrFalse)), account
			}
		}
		known[asset] = k
	}
	return nil
}

// paysSomebody reports whether an account can pay some of a token to any of the other payees.
func (tk *Tokens) paysSomebody(ctx context.Context, c chain.Trier, n records.Network, account string, pay chain.Payment, byFalse bool) (bool, error) {
	others, err := tk.otherPayees(ctx, n, account, pay.Asset, "")
	if err != nil {
		return false, err
	}
	results, err := c.Try(ctx, 0, account, trials(pay, others, leastAmounts(n, pay.Asset)))
	for _, result := range results {
		if passes(result, byFalse) {
			return true, err
		}
	}
	return false, err
}
