-- +goose Up
-- Cancellations that recovery signs at numbers which our records forgot and the sign-guard remembers. Stored before they are sent, like attempts.
CREATE TABLE cancels (
  chain TEXT NOT NULL, account TEXT NOT NULL, number BIGINT NOT NULL, seq INT NOT NULL,
  hash TEXT NOT NULL, raw TEXT NOT NULL, tip TEXT NOT NULL, cap TEXT NOT NULL, head BIGINT NOT NULL, created_at BIGINT NOT NULL,
  PRIMARY KEY (chain, account, number, seq), UNIQUE (chain, hash),
  FOREIGN KEY (chain, account) REFERENCES accounts (chain, account));
