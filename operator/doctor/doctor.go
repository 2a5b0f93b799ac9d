// Package doctor checks a configuration against the live nodes and reports the necessary fixes. It
// changes nothing.
package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin"
	"gatewayd/chain/ethereum"
	"gatewayd/chain/vite"
	"gatewayd/config"
	"gatewayd/daemon"
	"gatewayd/httpserver"
	"gatewayd/operator"
	"gatewayd/records"
	"gatewayd/status"
)

// Finding is the result of one check. Advice contains the fix of a fault, or the meaning of a
// warning.
type Finding struct {
	What    string `json:"what"`
	OK      bool   `json:"ok"` // nothing must be done
	Warning bool   `json:"warning,omitempty"`
	Found   string `json:"found"`
	Advice  string `json:"advice,omitempty"`
	Cure    int    `json:"cure,omitempty"` // number of the cure that resolves a fault

	act *act // that resolves it; nil: Advice
}

// Doctor checks a configuration against the live nodes. It changes nothing.
type Doctor struct {
	Config     config.Config
	Now        func() time.Time
	Getenv     func(string) string
	unlock     func(config.Wallet) error // nil when the wallet opens with its password from a file or a variable
	session    *operator.Session         // nil where there is no database yet
	runs       bool                      // a daemon runs, according to the records
	inclusions map[networkChain]operator.Inclusion
	Findings   []Finding

	wants map[need]chain.Amount
	has   map[holding]chain.Amount
	owed  map[holding]chain.Amount // by the records
}

// networkChain names a network's chain.
type networkChain struct {
	network string
	chain   chain.ID
}

// readInclusions reads the inclusion of payments from the records.
func (d *Doctor) readInclusions(ctx context.Context, s *operator.Session, networks []records.Network) error {
	d.inclusions = map[networkChain]operator.Inclusion{}
	for _, n := range networks {
		for _, id := range []chain.ID{n.Source, n.Exchange} {
			p, err := s.Inclusion(ctx, n, id)
			if err != nil {
				return err
			}
			d.inclusions[networkChain{n.Name, id}] = p
		}
	}
	return nil
}

func (d *Doctor) add(ok bool, what, found, advice string) {
	if ok {
		advice = ""
	}
	d.Findings = append(d.Findings, Finding{What: what, OK: ok, Found: found, Advice: advice})
}

// Warn adds what works, but not as well as it could unless it is fine.
func (d *Doctor) Warn(fine bool, what, found, advice string) {
	d.add(fine, what, found, advice)
	last := &d.Findings[len(d.Findings)-1]
	last.OK, last.Warning = true, !fine
}

// Run performs all checks once.
func Run(ctx context.Context, cfg config.Config, getenv func(string) string, unlock func(config.Wallet) error) Report {
	d := &Doctor{Config: cfg, Now: time.Now, Getenv: getenv, unlock: unlock}
	d.examine(ctx)
	d.ExchangeAPI(ctx)
	return d.report()
}

// examine checks the chains, then their networks, then the daemon's own servers.
func (d *Doctor) examine(ctx context.Context) {
	var accounts []records.Network
	if len(d.Config.Networks) > 0 {
		accounts = d.accounts(ctx)
	}
	if d.session != nil {
		defer d.session.Store.Close()
	}
	d.wallet(len(accounts) > 0 && accounts[0].Hot != "")
	for _, n := range d.Config.Networks {
		found := fmt.Sprintf("%d addresses", len(n.Funders))
		if len(n.Funders) == 1 {
			found = "1 address"
		}
		advice := "list the addresses of your own funds in funders: transfers from all others count as users' transfers"
		if d.namesNoSender(n.Source) {
			advice = fmt.Sprintf("list your own addresses on %s in funders: transfers on %[1]s from all others count as users' transfers; %s names no senders", n.Exchange, n.Source)
		}
		d.Warn(len(n.Funders) > 0, "network "+n.Name+" funders", found, advice)
	}
	d.chains(ctx, accounts)
	d.operators(ctx)
	if len(d.Config.Networks) > 0 {
		d.listener("gateway", d.Config.Gateway.Config)
		d.certificate("certificate", "gateway.tls", d.Config.Gateway.TLS)
	}
}

