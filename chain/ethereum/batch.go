package ethereum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// Batches of payments: several payouts of an asset in one transaction, by the contract Payouts.

// Batch configures batches of a chain. Its zero value switches them off.
type Batch struct {
	// Most is the number of payouts in a transaction, 2 to 100; 0 (default): each has its own.
	Most int `yaml:"most"`
	// Wait is the time for which the first payout may wait for others; default 10 s.
	Wait time.Duration `yaml:"wait"`
	// Coin lets payouts of the chain's coin share transactions too. Many receivers do not notice
	// coin that contracts send.
	Coin bool `yaml:"coin"`
	// Saving goes to "users" (default), whose network fee is that of a payout in a batch, or to the
	// "gateway".
	Saving string `yaml:"saving"`
}

const (
	defaultBatchWait = 10 * time.Second
	maxBatchWait     = 10 * time.Minute

	savingUsers, savingGateway = "users", "gateway"
)

func (b Batch) check() error {
	switch {
	case b.Most != 0 && (b.Most < 2 || b.Most > maxMembers):
		return fmt.Errorf("batch.most: must be from 2 to %d, or 0 for none", maxMembers)
	case b.Most == 0 && b.Coin:
		return errors.New("batch.coin: needs batch.most")
	case b.Saving != "" && b.Saving != savingUsers && b.Saving != savingGateway:
		return fmt.Errorf("batch.saving: must be %s or %s", savingUsers, savingGateway)
	case b.Wait < 0 || b.Wait > maxBatchWait:
		return fmt.Errorf("batch.wait: must be from 0 to %s", maxBatchWait)
	}
	return nil
}

// Errors of CheckPayouts.
var (
	ErrNoContract    = errors.New("the batch contract is not on the chain")
	ErrOtherContract = errors.New("other code is at the address of the batch contract")
)

// recheck is the time between two looks at the contract until it is verified.
const recheck = 10 * time.Second

// contractCode remembers whether the batch contract was verified. Its code cannot change or go
// away, so that a majority's answer about a final block is permanent.
type contractCode struct {
	mu       sync.Mutex
	verified bool
	next     time.Time // of the next look; until then the last result stays
	why      string    // what the last look was logged with
}

// CheckPayouts compares the code at the address of the batch contract after a block with the pinned
// code, by a majority of the nodes. ErrNoContract, ErrOtherContract; ErrUnavailable: no majority.
func (c *Chain) CheckPayouts(ctx context.Context, height uint64) error {
	c = c.current()
	hash, err := c.codeHash(ctx, c.payouts, height)
	switch {
	case err != nil:
		return fmt.Errorf("reading the batch contract: %w", err)
	case hash == crypto.Keccak256Hash(nil):
		return fmt.Errorf("%w: %s has no code at block %d", ErrNoContract, c.payouts, height)
	case hash != common.HexToHash(payoutsHash):
		return fmt.Errorf("%w: %s has code of hash %s", ErrOtherContract, c.payouts, hash)
	}
	return nil
}

// verifyPayouts looks at the batch contract of a configured chain until it is verified.
func (c *Chain) verifyPayouts(ctx context.Context, final uint64) {
	if c.config.Batch.Most == 0 || !c.code.due(time.Now()) {
		return
	}
	err := c.CheckPayouts(ctx, final)
	if ctx.Err() != nil {
		return
	}
	changed := c.code.note(err)
	if log := c.config.Log; log != nil && changed {
		if err != nil {
			log.WithError(err).Warn("payouts share no transaction: the batch contract is not verified; see gatewayd chain deploy-batch")
		} else {
			log.WithField("contract", c.payouts).Info("the batch contract is verified: payouts may share transactions")
		}
	}
}

// needsPayouts returns an error unless the batch contract is verified. Coin that is sent to its
// address before the contract is there would be lost.
func (c *Chain) needsPayouts(ctx context.Context) error {
	if c.code.isVerified() {
		return nil
	}
	head, err := c.Head(ctx)
	if err == nil {
		err = c.CheckPayouts(ctx, head.Final.Height)
	}
	if errors.Is(err, ErrNoContract) || errors.Is(err, ErrOtherContract) {
		return fmt.Errorf("%w: %w", chain.ErrNotNow, err)
	}
	if err == nil {
		c.code.note(nil)
	}
	return err
}

// due reports whether the contract is to be looked at now, and counts that as done.
func (s *contractCode) due(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.verified || now.Before(s.next) {
		return false
	}
	s.next = now.Add(recheck)
	return true
}

// note stores a result, and reports whether it is another than the last.
func (s *contractCode) note(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	why := "verified"
	if err != nil {
		why = "missing"
		if !errors.Is(err, ErrNoContract) {
			why = err.Error()
		}
	}
	changed := s.why != why
	s.verified, s.why = err == nil, why
	return changed
}

