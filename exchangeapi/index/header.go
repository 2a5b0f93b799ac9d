package index

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"gatewayd/vite/client"
	"gatewayd/vite/core"
)

// A node's answer names most members twice, in two generations of names, and shows the sends of a
// contract's block twice in full. To read all of it, as package client does, costs more than
// everything else that the index does with it; so here is read what is wanted only.

// header is a contract's block as far as the index has a use for it (docs/exchange-chain-rpc.md
// 5.4).
type header struct {
	block
	receive  bool
	previous core.Hash
	logged   core.Hash // zero: it has no events
}

// wireBlock is a block of an answer.
type wireBlock struct {
	BlockType     uint8        `json:"blockType"`
	Height        count        `json:"height"`
	Hash          core.Hash    `json:"hash"`
	PreviousHash  core.Hash    `json:"previousHash"`
	PrevHash      core.Hash    `json:"prevHash"`
	SendBlockHash core.Hash    `json:"sendBlockHash"`
	FromBlockHash core.Hash    `json:"fromBlockHash"`
	VMLogHash     core.Hash    `json:"vmLogHash"`
	LogHash       core.Hash    `json:"logHash"`
	FromAddress   core.Address `json:"fromAddress"`
	TokenID       core.TokenID `json:"tokenId"`
	Amount        string       `json:"amount"`
	Data          []byte       `json:"data"`
	Timestamp     int64        `json:"timestamp"`

	Triggered     []wireSend      `json:"triggeredSendBlockList"`
	SendBlockList json.RawMessage `json:"sendBlockList"`
}

// wireSend is a send that a contract's block made.
type wireSend struct {
	Hash      core.Hash    `json:"hash"`
	ToAddress core.Address `json:"toAddress"`
	Data      []byte       `json:"data"`
}

// count is a height: a number, or a text of digits. null and the empty text are zero.
type count uint64

func (c *count) UnmarshalJSON(raw []byte) error {
	text := strings.Trim(string(raw), `"`)
	if text == "" || text == "null" {
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("height: %w", err)
	}
	*c = count(n)
	return nil
}

// header takes either generation of member names.
func (w *wireBlock) header() (h header, err error) {
	h = header{
		block: block{
			height: uint64(w.Height), hash: w.Hash, send: cmp.Or(w.SendBlockHash, w.FromBlockHash), from: w.FromAddress, time: w.Timestamp,
			result: w.Data, callToken: w.TokenID,
		},
		receive: w.BlockType == uint8(core.Receive), previous: cmp.Or(w.PreviousHash, w.PrevHash), logged: cmp.Or(w.VMLogHash, w.LogHash),
	}
	if w.Amount != "" {
		if err := h.callAmount.SetFromDecimal(w.Amount); err != nil {
			return h, fmt.Errorf("account block: amount: %w", err)
		}
	}
	if w.Triggered == nil && len(w.SendBlockList) > 0 {
		if err := json.Unmarshal(w.SendBlockList, &w.Triggered); err != nil {
			return h, fmt.Errorf("account block: %w", err)
		}
	}
	for _, s := range w.Triggered {
		switch {
		case s.ToAddress == core.DexTradeContract && h.relay.IsZero():
			h.relay, h.relayed = s.Hash, s.Data
		case s.ToAddress == core.DexFundContract:
			h.settled = append(h.settled, s.Data)
		}
	}
	return h, nil
}

// logEntry is a contract's event with its place, as far as the index has a use for it.
type logEntry struct {
	VMLog              *logContent     `json:"vmlog"`
	Log                json.RawMessage `json:"log"`
	Block              core.Hash       `json:"accountBlockHash"`
	AccountBlockHeight count           `json:"accountBlockHeight"`
	AccountHeight      count           `json:"accountHeight"`
}

type logContent struct {
	Topics []core.Hash `json:"topics"`
	Data   []byte      `json:"data"`
}

func (e *logEntry) height() uint64 { return uint64(max(e.AccountBlockHeight, e.AccountHeight)) }

// content takes either generation of member names.
func (e *logEntry) content() (client.VMLog, error) {
	if e.VMLog == nil && len(e.Log) > 0 {
		if err := json.Unmarshal(e.Log, &e.VMLog); err != nil {
			return client.VMLog{}, fmt.Errorf("event: %w", err)
		}
	}
	if e.VMLog == nil {
		return client.VMLog{}, nil
	}
	return client.VMLog{Topics: e.VMLog.Topics, Data: e.VMLog.Data}, nil
}
