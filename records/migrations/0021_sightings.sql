-- +goose Up
-- What comparing balances has credited, by account: every transfer of coin that a block shows asks for it.
CREATE INDEX transfers_audited ON transfers (chain, account, height) WHERE ref LIKE 'audit:%';
