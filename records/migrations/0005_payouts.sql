-- +goose Up
-- A wallet's page finds what it shows of a payout in the index alone.
DROP INDEX payments_transfer;
CREATE INDEX payments_of_transfer ON payments (transfer_id, purpose, state, tx, id);
