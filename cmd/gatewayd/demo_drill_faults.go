package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/holiman/uint256"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/ethereum/devnode/external"
	"gatewayd/chain/vite/core"
	"gatewayd/operator/status"
	"gatewayd/wallet"
	"gatewayd/wallet/entropy"
)

// drills are all that is drilled, in their order.
func drills() []drill {
	return slices.Concat(nodeDrills(), chainDrills(), moneyDrills(), storeDrills())
}

// nothingMoves is what every surface says while no money moves, and why.
func nothingMoves(kind status.Kind, why string) map[surface][]string {
	return map[surface][]string{
		onHealth: {"503 ", string(kind)}, onMeta: {`"depositState":"MAINTAIN"`, `"withdrawState":"MAINTAIN"`}, onDeposit: {`"code":0`, "noticeMsg"},
		onWithdrawal: {`"code":2`}, onChannels: {"MAINTAIN", why}, onDoctor: {"rc 1", "FIX  status " + string(kind), why}, onLog: {string(kind)},
	}
}

// noWithdrawals is the same while deposits are credited.
func noWithdrawals(kind status.Kind, why string) map[surface][]string {
	s := nothingMoves(kind, why)
	delete(s, onLog)
	s[onMeta], s[onDeposit] = []string{`"depositState":"OPEN"`, `"withdrawState":"MAINTAIN"`}, []string{`"code":0`, "!noticeMsg"}
	return s
}

func nodeDrills() []drill {
	return []drill{
		{
			name: "dead-node", title: "One of three source nodes is dead", cause: killOneNode, mend: healNodes,
			shows: map[surface][]string{onHealth: {"200 "}, onChannels: {"!MAINTAIN"}, onDoctor: {string(status.NodeFaulty), "does not answer"}},
		},
		{
			name: "liar", title: "One of three source nodes lies about nonces and the head while another is slow", cause: letOneLie, mend: healNodes,
			shows: map[surface][]string{onHealth: {"200 "}, onChannels: {"!MAINTAIN"}, onAccounts: {"!recovering", "!halted"}, onDoctor: {string(status.NodeFaulty), "wrong answers"}},
		},
		{name: "dead-nodes", title: "No source node answers", cause: killNodes, mend: healNodes, shows: nothingMoves(status.NodesDown, "nodes of chain eth")},
		{name: "hanging-nodes", title: "All source nodes take requests and never answer", cause: hangNodes, mend: healNodes, shows: nothingMoves(status.NodesDown, "nodes of chain eth")},
		{name: "dead-exchange-node", title: "The node of the exchange chain is dead", cause: killExchangeNode, mend: healNodes, shows: nothingMoves(status.NodesDown, "nodes of chain vite")},
	}
}

func chainDrills() []drill {
	halted := nothingMoves(status.ChainHalted, "chain eth is halted")
	halted[onLog] = []string{"level=error", "halted"}
	return []drill{
		{name: "still-chain", title: "The source chain makes no more blocks", cause: stopChain, mend: restartChain, shows: nothingMoves(status.NodesStale, "is the newest for")},
		{name: "deep-reorg", title: "A majority of source nodes goes over to a branch that contradicts final blocks", cause: forkChain, mend: unforkChain, shows: halted},
	}
}

func moneyDrills() []drill {
	foreign := noWithdrawals(status.AccountStopped, "was not signed by this daemon")
	foreign[onAccounts], foreign[onRecords], foreign[onLog] = []string{"halted"}, []string{"halted"}, []string{"account halted"}
	return []drill{
		{name: "halted-account", title: "Somebody else sends with the hot key", cause: sendWithHotKey, mend: acceptForeign, shows: foreign},
		{name: "token-shortage", title: "The hot account has fewer tokens than users withdraw", cause: drainTokens, mend: topUpTokens, token: 1, shows: noWithdrawals(status.ChannelStopped, "top it up")},
		{name: "gas-shortage", title: "The hot account cannot pay for gas", cause: drainCoins, mend: topUpCoins, token: 1, shows: noWithdrawals(status.NoCoin, "too little coin for the fees")},
		{name: "dust-storm", title: "Strangers withdraw one unit hundreds of times", cause: stormDust, shows: map[surface][]string{onHealth: {"200 "}, onChannels: {"!MAINTAIN"}}},
		{
			name: "stray-deposits", title: "Deposits without a label, and a token sent to the wrong kind of address", cause: strayDeposits, mend: creditStrays,
			shows: map[surface][]string{onRecords: {"unknown_label", "wrong_type"}, onHealth: {"200 "}},
		},
	}
}

