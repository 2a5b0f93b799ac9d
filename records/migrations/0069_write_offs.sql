-- +goose Up
-- Incidents that operators have written off: what was paid for a transfer whose block has left the chain. The row goes when the block is back.
CREATE TABLE write_offs (
  transfer_id BIGINT NOT NULL PRIMARY KEY REFERENCES transfers (id), network TEXT NOT NULL, token TEXT NOT NULL,
  chain TEXT NOT NULL, asset TEXT NOT NULL, amount TEXT NOT NULL, actor TEXT NOT NULL, created_at BIGINT NOT NULL);
CREATE INDEX write_offs_token ON write_offs (network, token);
