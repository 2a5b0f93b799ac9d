package exchangeapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/exchangeapi/apikey"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// ledger is the exchange chain as blocks are put on it.
type ledger interface {
	LatestAccountBlock(ctx context.Context, a core.Address) (*client.AccountBlock, error)
	AccountBlockByHash(ctx context.Context, h core.Hash) (*client.AccountBlock, error)
	UnreceivedBlocks(ctx context.Context, a core.Address, page, size int) ([]client.AccountBlock, error)
	SendRawTransaction(ctx context.Context, b *core.AccountBlock) error
}

// agents are the delegation addresses: one for each account, derived from the daemon's wallet, so
// that none is ever lost.
type agents interface {
	// Agent is the delegation address of an account.
	Agent(ctx context.Context, owner core.Address) (core.Address, error)
	// SignAgent signs a block with the key of the account's delegation address: an order, a
	// cancellation or a receive.
	SignAgent(ctx context.Context, owner core.Address, b *core.AccountBlock) (public, signature []byte, err error)
}

// heads lets one process at a time extend the chain of a delegation address.
type heads interface {
	LockHead(ctx context.Context, network string, agent core.Address) (*apikey.HeadLock, error)
}

// sender puts calls of dexFund on the chains of delegation addresses, one request at a time for
// each, and one call at a time of all processes.
type sender struct {
	network string
	ledger  ledger
	agents  agents
	heads   heads
	log     *logrus.Entry

	mu       sync.Mutex
	accounts map[core.Address]*accountSender // as many as addresses with keys
}

func newSender(n Network, h heads, log *logrus.Entry) *sender {
	return &sender{network: n.Name, ledger: n.Node, agents: n.Agents, heads: h, log: log, accounts: map[core.Address]*accountSender{}}
}

// run hands f the key's delegation address. No other request of this process has it meanwhile.
func (s *sender) run(ctx context.Context, key apikey.Key, f func(*accountSender) error) error {
	a := s.forKey(key)
	select {
	case a.busy <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the requests before: %w", ctx.Err())
	}
	defer func() { <-a.busy }()
	err := f(a)
	if err != nil {
		a.height = 0 // whatever it was, the node is asked again
	}
	return err
}

func (s *sender) forKey(key apikey.Key) *accountSender {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.accounts[key.Agent]
	if !ok {
		a = &accountSender{sender: s, owner: key.Owner, agent: key.Agent, busy: make(chan struct{}, 1)}
		s.accounts[key.Agent] = a
	}
	return a
}

// accountSender is a delegation address with its head. The head is cached only from one accepted
// block to the next, while no other process extends the chain. If another program uses the same
// wallet, or the node loses blocks, the node refuses a block that does not link to its head.
type accountSender struct {
	*sender
	owner, agent core.Address
	busy         chan struct{} // capacity 1: who has put something in makes the address's next blocks
	height       uint64        // 0: not known, or no block yet
	prev         core.Hash
	lock         *apikey.HeadLock // while a call is made
}

// ensureHead reads the head and makes the address's first block if there is none.
func (a *accountSender) ensureHead(ctx context.Context) error {
	if a.height > 0 && a.lock.Follows(a.prev) {
		return nil
	}
	if err := a.readHead(ctx); err != nil || a.height > 0 {
		return err
	}
	return a.receiveFirst(ctx)
}

func (a *accountSender) readHead(ctx context.Context) error {
	if err := a.awaitStored(ctx); err != nil {
		return err
	}
	head, err := a.ledger.LatestAccountBlock(ctx, a.agent)
	if err != nil {
		return nodeError(fmt.Errorf("asking for the head of %s: %w", a.agent, err))
	}
	a.height, a.prev = 0, core.Hash{}
	if head != nil {
		a.height, a.prev = head.Height, head.Hash
	}
	return nil
}

// The node is asked for a block that another process has sent at intervals of storedPoll, for
// storedWait: a request that waits has the lock, and a connection.
const (
	storedPoll = 50 * time.Millisecond
	storedWait = 3 * time.Second
)

// awaitStored waits until the node has the newest block that a process has sent, perhaps to another
// node. A block after an older one would compete with it, and the chain could drop either.
func (a *accountSender) awaitStored(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storedWait)
	defer cancel()
	for a.lock.Height > 0 {
		block, err := a.ledger.AccountBlockByHash(ctx, a.lock.Hash)
		if err != nil {
			return nodeError(fmt.Errorf("asking for block %s: %w", a.lock.Hash, err))
		}
		if block != nil {
			return nil
		}
		if lost, err := a.lock.IsLost(ctx); lost || err != nil {
			return err
		}
		select {
		case <-time.After(storedPoll):
		case <-ctx.Done():
			return reject(codeNetwork, "The exchange chain's node does not have the account's last request yet: try again").because(ctx.Err())
		}
	}
	return nil
}

// awaitSent waits until the node has every block that a process has sent for the address.
func (a *accountSender) awaitSent(ctx context.Context) (err error) {
	if a.lock, err = a.heads.LockHead(ctx, a.network, a.agent); err != nil {
		return err
	}
	defer a.lock.Unlock()
	return a.awaitStored(ctx)
}

