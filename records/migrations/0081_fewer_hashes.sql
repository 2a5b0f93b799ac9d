-- +goose Up
-- Rows ordered by hash are written to a page of their own each: what UNIQUE (chain, hash) and UNIQUE (chain, ref) find is not kept twice, and what
-- paid a payment is found by its attempt.
DROP INDEX attempts_hash;
DROP INDEX transfers_ref;
DROP INDEX payments_by_tx;