func storeDrills() []drill {
	return []drill{
		{
			name: "postgres-away", title: "PostgreSQL is away for longer than a lease", skips: withoutPostgres, cause: cutDatabase, mend: joinDatabase,
			shows: map[surface][]string{onHealth: {"503 ", string(status.StoreDown)}, onMeta: {`"depositState":"MAINTAIN"`, `"withdrawState":"MAINTAIN"`},
				onChannels: {"rc 1", "PostgreSQL does not answer"}, onDoctor: {"rc 1"}, onLog: {"renewing the lease"}},
		},
		{
			name: "disk-full", title: "The daemon's disk is full", skips: withoutDisk, cause: fillDisk, mend: freeDisk,
			shows: map[surface][]string{onHealth: {"503 "}, onLog: {"database or disk is full"}},
		},
	}
}

func (w *drillWorld) failAll(f *nodeFault) {
	for _, g := range w.sources {
		g.fail(f)
	}
}

func killOneNode(_ context.Context, d *drillRun) error { d.sources[0].fail(&nodeFault{}); return nil }
func killNodes(_ context.Context, d *drillRun) error   { d.failAll(&nodeFault{}); return nil }
func hangNodes(_ context.Context, d *drillRun) error {
	d.failAll(&nodeFault{hang: true})
	return nil
}
func killExchangeNode(_ context.Context, d *drillRun) error { d.line.fail(&nodeFault{}); return nil }

func healNodes(_ context.Context, d *drillRun) error {
	d.failAll(nil)
	d.line.fail(nil)
	d.log.note("the nodes are well again")
	return nil
}

// letOneLie has one node claim nonces 5 and final blocks 1000 too high, and another be 2 seconds late with all it says.
// Users bridge meanwhile, so that all of it is asked.
func letOneLie(ctx context.Context, d *drillRun) error {
	d.sources[2].fail(&nodeFault{lie: func(method string, result json.RawMessage) (json.RawMessage, bool) {
		var add uint64
		switch method {
		case "eth_getTransactionCount":
			add = 5
		case "eth_blockNumber":
			add = 1000
		default:
			return nil, false
		}
		var told hexutil.Uint64
		if json.Unmarshal(result, &told) != nil {
			return nil, false
		}
		return json.RawMessage(strconv.Quote(hexutil.EncodeUint64(uint64(told) + add))), true
	}})
	d.sources[1].fail(&nodeFault{lie: func(string, json.RawMessage) (json.RawMessage, bool) {
		time.Sleep(2 * time.Second)
		return nil, false
	}})
	return d.bridge(ctx)
}

func stopChain(_ context.Context, d *drillRun) error { return d.anvil.SetPeriod(0) }
func restartChain(_ context.Context, d *drillRun) error {
	d.log.note("the chain makes blocks again")
	return d.anvil.SetPeriod(drillPeriod)
}

// forkChain has two of three nodes show a branch of the chain until what was final is contradicted.
func forkChain(ctx context.Context, d *drillRun) error {
	branch, err := external.Start(ctx, external.Config{Kind: external.Anvil, Period: drillPeriod, Fork: d.anvil.URL()})
	if err != nil {
		return err
	}
	d.closers = append(d.closers, branch.Close)
	begin, err := branch.Client().BlockNumber(ctx)
	if err != nil {
		return err
	}
	for _, node := range []*external.Node{d.anvil, branch} { // both ways must be final, or nobody decides
		err = within(ctx, drillPatience, "blocks of both branches", func() (bool, error) {
			now, err := node.Client().BlockNumber(ctx)
			return now > begin+3*drillFinality, err
		})
		if err != nil {
			return err
		}
	}
	for _, g := range d.sources[1:] {
		g.goTo(branch.URL())
	}
	return nil
}

func unforkChain(ctx context.Context, d *drillRun) error {
	for _, g := range d.sources {
		g.goTo(d.anvil.URL())
	}
	d.log.note("the nodes are back on the chain that our records know")
	return d.orders(ctx, "chain", "resume", "eth")
}

// sendByHand signs with the hot account's key and sends, as a thief or a colleague would.
func (d *drillRun) sendByHand(ctx context.Context, to common.Address, amount *big.Int) (common.Hash, error) {
	keys, err := wallet.FromMnemonic(devMnemonic)
	if err != nil {
		return common.Hash{}, err
	}
	node := d.anvil.Client()
	nonce, err := node.NonceAt(ctx, common.HexToAddress(d.hot), nil)
	if err != nil {
		return common.Hash{}, err
	}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(d.anvil.ChainID()))
	tx := types.NewTx(&types.DynamicFeeTx{
		ChainID: signer.ChainID(), Nonce: nonce, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(1e11), Gas: 21_000, To: &to, Value: amount,
	})
	signature, err := keys.SignDigest(ctx, wallet.HotPath, signer.Hash(tx).Bytes())
	if err != nil {
		return common.Hash{}, err
	}
	if tx, err = tx.WithSignature(signer, signature); err != nil {
		return common.Hash{}, err
	}
	return tx.Hash(), node.SendTransaction(ctx, tx)
}

