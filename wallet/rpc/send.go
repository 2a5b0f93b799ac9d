package rpc

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/holiman/uint256"
	"github.com/sirupsen/logrus"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/wallet"
)

// Bounds of sending.
const (
	maxSends      = 32               // calls at a time, those included that wait for their account's turn
	submitTimeout = 30 * time.Second // a block that is signed is handed over, whether the caller waits or not
	workTimeout   = 10 * time.Minute // as a node's own
	maxData       = 64 << 10

	// grindBatch is the number of nonces tried between two checks of the clock: some tens of
	// milliseconds.
	grindBatch = 1 << 18
)

// ledger is the exchange chain as sending needs it. A refusal of its node is a *Refusal; after any
// other error the call's outcome is unknown.
type ledger interface {
	// Tip is an account's newest block; ok is false for an account without any.
	Tip(ctx context.Context, a core.Address) (height uint64, hash core.Hash, ok bool, err error)
	HasToken(ctx context.Context, id core.TokenID) (bool, error)
	Submit(ctx context.Context, b *core.AccountBlock) error
}

// sender makes transactions: one at a time for each account, because each names the one before.
type sender struct {
	ledger       ledger // nil: sending is not configured
	calls        chan struct{}
	work         chan struct{} // capacity 1: searches for a nonce take a core each
	accountLocks accountLocks
}

func newSender(l ledger) *sender {
	return &sender{
		ledger: l, calls: make(chan struct{}, maxSends), work: make(chan struct{}, 1),
		accountLocks: accountLocks{held: map[core.Address]*accountLock{}},
	}
}

// v1Order is the parameter of wallet_createTxWithPassphrase.
type v1Order struct {
	Store      string      `json:"entropystoreFile"`
	From       *addressArg `json:"selfAddr"`
	To         *addressArg `json:"toAddr"`
	Token      *tokenArg   `json:"tokenTypeId"`
	Passphrase string      `json:"passphrase"`
	Amount     string      `json:"amount"`     // integer, in the token's smallest unit
	Data       []byte      `json:"data"`       // Base64
	Difficulty *string     `json:"difficulty"` // of a proof of work in place of quota
}

// CreateTxWithPassphrase sends a transfer and answers its hash. The store stays locked or unlocked
// as it was.
func (a *api) CreateTxWithPassphrase(ctx context.Context, o v1Order) (core.Hash, error) {
	return a.send(ctx, "createTxWithPassphrase", o, "toAddr", "tokenTypeId")
}

// order is a checked transfer: a block without its place, and the work that it shall have (nil:
// none).
type order struct {
	block      core.AccountBlock
	difficulty *big.Int
}

// order checks in the order in which a node does: numbers before names. The members that must be
// there are named as the caller's generation does.
func (w v1Order) order(toName, tokenName string) (o order, err error) {
	amount, err := jsonrpc.Integer(w.Amount)
	if err != nil {
		return order{}, err
	}
	if w.Difficulty != nil {
		if o.difficulty, err = jsonrpc.Integer(*w.Difficulty); err != nil {
			return order{}, err
		}
	}
	value, over := uint256.FromBig(amount)
	switch {
	case w.To == nil:
		return order{}, required(toName)
	case w.Token == nil:
		return order{}, required(tokenName)
	case amount.Sign() < 0 || over:
		return order{}, jsonrpc.Other("pack send failed, amount out of bounds")
	case w.Token.IsZero() && amount.Sign() > 0:
		return order{}, jsonrpc.Other("pack send failed, tokenId can't be empty when amount have actual value")
	case o.difficulty != nil && (o.difficulty.Sign() <= 0 || o.difficulty.Cmp(big.NewInt(jsonrpc.MaxWork)) > 0):
		return order{}, jsonrpc.Other(fmt.Sprintf("difficulty must be from 1 to %d", int64(jsonrpc.MaxWork)))
	case len(w.Data) > maxData:
		return order{}, jsonrpc.Other(fmt.Sprintf("data must not be longer than %d bytes", maxData))
	}
	o.block = core.AccountBlock{BlockType: core.SendCall, ToAddress: w.To.Address, TokenID: w.Token.TokenID, Amount: *value, Data: w.Data}
	if w.From != nil { // without a sender the zero address is looked for, and in no store
		o.block.Address = w.From.Address
	}
	return o, nil
}

