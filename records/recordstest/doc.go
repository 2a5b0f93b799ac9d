// Package recordstest tests a store of package records: one suite that runs the same on SQLite and on PostgreSQL, and the databases for it.
//
// It is for tests only. Other packages take Open for a fresh store and the steps of this package to bring records into a state.
package recordstest
