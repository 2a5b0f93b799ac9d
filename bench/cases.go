package bench

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// Cases are all there are, in the order in which they are shown. A file of cases has one function that returns them.
func Cases() []Case {
	return slices.Concat(
		matchingCases(),
		signatureCases(),
		chainCases(),
		orderCases(),
		historyCases(),
		wsCases(),
		httpExchangeCases(),
		bridgeGetCases(),
		bridgeFollowCases(),
		bridgeCatchUpCases(),
		bridgeWatchCases(),
		bridgeThroughputCases(),
		bridgeIdleCases(),
		bridgeStartCases(),
	)
}

// List prints the names of the chosen cases, their sizes and what they are about.
func List(w io.Writer, config Config) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	for _, c := range config.chosen() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", c.Group, c.Name, c.About)
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("listing the cases: %w", err)
	}
	return nil
}
