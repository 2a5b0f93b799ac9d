-- +goose Up
-- Payments that bring coins of an account together.
ALTER TABLE payments DROP CONSTRAINT payments_purpose_check;
ALTER TABLE payments ADD CONSTRAINT payments_purpose_check CHECK (purpose IN ('credit','refund','sweep','gas','receive','cold','allow','merge'));
ALTER TABLE payments DROP CONSTRAINT payments_check;
ALTER TABLE payments ADD CONSTRAINT payments_check CHECK ((purpose IN ('sweep','gas','cold','allow','merge')) = (transfer_id IS NULL));
-- One at a time of an account, and one child of each stuck transaction.
CREATE UNIQUE INDEX payments_merge_once ON payments (chain, account) WHERE purpose = 'merge' AND source = '' AND state IN ('queued','bound','held');
CREATE UNIQUE INDEX payments_child_once ON payments (chain, account, source) WHERE purpose = 'merge' AND source <> '';
