-- +goose Up
-- Payments that bring coins of an account together. As in 0091, a constraint that takes more than before changes no row.
PRAGMA writable_schema = ON;
UPDATE sqlite_master SET sql = replace(sql, '''cold'',''allow''', '''cold'',''allow'',''merge''') WHERE type = 'table' AND name = 'payments';
PRAGMA writable_schema = RESET;
-- One at a time of an account, and one child of each stuck transaction.
CREATE UNIQUE INDEX payments_merge_once ON payments (chain, account) WHERE purpose = 'merge' AND source = '' AND state IN ('queued','bound','held');
CREATE UNIQUE INDEX payments_child_once ON payments (chain, account, source) WHERE purpose = 'merge' AND source <> '';
