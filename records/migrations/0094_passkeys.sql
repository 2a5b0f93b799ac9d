-- +goose Up
-- The passkeys of the console's users, by their ids. A public key stands here as configurations name it.
CREATE TABLE console_passkeys (
  id TEXT PRIMARY KEY, user_name TEXT NOT NULL REFERENCES console_users (name) ON DELETE CASCADE, label TEXT NOT NULL, public_key TEXT NOT NULL,
  sign_count BIGINT NOT NULL, created_at BIGINT NOT NULL, used_at BIGINT NOT NULL DEFAULT 0);
CREATE INDEX console_passkeys_of ON console_passkeys (user_name, created_at);