// Nodes checks the chains alone, which is possible before the daemon's first run.
func Nodes(ctx context.Context, all ...config.Config) Report {
	d := &Doctor{Now: time.Now}
	for _, cfg := range all {
		d.Config = cfg
		d.chains(ctx, cfg.NetworkRecords())
	}
	return d.report()
}

func (d *Doctor) chains(ctx context.Context, networks []records.Network) {
	open := func(c config.Chain) (config.Adapter, error) { return c.Open(nil, nil) }
	if d.session != nil {
		var err error
		if open, err = d.session.Opener(ctx); err != nil {
			d.add(false, "database", err.Error(), "the database answers but cannot be read; see its log")
			return
		}
	}
	for _, c := range d.Config.Chains() {
		adapter, err := open(c)
		if err != nil {
			d.add(false, "chain "+string(c.ID), err.Error(), "correct the chain's configuration")
			continue
		}
		d.chain(ctx, c, adapter, networks)
		adapter.Close()
	}
}

// chain performs the checks of a chain's kind.
func (d *Doctor) chain(ctx context.Context, c config.Chain, adapter config.Adapter, accounts []records.Network) {
	switch s := c.Settings.(type) {
	case bitcoin.Config:
		d.coins(ctx, s, adapter.(*bitcoin.Chain), accounts)
	case ethereum.Config:
		d.source(ctx, s, adapter.(*ethereum.Chain), accounts)
	case vite.Config:
		d.exchange(ctx, s, adapter.(*vite.Chain), accounts)
	default:
		_, err := adapter.Head(ctx)
		d.add(err == nil, "chain "+string(c.ID), fmt.Sprint("answers: ", err == nil), fmt.Sprint("the nodes must agree on a head: ", err))
	}
}

const firstRun = "start `gatewayd run` once; balances and quota are checked after that"

// accounts are known once the daemon has run with this database.
func (d *Doctor) accounts(ctx context.Context) []records.Network {
	store, err := records.OpenExisting(ctx, d.Config.Database)
	if errors.Is(err, records.ErrNotFound) {
		d.add(false, "accounts", "the daemon has never run with this database", firstRun)
		return nil
	}
	if err != nil {
		d.add(false, "database", operator.PlainError(err).Error(), "correct database.url, or start the database server")
		return nil
	}
	session := &operator.Session{Config: d.Config, Store: store}
	d.session = session
	networks, err := session.Networks(ctx)
	if err == nil {
		err = d.readInclusions(ctx, session, networks)
	}
	if err == nil {
		err = store.View(ctx, func(tx *records.Tx) error { return d.readOwed(tx, networks) })
	}
	if err != nil {
		d.add(false, "database", err.Error(), "the database answers but cannot be read; see its log")
		return nil
	}
	d.add(true, "database", "answers", "")
	if len(networks) > 0 && networks[0].Hot == "" {
		d.add(false, "accounts", "the daemon has never run with this database", firstRun)
		return networks
	}
	d.running(ctx, session, networks)
	d.configured(ctx, session)
	return networks
}

// running reports the blocked payments of the running daemon and its records.
func (d *Doctor) running(ctx context.Context, k *operator.Session, networks []records.Network) {
	report, err := k.Conditions(ctx)
	if err != nil {
		d.add(false, "status", err.Error(), "the database answers but cannot be read; see its log")
		return
	}
	found := 0
	d.runs = !slices.ContainsFunc(report.Conditions, func(c status.Condition) bool { return c.Kind == status.DaemonDown })
	for _, c := range report.Conditions {
		if c.Kind == status.ChannelClosed { // the operator's own word
			continue
		}
		found++
		told := c.Detail
		if !c.Since.IsZero() {
			told += " (since " + c.Since.UTC().Format(time.DateTime) + " UTC)"
		}
		if c.Kind == status.NodeMended {
			d.Warn(false, "status "+string(c.Kind), told, status.Remedy(c.Kind))
			continue
		}
		d.add(false, "status "+string(c.Kind), told, status.Remedy(c.Kind))
		if a, ok := actOn(c, networks); ok {
			d.resolves(a)
		}
	}
	if found == 0 {
		d.add(true, "status", "the daemon runs, and payments are not blocked", "")
	}
}

