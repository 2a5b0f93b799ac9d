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

// sender puts calls of dexFund on the chains of delegation addresses. It keeps no height of its own: the node knows the tip, and one request at
// a time builds on it.
type sender struct {
	ledger ledger
	agents agents
	log    *logrus.Entry

	mu    sync.Mutex
	lanes map[core.Address]chan struct{} // capacity 1: who has put something in makes the address's next blocks
}

func newSender(l ledger, a agents, log *logrus.Entry) *sender {
	return &sender{ledger: l, agents: a, log: log, lanes: map[core.Address]chan struct{}{}}
}

// run hands f the tip of the key's delegation address, alone.
func (s *sender) run(ctx context.Context, key Key, f func(*lane) error) error {
	turn := s.lane(key.Agent)
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the requests before: %w", ctx.Err())
	}
	defer func() { <-turn }()
	l := &lane{sender: s, key: key}
	if err := l.find(ctx); err != nil {
		return err
	}
	if l.height == 0 {
		if err := l.open(ctx); err != nil {
			return err
		}
	}
	return f(l)
}

// lane is what an address waits in; there are as many as addresses with keys.
func (s *sender) lane(a core.Address) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	turn, ok := s.lanes[a]
	if !ok {
		turn = make(chan struct{}, 1)
		s.lanes[a] = turn
	}
	return turn
}

// lane is a delegation address whose tip is known.
type lane struct {
	*sender
	key    Key
	height uint64
	prev   core.Hash
}

func (l *lane) find(ctx context.Context) error {
	tip, err := l.ledger.LatestAccountBlock(ctx, l.key.Agent)
	if err != nil {
		return refusalOfNode(fmt.Errorf("asking for the tip of %s: %w", l.key.Agent, err))
	}
	l.height, l.prev = 0, core.Hash{}
	if tip != nil {
		l.height, l.prev = tip.Height, tip.Hash
	}
	return nil
}

// open receives what somebody has sent to the address: the chain wants every account's first block to be that.
func (l *lane) open(ctx context.Context) error {
	waiting, err := l.ledger.UnreceivedBlocks(ctx, l.key.Agent, 0, 1)
	if err != nil {
		return refusalOfNode(fmt.Errorf("asking for what waits for %s: %w", l.key.Agent, err))
	}
	if len(waiting) == 0 {
		return refuse(codeNetwork, "%s: the delegation address %s is not on the chain yet; send it something once and stake for it", textQuota, l.key.Agent)
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
	b.Address, b.Height, b.PreviousHash = l.key.Agent, l.height+1, l.prev
	b.Hash = b.ComputeHash()
	public, signature, err := l.agents.SignAgent(ctx, l.key.Owner, b.Hash[:])
	if err != nil {
		return fmt.Errorf("signing for %s: %w", l.key.Agent, err)
	}
	b.PublicKey, b.Signature = public, signature
	if len(public) != core.PublicKeySize || core.UserAddress(core.PublicKey(public)) != l.key.Agent {
		return fmt.Errorf("signing for %s: the wallet has another key for it than when the API key was issued", l.key.Agent)
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
