package main

import (
	"context"
	"slices"

	"gatewayd/operator/status"
)

// Worlds of drills: each has chains, users and a daemon of its own.
const (
	nodesWorld = "nodes and chains"
	moneyWorld = "money"             // the daemon's data is on a small disk
	storeWorld = "database and past" // the records are on PostgreSQL, where a server is given
)

// drill is one thing that goes wrong, what people see of it, and what mends it.
type drill struct {
	world, name, title string
	cause              func(w *drillWorld, ctx context.Context) error
	shows              surfaces
	alert              status.Kind // what the log tells once when it begins and once when it is over; empty: nothing
	stays              bool        // the alert goes on for some time after the repair
	mend               func(w *drillWorld, ctx context.Context) error
	token              int                        // number of the token that the pages are asked for
	without            func(w *drillWorld) string // why it cannot be done here
}

// drills are all that is drilled, in their order.
func drills() []drill { return slices.Concat(nodeDrills(), moneyDrills(), storeDrills()) }

func nodeDrills() []drill {
	return []drill{
		{
			world: nodesWorld, name: "dead-node", title: "One of three source nodes is dead",
			cause: (*drillWorld).killOneNode, mend: (*drillWorld).healNodes, alert: status.NodeFaulty,
			shows: works(onDoctor, string(status.NodeFaulty), "does not answer"),
		},
		{
			world: nodesWorld, name: "dead-nodes", title: "No source node answers",
			cause: (*drillWorld).killNodes, mend: (*drillWorld).healNodes, alert: status.NodesDown,
			shows: nothingMoves(status.NodesDown, "nodes of chain eth"),
		},
		{
			world: nodesWorld, name: "hanging-nodes", title: "All source nodes take requests and never answer",
			cause: (*drillWorld).hangNodes, mend: (*drillWorld).healNodes, alert: status.NodesDown,
			shows: nothingMoves(status.NodesDown, "nodes of chain eth"),
		},
		{
			world: nodesWorld, name: "dead-exchange-node", title: "The node of the exchange chain is dead",
			cause: (*drillWorld).killExchangeNode, mend: (*drillWorld).healNodes, alert: status.NodesDown,
			shows: nothingMoves(status.NodesDown, "nodes of chain vite"),
		},
		{
			world: nodesWorld, name: "still-chain", title: "The source chain makes no more blocks",
			cause: (*drillWorld).stopChain, mend: (*drillWorld).restartChain, alert: status.NodesStale,
			shows: nothingMoves(status.NodesStale, "is the newest for"),
		},
		{
			world: nodesWorld, name: "liar", title: "One of three source nodes lies about nonces and the head while another is slow",
			cause: (*drillWorld).letOneLie, mend: (*drillWorld).healNodes, alert: status.NodeFaulty, stays: true,
			shows: works(onDoctor, string(status.NodeFaulty), "wrong answers"),
		},
	}
}

func moneyDrills() []drill {
	return []drill{
		{
			world: moneyWorld, name: "halted-account", title: "Somebody else sends with the hot key",
			cause: (*drillWorld).sendWithHotKey, mend: (*drillWorld).acceptForeign, alert: status.AccountStopped,
			shows: noWithdrawals(status.AccountStopped, "was not signed by this daemon").and(onAccounts, "halted").and(onRecords, "halted"),
		},
		{
			world: moneyWorld, name: "token-shortage", title: "The hot account has fewer tokens than users withdraw", token: 1,
			cause: (*drillWorld).drainTokens, mend: (*drillWorld).topUpTokens, alert: status.ChannelStopped,
			shows: nothingMoves(status.ChannelStopped, "is missing"), // more is owed than there is: deposits stop too
		},
		{
			world: moneyWorld, name: "gas-shortage", title: "The hot account cannot pay for gas", token: 1,
			cause: (*drillWorld).drainCoins, mend: (*drillWorld).topUpCoins, alert: status.NoCoin,
			shows: noWithdrawals(status.NoCoin, "too little coin for the fees"),
		},
		{
			world: moneyWorld, name: "dust-storm", title: "Strangers withdraw one unit hundreds of times",
			cause: (*drillWorld).stormDust, shows: works(onChannels, "OPEN"),
		},
		{
			world: moneyWorld, name: "disk-full", title: "The daemon's disk is full", without: (*drillWorld).withoutDisk,
			cause: (*drillWorld).fillDisk, mend: (*drillWorld).freeDisk, alert: status.StoreDown,
			shows: surfaces{onHealth: {"503 "}},
		},
	}
}