// configured checks whether the daemon uses the present file.
func (d *Doctor) configured(ctx context.Context, k *operator.Session) {
	known, waits, err := k.Configured(ctx)
	switch {
	case err != nil:
		d.add(false, "configuration", err.Error(), "the database answers but cannot be read; see its log")
	case !known:
		d.Warn(false, "configuration", "the file has changed since the daemon read it", "`gatewayd reload` applies it")
	default:
		found := "the daemon uses it"
		if len(waits) > 0 {
			found += ", but for " + strings.Join(waits, ", ")
		}
		d.Warn(len(waits) == 0, "configuration", found, "these keys need a restart")
	}
}

// maxDrift bounds the difference between a node's newest block and our clock.
const maxDrift = 2 * time.Minute

func (d *Doctor) source(ctx context.Context, c ethereum.Config, adapter *ethereum.Chain, networks []records.Network) {
	answered := false
	for _, r := range adapter.Probe(ctx) {
		what := fmt.Sprintf("chain %s %s", c.ID, r.Node)
		answered = answered || r.Err == nil || r.ChainID != 0
		if r.Err != nil {
			d.add(false, what, r.Err.Error(), "start the node or correct its URL; a node must offer blocks, receipts and the finality tag that is configured")
			d.resolves(atNodes(c.ID))
			continue
		}
		d.add(r.ChainID == c.ChainID, what+" chain id", fmt.Sprint(r.ChainID), fmt.Sprintf("chain_id is %d: use a node of that chain or correct chain_id", c.ChainID))
		if !c.OnDemand {
			d.drift(what, d.Now().Sub(r.HeadTime))
		}
		tag := c.Finality == "" || c.Finality == "finalized" || c.Finality == "safe"
		finality := fmt.Sprintf("final height %d, head %d", r.Final, r.Head.Height)
		if !tag {
			finality = fmt.Sprintf("%s confirmations, head %d", c.Finality, r.Head.Height)
		}
		d.add(!tag || r.Final > 0, what+" finality", finality, "the node does not report such a block yet: wait, or set finality to a count of confirmations")
		d.contractCoin(c, what, r)
		d.add(r.Limited == 0, what+" request limits", limitsSeen(r.Limited, c.RequestsPerSecond),
			"set requests_per_second to the node's limit (a batch of n calls counts n), or use a larger plan; until then the daemon pauses as the node requests")
	}
	if !answered {
		d.unanswered(c.ID)
		return
	}
	d.fees(ctx, c, adapter)
	d.batches(ctx, c, adapter)
	for _, n := range networks {
		if n.Source == c.ID {
			d.sourceTokens(ctx, adapter, n)
		}
	}
}

// unanswered reports unreachable nodes of a chain once, in place of every further check.
func (d *Doctor) unanswered(id chain.ID) {
	d.add(false, fmt.Sprintf("chain %s", id), "no node answers: its tokens, accounts and fees were not checked", "start a node or correct its URL, and check again")
	d.resolves(atNodes(id))
}

// contractCoin reports how a node finds coin that contracts send to users, and how soon: by traces,
// by the chain's own logs, by comparing balances with the books, or not at all.
func (d *Doctor) contractCoin(c ethereum.Config, what string, r ethereum.Report) {
	period := cmp.Or(d.Config.Watcher.BalanceAudit, time.Hour)
	off, balances := c.Balances == "off", "not compared: balances is off"
	switch {
	case !off && r.Balances == 0:
		balances = "cannot be read at its final block: " + r.NoState.Error()
	case !off:
		balances = fmt.Sprintf("compared with the books every %s, %d accounts in a request", period, r.Balances)
	}
	d.add(off || r.Balances > 0, what+" balances", balances,
		"the node must keep the state of its final block, as every full node does; without it coin that traces and logs do not show is not found")
	what += " coin sent by contracts"
	const never = "enable the node's debug API (debug_traceBlockByHash), or use a node that keeps the state of final blocks and set balances: auto"
	switch {
	case r.Logs:
		d.add(true, what, "credited at once: the chain logs it (EIP-7708)", "")
	case r.Traces:
		d.add(true, what, "credited at once: the node traces it", "")
	case !off && r.Balances > 0:
		d.balanceCoin(c.ID, what, fmt.Sprintf("found by balances within %s, because the node does not trace%s; ", period, because(r.NoTraces)))
	default:
		d.add(false, what, "never credited: the node does not trace, and balances are not compared"+because(r.NoTraces), never)
	}
}

