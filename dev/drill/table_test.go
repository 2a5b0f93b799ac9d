package drill

import (
	"slices"

	"gatewayd/internal/testing/faults"
	"gatewayd/status"
)

// Groups of drills: each has its own chains, users and daemon.
const (
	nodesGroup = "nodes"
	moneyGroup = "money"    // the daemon's data is on a small disk
	storeGroup = "database" // the records are on PostgreSQL, where a server is given
)

// drill is one fault, its appearance on the surfaces, and its repair.
type drill struct {
	group, Name, Title string
	cause              step
	shows              surfaces
	Alert              status.Kind // logged once when it begins and once when it is over; empty: nothing
	stays              bool        // the alert lasts for some time after the repair
	mend               step
	token              int                      // number of the token that the pages are asked for
	without            func(w *drillEnv) string // why it cannot be done here
}

// Drills are all that is drilled, in their order.
func Drills() []drill { return slices.Concat(nodeDrills(), moneyDrills(), storeDrills()) }

func nodeDrills() []drill {
	return []drill{
		{
			group: nodesGroup, Name: "wrong-clock", Title: "The clock of the signer was a year ahead before its last start",
			cause: (*drillEnv).advanceClock, mend: (*drillEnv).correctClock, Alert: status.ChecksFail, stays: true, // a daemon that starts logs no end
			shows: works(onDoctor, string(status.ChecksFail), "behind what the limits have counted"),
		},
		{
			group: nodesGroup, Name: "dead-node", Title: "One of three source nodes is dead",
			cause: fail(firstSource, faults.Fault{Dead: true}), mend: (*drillEnv).healNodes, Alert: status.NodeFaulty,
			shows: works(onDoctor, string(status.NodeFaulty), "does not answer"),
		},
		{
			group: nodesGroup, Name: "dead-nodes", Title: "No source node answers",
			cause: fail(allSources, faults.Fault{Dead: true}), mend: (*drillEnv).healNodes, Alert: status.NodesDown,
			shows: nothingMoves(status.NodesDown, "nodes of chain eth"),
		},
		{
			group: nodesGroup, Name: "hanging-nodes", Title: "All source nodes take requests and never answer",
			cause: fail(allSources, faults.Fault{Hangs: true}), mend: (*drillEnv).healNodes, Alert: status.NodesDown,
			shows: nothingMoves(status.NodesDown, "nodes of chain eth"),
		},
		{
			group: nodesGroup, Name: "dead-exchange-node", Title: "The node of the exchange chain is dead",
			cause: fail(exchangeNode, faults.Fault{Dead: true}), mend: (*drillEnv).healNodes, Alert: status.NodesDown,
			shows: nothingMoves(status.NodesDown, "nodes of chain vite"),
		},
		{
			group: nodesGroup, Name: "still-chain", Title: "The source chain makes no more blocks",
			cause: (*drillEnv).stopChain, mend: (*drillEnv).restartChain, Alert: status.NodesStale,
			shows: nothingMoves(status.NodesStale, "has had no block after"),
		},
		{
			group: nodesGroup, Name: "liar", Title: "One of three source nodes lies about nonces and the head while another is slow",
			cause: (*drillEnv).letOneLie, mend: (*drillEnv).healNodes, Alert: status.NodeFaulty, stays: true,
			shows: works(onDoctor, string(status.NodeFaulty), "wrong answers"),
		},
	}
}

func moneyDrills() []drill {
	return []drill{
		{
			group: moneyGroup, Name: "halted-account", Title: "Somebody else sends with the hot key",
			cause: (*drillEnv).sendWithHotKey, mend: (*drillEnv).acceptUnknownTx, Alert: status.AccountStopped,
			shows: noWithdrawals(status.AccountStopped, "was not signed by this daemon").and(onAccounts, "halted").and(onRecords, "halted"),
		},
		{
			group: moneyGroup, Name: "token-shortage", Title: "The hot account has fewer tokens than users withdraw", token: 1,
			cause: (*drillEnv).emptyTokens, mend: (*drillEnv).topUpTokens, Alert: status.ChannelStopped,
			shows: oneToken(status.ChannelStopped, "is missing"), // more is owed than there is: deposits stop too
		},
		{
			group: moneyGroup, Name: "gas-shortage", Title: "The hot account cannot pay for gas", token: 1,
			cause: (*drillEnv).emptyCoins, mend: (*drillEnv).topUpCoins, Alert: status.NoCoin,
			shows: someWithdrawals(status.NoCoin, "too little coin for the fees"),
		},
		{
			group: moneyGroup, Name: "frozen-account", Title: "The token's issuer freezes the hot account", token: 1,
			cause: (*drillEnv).freezeAccount, mend: (*drillEnv).unfreezeAccount, Alert: status.ChannelStopped,
			shows: oneToken(status.ChannelStopped, "cannot pay USDT"),
		},
		{
			group: moneyGroup, Name: "paused-token", Title: "The token's issuer pauses all transfers", token: 1,
			cause: (*drillEnv).pauseToken, mend: (*drillEnv).unpauseToken, Alert: status.ChannelStopped,
			shows: oneToken(status.ChannelStopped, "cannot pay USDT"),
		},
		{
			group: moneyGroup, Name: "refused-payment", Title: "Every source node refuses a payout in words of its own",
			cause: (*drillEnv).refusePayouts, mend: (*drillEnv).acceptPayouts, Alert: status.PaymentRefused,
			shows: noWithdrawals(status.PaymentRefused, "exceeds the configured cap"),
		},
		{
			group: moneyGroup, Name: "dust-storm", Title: "Strangers withdraw one unit hundreds of times",
			cause: (*drillEnv).stormDust, shows: works(onChannels, "OPEN"),
		},
		{
			group: moneyGroup, Name: "disk-full", Title: "The daemon's disk is full", without: (*drillEnv).withoutDisk,
			cause: (*drillEnv).fillDisk, mend: (*drillEnv).freeDisk, Alert: status.StoreDown,
			shows: surfaces{onHealth: {"503 "}},
		},
	}
}

