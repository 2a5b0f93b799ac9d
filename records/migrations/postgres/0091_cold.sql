-- +goose Up
-- Payments to the cold address.
ALTER TABLE payments DROP CONSTRAINT payments_purpose_check;
ALTER TABLE payments ADD CONSTRAINT payments_purpose_check CHECK (purpose IN ('credit','refund','sweep','gas','receive','cold'));
ALTER TABLE payments DROP CONSTRAINT payments_check;
ALTER TABLE payments ADD CONSTRAINT payments_check CHECK ((purpose IN ('sweep','gas','cold')) = (transfer_id IS NULL));
-- One of an asset waits at a time. What has a slot is looked for by the other one: an operator may settle what somebody sent by hand beside it.
CREATE UNIQUE INDEX payments_cold_once ON payments (chain, asset) WHERE purpose = 'cold' AND state IN ('queued','held');
CREATE INDEX payments_cold_open ON payments (chain, asset, id) WHERE purpose = 'cold' AND state IN ('queued','bound','held');
-- Payments between our own accounts and to the cold address that operators have ordered.
CREATE TABLE moves (payment_id BIGINT PRIMARY KEY REFERENCES payments (id), actor TEXT NOT NULL, why TEXT NOT NULL, created_at BIGINT NOT NULL);
