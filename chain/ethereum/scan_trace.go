package ethereum

import (
	"errors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// Trace is one transaction's tree of calls (debug_traceBlockByHash with callTracer).
type wireTrace struct {
	TxHash *common.Hash
	Result *wireFrame
	Error  string
}

// Frame is a call, a creation or a self-destruction, and the calls below it.
type wireFrame struct {
	Type  string
	From  common.Address
	To    *common.Address
	Value *hexutil.Big
	Error string
	Calls []wireFrame
}

// maxDepth is one more than the EVM nests calls.
const maxDepth = 1025

var errDeep = errors.New("calls are nested deeper than the EVM nests them")

// scanTraces reads the traces of a block.
func scanTraces(s *scanner) []wireTrace { return list(s, 256, len(`{"error":""}`), scanTrace) }

func scanTrace(s *scanner, t *wireTrace) {
	s.Object(func(name []byte) {
		switch string(name) {
		case "txHash":
			t.TxHash = s.hash()
		case "result":
			if !s.Null() {
				t.Result = new(wireFrame)
				scanFrame(s, t.Result, 1)
			}
		case "error":
			t.Error = s.word()
		default:
			s.Skip()
		}
	})
}

func scanFrame(s *scanner, f *wireFrame, depth int) {
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
			f.Calls = list(s, 0, leastFrame, func(s *scanner, f *wireFrame) { scanFrame(s, f, depth+1) })
		default:
			s.Skip()
		}
	})
}
