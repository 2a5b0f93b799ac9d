package daemon

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"gatewayd/config"
	"gatewayd/vite/client"
	"gatewayd/vite/core"
	"gatewayd/wallet/rpc"
)

// walletTimeout bounds one call of one node, so that three of them fit into the wallet's patience
// with a signed block.
const walletTimeout = 10 * time.Second

// WalletLedger is the exchange chain as the wallet sends to it: the first of its nodes that
// answers.
type WalletLedger struct{ nodes []*walletNode }

// NewWalletLedger takes the URLs of nodes, and what connects to them where not the network does.
func NewWalletLedger(targets []string, dial config.Dialer) WalletLedger {
	var l WalletLedger
	for _, t := range targets {
		l.nodes = append(l.nodes, &walletNode{target: t, dial: dial})
	}
	return l
}

func (l WalletLedger) Close() {
	for _, n := range l.nodes {
		n.close()
	}
}

// Tip is an account's newest block.
func (l WalletLedger) Tip(ctx context.Context, a core.Address) (height uint64, hash core.Hash, ok bool, err error) {
	b, err := firstAnswer(ctx, l, func(c *client.Client) (*client.AccountBlock, error) { return c.LatestAccountBlock(ctx, a) })
	if err != nil || b == nil {
		return 0, core.Hash{}, false, err
	}
	return b.Height, b.Hash, true, nil
}

// HasToken asks a node, which answers null for a token that it does not have.
func (l WalletLedger) HasToken(ctx context.Context, id core.TokenID) (bool, error) {
	info, err := firstAnswer(ctx, l, func(c *client.Client) (*client.TokenInfo, error) { return c.TokenInfo(ctx, id) })
	return info != nil, err
}

// firstAnswer asks one node after the other until one answers; a refusal is an answer.
func firstAnswer[T any](ctx context.Context, l WalletLedger, ask func(*client.Client) (T, error)) (value T, err error) {
	for _, n := range l.nodes {
		var c *client.Client
		if c, err = n.connect(ctx); err != nil {
			continue
		}
		value, err = ask(c)
		var refused *client.Error
		if err == nil || errors.As(err, &refused) {
			return value, refusal(err)
		}
	}
	return value, err
}

// Submit hands a signed block to the nodes, one after the other, until one takes it: it is the same
// block everywhere. What the first node refuses is refused. Once an earlier node may have it, only
// a node that takes it or shows it ends the doubt: no refusal does.
func (l WalletLedger) Submit(ctx context.Context, b *core.AccountBlock) error {
	var doubt, unsent error
	for _, n := range l.nodes {
		c, err := n.connect(ctx)
		if err == nil {
			err = c.SendRawTransaction(ctx, b)
		}
		var refused *rpc.Refusal
		switch answer := refusal(err); {
		case err == nil:
			return nil
		case errors.As(answer, &refused) && doubt == nil:
			return answer
		case errors.As(answer, &refused):
			if tip, err := c.LatestAccountBlock(ctx, b.Address); err == nil && tip != nil && tip.Hash == b.Hash {
				return nil
			}
		case neverLeft(err):
			unsent = err
		default:
			doubt = err
		}
	}
	if doubt != nil {
		return doubt
	}
	return unsent
}

// neverLeft reports that no node was reached, or that the block is unfit to be sent.
func neverLeft(err error) bool {
	var op *net.OpError
	return errors.Is(err, core.ErrBlockJSON) || (errors.As(err, &op) && op.Op == "dial")
}

// refusal keeps the node's answer, with its code; after any other error the outcome is open. A
// block that does not link to the tip is refused, not there already.
func refusal(err error) error {
	var refused *client.Error
	if errors.As(err, &refused) && (errors.Is(err, client.ErrPrevBlock) || !client.OutcomeUnknown(err)) {
		return &rpc.Refusal{Code: refused.Code, Message: refused.Message}
	}
	return err
}

// walletNode is one node, connected when it is first needed and again after a connection could not
// be made.
type walletNode struct {
	target string
	dial   config.Dialer // nil: the network's
	mu     sync.Mutex
	client *client.Client // nil until connected
}

func (n *walletNode) connect(ctx context.Context) (*client.Client, error) {
	if c := n.keep(nil); c != nil {
		return c, nil
	}
	c, err := client.Dial(ctx, n.target, client.Options{Timeout: walletTimeout, Dial: n.dial})
	if err != nil {
		return nil, err
	}
	kept := n.keep(c)
	if kept != c {
		c.Close()
	}
	return kept, nil
}

// keep returns the connection that is there; the one given takes the place of none.
func (n *walletNode) keep(c *client.Client) *client.Client {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.client == nil {
		n.client = c
	}
	return n.client
}

func (n *walletNode) close() {
	if c := n.keep(nil); c != nil {
		c.Close()
	}
}