func storeDrills() []drill {
	return []drill{
		{
			group: storeGroup, Name: "stray-deposits", Title: "Deposits without a label, and a token sent to the wrong kind of address",
			cause: (*drillEnv).misdirectDeposits, mend: (*drillEnv).creditMisdirected,
			shows: works(onRecords, "unknown_label", "wrong_type"),
		},
		{
			group: storeGroup, Name: "deep-reorg", Title: "A majority of source nodes goes over to a branch that contradicts final blocks",
			cause: (*drillEnv).forkChain, mend: (*drillEnv).unforkChain, Alert: status.ChainHalted,
			shows: nothingMoves(status.ChainHalted, "chain eth is halted"),
		},
		{
			group: storeGroup, Name: "postgres-away", Title: "PostgreSQL is away for longer than a lease", without: (*drillEnv).withoutPostgres,
			cause: (*drillEnv).cutDatabase, mend: (*drillEnv).joinDatabase, Alert: status.StoreDown,
			shows: surfaces{
				onHealth: {"503 ", string(status.StoreDown)}, onMeta: {`"depositState":"MAINTAIN"`, `"withdrawState":"MAINTAIN"`},
				onChannels: {"rc 1", "PostgreSQL does not answer"}, onDoctor: {"rc 1"},
			},
		},
	}
}

// nothingMoves is every surface's content while no payment is possible, with the reason.
func nothingMoves(kind status.Kind, why string) surfaces {
	return surfaces{
		onHealth: {"503 ", string(kind)}, onMeta: {`"depositState":"MAINTAIN"`, `"withdrawState":"MAINTAIN"`}, onDeposit: {`"code":0`, "noticeMsg"},
		onWithdrawal: {`"code":2`}, onChannels: {"MAINTAIN", why}, onDoctor: {"rc 1", "cures status " + string(kind), why},
	}
}

// oneToken is the same while payments of other tokens are possible.
func oneToken(kind status.Kind, why string) surfaces {
	s := nothingMoves(kind, why)
	s[onHealth] = []string{"200 ", `"status":"degraded"`, string(kind)}
	return s
}

// noWithdrawals is the same while deposits are credited.
func noWithdrawals(kind status.Kind, why string) surfaces {
	s := nothingMoves(kind, why)
	s[onMeta], s[onDeposit] = []string{`"depositState":"OPEN"`, `"withdrawState":"MAINTAIN"`}, []string{`"code":0`, "!noticeMsg"}
	return s
}

// someWithdrawals is the same for the tokens that have pending payments: health is 503 only if all
// tokens have some.
func someWithdrawals(kind status.Kind, why string) surfaces {
	s := noWithdrawals(kind, why)
	s[onHealth] = []string{string(kind)}
	return s
}

// works is their content while all payments flow and one of them warns operators.
func works(where surface, parts ...string) surfaces {
	return surfaces{onHealth: {"200 "}, onChannels: {"!MAINTAIN"}, onAccounts: {"!recovering", "!halted"}}.and(where, parts...)
}

// well is every surface's content when payments flow. The doctor reports a wrong node for some
// minutes.
func well() surfaces {
	quiet := []string{"status"}
	for _, kind := range []status.Kind{
		status.StoreDown, status.DaemonDown, status.SignerAway, status.ChainHalted, status.NodesDown, status.NodesDisagree, status.NodesStale, status.FollowerStuck,
		status.FollowerBehind, status.AccountStopped, status.ChannelStopped,
	} {
		quiet = append(quiet, "!cures status "+string(kind))
	}
	return surfaces{
		onHealth: {"200 ", `"status":"ok"`}, onMeta: {`"depositState":"OPEN"`, `"withdrawState":"OPEN"`},
		onDeposit: {`"code":0`}, onWithdrawal: {`"code":0`}, onChannels: {"rc 0", "!MAINTAIN"}, onAccounts: {"rc 0", "!halted", "!recovering"},
		onDoctor: quiet,
	}
}
