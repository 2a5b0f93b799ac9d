-- +goose Up
-- A wallet's page finds in the index alone which of its records are as they were when last read.
DROP INDEX transfers_owner;
CREATE INDEX transfers_of_owner ON transfers (network, token, owner, direction, id, state, block_at);
