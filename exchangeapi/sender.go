package exchangeapi

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
)

// ledger is the exchange chain as blocks are put on it.
type ledger interface {
	LatestAccountBlock(ctx context.Context, a core.Address) (*client.AccountBlock, error)
	AccountBlockByHash(ctx context.Context, h core.Hash) (*client.AccountBlock, error)
	UnreceivedBlocks(ctx context.Context, a core.Address, page, size int) ([]client.AccountBlock, error)
	SendRawTransaction(ctx context.Context, b *core.AccountBlock) error
}

// agents are the delegation addresses: one for each account, derived from the daemon's wallet, so that none is ever lost.
type agents interface {
	// Agent is the delegation address of an account.
	Agent(owner core.Address) (core.Address, error)
	// SignAgent signs 32 bytes with the key of the account's delegation address.
	SignAgent(ctx context.Context, owner core.Address, digest []byte) (public, signature []byte, err error)
}

// sender puts calls of dexFund on the chains of delegation addresses, one request at a time for each.
type sender struct {
	ledger ledger
	agents agents
	log    *logrus.Entry

	mu    sync.Mutex
	lanes map[core.Address]*lane // as many as addresses with keys
}

func newSender(l ledger, a agents, log *logrus.Entry) *sender {
	return &sender{ledger: l, agents: a, log: log, lanes: map[core.Address]*lane{}}
}

// run hands f the tip of the key's delegation address, alone.
func (s *sender) run(ctx context.Context, key Key, f func(*lane) error) error {
	l := s.lane(key)
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the requests before: %w", ctx.Err())
	}
	defer func() { <-l.turn }()
	err := l.ready(ctx)
	if err == nil {
		err = f(l)
	}
	if err != nil {
		l.height = 0 // whatever it was, the node is asked again
	}
	return err
}

func (s *sender) lane(key Key) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.lanes[key.Agent]
	if !ok {
		l = &lane{sender: s, owner: key.Owner, agent: key.Agent, turn: make(chan struct{}, 1)}
		s.lanes[key.Agent] = l
	}
	return l
}

// lane is a delegation address with its tip. The tip is remembered only from one block that the node took to the next: nobody else makes blocks
// of the address unless another program has the same wallet or the node loses some, and then the node refuses what does not stand on its tip.
type lane struct {
	*sender
	owner, agent core.Address
	turn         chan struct{} // capacity 1: who has put something in makes the address's next blocks
	height       uint64        // 0: not known, or no block yet
	prev         core.Hash
}

// ready finds the tip and makes the address's first block if there is none.
func (l *lane) ready(ctx context.Context) error {
	if l.height > 0 {
		return nil
	}
	if err := l.find(ctx); err != nil || l.height > 0 {
		return err
	}
	return l.open(ctx)
}

func (l *lane) find(ctx context.Context) error {
	tip, err := l.ledger.LatestAccountBlock(ctx, l.agent)
	if err != nil {
		return refusalOfNode(fmt.Errorf("asking for the tip of %s: %w", l.agent, err))
	}
	l.height, l.prev = 0, core.Hash{}
	if tip != nil {
		l.height, l.prev = tip.Height, tip.Hash
	}
	return nil
}

// open receives what somebody has sent to the address: the chain wants every account's first block to be that.
func (l *lane) open(ctx context.Context) error {
	waiting, err := l.ledger.UnreceivedBlocks(ctx, l.agent, 0, 1)
	if err != nil {
		return refusalOfNode(fmt.Errorf("asking for what waits for %s: %w", l.agent, err))
	}
	if len(waiting) == 0 {
		return refuse(codeNetwork, "%s: the delegation address %s is not on the chain yet; send it something once and stake for it", textQuota, l.agent)
	}
	_, err = l.submit(ctx, &core.AccountBlock{BlockType: core.Receive, SendBlockHash: waiting[0].Hash})
	return err
}

// call sends a call of dexFund and answers its hash: the id of the order or of the cancel request.
func (l *lane) call(ctx context.Context, data []byte) (core.Hash, error) {
	return l.submit(ctx, &core.AccountBlock{BlockType: core.SendCall, ToAddress: core.DexFundContract, TokenID: core.VITE, Data: data})
}

// maxTries bounds how often a block is built anew because another program has used the tip.
const maxTries = 3

func (l *lane) submit(ctx context.Context, b *core.AccountBlock) (core.Hash, error) {
	var err error
	for range maxTries {
		if err = l.sign(ctx, b); err != nil {
			return core.Hash{}, err
		}
		err = l.ledger.SendRawTransaction(ctx, b)
		taken := err == nil
		if client.OutcomeUnknown(err) {
			if taken, err = l.lookUp(b.Hash, err); err != nil {
				return core.Hash{}, err
			}
		}
		if taken {
			l.height, l.prev = b.Height, b.Hash
			return b.Hash, nil
		}
		if err != nil {
			return core.Hash{}, refusalOfNode(fmt.Errorf("sending %s: %w", b.Hash, err))
		}
		if err := l.find(ctx); err != nil {
			return core.Hash{}, err
		}
	}
	return core.Hash{}, refuse(codeNetwork, "The delegation address is used elsewhere at the same time")
}

func (l *lane) sign(ctx context.Context, b *core.AccountBlock) error {
	b.Address, b.Height, b.PreviousHash = l.agent, l.height+1, l.prev
	b.Hash = b.ComputeHash()
	public, signature, err := l.agents.SignAgent(ctx, l.owner, b.Hash[:])
	if err != nil {
		return fmt.Errorf("signing for %s: %w", l.agent, err)
	}
	b.PublicKey, b.Signature = public, signature
	if len(public) != core.PublicKeySize || core.UserAddress(core.PublicKey(public)) != l.agent {
		return fmt.Errorf("signing for %s: the wallet has another key for it than when the API key was issued", l.agent)
	}
	return nil
}

// lookTime is how long a node may take to tell what became of a block.
const lookTime = 5 * time.Second

// lookUp asks for a block whose sending ended without a clear answer. Not taken without an error is one that stood on an old tip.
func (l *lane) lookUp(h core.Hash, sent error) (taken bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	block, err := l.ledger.AccountBlockByHash(ctx, h)
	switch {
	case err == nil && block != nil:
		return true, nil
	case err == nil && errors.Is(sent, client.ErrPrevBlock):
		return false, nil
	}
	return false, refuse(codeNetwork, "The exchange chain did not answer. Look %s up before asking again: it may have been taken", h).because(errors.Join(sent, err))
}