func (a *api) send(ctx context.Context, method string, w v1Order, toName, tokenName string) (core.Hash, error) {
	return serve(ctx, a, method, func(ctx context.Context) (core.Hash, error) {
		o, err := w.order(toName, tokenName)
		if err != nil {
			return core.Hash{}, err
		}
		leave, err := a.sender.enter()
		if err != nil {
			return core.Hash{}, err
		}
		defer leave()
		if err := a.sender.checkToken(ctx, o.block.TokenID); err != nil {
			return core.Hash{}, err
		}
		err = a.wallet.Use(ctx, w.Store, o.block.Address, w.Passphrase, func(_ wallet.Location, key core.PrivateKey) error {
			return a.sender.send(ctx, &o, key)
		})
		if err != nil {
			return core.Hash{}, err
		}
		b := &o.block
		a.log.WithFields(logrus.Fields{
			"account": b.Address.String(), "to": b.ToAddress.String(), "token": b.TokenID.String(), "amount": b.Amount.Dec(),
			"tx": b.Hash.String(), "height": b.Height,
		}).Info("transaction sent")
		return b.Hash, nil
	})
}

// enter takes a place among the calls.
func (s *sender) enter() (leave func(), err error) {
	if s.ledger == nil {
		return nil, jsonrpc.Other("sending is not possible: no node of the exchange chain is configured")
	}
	select {
	case s.calls <- struct{}{}:
		return func() { <-s.calls }, nil
	default:
		return nil, jsonrpc.NewError(codeLimit, "too many transactions are being sent")
	}
}

func (s *sender) checkToken(ctx context.Context, id core.TokenID) error {
	if id.IsZero() {
		return nil
	}
	there, err := s.ledger.HasToken(ctx, id)
	if err != nil {
		return unreachable("asking for the token", err)
	}
	if !there {
		return jsonrpc.Other("tokenId doesn’t exist")
	}
	return nil
}

// unreachable keeps a node's refusal, and of any other error only the act: the cause may contain
// hosts.
func unreachable(act string, err error) error {
	var refused *Refusal
	if errors.As(err, &refused) || errors.Is(err, context.Canceled) {
		return err
	}
	return jsonrpc.Other(act + ": the exchange chain's node does not answer")
}

// send puts the block on the account's tip, signs it and hands it over.
func (s *sender) send(ctx context.Context, o *order, key core.PrivateKey) error {
	b := &o.block
	done, err := s.accountLocks.acquire(ctx, b.Address)
	if err != nil {
		return err
	}
	defer done()
	height, previous, ok, err := s.ledger.Tip(ctx, b.Address)
	switch {
	case err != nil:
		return unreachable("asking for the account", err)
	case !ok:
		return jsonrpc.Other("account address doesn't exist")
	}
	b.Height, b.PreviousHash = height+1, previous
	if err := s.grind(ctx, o); err != nil {
		return err
	}
	b.SignWith(key)
	return s.submit(ctx, b)
}

// grind finds the nonce of the work that was asked for.
func (s *sender) grind(ctx context.Context, o *order) error {
	if o.difficulty == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	select {
	case s.work <- struct{}{}:
		defer func() { <-s.work }()
	case <-ctx.Done():
		return ctx.Err()
	}
	task := core.PoWDataHash(o.block.Address, o.block.PreviousHash)
	for start := uint64(0); ctx.Err() == nil; start += grindBatch {
		if nonce, ok := core.Grind(task, o.difficulty, start, grindBatch); ok {
			o.block.Nonce, o.block.Difficulty = nonce[:], o.difficulty
			return nil
		}
	}
	return ctx.Err()
}

// submit does not end with its caller, because the outcome of a sent block must be found out. If it
// stays open, the error contains the hash, for a lookup before the next send.
func (s *sender) submit(ctx context.Context, b *core.AccountBlock) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), submitTimeout)
	defer cancel()
	err := s.ledger.Submit(ctx, b)
	var refused *Refusal
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return jsonrpc.Other("the outcome is not known; look up block " + b.Hash.String() + " before sending again")
}

// accountLocks lets one at a time work on an account.
type accountLocks struct {
	mu   sync.Mutex
	held map[core.Address]*accountLock
}

type accountLock struct {
	slot  chan struct{} // capacity 1: held by who works
	users int           // working or waiting; the last one removes the turn
}

func (t *accountLocks) acquire(ctx context.Context, a core.Address) (done func(), err error) {
	t.mu.Lock()
	own := t.held[a]
	if own == nil {
		own = &accountLock{slot: make(chan struct{}, 1)}
		t.held[a] = own
	}
	own.users++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.users--; own.users == 0 {
			delete(t.held, a)
		}
	}
	select {
	case own.slot <- struct{}{}:
		return func() { <-own.slot; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
