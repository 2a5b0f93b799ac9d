package node

import (
	"runtime"
	"sync/atomic"
)

// callers counts those inside Submit. What is cheaper to do for many together (signatures, writes to the disk) lets the others
// come before it begins.
type callers struct{ inside atomic.Int32 }

// letIn lets whoever could run do so. A single caller waits for nobody: it would only wake an idle processor.
func (c *callers) letIn() {
	if c.inside.Load() > 1 {
		runtime.Gosched()
	}
}
