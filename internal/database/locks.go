package database

// Numbers of PostgreSQL's advisory locks. Several of the program's databases may be one, so no two
// are equal.
const (
	LockRecordsWriter = 7310293845 // in a transaction: one writer of the records at a time
	LockGuardHolder   = 7310293846 // of a session: the signer that holds the sign-guard
	LockGuardMake     = 7310293847 // in a transaction: making the sign-guard's tables
	LockIndexWriter   = 7310293848 // in a transaction: one writer of the index at a time
	LockIndexFollower = 7310293849 // of a session: the process that follows the chain for the index
)

// LockDelegation is the first of the two numbers of a session's lock on a delegation address: the
// process that extends its account chain. PostgreSQL keeps locks of two numbers apart from the
// others.
const LockDelegation = 1
