-- +goose Up
-- An account of a pool sends the same asset to several others of the pool at a time; to each of them once.
DROP INDEX payments_sweep_once;
CREATE UNIQUE INDEX payments_sweep_once ON payments (chain, account, asset, payee) WHERE purpose = 'sweep' AND state IN ('queued','bound','held');
