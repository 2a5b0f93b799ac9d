package chaintest

// Call is a question the gateway asks its node.
type Call string

// The calls of the port that reach a node.
const (
	CallHead        Call = "head"
	CallBlock       Call = "block"
	CallBalance     Call = "balance"
	CallAccountHead Call = "tip"
	CallPrepare     Call = "prepare"
	CallBroadcast   Call = "broadcast"
	CallBalances    Call = "balances"
	CallEstimate    Call = "estimate"
	CallPool        Call = "pool"
)

// Fault is a node's wrong behaviour in one call.
type Fault int

// The faults. Fake is for Broadcast only, Stale for Head, Balance and Tip, Missing and Orphan for
// Block; elsewhere they are as None.
const (
	None    Fault = iota
	Refuse        // error, nothing done
	Cut           // done, but the answer is lost
	Fake          // a good answer, nothing done
	Stale         // an answer of some blocks ago
	Missing       // a node that lags behind: no such block
	Orphan        // a node that lags behind on a branch the others have left: its block of that height
)

// staleBy is the age of a stale answer in blocks.
const staleBy = 3

// Lie decides the fault of a call; n counts the calls of that kind from 1.
type Lie func(call Call, n int) Fault

// Honest is the lie of a good node.
func Honest(Call, int) Fault { return None }

// Always is one fault in every call of the kinds given; of all kinds when none is given.
func Always(f Fault, kinds ...Call) Lie {
	return func(call Call, _ int) Fault {
		if len(kinds) == 0 {
			return f
		}
		for _, k := range kinds {
			if k == call {
				return f
			}
		}
		return None
	}
}

// Times is one fault in the next n calls of a kind, and honesty afterwards.
func Times(n int, f Fault, kind Call) Lie {
	return func(call Call, _ int) Fault {
		if call != kind || n <= 0 {
			return None
		}
		n--
		return f
	}
}

// Lie sets how the node lies from now on. The function runs under the ledger's lock and must not
// call it.
func (c *Chain) Lie(l Lie) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lie = l
}

// Calls returns the number of the gateway's calls of a kind.
func (c *Chain) Calls(kind Call) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[kind]
}

func (c *Chain) fault(kind Call) Fault {
	c.calls[kind]++
	return c.lie(kind, c.calls[kind])
}
