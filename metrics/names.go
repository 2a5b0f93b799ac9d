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
	buildInfo    = gauge("build_info", "1, with the running version.", "version", "goversion")
	leader       = gauge("leader", "1 while this process has the lease, else 0. Only the process with the lease reports records and nodes.")
	signerServes = gauge("signer_serves", "1 while this signer has the sign-guard and signs, 0 while it is a standby or waits.")

	chainWorked = gauge("chain_lease", "1 while this process follows the chain and pays on it.", "chain")

	diskFree     = gauge("disk_free_bytes", "Free bytes on the disk of the data directory.")
	diskSize     = gauge("disk_size_bytes", "Size of the disk of the data directory.")
	databaseSize = gauge("database_size_bytes", "Size of a database: records, guard, exchange, keys.", "database")

	poolUsed   = gauge("database_connections_in_use", "Connections of a database's pool in use: read, write.", "database", "pool")
	poolIdle   = gauge("database_connections_idle", "Idle connections of the pool.", "database", "pool")
	poolMost   = gauge("database_connections_max", "The limit of the pool.", "database", "pool")
	poolWaits  = counter("database_waits_total", "Waits for a connection since the database was opened.", "database", "pool")
	poolWaited = counter("database_wait_seconds_total", "Duration of these waits.", "database", "pool")

	indexReady       = gauge("index_ready", "1 while the exchange API is up to date with its node's chain.", "exchange")
	indexLag         = gauge("index_lag_seconds", "Time since when the exchange API's index has been behind; 0 while it is up to date.", "exchange")
	indexMissing     = gauge("index_missing_blocks", "Blocks of the node that the index lacks.", "exchange")
	sockets          = gauge("websocket_connections", "Open WebSocket connections.", "exchange")
	subscriptions    = gauge("websocket_subscriptions", "Topics of all WebSocket connections together.", "exchange")
	queueEntries     = gauge("websocket_queue_entries", "Pushes that wait in the queues of all connections.", "exchange")
	queueBytes       = gauge("websocket_queue_bytes", "Bytes of these pushes.", "exchange")
	socketsSlow      = counter("websocket_slow_total", "Connections closed because their client was too slow.", "exchange")
	socketsOvertaken = counter("websocket_overtaken_total", "States that a newer one replaced in a slow client's queue.", "exchange")

	limitUsed = gauge("limit_used_ratio", "Used share of a signer limit: of an hour, a day, the user with the highest use, the gateway, fees.", "window", "network", "chain", "token")

	readAt   = gauge("read_timestamp_seconds", "Time of the last read of the records.")
	readTook = gauge("read_duration_seconds", "Duration of that read.")

	chainHeight  = gauge("chain_height", "The block up to which a chain is followed.", "chain")
	chainHead    = gauge("chain_head", "The latest block that the nodes agree on.", "chain")
	chainFinal   = gauge("chain_final_height", "The latest final block of the nodes.", "chain")
	chainHeadAge = gauge("chain_head_age_seconds", "Age of the latest block by its own time.", "chain")
	chainHalted  = gauge("chain_halted", "1 while the chain is halted.", "chain")

	nodeUp      = gauge("node_up", "1 if the node's last call was answered.", "chain", "node")
	nodeHead    = gauge("node_head", "The latest block that the node has reported.", "chain", "node")
	nodeLag     = gauge("node_lag_blocks", "Its distance from the highest block of the chain's nodes.", "chain", "node")
	nodeFaults  = counter("node_faults_total", "Answers of the node that were proven wrong or contradicted by the others.", "chain", "node")
	nodeLeftOut = gauge("node_left_out", "1 while the node is excluded because of its faults.", "chain", "node")

	transfers     = gauge("transfers", "Transfers that are undecided, or held for an operator.", "network", "direction", "state")
	transfersAge  = gauge("transfers_oldest_age_seconds", "Time when the oldest of them was seen.", "network", "direction", "state")
	unknownTotal  = counter("unknown_token_transfers_total", "Transfers of tokens that no network has ever served, since the process began.", "network", "chain")
	transferTotal = counter("transfers_total", "Transfers that entered a state since the process began.", "network", "direction", "state")
	payments      = gauge("payments", "Open payments: queued, bound, held.", "network", "chain", "purpose", "state")
	paymentsAge   = gauge("payments_oldest_age_seconds", "Time when the oldest of them was created.", "network", "chain", "purpose", "state")
	paymentTotal  = counter("payments_total", "Payments that entered a state since the process began.", "network", "chain", "purpose", "state")
	slots         = gauge("slots", "Slots that no final block has decided: unmined, mined, forked.", "chain", "state")
	slotsAge      = gauge("slots_oldest_age_seconds", "Time when the oldest of them was bound.", "chain", "state")
	attemptTotal  = counter("attempts_total", "Transactions signed since the process began: pay, replace, cancel.", "network", "chain", "purpose", "kind")
	feeTotal      = counter("fees_paid_coins_total", "Network fees of our own transactions since the process began, in whole coins.", "chain")

	accounts   = gauge("accounts", "Accounts that are no user's, by state: new, ok, halted, recovering.", "network", "chain", "kind", "state")
	balance    = gauge("account_balance", "Balance of a paying account in whole units, reported by the nodes.", "network", "chain", "kind", "account", "asset", "symbol")
	owed       = gauge("account_pending", "Payments of the asset to users that no block contains yet, in whole units.", "network", "chain", "kind", "account", "asset", "symbol")
	quota      = gauge("account_quota", "The quota of a gateway account now.", "network", "chain", "account")
	quotaMost  = gauge("account_quota_max", "Its maximum quota.", "network", "chain", "account")
	balancesAt = gauge("balances_timestamp_seconds", "Time of the last query of balances and quota.")

	conditions = gauge("condition", "How many conditions of a kind there are (docs/operations/alerts.md); stops: they block payments.",
		"kind", "stops", "chain", "network", "token", "direction")
	paymentsBlocked = gauge("payments_blocked", "1 while conditions block the payments of a channel that operators let open, else 0. None for other channels.", "network", "token", "direction")
	channelState    = gauge("channel_state", "1 for the state that a channel is in, 0 for the others.", "network", "token", "direction", "state")
)

// all is for Describe.
var all = []metric{
	buildInfo, leader, chainWorked, signerServes, diskFree, diskSize, databaseSize, poolUsed, poolIdle, poolMost, poolWaits, poolWaited, indexReady, indexLag, indexMissing, sockets, subscriptions, queueEntries, queueBytes, socketsSlow,
	socketsOvertaken, readAt, readTook, chainHeight, chainHead, chainFinal, chainHeadAge, chainHalted, nodeUp, nodeHead, nodeLag, nodeFaults, nodeLeftOut,
	transfers, transfersAge, transferTotal, unknownTotal, payments, paymentsAge, paymentTotal, slots, slotsAge, attemptTotal, feeTotal, accounts, balance, owed, quota,
	quotaMost, balancesAt, conditions, paymentsBlocked, channelState,
}

// page is a list of figures, ready to be shown.
type page []prometheus.Metric

func (p *page) set(m metric, value float64, labels ...string) {
	*p = append(*p, prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...))
}
