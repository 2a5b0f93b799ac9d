package ethereum

import (
	"encoding/json"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// How the shapes of wire.go are read by the Scanner: the same names, the same result.

// hash reads 32 bytes; null is nil.
func (s *scanner) hash() *common.Hash {
	if s.Null() {
		return nil
	}
	var h common.Hash
	s.fixed(h[:])
	return &h
}

// address reads 20 bytes; null is nil.
func (s *scanner) address() *common.Address {
	if s.Null() {
		return nil
	}
	var a common.Address
	s.fixed(a[:])
	return &a
}

// What an element of a list is written in at least, in bytes: an empty object of three would take a
// hundred times its size in memory.
const (
	leastHash        = len(`null`)
	leastTransaction = 128
	leastReceipt     = 128
	leastLog         = 64
	leastAccess      = 48
	leastFrame       = 64
)

// list reads an array, or null as none.
func list[T any](s *scanner, room, least int, element func(*scanner, *T)) []T {
	if s.Null() {
		return nil
	}
	all := []T{}
	s.Array(func() {
		start := s.at
		if cap(all) == 0 { // an empty list needs no room
			all = make([]T, 0, room)
		}
		all = append(all, *new(T))
		element(s, &all[len(all)-1])
		if s.err == nil && s.at-start < least {
			s.Fail(errShort)
		}
	})
	return all
}

// scanBlock reads a block with its transactions; nil for null.
func scanBlock(s *scanner) *wireBlock {
	if s.Null() {
		return nil
	}
	b := new(wireBlock)
	s.Object(func(name []byte) {
		if !b.scanBody(s, name) && !b.scanForks(s, name) {
			s.Skip()
		}
	})
	return b
}

// scanBody reads a member that all blocks have; false if it is none.
func (b *wireBlock) scanBody(s *scanner, name []byte) bool {
	switch string(name) {
	case "hash":
		b.Hash = s.hash()
	case "parentHash":
		b.ParentHash = s.hash()
	case "number":
		b.Number = s.number()
	case "timestamp":
		b.Time = s.plain()
	case "sha3Uncles":
		s.fixed(b.UncleHash[:])
	case "miner":
		s.fixed(b.Coinbase[:])
	case "stateRoot":
		s.fixed(b.Root[:])
	case "transactionsRoot":
		s.fixed(b.TxHash[:])
	case "receiptsRoot":
		s.fixed(b.ReceiptHash[:])
	case "logsBloom":
		s.fixed(b.Bloom[:])
	case "difficulty":
		b.Difficulty = s.big()
	case "gasLimit":
		b.GasLimit = s.plain()
	case "gasUsed":
		b.GasUsed = s.plain()
	case "extraData":
		b.Extra = s.Bytes()
	case "mixHash":
		s.fixed(b.MixDigest[:])
	case "nonce":
		s.fixed(b.Nonce[:])
	case "transactions":
		b.Transactions = list(s, 256, leastTransaction, scanTransaction)
	default:
		return false
	}
	return true
}

// scanForks reads a member that came with a fork; false if it is none.
func (b *wireBlock) scanForks(s *scanner, name []byte) bool {
	switch string(name) {
	case "baseFeePerGas":
		b.BaseFee = s.big()
	case "withdrawalsRoot":
		b.WithdrawalsHash = s.hash()
	case "blobGasUsed":
		b.BlobGasUsed = s.number()
	case "excessBlobGas":
		b.ExcessBlobGas = s.number()
	case "parentBeaconBlockRoot":
		b.ParentBeaconRoot = s.hash()
	case "requestsHash":
		b.RequestsHash = s.hash()
	case "blockAccessListHash":
		b.AccessListHash = s.hash()
	case "slotNumber":
		b.SlotNumber = s.number()
	default:
		return false
	}
	return true
}

func scanTransaction(s *scanner, t *wireTx) {
	s.Object(func(name []byte) {
		if !t.scanMessage(s, name) && !t.scanRest(s, name) {
			s.Skip()
		}
	})
}

// scanMessage reads a member that all transactions have; false if it is none.
func (t *wireTx) scanMessage(s *scanner, name []byte) bool {
	switch string(name) {
	case "type":
		t.Type = s.plain()
	case "hash":
		s.fixed(t.Hash[:])
	case "from":
		s.fixed(t.From[:])
	case "to":
		t.To = s.address()
	case "nonce":
		t.Nonce = s.plain()
	case "gas":
		t.Gas = s.plain()
	case "gasPrice":
		t.GasPrice = s.big()
	case "value":
		t.Value = s.big()
	case "input":
		t.Input = s.Bytes()
	case "chainId":
		t.ChainID = s.big()
	case "v":
		t.V = s.big()
	case "r":
		t.R = s.big()
	case "s":
		t.S = s.big()
	default:
		return false
	}
	return true
}

// scanRest reads a member of typed transactions; false if it is none.
func (t *wireTx) scanRest(s *scanner, name []byte) bool {
	switch string(name) {
	case "yParity":
		t.YParity = s.number()
	case "maxPriorityFeePerGas":
		t.TipCap = s.big()
	case "maxFeePerGas":
		t.FeeCap = s.big()
	case "maxFeePerBlobGas":
		t.BlobFeeCap = s.big()
	case "blobVersionedHashes":
		t.BlobHashes = list(s, 6, leastHash, scanHash)
	case "accessList":
		t.AccessList = list(s, 0, leastAccess, scanAccess)
	case "authorizationList":
		t.AuthList = scanAuthorizations(s)
	default:
		return false
	}
	return true
}

func scanHash(s *scanner, h *common.Hash) { s.fixed(h[:]) }

func scanAccess(s *scanner, entry *types.AccessTuple) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "address":
			s.fixed(entry.Address[:])
		case "storageKeys":
			entry.StorageKeys = list(s, 0, leastHash, scanHash)
		default:
			s.Skip()
		}
	})
}

// scanAuthorizations leaves these rare entries to go-ethereum's own decoder.
func scanAuthorizations(s *scanner) []types.SetCodeAuthorization {
	s.Peek()
	start := s.at
	s.Skip()
	var all []types.SetCodeAuthorization
	if err := json.Unmarshal(s.text[start:s.at], &all); err != nil {
		s.Fail(err)
	}
	return all
}

// scanReceipts reads the receipts of a block.
func scanReceipts(s *scanner) []wireReceipt { return list(s, 256, leastReceipt, scanReceipt) }

// scanReceipt reads one; null leaves it as it is.
func scanReceipt(s *scanner, r *wireReceipt) {
	if s.Null() {
		return
	}
	s.Object(func(name []byte) {
		switch string(name) {
		case "type":
			r.Type = s.plain()
		case "transactionHash":
			r.TxHash = s.hash()
		case "root":
			r.PostState = s.Bytes()
		case "status":
			r.Status = s.number()
		case "cumulativeGasUsed":
			r.Cumulative = s.plain()
		case "logsBloom":
			s.fixed(r.Bloom[:])
		case "logs":
			r.Logs = list(s, 4, leastLog, scanLog)
		case "effectiveGasPrice":
			r.Price = s.big()
		case "l1Fee":
			r.L1Fee = s.big()
		default:
			s.Skip()
		}
	})
}

func scanLog(s *scanner, l *wireLog) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "address":
			s.fixed(l.Address[:])
		case "topics":
			l.Topics = list(s, 4, leastHash, scanHash)
		case "data":
			l.Data = s.Bytes()
		default:
			s.Skip()
		}
	})
}
