-- +goose Up
-- What approvers have signed of payments. The signer verifies it; the records only hand it over.
CREATE TABLE approvals (
  payment_id BIGINT NOT NULL REFERENCES payments (id), approver TEXT NOT NULL, expires BIGINT NOT NULL, nonce TEXT NOT NULL, signature TEXT NOT NULL,
  actor TEXT NOT NULL, created_at BIGINT NOT NULL,
  PRIMARY KEY (payment_id, approver));

-- What a part of the running daemon said last of something that only it knows, in JSON.
CREATE TABLE reports (name TEXT PRIMARY KEY, report TEXT NOT NULL, at BIGINT NOT NULL);
