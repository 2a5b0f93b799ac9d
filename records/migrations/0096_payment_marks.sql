-- +goose Up
-- What tells a payment without a transfer from any other that had its number: records that are restored give numbers again.
ALTER TABLE payments ADD COLUMN mark TEXT NOT NULL DEFAULT '';