// balanceCoin reports the treatment of coin that only balances show. A signer in another process
// must prove it by its own nodes.
func (d *Doctor) balanceCoin(id chain.ID, what, found string) {
	if d.Config.Wallet.Signer == "" {
		d.add(true, what, found+"credited once a later final block confirms it", "")
		return
	}
	unprovable, approvers, err := d.signerProofs()
	if err != nil {
		d.add(false, what, found+"not credited: the signer, which must prove it, does not answer", "start the signer and check again")
		return
	}
	why := unprovable[id]
	if why == "" {
		d.add(true, what, found+"credited once the signer has proven it by a later final block", "")
		return
	}
	release := "`gatewayd approve ID --key FILE` credits held records"
	if approvers == 0 {
		release = "to credit held records, add an approver to signer.approvals of the signer's configuration (`gatewayd approver new FILE`), then `gatewayd approve ID --key FILE`"
	}
	d.add(false, what, found+"then held, because the signer cannot prove it: "+why,
		fmt.Sprintf("give the signer a node of %s that keeps the state of its final block (`ethereum.nodes` of its own configuration); %s", id, release))
}

// because is an error as the end of a sentence.
func because(err error) string {
	if err == nil {
		return ""
	}
	return " (" + chain.PlainError(err) + ")"
}

func limitsSeen(refused uint64, configured int) string {
	rate := "no limit configured"
	if configured > 0 {
		rate = fmt.Sprintf("%d calls a second configured", configured)
	}
	if refused == 0 {
		return "none met, " + rate
	}
	return fmt.Sprintf("the node refused %d requests of this check by its rate limit, %s", refused, rate)
}

// fees reports the kind of the payments' transactions, and whether one is possible under the
// ceiling now.
func (d *Doctor) fees(ctx context.Context, c ethereum.Config, adapter *ethereum.Chain) {
	what := fmt.Sprintf("chain %s fees", c.ID)
	now, err := adapter.Fees(ctx)
	if err != nil {
		d.add(false, what, err.Error(), "the nodes must answer eth_feeHistory or, on a chain without a base fee, eth_gasPrice, and must agree")
		return
	}
	kind := "base fee and tip (transactions of type 2)"
	if now.Legacy {
		kind = "gas price, no base fee (transactions of type 0)"
	}
	d.add(!now.OverCeiling, what, fmt.Sprintf("%s, %s wei per gas now", kind, now.Price),
		"above max_fee_gwei: payouts wait until it falls; raise max_fee_gwei if this is the chain's usual price")
}

// batches reports whether the contract that batches need is on the chain.
func (d *Doctor) batches(ctx context.Context, c ethereum.Config, adapter *ethereum.Chain) {
	if c.Batch.Most == 0 {
		return
	}
	what := fmt.Sprintf("chain %s batches", c.ID)
	head, err := adapter.Head(ctx)
	if err == nil {
		err = adapter.CheckPayouts(ctx, head.Final.Height)
	}
	switch {
	case errors.Is(err, ethereum.ErrNoContract) && adapter.CheckPayouts(ctx, head.Latest.Height) == nil:
		d.Warn(false, what, "the block of the batch contract is not final yet", "each payout has its own transaction until then")
	case errors.Is(err, ethereum.ErrNoContract):
		d.add(false, what, err.Error(), fmt.Sprintf("each payout has its own transaction; `gatewayd chain deploy-batch %s` deploys the contract, or remove batch", c.ID))
	case errors.Is(err, ethereum.ErrOtherContract):
		d.add(false, what, err.Error(), "each payout has its own transaction; remove batch from this chain, and report it")
	case err != nil:
		d.add(false, what, err.Error(), "each payout has its own transaction until a majority of the nodes shows the contract of a final block")
	default:
		d.add(true, what, fmt.Sprintf("up to %d payouts share a transaction, by %s", c.Batch.Most, adapter.BatchTo(chain.Native)), "")
	}
}

