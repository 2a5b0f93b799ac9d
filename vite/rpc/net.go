package rpc

import (
	"context"
	"encoding/base64"
	"math/big"

	"gatewayd/httpserver/jsonrpc"
	"gatewayd/vite/core"
	"gatewayd/vite/ledger"
	"gatewayd/vite/node"
)

// netAPI is the module net. The chain has one producer and no peers.
type netAPI struct{ node *node.Node }

type syncInfo struct {
	From    string `json:"from"`
	To      string `json:"to"`
	Current string `json:"current"`
	State   int    `json:"state"`
	Status  string `json:"status"`
}

// SyncInfo reports a complete sync.
func (n *netAPI) SyncInfo() syncInfo {
	head := read(n.node, func(v *node.View) ledger.Point { return v.Head() })
	return syncInfo{From: "0", To: "0", Current: decimal(head.Height), State: 2, Status: "Sync done"}
}

type syncDetail struct {
	From        uint64   `json:"from"`
	To          uint64   `json:"to"`
	Current     uint64   `json:"current"`
	State       string   `json:"state"`
	Status      string   `json:"status"`
	Tasks       []string `json:"tasks"`
	Connections []string `json:"connections"`
	Chunks      []string `json:"chunks"`
	Caches      []string `json:"caches"`
}

// SyncDetail shows no downloads: there are no peers.
func (n *netAPI) SyncDetail() syncDetail {
	info, height := n.SyncInfo(), n.NodeInfo().Height
	return syncDetail{
		Current: height, State: info.Status, Status: info.Status,
		Tasks: []string{}, Connections: []string{}, Chunks: []string{}, Caches: []string{},
	}
}

type nodeInfo struct {
	ID                    core.Hash    `json:"id"`
	Name                  string       `json:"name"`
	NetID                 int          `json:"netId"`
	Version               int          `json:"version"`
	Address               string       `json:"address"`
	PeerCount             int          `json:"peerCount"`
	Peers                 []string     `json:"peers"`
	Height                uint64       `json:"height"`
	Nodes                 int          `json:"nodes"`
	Latency               []int        `json:"latency"`
	BroadCheckFailedRatio int          `json:"broadCheckFailedRatio"`
	Server                serverStatus `json:"server"`
}

type serverStatus struct {
	Connections []string `json:"connections"`
}

// NodeInfo has no peers.
func (n *netAPI) NodeInfo() nodeInfo {
	return nodeInfo{Height: read(n.node, func(v *node.View) ledger.Point { return v.Head() }).Height}
}

// Peers is net_nodeInfo.
func (n *netAPI) Peers() nodeInfo { return n.NodeInfo() }

// healthAPI is the module health.
type healthAPI struct{ healthy func() bool }

// Health is null while snapshot blocks come, and an error otherwise.
func (h *healthAPI) Health() error {
	if !h.healthy() {
		return jsonrpc.Other("the latest snapshot block is too old")
	}
	return nil
}

// grindBatch is the number of nonces tried between two checks of the clock: some tens of
// milliseconds.
const grindBatch = 1 << 18

// utilAPI is the module util.
type utilAPI struct {
	slots chan struct{} // one per search that may run at a time; nil without work
}

// GetPoWNonce finds a nonce. Without workers it answers as a node without a work server.
func (u *utilAPI) GetPoWNonce(ctx context.Context, difficulty string, h hashArg) (string, error) {
	d, err := jsonrpc.Integer(difficulty)
	if err != nil {
		return "", err
	}
	if d.Cmp(big.NewInt(jsonrpc.MaxWork)) > 0 {
		return "", jsonrpc.Other("difficulty is too large")
	}
	if u.slots == nil || d.Sign() < 0 {
		return "", jsonrpc.Other("not supported")
	}
	select {
	case u.slots <- struct{}{}:
		defer func() { <-u.slots }()
	case <-ctx.Done():
		return "", onWire(ctx.Err())
	}
	return grind(ctx, h.Hash, d)
}

// grind searches until it finds a nonce or the caller has gone.
func grind(ctx context.Context, h core.Hash, d *big.Int) (string, error) {
	for start := uint64(0); ctx.Err() == nil; start += grindBatch {
		if nonce, ok := core.Grind(h, d, start, grindBatch); ok {
			return base64.StdEncoding.EncodeToString(nonce[:]), nil
		}
	}
	return "", onWire(ctx.Err())
}
