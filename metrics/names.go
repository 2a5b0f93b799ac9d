package metrics

import "github.com/prometheus/client_golang/prometheus"

// metric is a name with its labels.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func gauge(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("gatewayd_"+name, help, labels, nil), prometheus.GaugeValue}
}

func counter(name, help string, labels ...string) metric {
	return metric{prometheus.NewDesc("gatewayd_"+name, help, labels, nil), prometheus.CounterValue}
}

// Every name but those of requests. Labels are the words of the log's fields and of
// docs/glossary.md.
var (
	buildInfo = gauge("build_info", "1, with the version that runs.", "version", "goversion")
	leader    = gauge("leader", "1 while this process has the lease, else 0. Only who leads tells what the records and the nodes say.")

	diskFree     = gauge("disk_free_bytes", "What is free for the daemon on the disk of its data directory.")
	diskSize     = gauge("disk_size_bytes", "How large the disk of its data directory is.")
	databaseSize = gauge("database_size_bytes", "What a database takes: records, guard, exchange, keys.", "database")

	indexReady       = gauge("index_ready", "1 while the exchange API's answers are as new as its node's chain.", "exchange")
	indexLag         = gauge("index_lag_seconds", "Since when the exchange API's index is not up to date; 0 while it is.", "exchange")
	indexMissing     = gauge("index_missing_blocks", "Blocks that its node is known to have and the index has not.", "exchange")
	sockets          = gauge("websocket_connections", "Open WebSocket connections.", "exchange")
	subscriptions    = gauge("websocket_subscriptions", "Topics of all WebSocket connections together.", "exchange")
	queueEntries     = gauge("websocket_queue_entries", "Pushes that wait in the queues of all connections.", "exchange")
	queueBytes       = gauge("websocket_queue_bytes", "What these pushes take.", "exchange")
	socketsSlow      = counter("websocket_slow_total", "Connections closed because their client was too slow.", "exchange")
	socketsOvertaken = counter("websocket_overtaken_total", "States that a newer one replaced in a slow client's queue.", "exchange")

	limitUsed = gauge("limit_used_ratio", "How much of a limit of the signer is used: of an hour, a day, the user who has used most, the whole gateway, fees.", "window", "network", "chain", "token")

	readAt   = gauge("read_timestamp_seconds", "When the records were read last.")
	readTook = gauge("read_duration_seconds", "How long that took.")

	chainHeight  = gauge("chain_height", "The block up to which a chain is followed.", "chain")
	chainHead    = gauge("chain_head", "The newest block that the nodes agree on.", "chain")
	chainFinal   = gauge("chain_final_height", "The newest block that the nodes no longer change.", "chain")
	chainHeadAge = gauge("chain_head_age_seconds", "How old the latest block is by its own time.", "chain")
	chainHalted  = gauge("chain_halted", "1 while the chain is halted.", "chain")

	nodeUp      = gauge("node_up", "1 if the node's last call was answered.", "chain", "node")
	nodeHead    = gauge("node_head", "The newest block that the node has told of.", "chain", "node")
	nodeLag     = gauge("node_lag_blocks", "How far that is behind the highest of its chain's nodes.", "chain", "node")
	nodeFaults  = counter("node_faults_total", "Answers of the node that were proven wrong or contradicted by the others.", "chain", "node")
	nodeLeftOut = gauge("node_left_out", "1 while the node is not asked because of its faults.", "chain", "node")

	transfers     = gauge("transfers", "Transfers that are seen and not decided, or held for an operator.", "network", "direction", "state")
	transfersAge  = gauge("transfers_oldest_age_seconds", "Since when the oldest of them is there.", "network", "direction", "state")
	unknownTotal  = counter("unknown_token_transfers_total", "Transfers of tokens that no network has ever served, since the process began.", "network", "chain")
	transferTotal = counter("transfers_total", "Transfers that entered a state since the process began.", "network", "direction", "state")
	payments      = gauge("payments", "Payments that are not done with: queued, bound, held.", "network", "chain", "purpose", "state")
	paymentsAge   = gauge("payments_oldest_age_seconds", "Since when the oldest of them is ordered.", "network", "chain", "purpose", "state")
	paymentTotal  = counter("payments_total", "Payments that entered a state since the process began.", "network", "chain", "purpose", "state")
	slots         = gauge("slots", "Slots that no final block has decided: unmined, mined, forked.", "chain", "state")
	slotsAge      = gauge("slots_oldest_age_seconds", "Since when the oldest of them is bound.", "chain", "state")
	attemptTotal  = counter("attempts_total", "Transactions signed since the process began: pay, replace, cancel.", "network", "chain", "purpose", "kind")
	feeTotal      = counter("fees_paid_coins_total", "What our own transactions paid for their blocks since the process began, in whole coins.", "chain")

	accounts   = gauge("accounts", "Accounts that are no user's, by state: new, ok, halted, recovering.", "network", "chain", "kind", "state")
	balance    = gauge("account_balance", "What a paying account holds of an asset, in whole units, as the nodes say.", "network", "chain", "kind", "account", "asset", "symbol")
	owed       = gauge("account_pending", "Payments of the asset to users that no block contains yet, in whole units.", "network", "chain", "kind", "account", "asset", "symbol")
	quota      = gauge("account_quota", "The quota of a gateway account now.", "network", "chain", "account")
	quotaMost  = gauge("account_quota_max", "What it gets when it rests.", "network", "chain", "account")
	balancesAt = gauge("balances_timestamp_seconds", "When balances and quota were last asked for.")

	conditions = gauge("condition", "How many conditions of a kind there are (docs/operations/alerts.md); stops: money does not move because of them.",
		"kind", "stops", "chain", "network", "token", "direction")
	channelState = gauge("channel_state", "1 for the state that a channel is in, 0 for the others.", "network", "token", "direction", "state")
)

// all is for Describe.
var all = []metric{
	buildInfo, leader, diskFree, diskSize, databaseSize, indexReady, indexLag, indexMissing, sockets, subscriptions, queueEntries, queueBytes, socketsSlow,
	socketsOvertaken, readAt, readTook, chainHeight, chainHead, chainFinal, chainHeadAge, chainHalted, nodeUp, nodeHead, nodeLag, nodeFaults, nodeLeftOut,
	transfers, transfersAge, transferTotal, unknownTotal, payments, paymentsAge, paymentTotal, slots, slotsAge, attemptTotal, feeTotal, accounts, balance, owed, quota,
	quotaMost, balancesAt, conditions, channelState,
}

// page is a list of figures, ready to be shown.
type page []prometheus.Metric

func (p *page) set(m metric, value float64, labels ...string) {
	*p = append(*p, prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...))
}
