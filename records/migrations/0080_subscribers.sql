-- +goose Up
-- Who is told what stands in the history: how far each is, and whether it takes it. And the conditions that people were told of.
CREATE TABLE subscribers (
  name TEXT PRIMARY KEY, seq BIGINT NOT NULL, attempts INT NOT NULL DEFAULT 0, fault TEXT NOT NULL DEFAULT '', next_at BIGINT NOT NULL DEFAULT 0, changed_at BIGINT NOT NULL);
CREATE TABLE told_conditions (
  kind TEXT NOT NULL, chain TEXT NOT NULL, network TEXT NOT NULL, token TEXT NOT NULL, direction TEXT NOT NULL, subject TEXT NOT NULL,
  stops INT NOT NULL, detail TEXT NOT NULL, since BIGINT NOT NULL,
  PRIMARY KEY (kind, chain, network, token, direction, subject));
