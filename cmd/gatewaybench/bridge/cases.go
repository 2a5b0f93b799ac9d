// Package bridge has the cases of the bridge: reads of wallets, following, payments among many, and starts.
package bridge

import (
	"slices"

	"gatewayd/cmd/gatewaybench/bench"
)

// Cases are all of this package, in the order in which they are shown.
func Cases() []bench.Case {
	return slices.Concat(
		getCases(), followCases(), catchUpCases(), watchCases(), throughputCases(), idleCases(),
		startCases(),
	)
}
