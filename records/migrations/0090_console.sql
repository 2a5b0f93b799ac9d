-- +goose Up
-- Who may sign in to the operators' console, and who is signed in. A token stands here by its hash.
CREATE TABLE console_users (
  name TEXT PRIMARY KEY, role TEXT NOT NULL, password TEXT NOT NULL, totp TEXT NOT NULL, totp_step BIGINT NOT NULL DEFAULT 0, created_at BIGINT NOT NULL);
CREATE TABLE console_sessions (
  token TEXT PRIMARY KEY, user_name TEXT NOT NULL REFERENCES console_users (name) ON DELETE CASCADE, csrf TEXT NOT NULL,
  seen_at BIGINT NOT NULL, ends_at BIGINT NOT NULL);
CREATE INDEX console_sessions_of ON console_sessions (user_name);
CREATE INDEX console_sessions_end ON console_sessions (ends_at);