func (d *Doctor) drift(what string, age time.Duration) { d.within(what, age, maxDrift) }

func (d *Doctor) within(what string, age, most time.Duration) {
	d.add(age.Abs() < most, what+" clock", "latest block is "+age.Truncate(time.Second).String()+" old",
		"the node is stalled or a clock is wrong: check the node's synchronisation and this machine's time service")
}

func (d *Doctor) sourceTokens(ctx context.Context, adapter *ethereum.Chain, n records.Network) {
	for _, t := range n.Tokens {
		what := fmt.Sprintf("network %s token %s", n.Name, t.Symbol)
		if t.Asset != chain.Native {
			decimals, err := adapter.TokenDecimals(ctx, t.Asset)
			if err != nil {
				d.add(false, what+" contract", err.Error(), NodeFirst(err, "asset must be the address of an ERC-20 contract on this chain"))
				continue
			}
			d.add(decimals == t.AssetDecimals, what+" asset decimals", fmt.Sprint(decimals), fmt.Sprintf("asset_decimals is %d: correct it before the first credit", t.AssetDecimals))
		}
		if t.Policy.Fee.Kind == "network" && !t.Policy.Fee.Rate.IsZero() {
			d.Warn(false, what+" fee", "a fixed rate of "+t.Policy.Fee.Rate.String(), "fees follow the network's, but the configured price of its coin is fixed: update fee.rate when prices change")
		}
		d.equalDecimals(what, t)
		if n.Hot != "" {
			d.holds(ctx, adapter, n.Hot, t.Asset, what+" hot account", "send some to "+n.Hot+" "+fromFunder+", so that withdrawals can be paid", toHot(n, t.Asset, forPayouts(t)))
			c, err := operator.WithdrawalCapacity(ctx, adapter, n, t, d.inclusions[networkChain{n.Name, n.Source}])
			d.capacity(what+" withdrawals", c, err)
		}
	}
	if n.Hot != "" {
		for i, account := range n.Paying(n.Source) {
			d.holds(ctx, adapter, account, chain.Native, "network "+n.Name+" hot account's coin for fees"+ordinal(i), "send some coin to "+n.Hot+" "+fromFunder+": a running daemon shares it with the other accounts",
				toHot(n, chain.Native, forFees))
		}
		d.retired(ctx, adapter, n, n.RetiredHots)
		d.holds(ctx, adapter, n.Gas, chain.Native, "network "+n.Name+" gas account", "send some coin to "+n.Gas+" "+fromFunder+": it pays for sweeps of tokens from deposit addresses", toGas(n))
		d.sourceNeeds(ctx, adapter, n)
	}
}

func (d *Doctor) equalDecimals(what string, t records.Token) {
	d.Warn(t.AssetDecimals == t.Decimals, what+" equal decimals", fmt.Sprintf("%d and %d", t.AssetDecimals, t.Decimals), "mobile wallets show a wrong minimum if they differ; prefer a gateway token with the asset's decimals")
}

// fromFunder names the required sender of our own money.
const fromFunder = "from an address in `funders`"

// namesNoSender reports whether the transfers of a chain have no sender.
func (d *Doctor) namesNoSender(id chain.ID) bool {
	c, _ := d.Config.Chain(id)
	_, coins := c.Settings.(bitcoin.Config)
	return coins
}

// NodeFirst is the advice on something that could not be read: the node, where no node answers.
func NodeFirst(err error, advice string) string {
	if errors.Is(err, chain.ErrUnavailable) {
		return "no node answers: start the node or correct its URL, and check again"
	}
	return advice
}

