package bitcoin

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"gatewayd/chain"
	"gatewayd/chain/bitcoin/network"
	"gatewayd/chain/quorum"
)

// Report describes one node, for people who set the gateway up.
type Report struct {
	Node     string // number and host, without secrets
	Software string // as it names itself
	Head     chain.Point
	HeadTime time.Time // compare with the clock: an old time means a stalled node, or a clock that is wrong
	Syncing  bool      // it still reads the chain's past
	Pruned   bool      // it deletes old blocks
	Lowest   uint64    // of a pruned node: the lowest block that it keeps; 0: it does not name it
	Replaces *bool     // it takes a transaction with a higher fee in place of a stuck one; nil: it does not show it now
	Err      error     // the first thing that did not work
}

// Probe asks each node about itself. It answers one report for each, in the configured order.
func (c *Chain) Probe(ctx context.Context) []Report {
	c = c.current()
	question := func(ctx context.Context, n *node) (Report, error) { return n.probe(ctx), nil }
	byNode := make(map[*node]Report)
	for _, a := range quorum.All(ctx, c.nodes, question) {
		byNode[a.Node] = a.Value
	}
	reports := make([]Report, len(c.nodes))
	for i, n := range c.nodes {
		reports[i] = byNode[n]
	}
	return reports
}

// NetworkOf asks a node for its network, by its first block. ErrWrongChain: it is none that can be
// configured.
func NetworkOf(ctx context.Context, address string) (string, error) {
	if err := checkNodeURL(address); err != nil {
		return "", err
	}
	n, err := newNode(0, address, Config{Nodes: []string{address}}.withDefaults(), nil, nil)
	if err != nil {
		return "", err
	}
	defer n.close()
	var genesis string
	if err := n.ask(ctx, &genesis, "getblockhash", 0); err != nil {
		return "", err
	}
	for _, name := range network.Names() {
		if network.Named(name).Genesis.String() == genesis {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: its first block is %s", ErrWrongChain, printable(genesis))
}

func (n *node) probe(ctx context.Context) (r Report) {
	r.Node = n.name
	p, tip, err := n.position(ctx)
	if err != nil {
		r.Err = err
		return r
	}
	r.Head, r.Syncing, r.Pruned = chain.Point{Height: p.Blocks, Hash: tip.String()}, p.Syncing, p.Pruned
	if p.PruneHeight != nil {
		r.Lowest = *p.PruneHeight
	}
	h, err := n.header(ctx, tip)
	if err != nil {
		r.Err = err
		return r
	}
	r.HeadTime = h.Timestamp.UTC()
	if r.Software, err = n.software(ctx); err != nil {
		r.Err = fmt.Errorf("asking for the software: %w", err)
		return r
	}
	if r.Replaces, err = n.replaces(ctx); err != nil {
		r.Err = fmt.Errorf("asking whether it replaces transactions: %w", err)
	}
	return r
}

const (
	// triedIn bounds the transactions of a pool among which one is searched that may be replaced.
	triedIn = 200
	// replaceable is the highest sequence number of a coin whose spender may be replaced (BIP-125).
	replaceable = wire.MaxTxInSequenceNum - 2
)

// replaces reports whether a node replaces transactions: by its setting, or by its answer to the
// trial of a transaction that conflicts with one in its pool. Nodes look for conflicts before
// signatures, and no block can contain the trial.
func (n *node) replaces(ctx context.Context) (*bool, error) {
	var pool struct {
		Full bool `json:"fullrbf"`
	}
	if err := n.call(ctx, &pool, "getmempoolinfo"); err != nil || pool.Full {
		return &pool.Full, err
	}
	ids, err := n.pooled(ctx)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	waiting, err := n.poolPage(ctx, ids[:min(len(ids), triedIn)])
	for _, tx := range waiting {
		in := slices.IndexFunc(tx.MsgTx().TxIn, func(in *wire.TxIn) bool { return in.Sequence <= replaceable })
		if in < 0 {
			continue
		}
		try := wire.NewMsgTx(wire.TxVersion)
		try.AddTxIn(&wire.TxIn{PreviousOutPoint: tx.MsgTx().TxIn[in].PreviousOutPoint, Sequence: replaceable})
		to, err := n.network.Make(network.P2TR, make([]byte, 32))
		if err != nil {
			return nil, err
		}
		try.AddTxOut(wire.NewTxOut(btcutil.SatoshiPerBitcoin, to.Script))
		return n.refuses(ctx, try)
	}
	return nil, err
}

// refuses reports what a node answers to the trial of a replacement.
func (n *node) refuses(ctx context.Context, try *wire.MsgTx) (*bool, error) {
	var raw bytes.Buffer
	if err := try.Serialize(&raw); err != nil {
		return nil, err
	}
	var results []struct {
		Reason string `json:"reject-reason"`
	}
	err := n.call(ctx, &results, "testmempoolaccept", []string{hex.EncodeToString(raw.Bytes())}, 0.1)
	if refused(err) { // it has no such method
		return nil, nil
	}
	if err != nil || len(results) != 1 || results[0].Reason == "" {
		return nil, err
	}
	replaces := !contains(&refusal{Message: results[0].Reason}, conflictTexts)
	return &replaces, nil
}

// software is the node's own name of its program and version.
func (n *node) software(ctx context.Context) (string, error) {
	var info struct {
		Name    string `json:"subversion"`
		Version int    `json:"version"`
	}
	err := n.call(ctx, &info, "getnetworkinfo")
	if refused(err) { // btcd
		err = n.call(ctx, &info, "getinfo")
	}
	if info.Name == "" {
		info.Name = fmt.Sprint(info.Version)
	}
	return info.Name[:min(len(info.Name), maxText)], err
}
