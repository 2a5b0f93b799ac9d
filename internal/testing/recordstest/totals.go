package recordstest

import (
	"slices"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/records/books"
)

// Moved adds up transfers of a direction in the states given. ErrAmount above 2^256-1.
func Moved(t books.Totals, d records.Direction, states ...records.TransferState) (sum books.TransferSum, err error) {
	sum.Direction = d
	for _, s := range t.Transfers {
		if s.Direction != d || !slices.Contains(states, s.State) {
			continue
		}
		sum.Count += s.Count
		for _, add := range []struct {
			to *chain.Amount
			a  chain.Amount
		}{{&sum.Amount, s.Amount}, {&sum.Net, s.Net}, {&sum.Fee, s.Fee}} {
			if *add.to, err = add.to.Add(add.a); err != nil {
				return books.TransferSum{}, err
			}
		}
	}
	return sum, nil
}

// Pays adds up payments of a purpose on a chain in the states given.
func Pays(t books.Totals, p chain.Purpose, id chain.ID, states ...records.PaymentState) (sum chain.Amount, err error) {
	for _, s := range t.Payments {
		if s.Purpose != p || s.Chain != id || !slices.Contains(states, s.State) {
			continue
		}
		if sum, err = sum.Add(s.Amount); err != nil {
			return chain.Amount{}, err
		}
	}
	return sum, nil
}

// Owed returns the liabilities to users on a chain: credits and refunds that are queued, bound or
// held, in units of the token's asset there.
func Owed(t books.Totals, id chain.ID) (chain.Amount, error) {
	credits, err := Pays(t, chain.Credit, id, records.Queued, records.Bound, records.HeldPayment)
	if err != nil {
		return chain.Amount{}, err
	}
	refunds, err := Pays(t, chain.Refund, id, records.Queued, records.Bound, records.HeldPayment)
	if err != nil {
		return chain.Amount{}, err
	}
	return credits.Add(refunds)
}

// Dust is the remainder of deposits because the gateway token has fewer decimals than its source
// asset, in units of the asset.
func Dust(t books.Totals, decimals, assetDecimals uint8) (chain.Amount, error) {
	in, err := Moved(t, records.Deposit, records.Final, records.Held, records.Refused)
	if err != nil || assetDecimals <= decimals {
		return chain.Amount{}, err
	}
	given, err := in.Net.Add(in.Fee)
	if err != nil {
		return chain.Amount{}, err
	}
	if given, _, err = given.Rescale(decimals, assetDecimals); err != nil {
		return chain.Amount{}, err
	}
	return in.Amount.Sub(given)
}