func sendWithHotKey(ctx context.Context, d *drillRun) error {
	amount := big.NewInt(1e17)
	hash, err := d.sendByHand(ctx, common.HexToAddress("0x00000000000000000000000000000000000000aa"), amount)
	if err != nil {
		return err
	}
	d.books.moves("source native", new(big.Int).Neg(amount))
	d.foreign = hash.Hex()
	d.log.note("0.1 ETH left by %s", hash)
	return nil
}

func acceptForeign(ctx context.Context, d *drillRun) error {
	return d.orders(ctx, "account", "resume", "eth", d.hot, "--accept", d.foreign, "--why", "sent by hand in a drill")
}

// faucet sends from the address that the configuration names as a funder.
func (d *drillRun) faucet(ctx context.Context, asset, to string, amount *big.Int) error {
	target, value, call := transferOf(asset, common.HexToAddress(to), amount, nil)
	_, err := d.anvil.SendCall(target, value, call)
	if err == nil {
		d.log.note("%s of %s topped up", amount, asset)
	}
	return err
}

// drain has a user deposit and then withdraw what the hot account has, but for a rest.
func (d *drillRun) drain(ctx context.Context, u *drillUser, rest *big.Int) error {
	have, err := u.eth.balance(ctx, u.token.Asset, common.HexToAddress(d.hot))
	if err != nil {
		return err
	}
	net, _ := uint256.FromBig(have.Sub(have, rest))
	n := new(uint256.Int).Div(net, u.times(1).Uint256()).Uint64() + 1 + drillFee
	if err := d.anvilGives(ctx, u, n+100); err != nil { // and something for the fee
		return err
	}
	in, err := u.pays(ctx, n)
	if err != nil {
		return err
	}
	if err := u.paid(ctx, in, ""); err != nil {
		return err
	}
	if err := u.collect(ctx, u.times(n)); err != nil {
		return err
	}
	out, err := u.asksFor(ctx, d.drillWorld, chain.AmountOf(net))
	if err != nil {
		return err
	}
	return u.paid(ctx, "", out)
}

// anvilGives gives a user so many minimums of its token, and waits until they are there.
func (d *drillRun) anvilGives(ctx context.Context, u *drillUser, n uint64) error {
	before, err := u.eth.balance(ctx, u.token.Asset, u.eth.address())
	if err != nil {
		return err
	}
	if err := d.faucet(ctx, u.token.Asset, u.eth.address().Hex(), u.times(n).Uint256().ToBig()); err != nil {
		return err
	}
	return within(ctx, drillPatience, "what the faucet gave", func() (bool, error) {
		now, err := u.eth.balance(ctx, u.token.Asset, u.eth.address())
		return err == nil && now.Cmp(before) > 0, err
	})
}

// drainTokens has somebody withdraw who never deposited more than the gateway has.
func drainTokens(ctx context.Context, d *drillRun) (err error) {
	u, err := newDrillUser(ctx, d.drillWorld, d.books, d.info.Tokens[drillHolderToken], drillHolder)
	if err != nil {
		return err
	}
	u.balance = u.times(drillHolds).Uint256().ToBig()
	d.users = append(d.users, u)
	d.waiting, err = u.asks(ctx, d.drillWorld, drillHolds/2)
	return err
}

func topUpTokens(ctx context.Context, d *drillRun) error {
	u := d.users[len(d.users)-1]
	return d.topUp(ctx, u, u.times(drillHolds).Uint256().ToBig(), u)
}

// topUp sends the hot account money from a funder and waits for the withdrawal that wanted it.
func (d *drillRun) topUp(ctx context.Context, u *drillUser, amount *big.Int, waits *drillUser) error {
	if err := d.faucet(ctx, u.token.Asset, d.hot, amount); err != nil {
		return err
	}
	d.books.moves("source "+u.token.Asset, amount)
	return waits.paid(ctx, "", d.waiting)
}

