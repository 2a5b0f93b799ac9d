package chain

import (
	"context"
	"time"
)

// Capabilities are what a ledger offers beyond the port; nil: it does not. docs/architecture.md,
// section 6, has what is missing then.
type Capabilities struct {
	Nodes    NodeWatcher
	NodeList NodeSetter
	Tracing  TracingWatcher
	Interval Intervaler
	Ranges   RangeReader
	Tokens   TokenAdder
	MaxFee   MaxFeeSetter
	Own      Describer
	Parties  PartyReader
	Pool     PoolReader
	Links    PaymentLinker

	Costs    CostReader
	Sweeps   Sweeper
	Swept    SweptReader
	Groups   GroupEstimator
	Failures FailureChecker
	Tries    Trier
	Quota    QuotaReader
	Batches  Batcher
	Coins    CoinLedger
	Merges   Merger

	Balances BalanceReader
	Proven   ProvenBalanceReader
	Holdings HoldingsReader
	Supply   SupplyReader
}

// CapabilitiesOf returns what a chain offers. Abilities with types of one adapter (rate feeds,
// quota of the exchange chain) are found by their only callers.
func CapabilitiesOf(c any) (has Capabilities) {
	has.Nodes, _ = c.(NodeWatcher)
	has.NodeList, _ = c.(NodeSetter)
	has.Tracing, _ = c.(TracingWatcher)
	has.Interval, _ = c.(Intervaler)
	has.Ranges, _ = c.(RangeReader)
	has.Tokens, _ = c.(TokenAdder)
	has.MaxFee, _ = c.(MaxFeeSetter)
	has.Own, _ = c.(Describer)
	has.Parties, _ = c.(PartyReader)
	has.Pool, _ = c.(PoolReader)
	has.Links, _ = c.(PaymentLinker)
	has.Costs, _ = c.(CostReader)
	has.Sweeps, _ = c.(Sweeper)
	has.Swept, _ = c.(SweptReader)
	has.Groups, _ = c.(GroupEstimator)
	has.Failures, _ = c.(FailureChecker)
	has.Tries, _ = c.(Trier)
	has.Quota, _ = c.(QuotaReader)
	has.Batches, _ = c.(Batcher)
	has.Coins, _ = c.(CoinLedger)
	has.Merges, _ = c.(Merger)
	has.Balances, _ = c.(BalanceReader)
	has.Proven, _ = c.(ProvenBalanceReader)
	has.Holdings, _ = c.(HoldingsReader)
	has.Supply, _ = c.(SupplyReader)
	return has
}

// NodeWatcher reads its ledger through nodes.
type NodeWatcher interface {
	// Nodes returns the state of each configured node, in the order of the configuration. It sends
	// no requests.
	Nodes() []NodeState
}

// NodeSetter takes other nodes while the chain is in use.
type NodeSetter interface {
	SetNodes(urls []string) error
}

// TracingWatcher traces blocks.
type TracingWatcher interface {
	TracingLoss() TracingLoss
}

// Intervaler knows the usual time between its blocks.
type Intervaler interface {
	BlockInterval(ctx context.Context) (time.Duration, error)
}

// RangeReader answers many blocks in few calls.
type RangeReader interface {
	// Blocks returns blocks of the canonical chain in order of height, none below from or above to.
	// Without an error they are consecutive from from on, and at least one. With an error some are
	// missing. ErrNotFound: the chain does not reach from.
	Blocks(ctx context.Context, from, to uint64) ([]Block, error)
}

// TokenAdder takes further tokens while the chain is in use.
type TokenAdder interface {
	AddTokens(assets ...Asset)
}

// MaxFeeSetter takes another ceiling of fees while the chain is in use, in the unit of its
// configuration.
type MaxFeeSetter interface {
	SetMaxFee(text string) error
}

// Describer describes the request of a transaction of ours, proven by its hash.
type Describer interface {
	Describe(ctx context.Context, hash string) (Outgoing, error)
}

// PartyReader describes the owner of an address: whether it is a contract, and how many
// transactions it has sent.
type PartyReader interface {
	Party(ctx context.Context, address string) (contract bool, sent uint64, err error)
}

// PoolReader shows transfers before they are in a block.
type PoolReader interface {
	// Pooled returns transfers to us that wait in a node's pool. One node is believed, and nothing
	// may follow from such a transfer: it may never be in a block.
	Pooled(ctx context.Context) ([]Transfer, error)
}

// PaymentLinker is a ledger whose wallets open links.
type PaymentLinker interface {
	// PaymentURI returns the link with which a wallet pays to an address.
	PaymentURI(address string) string
}

// CostReader is a ledger whose payments cost native coin.
type CostReader interface {
	// PayoutCost returns the present cost of one payout of an asset, in native coin.
	PayoutCost(ctx context.Context, asset Asset) (Amount, error)
}

// Sweeper is a ledger whose deposits are brought together from users' addresses.
type Sweeper interface {
	// SweepCost is the native coin to leave behind when everything else of an address is sent away.
	SweepCost(ctx context.Context) (Amount, error)
	// TokenSweepCost is the native coin an address needs to send one token transfer.
	TokenSweepCost(ctx context.Context) (Amount, error)
}

