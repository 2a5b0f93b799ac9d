package checks

import (
	"fmt"
	"gatewayd/signer/approval"
	"gatewayd/signer/limits"
)

// Config are the checks' sections of the configuration.
type Config struct {
	Limits    limits.Config   `yaml:"limits"`
	Approvals approval.Config `yaml:"approvals"`
	BlockList BlockListConfig `yaml:"block_list"`
}

// Check names the first field that cannot be used, and why.
func (c Config) Check() error {
	if err := c.Limits.Check(); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	if err := c.Approvals.Check(); err != nil {
		return fmt.Errorf("approvals: %w", err)
	}
	if err := c.BlockList.Check(); err != nil {
		return fmt.Errorf("block_list: %w", err)
	}
	return nil
}

// Holds reports whether any of the sections holds anything.
func (c Config) Holds() bool {
	limited := len(c.Limits.Tokens) > 0 || c.Limits.GatewayDay != "" || len(c.Limits.Fees) > 0
	approved := len(c.Approvals.Approvers) > 0 || len(c.Approvals.Tokens) > 0
	return limited || approved || c.BlockList.Wanted()
}
