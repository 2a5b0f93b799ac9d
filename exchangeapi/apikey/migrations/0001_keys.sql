-- +goose Up

-- API keys. The secret is AES-GCM text; an account has one key at a time that is not revoked.
CREATE TABLE api_keys (
    api_key    TEXT   PRIMARY KEY,
    network    TEXT   NOT NULL,
    owner      TEXT   NOT NULL,
    agent      TEXT   NOT NULL,
    secret     TEXT   NOT NULL,
    call_limit BIGINT NOT NULL CHECK (call_limit >= 0), -- private calls per cycle; 0: the configuration's
    created    BIGINT NOT NULL,                         -- Unix milliseconds
    revoked    BIGINT                                   -- Unix milliseconds
);
CREATE UNIQUE INDEX api_keys_owner ON api_keys (network, owner) WHERE revoked IS NULL;

-- The cycle of private calls that a key is in.
CREATE TABLE api_cycles (
    api_key TEXT   PRIMARY KEY REFERENCES api_keys (api_key),
    started BIGINT NOT NULL, -- Unix milliseconds
    calls   BIGINT NOT NULL CHECK (calls > 0)
);

-- What was signed and may be used once: private requests and wallets' proofs, until they are too old anyway.
CREATE TABLE api_once (
    digest  TEXT   PRIMARY KEY,
    expires BIGINT NOT NULL -- Unix milliseconds
);
CREATE INDEX api_once_expires ON api_once (expires);

-- A known text under the key that secrets are encrypted with.
CREATE TABLE api_seal (
    id   BIGINT PRIMARY KEY CHECK (id = 1),
    seal TEXT   NOT NULL
);