func (s *contractCode) isVerified() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.verified
}

// MaxBatch returns how many payments of an asset one transaction may make now; 0 for each alone: it
// is not configured, the contract is not verified yet, or a transfer of the token takes more gas
// than a batch gives it.
func (c *Chain) MaxBatch(asset chain.Asset) int {
	c = c.current()
	most := c.config.Batch.Most
	switch {
	case most == 0 || !c.code.isVerified():
		return 0
	case asset == chain.Native && c.config.Batch.Coin:
		return most
	case asset == chain.Native:
		return 0
	}
	if _, err := c.token(asset); err != nil || c.usualGas(asset) > minGas+wideBatchGas {
		return 0
	}
	return most
}

// BatchWait returns for how long a payout may wait for others.
func (c *Chain) BatchWait() time.Duration {
	return cmp.Or(c.current().config.Batch.Wait, defaultBatchWait)
}

// BatchTo returns the address of the batch contract.
func (c *Chain) BatchTo(chain.Asset) string { return c.payouts.Hex() }

// Separate reports which payments need a transaction of their own: those with labels or amounts for
// which a batch has no room, and coin to payees that are contracts, ours, or new. To a new account
// (without coin) a plain transfer takes less gas. A payee is plain only if a majority of the nodes
// says so. ErrUnavailable: no majority answers.
func (c *Chain) Separate(ctx context.Context, pays []chain.Payment) ([]bool, error) {
	c = c.current()
	alone, asked := make([]bool, len(pays)), make(map[common.Address][]int)
	for i, pay := range pays {
		p, err := c.batchMember(pay.Asset, pay)
		if alone[i] = err != nil; err == nil && pay.Asset == chain.Native {
			asked[p.to] = append(asked[p.to], i)
		}
	}
	if len(asked) == 0 {
		return alone, nil
	}
	payees := make([]common.Address, 0, len(asked))
	candidates := make(map[common.Address]bool, len(asked))
	for to := range asked {
		payees, candidates[to] = append(payees, to), true
	}
	ours := map[common.Address]bool{}
	if c.addresses != nil {
		var err error
		if ours, err = c.oursOf(ctx, candidates); err != nil {
			return nil, fmt.Errorf("asking which payees are ours: %w", err)
		}
	}
	plain, err := c.plain(ctx, payees)
	if err != nil {
		return nil, fmt.Errorf("reading the payees of a batch: %w", err)
	}
	for k, to := range payees {
		for _, i := range asked[to] {
			alone[i] = !plain[k] || ours[to]
		}
	}
	return alone, nil
}

// plain reports which addresses have coin and no code, by a majority of the nodes.
func (c *Chain) plain(ctx context.Context, addresses []common.Address) ([]bool, error) {
	question := func(ctx context.Context, n *node) ([]bool, error) { return n.plain(ctx, addresses) }
	same := quorum.Same[*node](c.majority(), func(list []bool) string { return fmt.Sprint(list) })
	good, faults := quorum.Good(quorum.Ask(ctx, c.nodes, question, same))
	if len(good) < c.majority() {
		return nil, unavailable(faults)
	}
	all := make([]bool, len(addresses))
	for i := range all {
		votes := 0
		for _, a := range good {
			if a.Value[i] {
				votes++
			}
		}
		all[i] = votes >= c.majority()
	}
	return all, nil
}

// plain asks one node. Code that an account delegates to counts (EIP-7702): it runs.
func (n *node) plain(ctx context.Context, addresses []common.Address) ([]bool, error) {
	codes, coins := make([]*hexutil.Bytes, len(addresses)), make([]*hexutil.Big, len(addresses))
	elems := make([]rpc.BatchElem, 0, 2*len(addresses))
	for i, a := range addresses {
		elems = append(elems,
			rpc.BatchElem{Method: "eth_getCode", Args: []any{a, "latest"}, Result: &codes[i]},
			rpc.BatchElem{Method: "eth_getBalance", Args: []any{a, "latest"}, Result: &coins[i]})
	}
	if err := n.batch(ctx, elems); err != nil {
		return nil, err
	}
	for _, e := range elems {
		if e.Error != nil {
			return nil, e.Error
		}
	}
	all := make([]bool, len(addresses))
	for i := range all {
		if codes[i] == nil || coins[i] == nil {
			return nil, fmt.Errorf("%s: no code or balance of %s", n.name, addresses[i])
		}
		all[i] = len(*codes[i]) == 0 && coins[i].ToInt().Sign() > 0
	}
	return all, nil
}

// Allowed reports whether the batch contract may move an amount of a token of an account, in the
// nodes' latest blocks. Coin needs no allowance.
func (c *Chain) Allowed(ctx context.Context, account string, asset chain.Asset, amount chain.Amount) (bool, error) {
	c = c.current()
	if asset == chain.Native {
		return true, nil
	}
	allowed, err := c.allowance(ctx, "latest", account, asset)
	if err != nil {
		return false, err
	}
	return !allowed.Lt(amount.Uint256()), nil
}

