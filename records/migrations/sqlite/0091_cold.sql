-- +goose Up
-- Payments to the cold address. A CHECK that takes more than before changes no row, so that its text alone is changed
-- (https://www.sqlite.org/lang_altertable.html, section 7), and the table is not written anew.
PRAGMA writable_schema = ON;
UPDATE sqlite_master SET sql = replace(replace(sql, '''sweep'',''gas'',''receive''', '''sweep'',''gas'',''receive'',''cold'''),
  'purpose IN (''sweep'',''gas'')', 'purpose IN (''sweep'',''gas'',''cold'')') WHERE type = 'table' AND name = 'payments';
PRAGMA writable_schema = RESET;
-- One of an asset waits at a time. What has a slot is looked for by the other one: an operator may settle what somebody sent by hand beside it.
CREATE UNIQUE INDEX payments_cold_once ON payments (chain, asset) WHERE purpose = 'cold' AND state IN ('queued','held');
CREATE INDEX payments_cold_open ON payments (chain, asset, id) WHERE purpose = 'cold' AND state IN ('queued','bound','held');
-- Payments between our own accounts and to the cold address that operators have ordered.
CREATE TABLE moves (payment_id BIGINT PRIMARY KEY REFERENCES payments (id), actor TEXT NOT NULL, why TEXT NOT NULL, created_at BIGINT NOT NULL);
