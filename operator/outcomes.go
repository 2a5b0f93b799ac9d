package operator

import (
	"slices"
	"strings"

	"gatewayd/records"
	"gatewayd/records/search"
	"gatewayd/view"
)

// publicStates are the states as wallets see them, as what operators call them.
func publicStates() map[string][]search.Choice {
	const in, out = records.Deposit, records.Withdrawal
	refused := func(d records.Direction, not bool, reasons ...string) search.Choice {
		return search.Choice{Direction: d, Outcome: string(records.Refused), Reasons: reasons, Not: not}
	}
	of := func(d records.Direction, outcomes ...string) (list []search.Choice) {
		for _, o := range outcomes {
			list = append(list, search.Choice{Direction: d, Outcome: o})
		}
		return list
	}
	seen, orphaned, held := string(records.Seen), string(records.Orphaned), string(records.Held)
	return map[string][]search.Choice{
		view.OppositeProcessing:    append(of(in, seen, orphaned), of(out, search.Sent)...),
		view.OppositeConfirmed:     append(of(in, search.Pending, held), of(out, search.Done)...),
		view.TotProcessing:         append(of(in, search.Sent), of(out, seen, orphaned)...),
		view.TotConfirmed:          append(of(in, search.Done), of(out, search.Pending, held)...),
		view.OppositeConfirmedFail: {refused(in, false, records.ReasonFailed)},
		view.BelowMinimum:          {refused(in, false, records.ReasonBelowMinimum)},
		view.TotExceedTheLimit:     {refused(out, false, records.ReasonOverMaximum)},
		view.WrongWithdrawAddress:  {refused(out, false, records.ReasonWrongAddress, records.ReasonWrongComment)},
		view.Failed: {
			refused(in, true, records.ReasonFailed, records.ReasonBelowMinimum),
			refused(out, true, records.ReasonOverMaximum, records.ReasonWrongAddress, records.ReasonWrongComment),
		},
	}
}

// choicesOf returns what a state chooses beyond the state of transfers: an outcome, or a state as
// wallets see it. false: there is no such state.
func choicesOf(state string) (list []search.Choice, known bool) {
	if slices.Contains(search.Outcomes(), state) {
		return []search.Choice{{Outcome: state}}, true
	}
	list, known = publicStates()[strings.ToUpper(state)]
	return list, known
}
