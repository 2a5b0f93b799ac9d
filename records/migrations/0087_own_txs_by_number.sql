-- +goose Up
-- What our accounts did is ordered by account and number, in which it comes, not by hash: rows ordered by hash are written to a page of their own each.
CREATE TABLE effects_by_number (
  chain TEXT NOT NULL, tx TEXT NOT NULL, block_hash TEXT NOT NULL, height BIGINT NOT NULL, account TEXT NOT NULL, number BIGINT NOT NULL,
  ok INT NOT NULL CHECK (ok IN (0,1)), void INT NOT NULL CHECK (void IN (0,1) AND (void = 0 OR ok = 0)), fee TEXT NOT NULL, settled INT NOT NULL DEFAULT 0 CHECK (settled IN (0,1)),
  known INT NOT NULL DEFAULT 0 CHECK (known IN (0,1)), payee TEXT NOT NULL DEFAULT '', value TEXT,
  PRIMARY KEY (chain, account, number, tx, block_hash));
INSERT INTO effects_by_number (chain, tx, block_hash, height, account, number, ok, void, fee, settled, known, payee, value)
  SELECT chain, tx, block_hash, height, account, number, ok, void, fee, settled, known, payee, value FROM effects ORDER BY chain, account, number;
DROP TABLE effects;
ALTER TABLE effects_by_number RENAME TO effects;
CREATE INDEX effects_height ON effects (chain, height);
CREATE INDEX effects_unsettled ON effects (chain, settled, height) WHERE settled = 0;
CREATE INDEX effects_unknown ON effects (chain, account, number) WHERE known = 0;
CREATE INDEX effects_unknown_hash ON effects (chain, tx) WHERE known = 0;
