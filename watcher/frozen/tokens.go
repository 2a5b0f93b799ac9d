// Package frozen determines whom a token refuses when a payment of ours fails: the payee, such an
// amount, or every payment of the account, because the token is paused or its issuer has frozen the
// account. It stops and opens the channels accordingly, and sends nothing.
package frozen

import (
	"github.com/sirupsen/logrus"

	"gatewayd/chain"
	"gatewayd/records"
	"gatewayd/transfers"
)

// Tokens are the tokens of all networks at our hot accounts.
type Tokens struct {
	Store    records.Transactor
	Chains   map[chain.ID]chain.Chain
	Owns     func(chain.ID) bool // whether Try is to try the tokens of a chain
	Networks func() []records.Network
	Rules    func() transfers.Rules
	Log      logrus.FieldLogger
}