// holds checks that an account has something of an asset, which a resolves otherwise.
func (d *Doctor) holds(ctx context.Context, c chain.Chain, account string, asset chain.Asset, what, advice string, a act) {
	have, err := c.Balance(ctx, account, asset)
	if err != nil {
		d.add(false, what, err.Error(), "the node must answer balances")
		return
	}
	if d.has == nil {
		d.has = map[holding]chain.Amount{}
	}
	d.has[holding{c.ID(), account, asset}] = have
	d.add(!have.IsZero(), what, d.Config.AssetAmount(c.ID(), asset, have), advice)
	d.resolves(a)
}

// retired reports the balances of accounts that no longer pay: a running daemon sends them to the
// paying accounts, if they are worth the fee.
func (d *Doctor) retired(ctx context.Context, c chain.Chain, n records.Network, accounts []string) {
	for _, account := range accounts {
		what, assets := "network "+n.Name+" retired account "+account, []chain.Asset{chain.Native}
		if c.ID() == n.Exchange {
			assets = nil
		}
		for _, t := range n.Tokens {
			if asset := assetOn(n, t, c.ID()); !slices.Contains(assets, asset) {
				assets = append(assets, asset)
			}
		}
		var holds []string
		for _, asset := range assets {
			have, err := c.Balance(ctx, account, asset)
			if err != nil {
				d.add(false, what, err.Error(), "the node must answer balances")
				return
			}
			if !have.IsZero() {
				holds = append(holds, n.AmountText(c.ID(), asset, have))
			}
		}
		d.add(true, what, "is watched and holds "+cmp.Or(strings.Join(holds, ", "), "nothing"), "")
	}
}

// assetOn returns a token's asset on a chain.
func assetOn(n records.Network, t records.Token, id chain.ID) chain.Asset {
	if id == n.Exchange {
		return chain.Asset(t.TokenID)
	}
	return t.Asset
}

// capacity reports how many payments settings and accounts allow.
func (d *Doctor) capacity(what string, c operator.Capacity, err error) {
	if err != nil {
		d.add(false, what, err.Error(), "the nodes must answer blocks, balances, fees and quota")
		return
	}
	d.add(true, what, c.Explained(), "")
}

func (d *Doctor) exchange(ctx context.Context, c vite.Config, adapter *vite.Chain, networks []records.Network) {
	answers := map[int]bool{} // only those that do
	for _, s := range adapter.NodeInfo(ctx) {
		what := fmt.Sprintf("chain %s node %d", c.ID, s.Number)
		if s.Err != nil {
			d.add(false, what, s.Err.Error(), "start the node or correct its URL")
			d.resolves(atNodes(c.ID))
			continue
		}
		answers[s.Number] = true
		d.drift(what, s.Age)
		d.add(s.Line == vite.LineProven, what+" line", s.Line.String(), lineAdvice(s.Line))
	}
	if len(answers) == 0 {
		d.unanswered(c.ID)
		return
	}
	d.BridgeCalls(ctx, c, adapter, answers)
	for _, n := range networks {
		if n.Exchange == c.ID {
			d.exchangeTokens(ctx, c, adapter, n)
		}
	}
}

// lineAdvice describes the loss where a node does not prove the chain.
func lineAdvice(m vite.LineMode) string {
	if m == vite.LineLists {
		return "the node refuses ledger_getChunks: incoming transfers are read from unreceived lists, which anyone can fill with free transfers until " +
			"the bridge stops, and omissions are not detected; use a node with the method, or several nodes"
	}
	return "snapshot hashes of this node are not verified (unknown rule, or proof: off): " +
		"omissions are not detected; use several nodes"
}

// minQuota is the cost of a receive and a payment with data together, rounded
// (docs/exchange-chain-wire.md 4.6).
const minQuota = 45_000

