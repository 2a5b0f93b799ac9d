package bitcoin

import (
	"strings"

	"gatewayd/chain"
)

var _ chain.PaymentLinker = (*Chain)(nil)

// PaymentURI is the link of BIP-21. All networks of a coin share its scheme.
func (c *Chain) PaymentURI(address string) string {
	scheme, _, _ := strings.Cut(c.network.Name, "-")
	return scheme + ":" + address
}
