-- +goose Up
-- What a passkey signs beside the challenge; empty for Ed25519 keys.
ALTER TABLE approvals ADD COLUMN authenticator_data TEXT NOT NULL DEFAULT '';
ALTER TABLE approvals ADD COLUMN client_data TEXT NOT NULL DEFAULT '';
