package records

import "gatewayd/policy"

// What operators decide of tokens, as transfers freeze it (package policy).
type (
	Network = policy.Network
	Token   = policy.Token
	Policy  = policy.Policy
	Depth   = policy.Depth
	Fee     = policy.Fee
)