func storeDrills() []drill {
	return []drill{
		{
			world: storeWorld, name: "stray-deposits", title: "Deposits without a label, and a token sent to the wrong kind of address",
			cause: (*drillWorld).strayDeposits, mend: (*drillWorld).creditStrays,
			shows: works(onRecords, "unknown_label", "wrong_type"),
		},
		{
			world: storeWorld, name: "deep-reorg", title: "A majority of source nodes goes over to a branch that contradicts final blocks",
			cause: (*drillWorld).forkChain, mend: (*drillWorld).unforkChain, alert: status.ChainHalted,
			shows: nothingMoves(status.ChainHalted, "chain eth is halted"),
		},
		{
			world: storeWorld, name: "postgres-away", title: "PostgreSQL is away for longer than a lease", without: (*drillWorld).withoutPostgres,
			cause: (*drillWorld).cutDatabase, mend: (*drillWorld).joinDatabase, alert: status.StoreDown,
			shows: surfaces{
				onHealth: {"503 ", string(status.StoreDown)}, onMeta: {`"depositState":"MAINTAIN"`, `"withdrawState":"MAINTAIN"`},
				onChannels: {"rc 1", "PostgreSQL does not answer"}, onDoctor: {"rc 1"},
			},
		},
	}
}

// nothingMoves is what every surface says while no money moves, and why.
func nothingMoves(kind status.Kind, why string) surfaces {
	return surfaces{
		onHealth: {"503 ", string(kind)}, onMeta: {`"depositState":"MAINTAIN"`, `"withdrawState":"MAINTAIN"`}, onDeposit: {`"code":0`, "noticeMsg"},
		onWithdrawal: {`"code":2`}, onChannels: {"MAINTAIN", why}, onDoctor: {"rc 1", "FIX  status " + string(kind), why},
	}
}

// noWithdrawals is the same while deposits are credited.
func noWithdrawals(kind status.Kind, why string) surfaces {
	s := nothingMoves(kind, why)
	s[onMeta], s[onDeposit] = []string{`"depositState":"OPEN"`, `"withdrawState":"MAINTAIN"`}, []string{`"code":0`, "!noticeMsg"}
	return s
}

// works is what they say while all money moves and one of them tells operators something.
func works(where surface, parts ...string) surfaces {
	return surfaces{onHealth: {"200 "}, onChannels: {"!MAINTAIN"}, onAccounts: {"!recovering", "!halted"}}.and(where, parts...)
}

// well is what every surface says when money moves. That a node was wrong, the doctor tells for some minutes.
func well() surfaces {
	quiet := []string{"status"}
	for _, kind := range []status.Kind{
		status.StoreDown, status.DaemonDown, status.ChainHalted, status.NodesDown, status.NodesDisagree, status.NodesStale, status.FollowerStuck,
		status.FollowerBehind, status.AccountStopped, status.ChannelStopped,
	} {
		quiet = append(quiet, "!FIX  status "+string(kind))
	}
	return surfaces{
		onHealth: {"200 ", `"status":"ok"`}, onMeta: {`"depositState":"OPEN"`, `"withdrawState":"OPEN"`},
		onDeposit: {`"code":0`}, onWithdrawal: {`"code":0`}, onChannels: {"rc 0", "!MAINTAIN"}, onAccounts: {"rc 0", "!halted", "!recovering"},
		onDoctor: quiet,
	}
}
