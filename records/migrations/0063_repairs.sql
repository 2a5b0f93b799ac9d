-- +goose Up
-- Where operators ordered refunds to go when not to their senders: a refund to anybody else stops the payouts, as rows that do not fit.
CREATE TABLE refund_payees (
  transfer_id BIGINT NOT NULL REFERENCES transfers (id), payee TEXT NOT NULL CHECK (payee <> ''), actor TEXT NOT NULL, created_at BIGINT NOT NULL,
  PRIMARY KEY (transfer_id, payee));

-- Blocks that an operator has ordered to be read and booked again, each by the hash that was shown to him. The daemon does it.
CREATE TABLE rescans (
  chain TEXT NOT NULL, height BIGINT NOT NULL, hash TEXT NOT NULL, state TEXT NOT NULL CHECK (state IN ('open','done','failed')),
  detail TEXT NOT NULL DEFAULT '', actor TEXT NOT NULL, created_at BIGINT NOT NULL, changed_at BIGINT NOT NULL,
  PRIMARY KEY (chain, height));
CREATE INDEX rescans_open ON rescans (chain, height) WHERE state = 'open';
