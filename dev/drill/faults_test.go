package drill

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/holiman/uint256"
	"golang.org/x/sync/errgroup"

	"gatewayd/chain"
	"gatewayd/chain/ethereum"
	"gatewayd/dev"
	"gatewayd/internal/testing/ethtest"
	"gatewayd/internal/testing/faults"
	"gatewayd/wallet"
	"gatewayd/wallet/keystore"
)

// step is one act of a drill.
type step func(w *drillEnv, ctx context.Context) error

// Nodes that a fault can be given to.
func firstSource(w *drillEnv) []*faults.Node  { return w.sources[:1] }
func allSources(w *drillEnv) []*faults.Node   { return w.sources }
func exchangeNode(w *drillEnv) []*faults.Node { return []*faults.Node{w.line} }
func allNodes(w *drillEnv) []*faults.Node     { return append(exchangeNode(w), w.sources...) }

// fail gives nodes a fault.
func fail(nodes func(*drillEnv) []*faults.Node, f faults.Fault) step {
	return func(w *drillEnv, _ context.Context) error {
		for _, n := range nodes(w) {
			n.Fail(f)
		}
		return nil
	}
}

func (w *drillEnv) healNodes(ctx context.Context) error {
	w.log.Note("the nodes are well again")
	return fail(allNodes, faults.Fault{})(w, ctx)
}

// letOneLie lets one node claim nonces 5 and final blocks 1000 too high, and delays another's
// answers. Users bridge meanwhile, so that all of these are asked.
func (w *drillEnv) letOneLie(ctx context.Context) error {
	w.sources[2].Fail(faults.Fault{Lie: func(method string, _ []any, result json.RawMessage) any {
		add := map[string]hexutil.Uint64{"eth_getTransactionCount": 5, "eth_blockNumber": 1000}[method]
		var told hexutil.Uint64
		if add == 0 || json.Unmarshal(result, &told) != nil {
			return result
		}
		return told + add
	}})
	w.sources[1].Fail(faults.Fault{Delay: time.Second})
	return w.bridge(ctx)
}

func (w *drillEnv) stopChain(context.Context) error { return w.anvil.SetPeriod(0) }

func (w *drillEnv) restartChain(context.Context) error {
	w.log.Note("the chain makes blocks again")
	return w.anvil.SetPeriod(drillPeriod)
}

// forkChain has two of three nodes show a branch of the chain until what was final is contradicted.
func (w *drillEnv) forkChain(ctx context.Context) error {
	branch, err := ethtest.Start(ctx, ethtest.Config{Kind: ethtest.Anvil, Period: drillPeriod, Fork: w.anvil.URL()})
	if err != nil {
		return err
	}
	w.onClose(branch.Close)
	begin, err := branch.Client().BlockNumber(ctx)
	if err != nil {
		return err
	}
	for _, node := range []*ethtest.Node{w.anvil, branch} { // both branches must be final, or there is no decision
		err = dev.Within(ctx, drillPatience, "blocks of both branches", func() (bool, error) {
			now, err := node.Client().BlockNumber(ctx)
			return now > begin+3*drillFinality, err
		})
		if err != nil {
			return err
		}
	}
	return w.follow(w.sources[1:], branch.URL())
}

func (w *drillEnv) follow(nodes []*faults.Node, honest string) error {
	for _, n := range nodes {
		if err := n.GoTo(honest); err != nil {
			return err
		}
	}
	return nil
}

func (w *drillEnv) unforkChain(ctx context.Context) error {
	if err := w.follow(w.sources, w.anvil.URL()); err != nil {
		return err
	}
	w.log.Note("the nodes are back on the chain that our records know")
	return w.mustCommand(ctx, "chain", "resume", "eth")
}

func (w *drillEnv) sendWithHotKey(ctx context.Context) error {
	amount := big.NewInt(1e17)
	to, err := dev.NewPayee()
	if err != nil {
		return err
	}
	hash, err := dev.SendByHand(ctx, w.anvil.Client(), w.keys, wallet.SourcePaths(ethereum.CoinType).Hot(0), to, amount)
	if err != nil {
		return err
	}
	w.addExpected("source native", new(big.Int).Neg(amount))
	w.unknownTx = hash.Hex()
	w.log.Note("0.1 ETH left by %s", hash)
	return nil
}

func (w *drillEnv) acceptUnknownTx(ctx context.Context) error {
	return w.mustCommand(ctx, "account", "resume", "eth", w.hot, "--accept", w.unknownTx, "--why", "sent by hand in a drill")
}

// sendFromFunder sends from the address that the configuration names as a funder.
func (w *drillEnv) sendFromFunder(asset, to string, amount *big.Int) error {
	target, value, call := dev.TransferOf(asset, common.HexToAddress(to), amount, nil)
	_, err := w.anvil.SendCall(target, value, call)
	return err
}

// topUp gives the hot account money and waits for the withdrawal of a user who wanted it.
func (w *drillEnv) topUp(ctx context.Context, asset string, amount *big.Int, waits *drillUser) error {
	if err := w.sendFromFunder(asset, w.hot, amount); err != nil {
		return err
	}
	w.log.Note("%s of %s topped up", amount, asset)
	w.addExpected("source "+asset, amount)
	return waits.waitForPaid(ctx, "", w.waiting)
}

