-- +goose Up
-- Of blocks of dexFund, cancels is the order whose cancel it passed on to dexTrade. Few blocks relay or cancel anything.
ALTER TABLE ex_blocks ADD COLUMN cancels TEXT NOT NULL DEFAULT '';
CREATE INDEX ex_blocks_cancels ON ex_blocks (cancels) WHERE cancels <> '';
DROP INDEX ex_blocks_relay;
CREATE INDEX ex_blocks_relay ON ex_blocks (relay) WHERE relay <> '';
