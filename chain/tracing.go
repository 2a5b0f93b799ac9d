package chain

// Tracing states whether a block was searched for native coin that contracts moved.
type Tracing uint8

const (
	// TracingUnneeded: no contract can have moved coin, the chain logs such movements, or tracing
	// is off.
	TracingUnneeded Tracing = iota
	// Traced: enough nodes traced the block.
	Traced
	// Untraced: no node could trace the block. Only balances show what contracts sent in it.
	Untraced
)

// TracingLoss describes why blocks cannot be traced now. The zero value means that nothing is
// missing.
type TracingLoss struct {
	Height   uint64 // of the last block that needed a trace and got none
	Why      string
	Required bool // the configuration does not let such a block pass
}