func (d *Doctor) exchangeTokens(ctx context.Context, c vite.Config, adapter *vite.Chain, n records.Network) {
	for _, t := range n.Tokens {
		what := fmt.Sprintf("network %s token %s", n.Name, t.Symbol)
		info, err := adapter.TokenInfo(ctx, chain.Asset(t.TokenID))
		if err != nil {
			d.add(false, what+" on the exchange chain", err.Error(), NodeFirst(err, "token must be the id of an issued token"))
			continue
		}
		d.add(info.Decimals == t.Decimals, what+" decimals", fmt.Sprint(info.Decimals), fmt.Sprintf("decimals is %d: correct it", t.Decimals))
		d.add(info.Symbol == t.Symbol, what+" symbol", info.Symbol, "the symbol differs from the chain's, which wallets show")
		if n.Gateway != "" {
			d.holds(ctx, adapter, n.Gateway, chain.Asset(t.TokenID), what+" at the gateway address", "issue or send some to "+n.Gateway+" "+fromFunder+", so that deposits can be paid", toGateway(n, t))
			d.needs(toGateway(n, t), t.Policy.MinDeposit, chain.Amount{}, true)
			each, err := operator.DepositCapacity(ctx, adapter, n, t, d.inclusions[networkChain{n.Name, n.Exchange}])
			d.capacity(what+" deposits", each, err)
		}
	}
	if n.Gateway == "" {
		return
	}
	d.retired(ctx, adapter, n, n.RetiredGateways)
	for i, account := range n.Paying(n.Exchange) {
		d.quota(ctx, adapter, "network "+n.Name+ordinal(i), stakeFor(n, account), c.PoW)
	}
}

// ordinal distinguishes accounts of a pool; the published one has none.
func ordinal(i int) string {
	if i == 0 {
		return ""
	}
	return fmt.Sprintf(" account %d", i+1)
}

// quota checks that an account's stake pays for its payments.
func (d *Doctor) quota(ctx context.Context, adapter *vite.Chain, what string, stake act, pow bool) {
	q, err := adapter.Quota(ctx, stake.account)
	if err != nil {
		d.add(false, what+" quota", err.Error(), "the node must answer contract_getQuotaByAccount")
		return
	}
	d.add(q.Max >= minQuota || pow, what+" quota", fmt.Sprintf("%d now, %d at most", q.Current, q.Max),
		fmt.Sprintf("stake VITE for %s (%d VITE pay for one transfer a second), or set pow: true for a slow gateway", stake.account, stakeVITE))
	d.resolves(stake)
}

// operators checks the listener for operators: whether a running daemon answers there, and which
// other machines have access.
func (d *Doctor) operators(ctx context.Context) {
	const what = "operators listener"
	c, url := d.Config.Operators.WithDefaults(), daemon.OperatorsURL(d.Config)
	if url == "" {
		return
	}
	d.Warn(config.OnThisMachine(c.Listen), what+" address", c.Listen, "it shows accounts and amounts: bind it to 127.0.0.1, or restrict it to your own machines")
	switch err := daemon.AskOperators(ctx, url); {
	case err == nil:
		d.add(true, what, "answers at "+url, "")
	case d.runs:
		d.add(false, what, err.Error(), "a daemon runs, but its operators' listener does not answer: see its log; set a free address in operators.listen and restart it")
	default:
		d.Warn(false, what, err.Error(), "start `gatewayd run`: it serves /health, /ready and /metrics immediately")
	}
}

// listener checks whether the machines that can connect to a server are served.
func (d *Doctor) listener(section string, c httpserver.Config) {
	if c.Listen == "" { // this machine, by default
		return
	}
	d.add(c.Reachable(), section+" listener", c.Listen, fmt.Sprintf("requests of other machines over plain HTTP are refused: set %[1]s.tls or acme, or list the proxy in front in %[1]s.trust_proxy", section))
}

// certificate checks the certificate that a server's clients will see.
func (d *Doctor) certificate(what, key string, t httpserver.TLS) {
	if t.Cert == "" {
		return
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		d.add(false, what, err.Error(), key+".cert and key must be a matching PEM pair")
		return
	}
	left := pair.Leaf.NotAfter.Sub(d.Now())
	d.add(left > 14*24*time.Hour, what, fmt.Sprintf("for %s, ends %s", strings.Join(pair.Leaf.DNSNames, ", "), pair.Leaf.NotAfter.Format(time.DateOnly)), "renew it")
}
