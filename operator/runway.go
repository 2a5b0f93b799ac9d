package operator

import (
	"math/big"

	"gatewayd/chain"
	"gatewayd/records"
)

// addRunways adds how long each channel's accounts last at the rate of the last day: what goes out,
// less what the other direction brings.
func (o *Overview) addRunways(networks []records.Network) error {
	for i := range o.Channels {
		c := &o.Channels[i]
		if c.Holds == nil || c.DayOut.IsZero() {
			continue
		}
		in, err := o.returnFlow(networks, *c)
		if err != nil {
			return err
		}
		free, err := c.Holds.Sub(c.Pending)
		if err != nil { // less than is owed
			free = chain.Amount{}
		}
		if !in.Less(c.DayOut) {
			continue
		}
		out, err := c.DayOut.Sub(in)
		if err != nil {
			return err
		}
		hours := flowSpan.Hours() * quotient(free, out)
		c.Runway = &hours
	}
	return nil
}

// returnFlow is the sum that the other direction has paid within the day, in this one's units: as
// much has come in here, apart from fees.
func (o *Overview) returnFlow(networks []records.Network, c Channel) (chain.Amount, error) {
	_, t := tokenOf(networks, c.Network, c.Token)
	from, to := t.AssetDecimals, t.Decimals
	if c.Direction == records.Withdrawal {
		from, to = to, from
	}
	for _, other := range o.Channels {
		if other.Network == c.Network && other.Token == c.Token && other.Direction != c.Direction {
			in, _, err := other.DayOut.Rescale(from, to)
			return in, err
		}
	}
	return chain.Amount{}, nil
}

// quotient is for people: how often b goes into a.
func quotient(a, b chain.Amount) float64 {
	q, _ := new(big.Rat).SetFrac(a.Uint256().ToBig(), b.Uint256().ToBig()).Float64()
	return q
}