// allowance returns how much of a token of an account the batch contract may move, by a majority of
// the nodes.
func (c *Chain) allowance(ctx context.Context, at, account string, asset chain.Asset) (*uint256.Int, error) {
	owner, err := parseAddress(account)
	if err != nil {
		return nil, fmt.Errorf("allowance of %q: %w", account, err)
	}
	token, err := c.token(asset)
	if err != nil {
		return nil, err
	}
	question := func(ctx context.Context, n *node) (*uint256.Int, error) {
		return tokenWord(ctx, n, at, token, allowanceCall(owner, c.payouts))
	}
	if err = c.checkCommonBlock(ctx); err != nil {
		return nil, fmt.Errorf("reading the allowance of %s: %w", account, err)
	}
	allowed, err := c.middle(ctx, question)
	if err != nil {
		return nil, fmt.Errorf("reading the allowance of %s: %w", account, err)
	}
	return allowed, nil
}

// errPassedOver is a batch that would pass a payee over.
var errPassedOver = errors.New("a payee of the batch would not be paid")

// tryBatch lets one node estimate a batch, and try whether it pays all its payees. errPassedOver:
// it does not.
func (n *node) tryBatch(ctx context.Context, msg message, most uint64) (gas hexutil.Uint64, err error) {
	var paid hexutil.Bytes
	args := estimateArgs(msg, most)
	elems := []rpc.BatchElem{
		{Method: "eth_estimateGas", Args: args, Result: &gas},
		{Method: "eth_call", Args: args, Result: &paid},
	}
	if err := n.batch(ctx, elems); err != nil {
		return 0, err
	}
	for _, e := range elems {
		if e.Error != nil {
			return 0, e.Error
		}
	}
	if len(paid) != wordSize {
		return 0, fmt.Errorf("%s: the batch contract answers %d bytes, not %d", n.name, len(paid), wordSize)
	}
	word := new(uint256.Int).SetBytes(paid)
	for i := range msg.batch.pays {
		if !bit(word, i) {
			return 0, errPassedOver
		}
	}
	return gas, nil
}

// fit estimates a message that has no attempt yet. A batch of a token that does not pay all its
// payees with the usual gas gets more for each, also if it does not pay them all with that.
func (c *Chain) fit(ctx context.Context, msg message) (message, uint64, error) {
	need, err := c.estimate(ctx, msg)
	if msg.batch == nil || !errors.Is(err, chain.ErrRefused) {
		return msg, need, err
	}
	wide := msg.withGas(wideBatchGas)
	if wide.batch.gas == msg.batch.gas {
		return msg, 0, err
	}
	need, err = c.estimate(ctx, wide)
	return wide, need, err
}

// limit is the gas limit of a batch that the nodes estimate at need, with least for its size. With
// it no payee can use up what others need.
func (b batchCall) limit(need, least uint64) uint64 {
	count := uint64(len(b.pays))
	if b.token == nil {
		return need + count*(b.gas+latePayeeGas)
	}
	return max(withMargin(need), least+count*(b.gas+b.gas/63+tokenPayeeGas)+batchRest)
}

// The gas of batches as measured (docs/adr/029).
const (
	// usualBatch is the size of the batch by which users are charged.
	usualBatch = 10
	// coinBatchBase is for the batch, coinPayeeGas for each payee of coin before the first was
	// observed.
	coinBatchBase, coinPayeeGas = 25_000, 10_000
	// tokenBatchBase is for the batch; each transfer in it takes tokenBatchSaves less than one
	// alone.
	tokenBatchBase, tokenBatchSaves = 34_000, 24_000
)

// batchedCoin is the name of a payee's part of a batch of coin among the observed uses of gas.
const batchedCoin chain.Asset = "native in a batch"

// sharedGas is the expected gas of a payment of an asset in a batch of n.
func (c *Chain) sharedGas(asset chain.Asset, n uint64) uint64 {
	if asset == chain.Native {
		return c.usualGas(batchedCoin) + coinBatchBase/n
	}
	return max(c.usualGas(asset), tokenBatchSaves) - tokenBatchSaves + tokenBatchBase/n
}

// use returns the gas that a batch shows for a payment: the part of a payee of coin, or the gas of
// a single payment of its token.
func (b batchCall) use(gas uint64) (chain.Asset, uint64) {
	count := uint64(len(b.pays))
	if b.token == nil {
		return batchedCoin, (max(gas, coinBatchBase) - coinBatchBase) / count
	}
	return assetOf(*b.token), (max(gas, tokenBatchBase)-tokenBatchBase)/count + tokenBatchSaves
}