// emptyTokens lets a user withdraw who never deposited, more than the hot account has.
func (w *drillEnv) emptyTokens(ctx context.Context) (err error) {
	u := w.rich[1]
	w.waiting, err = u.withdraw(ctx, chain.AmountOf(new(uint256.Int).Rsh(richIn(dev.Tokens()[1]), 1)))
	return err
}

func (w *drillEnv) topUpTokens(ctx context.Context) error {
	u := w.rich[1]
	return w.topUp(ctx, u.Token.Asset, richIn(dev.Tokens()[1]).ToBig(), u)
}

// emptyCoins leaves the hot account enough for the fee of one payout of coin, and too little for
// one of tokens.
func (w *drillEnv) emptyCoins(ctx context.Context) error {
	u := w.rich[0]
	head, err := w.anvil.Client().HeaderByNumber(ctx, nil)
	if err != nil {
		return err
	}
	have, err := u.Eth.Balance(ctx, u.Token.Asset, common.HexToAddress(w.hot))
	if err != nil {
		return err
	}
	const gas, tip = 30_000, 10_000_000 // between both kinds; wei, the least that is offered
	dearest := new(big.Int).Add(new(big.Int).Mul(head.BaseFee, big.NewInt(2)), big.NewInt(tip))
	net, _ := uint256.FromBig(have.Sub(have, dearest.Mul(dearest, big.NewInt(gas))))
	out, err := u.withdraw(ctx, chain.AmountOf(net))
	if err != nil {
		return err
	}
	if err := u.waitForPaid(ctx, "", out); err != nil {
		return err
	}
	w.waiting, err = w.users[1].withdraw(ctx, w.users[1].Times(1))
	return err
}

func (w *drillEnv) topUpCoins(ctx context.Context) error {
	return w.topUp(ctx, "native", big.NewInt(2e18), w.users[1])
}

// A storm is so many strangers who withdraw a single unit so many times each.
const (
	stormStrangers = 15
	stormSends     = 27
)

// stormDust has staked accounts withdraw one unit each many times at once; users' deposits come
// after them.
func (w *drillEnv) stormDust(ctx context.Context) error {
	keys := keystore.NewKeys(keystore.Seed(dev.Mnemonic, ""))
	var giving sync.Mutex // one user gives to all of them
	g, ctx := errgroup.WithContext(ctx)
	for i := range stormStrangers {
		g.Go(func() error {
			key, err := keys.ByIndex(dev.UserBase + uint32(len(w.users)+i))
			if err != nil {
				return err
			}
			s, err := dev.NewViteUser(ctx, w.info.Exchange, key)
			if err != nil {
				return err
			}
			defer s.Node.Close()
			giving.Lock()
			err = w.giveDust(ctx, w.users[0], s)
			giving.Unlock()
			if err != nil {
				return err
			}
			return w.sendDust(ctx, s)
		})
	}
	return g.Wait()
}

// giveDust gives a stranger what it will send.
func (w *drillEnv) giveDust(ctx context.Context, u *drillUser, s *dev.ViteUser) error {
	_, err := u.Vite.Send(ctx, s.Address(), dev.MustToken(u.Token.Token), uint256.NewInt(stormSends), nil)
	u.addCredit(big.NewInt(-stormSends))
	return err
}

// sendDust has a stranger withdraw unit after unit.
func (w *drillEnv) sendDust(ctx context.Context, s *dev.ViteUser) error {
	token := dev.MustToken(w.info.Tokens[0].Token)
	err := dev.Poll(ctx, func() (bool, error) {
		if err := s.ReceiveAll(ctx); err != nil {
			return false, err
		}
		have, err := s.Balance(ctx, token)
		return !have.IsZero(), err
	})
	for range stormSends {
		if err == nil {
			_, err = s.Send(ctx, w.home, token, uint256.NewInt(1), nil)
		}
	}
	return err
}

// strayAmount is the amount of each stray deposit in minimums.
const strayAmount = 5

// misdirectDeposits sends a token once to the shared address without a label, and once to the
// user's own address, which is for coin.
func (w *drillEnv) misdirectDeposits(ctx context.Context) error {
	u := w.users[2]
	own, err := u.depositInfo(ctx, w.info.Tokens[0].Token)
	if err != nil {
		return err
	}
	for _, to := range []string{u.place.DepositAddress, own.DepositAddress} {
		hash, err := u.depositTo(ctx, to, strayAmount, nil)
		if err != nil {
			return err
		}
		w.log.Note("%d %s without a label to %s: %s", strayAmount, u.Token.Symbol, to, hash)
		w.strays = append(w.strays, hash)
	}
	return nil
}

// creditMisdirected credits both to the user who sent them.
func (w *drillEnv) creditMisdirected(ctx context.Context) error {
	u := w.users[2]
	rows, err := w.needingOperator(ctx)
	if err != nil {
		return err
	}
	for _, hash := range w.strays {
		i := slices.IndexFunc(rows, func(r heldRecord) bool { return r.InTx == hash })
		if i < 0 {
			return fmt.Errorf("records list --needs-operator does not name %s", hash)
		}
		if err := w.mustCommand(ctx, "records", "credit", strconv.FormatUint(rows[i].ID, 10), "--wallet", u.Vite.Address().String(), "--why", "its sender asked for it"); err != nil {
			return err
		}
		u.addCredit(u.Times(strayAmount).Uint256().ToBig())
	}
	return nil
}
