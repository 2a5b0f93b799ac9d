package ethereum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/holiman/uint256"

	"gatewayd/chain"
	"gatewayd/chain/quorum"
)

// Report lists one node's abilities, for people who set the gateway up.
type Report struct {
	Node     string // number and host, without secrets
	ChainID  uint64
	Head     chain.Point
	HeadTime time.Time // compare with the clock: an old time means a stalled node, or a clock that is wrong
	Final    uint64    // height by the configured tag; 0 when finality is a count or the node has no such block yet
	Receipts bool      // eth_getBlockReceipts; without it receipts are asked for one by one
	Traces   bool      // debug_traceBlockByHash
	NoTraces error     // why it does not trace
	Logs     bool      // the chain logs each movement of its coin (EIP-7708)
	Balances int       // number of accounts' balances per request, as of a final block; 0: none
	NoState  error     // reason for the missing balances
	Limited  uint64    // requests that it refused since New for coming too soon
	Err      error     // the first thing that did not work
}

// Probe asks each node what it can do. It answers one report for each, in the configured order.
func (c *Chain) Probe(ctx context.Context) []Report {
	c = c.current()
	question := func(ctx context.Context, n *node) (Report, error) { return c.probe(ctx, n), nil }
	byName := make(map[string]Report)
	for _, a := range quorum.All(ctx, c.nodes, question) {
		byName[a.Node.name] = a.Value
	}
	reports := make([]Report, len(c.nodes))
	for i, n := range c.nodes {
		reports[i] = byName[n.name]
	}
	return reports
}

func (c *Chain) probe(ctx context.Context, n *node) (r Report) {
	r.Node = n.name
	defer func() { r.Limited = n.limiter.count() }()
	var id hexutil.Uint64
	if r.Err = n.call(ctx, &id, "eth_chainId"); r.Err != nil {
		return r
	}
	r.ChainID = uint64(id)
	v, err := c.viewOf(ctx, n)
	if err != nil {
		r.Err = err
		return r
	}
	r.Head, r.HeadTime, r.Final = v.latest.point(), time.Unix(int64(v.latest.Time), 0).UTC(), v.finalHeight()
	if r.Receipts, r.Err = offers(ctx, n, "eth_getBlockReceipts", v.latest.Hash); r.Err != nil {
		return r
	}
	if r.Logs, r.Err = n.logsCoin(ctx, v.latestHeight()); r.Err != nil {
		return r
	}
	r.Balances, r.NoState = c.probeBalances(ctx, n, v)
	if c.config.Traces == tracesOff {
		return r
	}
	r.NoTraces = probeTraces(ctx, n, *v.latest.Hash)
	if r.Traces = r.NoTraces == nil; !r.Traces && c.config.Traces == tracesOn {
		r.Err = fmt.Errorf("%s: it cannot trace, and traces are on: %w", n.name, r.NoTraces)
	}
	return r
}

// probeTraces returns why a node does not trace its newest block.
func probeTraces(ctx context.Context, n *node, newest common.Hash) error {
	var traces []wireTrace
	if err := n.scan(ctx, func(s *scanner) { traces = scanTraces(s) }, methodTrace, newest, callTracer()); err != nil {
		return err
	}
	for i, t := range traces {
		if t.Result == nil {
			return fmt.Errorf("%s: %w: %d: %s", n.name, errNoTrace, i, printable(t.Error))
		}
	}
	return nil
}

// logsCoin reports whether a block's header shows that the chain logs movements of its coin.
func (n *node) logsCoin(ctx context.Context, height uint64) (bool, error) {
	var header struct {
		AccessListHash *common.Hash `json:"blockAccessListHash"`
	}
	err := n.call(ctx, &header, "eth_getBlockByNumber", hexutil.EncodeUint64(height), false)
	return header.AccessListHash != nil, err
}

// probeBalances asks for one balance as of the node's final block, in the way that takes many.
func (c *Chain) probeBalances(ctx context.Context, n *node, v view) (int, error) {
	height := v.finalHeight()
	if c.tag == "" && v.latestHeight() >= c.confirmations {
		height = v.latestHeight() + 1 - c.confirmations
	}
	if _, err := n.balances(ctx, height, []common.Address{{}}); err != nil {
		return 0, err
	}
	if size := int(n.perCall.Load()); size > 0 {
		return size, nil
	}
	return n.batches.most(time.Now()), nil
}

// offers reports whether a node has a method.
func offers(ctx context.Context, n *node, method string, args ...any) (bool, error) {
	skipList := func(s *scanner) {
		if c := s.Peek(); c != '[' && c != 'n' {
			s.Fail(errors.New("must be a list"))
		}
		s.Skip()
	}
	err := n.scan(ctx, skipList, method, args...)
	if notOffered(err) {
		return false, nil
	}
	return err == nil, err
}

// TokenDecimals asks a token contract for its decimals, of which the nodes' middle answer counts.
func (c *Chain) TokenDecimals(ctx context.Context, asset chain.Asset) (uint8, error) {
	c = c.current()
	token, err := parseAddress(string(asset))
	if err != nil {
		return 0, fmt.Errorf("decimals of asset %q: %w", asset, err)
	}
	question := func(ctx context.Context, n *node) (*uint256.Int, error) {
		return tokenWord(ctx, n, "latest", token, []byte(selectorDecimals))
	}
	decimals, err := c.middle(ctx, question)
	if err != nil {
		return 0, fmt.Errorf("decimals of token %s: %w", asset, err)
	}
	if !decimals.IsUint64() || decimals.Uint64() > 255 {
		return 0, fmt.Errorf("decimals of token %s: %s is above 255", asset, decimals.Dec())
	}
	return uint8(decimals.Uint64()), nil
}
