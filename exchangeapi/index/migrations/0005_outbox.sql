-- +goose Up
-- The changes of the newest transactions, for the other processes on a database of PostgreSQL; SQLite leaves it empty. seq has no gaps: the lock of the
-- writers orders the transactions. data is JSON; empty: read the tables again.
CREATE TABLE ex_outbox (seq BIGINT PRIMARY KEY, data TEXT NOT NULL);