// drainCoins leaves the hot account enough for the fee of one payout of coin, and too little for one of tokens.
func drainCoins(ctx context.Context, d *drillRun) error {
	head, err := d.anvil.Client().HeaderByNumber(ctx, nil)
	if err != nil {
		return err
	}
	const gas, tip = 30_000, 10_000_000 // between both kinds; wei, the least that is offered
	dearest := new(big.Int).Add(new(big.Int).Mul(head.BaseFee, big.NewInt(2)), big.NewInt(tip))
	if err := d.drain(ctx, d.users[0], dearest.Mul(dearest, big.NewInt(gas))); err != nil {
		return err
	}
	d.waiting, err = d.users[1].asks(ctx, d.drillWorld, 1)
	return err
}

func topUpCoins(ctx context.Context, d *drillRun) error {
	return d.topUp(ctx, d.users[0], big.NewInt(2e18), d.users[1])
}

// stormSize is how often strangers withdraw a single unit.
const stormSize = 400

// stormDust has staked accounts withdraw one unit each many times at once; a user's deposit comes after them.
func stormDust(ctx context.Context, d *drillRun) error {
	u := d.users[0]
	token, err := core.ParseTokenID(u.token.Token)
	if err != nil {
		return err
	}
	keys := entropy.NewKeys(entropy.Seed(devMnemonic, ""))
	const strangers = devUsers - 3
	g, ctx := errgroup.WithContext(ctx)
	for i := range uint32(strangers) {
		g.Go(func() error {
			key, err := keys.ByIndex(devUserBase + 3 + i)
			if err != nil {
				return err
			}
			s, err := newViteUser(ctx, d.info.Exchange, key)
			if err != nil {
				return err
			}
			defer s.node.Close()
			return d.sendDust(ctx, u, s, token, stormSize/strangers)
		})
	}
	return g.Wait()
}

// sendDust gives a stranger n units and has each of them sent back.
func (d *drillRun) sendDust(ctx context.Context, from *drillUser, s *viteUser, token core.TokenID, n uint64) error {
	d.dust.Lock()
	_, err := from.vite.send(ctx, s.address(), token, uint256.NewInt(n), nil)
	from.balance.Sub(from.balance, new(big.Int).SetUint64(n))
	d.books.moves("exchange "+from.token.Token, new(big.Int).SetUint64(n))
	d.dust.Unlock()
	if err != nil {
		return err
	}
	err = poll(ctx, func() (bool, error) {
		if err := s.receiveAll(ctx); err != nil {
			return false, err
		}
		have, err := s.balance(ctx, token)
		return !have.IsZero(), err
	})
	for range n {
		if err == nil {
			_, err = s.send(ctx, d.home, token, uint256.NewInt(1), nil)
		}
	}
	return err
}

// strayDeposits are one deposit without a label to the shared address, and one of that token to the user's own address, which is for coin.
func strayDeposits(ctx context.Context, d *drillRun) error {
	labelled := d.users[2]
	var own depositInfo
	query := map[string]string{"tokenId": d.info.Tokens[0].Token, "walletAddress": labelled.vite.address().String()}
	if err := labelled.gateway.get(ctx, "/deposit-info", query, &own); err != nil {
		return err
	}
	if err := d.books.took(ctx, d.drillWorld, common.HexToAddress(own.DepositAddress)); err != nil {
		return err
	}
	if err := d.anvilGives(ctx, labelled, 20); err != nil {
		return err
	}
	amount := labelled.times(5).Uint256().ToBig()
	for _, to := range []string{labelled.place.DepositAddress, own.DepositAddress} {
		hash, err := labelled.eth.pay(ctx, labelled.token.Asset, common.HexToAddress(to), amount, nil)
		if err != nil {
			return err
		}
		d.books.moves("source "+labelled.token.Asset, amount)
		d.log.note("%s %s without a label to %s: %s", amount, labelled.token.Symbol, to, hash)
		d.strays = append(d.strays, hash.Hex())
	}
	return nil
}

// creditStrays credits both to the user whose they are.
func creditStrays(ctx context.Context, d *drillRun) error {
	u := d.users[2]
	rows, err := d.needing(ctx)
	if err != nil {
		return err
	}
	for _, hash := range d.strays {
		i := slices.IndexFunc(rows, func(r recordRow) bool { return r.InTx == hash })
		if i < 0 {
			return fmt.Errorf("records list --needs-operator does not name %s", hash)
		}
		if err := d.orders(ctx, "records", "credit", strconv.FormatUint(rows[i].ID, 10), "--wallet", u.vite.address().String(), "--why", "its sender asked for it"); err != nil {
			return err
		}
		amount := u.times(5).Uint256().ToBig()
		u.balance.Add(u.balance, amount)
		d.books.moves("exchange "+u.token.Token, new(big.Int).Neg(amount))
	}
	return nil
}
