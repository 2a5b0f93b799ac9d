// Package exchange has the cases of the exchange: matching, the chain's intake, orders over REST, start, pushes and reads.
package exchange

import (
	"slices"

	"gatewayd/cmd/gatewaybench/bench"
)

// Cases are all of this package, in the order in which they are shown.
func Cases() []bench.Case {
	return slices.Concat(
		matchingCases(), signatureCases(), chainCases(), orderCases(), historyCases(), wsCases(), httpExchangeCases(),
	)
}
