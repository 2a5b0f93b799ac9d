package chain

// Outgoing is what a transaction of an account of ours asks its ledger for, as its own signed bytes say. An adapter reads it for the
// operators' recovery (Describe): whether it was also done, the OwnTx in its block tells.
type Outgoing struct {
	Asset  Asset
	To     string // empty when it pays nobody: a receive, or a call that is no payment
	Amount Amount
	Label  string
	Source string // of a receive: hash of the transfer that it takes in; everything else is empty then
}