// SweptReader is a ledger where the fee of a sweep of native coin comes out of what is swept: a
// replacement with a higher fee brings less.
type SweptReader interface {
	// Swept returns the amount in an attempt's bytes. It asks no node.
	Swept(a Attempt) (Amount, error)
}

// GroupEstimator asks its nodes once for what the fees of several payments depend on. Estimate and
// Prepare then need not ask for each of them under the same InGroup.
type GroupEstimator interface {
	EstimateGroup(ctx context.Context, account string, pays []Payment)
}

// FailureChecker knows why a transaction of ours has failed.
type FailureChecker interface {
	// FailedForUs reports whether an attempt that failed in the block at a final height failed for
	// our own lack. One case is a balance below the payment's amount, less moved, the amount of its
	// earlier transactions in the same block. The other is that the attempt used up all its gas,
	// and we would have given more. ErrUnavailable: no majority of the nodes answers, or keeps the
	// state of that block.
	FailedForUs(ctx context.Context, height uint64, account string, pay Payment, moved Amount, a Attempt) (bool, error)
}

// Trier tries token payments on the state after a block without sending them. Height 0 is the
// latest block. Each payment gets nil, or ErrRefused, ErrFalse or ErrNotNow (the account holds
// less). ErrUnavailable: no majority of the nodes answers.
type Trier interface {
	Try(ctx context.Context, height uint64, account string, pays []Payment) ([]error, error)
}

// QuotaReader is a ledger that takes quota instead of fees.
type QuotaReader interface {
	// CreditQuota returns the quota that an account's stake can give it, and what one credit takes
	// of it: nothing where proof of work is done.
	CreditQuota(ctx context.Context, account string) (has, takes uint64, err error)
}

// Batcher is a ledger where one transaction can make several payments of an account.
type Batcher interface {
	// MaxBatch returns how many payments of an asset one transaction may make; below two, each is
	// made alone. It asks no node.
	MaxBatch(asset Asset) int
	// BatchWait returns for how long a payment waits for others to share its transaction. It asks
	// no node.
	BatchWait() time.Duration
	// BatchTo returns the payee that a batch of an asset has itself (Payment.To), such as a
	// contract. It asks no node.
	BatchTo(asset Asset) string
	// Separate reports which payments must not share a transaction, because their payees may
	// disturb others or need a plain transfer.
	Separate(ctx context.Context, pays []Payment) ([]bool, error)
	// Allowed reports whether a batch of the account may move an amount of an asset now. Where it
	// may not, an Allow payment of the account comes first.
	Allowed(ctx context.Context, account string, asset Asset, amount Amount) (bool, error)
}

// CoinLedger is a ledger whose accounts have neither nonces nor blocks of their own: a transaction
// spends coins, and its slot is the first of them.
type CoinLedger interface {
	// SpendsCoins does nothing; it distinguishes such a ledger.
	SpendsCoins()
}

// Merger is a ledger of coins where Merge payments of an account to itself bring its coins
// together.
type Merger interface {
	// WorthMerging reports whether an account has many small coins, while fees are low.
	WorthMerging(ctx context.Context, account string) (bool, error)
	// Parent returns the coin that a Merge payment is to spend so that the attempts of a slot
	// leave: one of them waits in a pool for too low a fee, and no node replaces it. It is empty
	// otherwise.
	Parent(ctx context.Context, slot Slot, attempts []Attempt) (source string, err error)
}

// BalanceReader is a ledger whose coin may come to us without a trace in any block's transactions:
// sent by contracts, or by the protocol itself.
type BalanceReader interface {
	// AuditsBalances reports whether the operator wants it.
	AuditsBalances() bool
	// BalancePage returns the number of accounts per call of BalancesAt.
	BalancePage() int
	// BalancesAt returns the coin of accounts after a final block, by a majority of the nodes.
	BalancesAt(ctx context.Context, height uint64, accounts []string) ([]Amount, error)
	// PastBalances is BalancesAt for several heights; nil where the nodes keep no state that old.
	PastBalances(ctx context.Context, of []Moment) ([]*Amount, error)
}

// ProvenBalanceReader proves the coin of an account at blocks of the past.
type ProvenBalanceReader interface {
	// ProvenBalance returns the coin of an account after a final block, proven by the block's state
	// root or by a majority of the nodes. ErrNotFound: they do not keep the state of that block.
	ProvenBalance(ctx context.Context, height uint64, account string) (Amount, error)
	// PastBalances returns the coin of accounts after blocks, as a majority of the nodes reports
	// it; nil where they keep no state that old.
	PastBalances(ctx context.Context, of []Moment) ([]*Amount, error)
}

// HoldingsReader returns many accounts' balances of an asset after a final block, by a majority of
// its nodes.
type HoldingsReader interface {
	HoldingsAt(ctx context.Context, height uint64, asset Asset, accounts []string) ([]Amount, error)
}

// SupplyReader returns the amount of a token outside some accounts, and whether one of them is its
// owner there.
type SupplyReader interface {
	Circulating(ctx context.Context, asset Asset, accounts []string) (amount Amount, owned bool, err error)
}
