-- +goose Up

-- The newest block of each delegation address that a process was about to send, so that the processes on a server extend one chain. A row is written before
-- its block is sent, and put back when the chain has refused the block.
CREATE TABLE api_heads (
    network TEXT   NOT NULL,
    agent   TEXT   NOT NULL,
    height  BIGINT NOT NULL,
    hash    TEXT   NOT NULL, -- 64 hexadecimal digits
    stored  BIGINT NOT NULL, -- Unix milliseconds of the server's clock
    taken   INT    NOT NULL, -- 1 once a node has accepted the block
    PRIMARY KEY (network, agent)
);

-- What clients have taken from a limit of all processes together (internal/database/limit.go).
CREATE TABLE api_limits (
    client  TEXT   PRIMARY KEY, -- a digest
    full_at BIGINT NOT NULL     -- Unix microseconds of the server's clock
);
CREATE INDEX api_limits_full ON api_limits (full_at);
