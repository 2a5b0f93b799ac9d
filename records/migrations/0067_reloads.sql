-- +goose Up
-- Each reading of the configuration file by the daemon: ordered by an operator, asked for by a signal, or at a start. fingerprint is of what the
-- file says, report tells in JSON what was taken, what takes a restart, or why nothing was taken.
CREATE TABLE reloads (
  id BIGINT PRIMARY KEY, state TEXT NOT NULL CHECK (state IN ('open','done','refused')), fingerprint TEXT NOT NULL DEFAULT '', report TEXT NOT NULL DEFAULT '',
  actor TEXT NOT NULL, created_at BIGINT NOT NULL, changed_at BIGINT NOT NULL);
CREATE INDEX reloads_open ON reloads (id) WHERE state = 'open';
CREATE INDEX reloads_done ON reloads (id) WHERE state = 'done';

-- A condition can be about one direction of a token.
ALTER TABLE conditions ADD COLUMN direction TEXT NOT NULL DEFAULT '';
