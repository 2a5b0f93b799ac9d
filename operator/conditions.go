package operator

import (
	"context"

	"gatewayd/records"
	"gatewayd/status"
)

// Conditions returns what keeps money from moving on the configured networks, or may soon.
func (d *Session) Conditions(ctx context.Context) (report status.Report, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		networks, err := Networks(tx, d.Config)
		if err != nil {
			return err
		}
		report, err = status.Read(tx, networks)
		return err
	})
	return report, err
}

// Remedy returns the instructions for a kind of condition.
func Remedy(k status.Kind) string {
	switch k {
	case status.StoreDown:
		return "start the database server, or correct database.url"
	case status.DaemonDown:
		return "start `gatewayd run`; its log says why it ended"
	case status.SignerAway:
		return "start `gatewayd signer`; its log says why it ended. Payments go on by themselves"
	case status.ChainHalted:
		return "see docs/operations/alerts/halted-chain.md"
	case status.NodesDown, status.NodeFaulty:
		return "start the node, correct its URL, or take another one"
	case status.NodeMended:
		return "nothing; if it happens again and again take another node"
	case status.TracingLost:
		return "enable the node's debug API (debug_traceBlockByHash) or add a node that has it, or set traces: off to rely on balances"
	case status.NodesDisagree:
		return "find out which node is wrong, for instance by a block explorer, and take it out of the configuration"
	case status.NodesStale:
		return "the node stands still or is not synchronised, or a clock is wrong; a development node that makes blocks only for transactions wants on_demand: true"
	case status.FollowerStuck:
		return "the daemon's log says what it waits for; a node may answer heads and refuse blocks"
	case status.FollowerBehind:
		return "wait; if it takes long, the node is slow or requests_per_second too low"
	case status.AccountStopped, status.AccountIdle:
		return "`gatewayd account list`, then docs/operations/recovery.md"
	case status.ChannelStopped:
		return "`gatewayd channel list` names it; it opens by itself when the cause is gone"
	case status.NoFunds:
		return "send some to the account from an address in `funders`; a new gateway's channels open by themselves when both sides have something to pay with"
	case status.NoQuota:
		return "stake VITE with the gateway's account as the beneficiary, or set pow: true; the channels open by themselves"
	case status.NoCoin:
		return "send coin to the account from an address in `funders`; what waits is paid by itself"
	case status.PaymentRefused:
		return "correct the setting of the node that its text names (a cap of fees or of gas, a full pool), or add a node that takes the transaction; it is sent again with each block"
	case status.FeesTooHigh, status.FeesHigh:
		return "wait until fees fall, or raise the token's fee.ceiling or the chain's max_fee_gwei"
	case status.FundsUnswept:
		return "the next sweep brings it (watcher.sweep); keep more on the account, or coin on the gas account, if that takes too long"
	case status.PaymentsLate:
		return "`gatewayd channel list` shows what settings and accounts allow, `gatewayd records show` what the payment waits for"
	case status.NotTold:
		return "`gatewayd alerts test` tries it; correct the section alerts, or the receiver; what waits is sent then"
	case status.ConfigRefused:
		return "correct the file, then `gatewayd reload`"
	case status.LimitReached:
		return "`gatewayd limits` shows how much is used and when it frees; what is held is paid then, or when signer.limits allows more"
	case status.ApprovalsWanted:
		return "`gatewayd records list --needs-operator`, then `gatewayd approve ID --key FILE`, or `gatewayd records reject ID --why …`"
	case status.PaymentsListed:
		return "`gatewayd records show ID` names the list; `gatewayd records reject ID --why …`, or take the address off the list"
	case status.PaymentsHeld:
		return "`gatewayd records list --needs-operator`, then `gatewayd records show ID`, which gives the reason and the commands that fit. " +
			"What is unproven is credited when an approver signs it: `gatewayd approve ID --key FILE`, with the approver's key in signer.approvals " +
			"of the signer's configuration (`gatewayd approver new FILE`). Or `gatewayd records reject ID --why ...`"
	case status.HotBelow:
		return "send what it says to the hot account, from the cold address or another funder"
	case status.HotAbove:
		return "configure the token's `cold` address, here and for the signer, or raise hot_max; `gatewayd account move CHAIN ADDRESS AMOUNT TOKEN --to cold` sends some at once"
	case status.ChecksFail:
		return "mend the file, the service or the node that it names: until then limits, lists, screening or comparisons do less than they say, or hold more"
	case status.ChannelClosed:
		return ""
	}
	return "see docs/operations/alerts.md"
}

// StoppedAccounts are the accounts that sign nothing, on every chain.
func (d *Session) StoppedAccounts(ctx context.Context) (list []records.Account, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		for _, id := range d.Config.ChainIDs() {
			some, err := tx.StoppedAccounts(id)
			if err != nil {
				return err
			}
			list = append(list, some...)
		}
		return nil
	})
	return list, err
}
