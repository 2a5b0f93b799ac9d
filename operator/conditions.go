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
		return "start `gatewayd run`; its log shows why it ended"
	case status.SignerAway:
		return "start `gatewayd signer`; its log shows why it ended. Payments then resume automatically"
	case status.ChainHalted:
		return "see docs/operations/alerts/halted-chain.md"
	case status.NodesDown, status.NodeFaulty:
		return "start the node, correct its URL, or use another node"
	case status.NodeMended:
		return "nothing; if it recurs use another node"
	case status.TracingLost:
		return "enable the node's debug API (debug_traceBlockByHash) or add a node that has it, or set traces: off to rely on balances"
	case status.NodesDisagree:
		return "find out which node is wrong, for example with a block explorer, and remove it from the configuration"
	case status.NodesStale:
		return "the node is stalled or not synchronised, or a clock is wrong; a development node that creates blocks only for transactions needs on_demand: true"
	case status.FollowerStuck:
		return "the daemon's log shows the reason; a node may answer heads and refuse blocks"
	case status.FollowerBehind:
		return "wait; if it persists, the node is slow or requests_per_second is too low"
	case status.AccountStopped, status.AccountIdle:
		return "`gatewayd account list`, then docs/operations/recovery.md"
	case status.ChannelStopped:
		return "`gatewayd channel list` shows the cause; the channel opens automatically once it is resolved"
	case status.NoFunds:
		return "send some to the account from an address in `funders` (Bitcoin, Litecoin: from any); a new gateway's channels open automatically once both sides have funds"
	case status.NoQuota:
		return "stake VITE with the gateway's account as the beneficiary, or set pow: true; the channels then open automatically"
	case status.NoCoin:
		return "send coin to the account from an address in `funders` (Bitcoin, Litecoin: from any); pending payments are then paid automatically"
	case status.PaymentRefused:
		return "correct the node's setting named in the text (a cap of fees or gas, a full pool, no replacement), or add a node that accepts the transaction; it is sent again with each block"
	case status.FeesTooHigh, status.FeesHigh:
		return "wait until fees fall, or raise the token's fee.ceiling or the chain's max_fee_gwei or max_fee_rate"
	case status.FundsUnswept:
		return "the next sweep delivers it (watcher.sweep); if that takes too long, keep a larger balance on the account, or coin on the gas account"
	case status.PaymentsLate:
		return "`gatewayd channel list` shows the capacity, and `gatewayd records show` the reason of the payment's delay"
	case status.NotTold:
		return "`gatewayd alerts test` tests it; correct the section alerts, or the receiver; pending events are sent then"
	case status.ConfigRefused:
		return "correct the file, then `gatewayd reload`"
	case status.LimitReached:
		return "`gatewayd limits` shows the use and when it frees; held payments are paid then, or once signer.limits allows more"
	case status.ApprovalsWanted:
		return "`gatewayd records list --needs-operator`, then `gatewayd approve ID --key FILE`, or `gatewayd records reject ID --why …`"
	case status.PaymentsListed:
		return "`gatewayd records show ID` names the list; `gatewayd records reject ID --why …`, or remove the address from the list"
	case status.PaymentsHeld:
		return "`gatewayd records list --needs-operator`, then `gatewayd records show ID` for the reason and the possible commands. " +
			"An unproven record is credited once an approver signs it: `gatewayd approve ID --key FILE`, with the approver's key in signer.approvals " +
			"of the signer's configuration (`gatewayd approver new FILE`). Or `gatewayd records reject ID --why ...`"
	case status.HotBelow:
		return "send the stated amount to the hot account, from the cold address or another funder"
	case status.HotAbove:
		return "configure the token's `cold` address, here and for the signer, or raise hot_max; `gatewayd account move CHAIN ADDRESS AMOUNT TOKEN --to cold` sends an amount immediately"
	case status.ChecksFail:
		return "repair the named file, service or node: until then limits, lists, screening or comparisons are incomplete, or hold more payments"
	case status.ChannelClosed:
		return ""
	}
	return "see docs/operations/alerts.md"
}

// StoppedAccounts are the accounts that sign nothing, on every chain.
func (d *Session) StoppedAccounts(ctx context.Context) (list []records.Account, err error) {
	err = d.Store.View(ctx, func(tx *records.Tx) error {
		for _, id := range d.Config.ChainIDs() {
			some, err := tx.Recovery().StoppedAccounts(id)
			if err != nil {
				return err
			}
			list = append(list, some...)
		}
		return nil
	})
	return list, err
}
