package demo

import (
	"context"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"gatewayd/config"
)

// both has the owners of signer and daemon make the same change, the signer first.
func (s *stage) both(ctx context.Context, change func(*config.Config)) error {
	change(&s.daemonConfig)
	if err := s.write("config.yaml", s.daemonConfig); err != nil {
		return err
	}
	return s.reload(ctx, change)
}

// rotate has another hot account pay.
func (s *stage) rotate(ctx context.Context) error {
	err := s.both(ctx, func(c *config.Config) { c.Ethereum[0].Accounts, c.Ethereum[0].Retired = 2, []int{0} })
	if err != nil {
		return err
	}
	s.Note("ethereum: accounts: 2, retired: [0], read again by the signer, then by the daemon")
	out, err := s.runCommand(ctx, "account", "list")
	if err != nil {
		return fmt.Errorf("listing the accounts: %w: %s", err, out)
	}
	for line := range strings.Lines(out) {
		if strings.Contains(line, " hot ") {
			s.Note("%s", strings.Join(strings.Fields(line), " "))
		}
	}
	sent, to, err := s.withdraw(ctx, 7)
	if err != nil {
		return err
	}
	if err := s.waitForPaid(ctx, sent, to, 7); err != nil {
		return err
	}
	c, err := s.claimOf(ctx, sent)
	if err != nil {
		return err
	}
	if common.HexToAddress(c.Account) == common.HexToAddress(s.hot) {
		return fmt.Errorf("%w: the retired account paid", errPassed)
	}
	s.Note("paid: %s to %s, by %s", s.amount(s.user.Times(7)), to, c.Account)
	return nil
}
