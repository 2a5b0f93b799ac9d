-- +goose Up
-- What clients have taken from a limit of all processes together (internal/database/limit.go), and the open challenges for passkeys, each for one use.
CREATE TABLE client_limits (client TEXT PRIMARY KEY, full_at BIGINT NOT NULL);
CREATE INDEX client_limits_full ON client_limits (full_at);
CREATE TABLE console_challenges (digest TEXT PRIMARY KEY, user_name TEXT NOT NULL, ends_at BIGINT NOT NULL);
CREATE INDEX console_challenges_end ON console_challenges (ends_at);
