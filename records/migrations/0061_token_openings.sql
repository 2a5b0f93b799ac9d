-- +goose Up
-- What our accounts on a source chain held of a token before its books began, as the first comparison found it, and what operators have written off
-- since. What they must hold after a final block is opening + all that came by it - all that was paid by it - lost.
CREATE TABLE token_openings (
  chain TEXT NOT NULL, asset TEXT NOT NULL, opening TEXT NOT NULL, lost TEXT NOT NULL DEFAULT '0', height BIGINT NOT NULL, PRIMARY KEY (chain, asset));
