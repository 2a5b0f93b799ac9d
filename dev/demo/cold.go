package demo

import (
	"context"

	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/config"
	"gatewayd/dev"
)

// cold sends the hot account's excess to an address whose key is not in this program.
func (s *stage) cold(ctx context.Context) error {
	to, err := dev.NewPayee()
	if err != nil {
		return err
	}
	least, most := s.user.Whole(1000), s.user.Whole(5000)
	s.Note("cold is %s; hot_min %s, hot_max %s", to, s.amount(least), s.amount(most))
	err = s.both(ctx, func(c *config.Config) {
		for i, t := range c.Networks[0].Tokens {
			if t.Token == s.user.Token.Token {
				t.Cold, t.HotMin, t.HotMax = to.Hex(), least, most
				c.Networks[0].Tokens[i] = t
			}
		}
	})
	if err != nil {
		return err
	}
	return dev.Poll(ctx, func() (bool, error) {
		has, err := s.user.Eth.Balance(ctx, s.user.Token.Asset, to)
		if err != nil || has.Sign() == 0 {
			return false, err
		}
		n, _ := uint256.FromBig(has)
		s.Note("the cold address has %s; no key for it is here", s.amount(chain.AmountOf(n)))
		return true, nil
	})
}
