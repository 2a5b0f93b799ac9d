package wire

import (
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// Trace is one transaction's tree of calls (debug_traceBlockByHash with callTracer).
type Trace struct {
	TxHash *common.Hash
	Result *Frame
	Error  string
}

// Frame is a call, a creation or a self-destruction, and the calls below it.
type Frame struct {
	Type  string
	From  common.Address
	To    *common.Address
	Value *hexutil.Big
	Error string
	Calls []Frame
}

// maxDepth is one more than the EVM nests calls.
const maxDepth = 1025

var errDeep = errors.New("calls are nested deeper than the EVM nests them")

// ScanTraces reads the traces of a block.
func ScanTraces(s *Scanner) []Trace { return list(s, 256, len(`{"error":""}`), scanTrace) }

func scanTrace(s *Scanner, t *Trace) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "txHash":
			t.TxHash = s.hash()
		case "result":
			if !s.Null() {
				t.Result = new(Frame)
				scanFrame(s, t.Result, 1)
			}
		case "error":
			t.Error = s.word()
		default:
			s.Skip()
		}
	})
}

func scanFrame(s *Scanner, f *Frame, depth int) {
	if depth > maxDepth {
		s.Fail(errDeep)
		return
	}
	s.Object(func(name []byte) {
		switch string(name) {
		case "type":
			f.Type = s.word()
		case "from":
			s.fixed(f.From[:])
		case "to":
			f.To = s.address()
		case "value":
			f.Value = s.big()
		case "error":
			f.Error = s.word()
		case "calls":
			f.Calls = list(s, 0, leastFrame, func(s *Scanner, f *Frame) { scanFrame(s, f, depth+1) })
		default:
			s.Skip()
		}
	})
}
