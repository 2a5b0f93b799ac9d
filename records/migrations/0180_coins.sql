-- +goose Up
-- Ledgers of coins (Bitcoin and its kin). A coin is in the block of the line that made it; block_hash never names another. account: the paying
-- account that may spend it. number: the open slot that uses it, as its own coin or by a signed attempt (signed); -1 for none. spent_in and
-- spent_by: the block of the line that spends it, and the transaction there.
CREATE TABLE coins (
  chain TEXT NOT NULL, out TEXT NOT NULL, tx TEXT NOT NULL, account TEXT NOT NULL, address TEXT NOT NULL, amount BIGINT NOT NULL CHECK (amount > 0),
  own INT NOT NULL, matures BIGINT NOT NULL, height BIGINT NOT NULL, block_hash TEXT NOT NULL,
  number BIGINT NOT NULL DEFAULT -1, signed INT NOT NULL DEFAULT 0, spent_in TEXT NOT NULL DEFAULT '', spent_by TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (chain, out));
CREATE INDEX coins_unspent ON coins (chain, account, amount) WHERE spent_in = '';
CREATE INDEX coins_of_slot ON coins (chain, account, number) WHERE number >= 0;
CREATE INDEX coins_of_block ON coins (chain, height);
CREATE INDEX coins_spent ON coins (chain, spent_in) WHERE spent_in <> '';
-- The transactions that made them, without witnesses, in base64: they prove the amounts to a signer.
CREATE TABLE coin_txs (chain TEXT NOT NULL, tx TEXT NOT NULL, raw TEXT NOT NULL, PRIMARY KEY (chain, tx));

-- The coin that every transaction of the slot spends; empty where accounts have numbers. One number has it, for good.
ALTER TABLE slots ADD COLUMN coin TEXT NOT NULL DEFAULT '';
CREATE UNIQUE INDEX slots_anchor ON slots (chain, coin) WHERE coin <> '' AND place = 0;
-- Nothing follows from a transfer before this height is final.
ALTER TABLE transfers ADD COLUMN matures BIGINT NOT NULL DEFAULT 0;
