-- +goose Up
-- What a running daemon sees and no row tells: whether the nodes answer and agree, whether its own loops get on, whether what is held covers
-- what is owed. Each part of the daemon (source) replaces what it has told before. stops: money does not move because of it.
CREATE TABLE conditions (
  source TEXT NOT NULL, kind TEXT NOT NULL, subject TEXT NOT NULL, chain TEXT NOT NULL, network TEXT NOT NULL, token TEXT NOT NULL,
  stops INT NOT NULL CHECK (stops IN (0,1)), detail TEXT NOT NULL, since BIGINT NOT NULL, seen BIGINT NOT NULL,
  PRIMARY KEY (source, kind, subject));

-- When a part of a daemon was last seen at work, by the database's clock.
CREATE TABLE heartbeats (role TEXT PRIMARY KEY, at BIGINT NOT NULL);

-- Stopped accounts that are no user's deposit address: every page of the gateway asks for them.
CREATE INDEX accounts_stopped_ours ON accounts (chain, seq) WHERE kind <> 'deposit' AND state IN ('halted','recovering');
