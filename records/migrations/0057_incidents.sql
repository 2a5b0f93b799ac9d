-- +goose Up
-- What happened to a decided transfer whose block has left the chain; empty for all others.
ALTER TABLE transfers ADD COLUMN incident TEXT NOT NULL DEFAULT '';
CREATE INDEX transfers_incident ON transfers (chain, id) WHERE incident <> '';