// receiveFirst receives a pending transfer to the address. The chain requires a receive as every
// account's first block.
func (a *accountSender) receiveFirst(ctx context.Context) error {
	waiting, err := a.ledger.UnreceivedBlocks(ctx, a.agent, 0, 1)
	if err != nil {
		return nodeError(fmt.Errorf("asking for what waits for %s: %w", a.agent, err))
	}
	if len(waiting) == 0 {
		return reject(codeNetwork, "%s: the delegation address %s is not on the chain yet; send it something once and stake for it", textQuota, a.agent)
	}
	_, err = a.submit(ctx, &core.AccountBlock{BlockType: core.Receive, SendBlockHash: waiting[0].Hash}, nil)
	return err
}

// call sends a call of dexFund and returns its hash: the ID of the order or of the cancel request.
// It passes each candidate hash to before, which may be nil, ahead of sending.
func (a *accountSender) call(ctx context.Context, data []byte, before func(context.Context, core.Hash) error) (_ core.Hash, err error) {
	if a.lock, err = a.heads.LockHead(ctx, a.network, a.agent); err != nil {
		return core.Hash{}, err
	}
	defer a.lock.Unlock()
	if err := a.ensureHead(ctx); err != nil {
		return core.Hash{}, err
	}
	return a.submit(ctx, &core.AccountBlock{BlockType: core.SendCall, ToAddress: core.DexFundContract, TokenID: core.VITE, Data: data}, before)
}

// maxTries bounds how often a block is rebuilt because another program has used the head.
const maxTries = 3

func (a *accountSender) submit(ctx context.Context, b *core.AccountBlock, before func(context.Context, core.Hash) error) (core.Hash, error) {
	for range maxTries {
		if err := a.sign(ctx, b); err != nil {
			return core.Hash{}, err
		}
		if before != nil {
			if err := before(ctx, b.Hash); err != nil {
				return core.Hash{}, err
			}
		}
		if err := a.lock.Advance(ctx, b.Height, b.Hash); err != nil {
			return core.Hash{}, err
		}
		taken, err := a.send(ctx, b)
		if taken {
			a.lock.Taken()
			a.height, a.prev = b.Height, b.Hash
			return b.Hash, nil
		}
		if errors.Is(err, errOutcomeUnknown) {
			return core.Hash{}, err
		}
		if failed := a.lock.Undo(ctx); failed != nil {
			a.log.WithError(failed).Warn("the delegation address waits until the refused block counts as lost")
		}
		if err != nil {
			return core.Hash{}, nodeError(fmt.Errorf("sending %s: %w", b.Hash, err))
		}
		if err := a.readHead(ctx); err != nil {
			return core.Hash{}, err
		}
	}
	return core.Hash{}, reject(codeNetwork, "The delegation address is used elsewhere at the same time")
}

// sendTimeout bounds the sending of one block, for which other processes wait.
const sendTimeout = 8 * time.Second

// send sends a block. Without an error and not taken, it stood on an old head.
func (a *accountSender) send(ctx context.Context, b *core.AccountBlock) (taken bool, err error) {
	ctx, cancel := context.WithDeadline(ctx, a.lock.SendBefore(sendTimeout))
	defer cancel()
	err = a.ledger.SendRawTransaction(ctx, b)
	if client.OutcomeUnknown(err) {
		return a.lookUp(b.Hash, err)
	}
	return err == nil, err
}

func (a *accountSender) sign(ctx context.Context, b *core.AccountBlock) error {
	b.Address, b.Height, b.PreviousHash = a.agent, a.height+1, a.prev
	b.Hash = b.ComputeHash()
	public, signature, err := a.agents.SignAgent(ctx, a.owner, b)
	if err != nil {
		return fmt.Errorf("signing for %s: %w", a.agent, err)
	}
	b.PublicKey, b.Signature = public, signature
	if len(public) != core.PublicKeySize || core.UserAddress(core.PublicKey(public)) != a.agent {
		return fmt.Errorf("signing for %s: the wallet has another key for it than when the API key was issued", a.agent)
	}
	return nil
}

// errOutcomeUnknown marks a block of which it is not known whether the chain has it.
var errOutcomeUnknown = errors.New("the outcome is not known")

// lookUpTimeout bounds the query for the outcome of a block.
const lookUpTimeout = 5 * time.Second

// lookUp asks the node whether it has a block whose sending ended without a clear answer. It
// answers false without an error only for a block that stood on an old head.
func (a *accountSender) lookUp(h core.Hash, sent error) (taken bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookUpTimeout)
	defer cancel()
	block, err := a.ledger.AccountBlockByHash(ctx, h)
	switch {
	case err == nil && block != nil:
		return true, nil
	case err == nil && errors.Is(sent, client.ErrPrevBlock):
		return false, nil
	}
	return false, reject(codeNetwork, "The exchange chain did not answer. Look %s up before asking again: it may have been taken", h).because(errors.Join(errOutcomeUnknown, sent, err))
}
