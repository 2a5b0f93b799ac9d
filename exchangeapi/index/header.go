package index

import (
	"encoding/base64"
	"fmt"
	"strconv"

	"gatewayd/chain/vite/client"
	"gatewayd/chain/vite/core"
)

// header is a contract's block as far as the index has a use for it (docs/exchange-chain-wire.md 5.4).
type header struct {
	block
	receive  bool
	previous core.Hash
	logged   core.Hash // zero: it has no events
}

// UnmarshalJSON reads either generation of member names.
func (h *header) UnmarshalJSON(raw []byte) error {
	var sends []byte
	err := members(raw, func(name, value []byte) (err error) {
		switch string(name) {
		case "triggeredSendBlockList":
			if !isNull(value) {
				sends = value
			}
		case "sendBlockList":
			if sends == nil && !isNull(value) {
				sends = value
			}
		default:
			err = h.member(string(name), value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if err == nil && sends != nil {
		err = elements(sends, h.sent)
	}
	if err != nil {
		return fmt.Errorf("account block: %w", err)
	}
	return nil
}

func (h *header) member(name string, value []byte) (err error) {
	switch name {
	case "blockType":
		h.receive = string(value) == receiveType
	case "height":
		h.height, err = count(value)
	case "hash":
		err = hash(&h.hash, value)
	case "previousHash", "prevHash":
		err = hash(&h.previous, value)
	case "sendBlockHash", "fromBlockHash":
		err = hash(&h.send, value)
	case "vmLogHash", "logHash":
		err = hash(&h.logged, value)
	case "fromAddress":
		err = h.from.UnmarshalText(plain(value))
	case "tokenId":
		err = h.callToken.UnmarshalText(plain(value))
	case "amount":
		if text := plain(value); len(text) > 0 {
			err = h.callAmount.SetFromDecimal(string(text))
		}
	case "data":
		h.result, err = data(value)
	case "timestamp":
		h.time, err = strconv.ParseInt(string(value), 10, 64)
	}
	return err
}

// receiveType is core.Receive as a node shows it.
const receiveType = "4"

// sent reads a send that the block made.
func (h *header) sent(raw []byte) error {
	var to, content []byte
	var id core.Hash
	err := members(raw, func(name, value []byte) (err error) {
		switch string(name) {
		case "toAddress":
			to = plain(value)
		case "data":
			content = value
		case "hash":
			err = hash(&id, value)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("sends: %w", err)
	}
	var address core.Address
	if err := address.UnmarshalText(to); err != nil {
		return fmt.Errorf("sends: toAddress: %w", err)
	}
	switch {
	case address == core.DexTradeContract && h.relay.IsZero():
		h.relay = id
		h.relayed, err = data(content)
	case address == core.DexFundContract:
		var settlement []byte
		settlement, err = data(content)
		h.settled = append(h.settled, settlement)
	}
	if err != nil {
		return fmt.Errorf("sends: data: %w", err)
	}
	return nil
}

// logEntry is a contract's event with its place, as far as the index has a use for it.
type logEntry struct {
	log    client.VMLog
	block  core.Hash
	height uint64
}

// UnmarshalJSON reads either generation of member names.
func (e *logEntry) UnmarshalJSON(raw []byte) error {
	err := members(raw, func(name, value []byte) (err error) {
		switch string(name) {
		case "vmlog", "log":
			if e.log.Topics == nil && !isNull(value) {
				err = e.content(value)
			}
		case "accountBlockHash":
			err = hash(&e.block, value)
		case "accountBlockHeight", "accountHeight":
			e.height, err = count(value)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("event: %w", err)
	}
	return nil
}

func (e *logEntry) content(raw []byte) error {
	return members(raw, func(name, value []byte) (err error) {
		switch string(name) {
		case "topics":
			if !isNull(value) {
				err = elements(value, e.topic)
			}
		case "data":
			e.log.Data, err = data(value)
		}
		return err
	})
}

func (e *logEntry) topic(value []byte) error {
	var topic core.Hash
	err := hash(&topic, value)
	e.log.Topics = append(e.log.Topics, topic)
	return err
}

// hash reads a hash; null leaves it as it is.
func hash(into *core.Hash, value []byte) error {
	if isNull(value) {
		return nil
	}
	return into.UnmarshalText(plain(value))
}

// count reads a height: a number, or a text of digits. null and the empty text are zero.
func count(value []byte) (uint64, error) {
	text := plain(value)
	if len(text) == 0 {
		return 0, nil
	}
	return strconv.ParseUint(string(text), 10, 64)
}

// data reads bytes in Base64; null is none.
func data(value []byte) ([]byte, error) {
	text := plain(value)
	if len(text) == 0 {
		return nil, nil
	}
	return base64.StdEncoding.AppendDecode(make([]byte, 0, base64.StdEncoding.DecodedLen(len(text))), text)
}
