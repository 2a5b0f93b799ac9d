package reconcile

import (
	"strings"

	"gatewayd/records"
)

// SetAutomatic sets the automatic state of a channel as a check has found it. The check's causes
// begin with prefix: what another check or an operator has stopped stays as it is. changed reports
// whether the channel was in the other state before.
func SetAutomatic(tx *records.Tx, n records.Network, t records.Token, d records.Direction, prefix, want, why string) (changed bool, err error) {
	c, err := records.ChannelOf(tx, n.Name, t.TokenID, d)
	ours := c.Automatic == records.ChannelOpen || strings.HasPrefix(c.Why, prefix)
	if err != nil || !ours || c.Automatic == want {
		return false, err
	}
	return true, records.SetAutomatic(tx, n.Name, t.TokenID, d, want, why)
}
