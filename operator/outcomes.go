package operator

import (
	"slices"
	"strings"

	"gatewayd/records"
	"gatewayd/view"
)

// publicStates are the states as wallets see them, as what operators call them.
func publicStates() map[string][]view.Choice {
	const in, out = records.Deposit, records.Withdrawal
	refused := func(d records.Direction, not bool, reasons ...records.Reason) view.Choice {
		return view.Choice{Direction: d, Outcome: string(records.Refused), Reasons: reasons, Not: not}
	}
	of := func(d records.Direction, outcomes ...string) (list []view.Choice) {
		for _, o := range outcomes {
			list = append(list, view.Choice{Direction: d, Outcome: o})
		}
		return list
	}
	seen, orphaned, held := string(records.Seen), string(records.Orphaned), string(records.Held)
	return map[string][]view.Choice{
		view.OppositeProcessing:    append(of(in, seen, orphaned), of(out, view.Sent)...),
		view.OppositeConfirmed:     append(of(in, view.Pending, held), of(out, view.Done)...),
		view.TotProcessing:         append(of(in, view.Sent), of(out, seen, orphaned)...),
		view.TotConfirmed:          append(of(in, view.Done), of(out, view.Pending, held)...),
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
func choicesOf(state string) (list []view.Choice, known bool) {
	if slices.Contains(view.Outcomes(), state) {
		return []view.Choice{{Outcome: state}}, true
	}
	list, known = publicStates()[strings.ToUpper(state)]
	return list, known
}
