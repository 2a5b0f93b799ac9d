-- +goose Up
-- One number of an account may carry several payments: place is that of the payment in the transaction. The attempts belong to the number, so
-- they do not refer to one row of slots any more; the trigger attempts_open requires an open one. As in 0091, a constraint that takes more than
-- before changes no row.
PRAGMA writable_schema = ON;
UPDATE sqlite_master SET sql = replace(sql, ',
  FOREIGN KEY (chain, account, lineage, number) REFERENCES slots (chain, account, lineage, number)', '') WHERE type = 'table' AND name = 'attempts';
UPDATE sqlite_master SET sql = replace(replace(sql, '''receive'',''cold''', '''receive'',''cold'',''allow'''),
  'purpose IN (''sweep'',''gas'',''cold'')', 'purpose IN (''sweep'',''gas'',''cold'',''allow'')') WHERE type = 'table' AND name = 'payments';
PRAGMA writable_schema = RESET;

PRAGMA legacy_alter_table = ON;
CREATE TABLE slots_by_place (
  chain TEXT NOT NULL, account TEXT NOT NULL, lineage BIGINT NOT NULL, number BIGINT NOT NULL,
  payment_id BIGINT NOT NULL REFERENCES payments (id), gen INT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open','paid','void','forked')), tx TEXT NOT NULL DEFAULT '', block_hash TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL, changed_at BIGINT NOT NULL, mined_in TEXT NOT NULL DEFAULT '', place INT NOT NULL DEFAULT 0,
  PRIMARY KEY (chain, account, lineage, number, place), UNIQUE (payment_id, gen),
  FOREIGN KEY (chain, account) REFERENCES accounts (chain, account),
  CHECK ((state IN ('paid','void')) = (block_hash <> '')));
INSERT INTO slots_by_place (chain, account, lineage, number, payment_id, gen, state, tx, block_hash, created_at, changed_at, mined_in)
  SELECT chain, account, lineage, number, payment_id, gen, state, tx, block_hash, created_at, changed_at, mined_in FROM slots ORDER BY chain, account, lineage, number;
DROP TABLE slots;
ALTER TABLE slots_by_place RENAME TO slots;
PRAGMA legacy_alter_table = OFF;
CREATE UNIQUE INDEX slots_live ON slots (payment_id) WHERE state IN ('open','paid');
CREATE INDEX slots_undecided ON slots (chain, account, number) WHERE state IN ('open','forked');
CREATE INDEX slots_unmined ON slots (chain, account, number, place) WHERE state = 'open' AND mined_in = '';
CREATE INDEX slots_mined ON slots (chain, mined_in) WHERE state = 'open' AND mined_in <> '';

-- +goose StatementBegin
CREATE TRIGGER slots_no_delete BEFORE DELETE ON slots
BEGIN SELECT RAISE(ABORT, 'slots are never deleted'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER slots_binding BEFORE UPDATE ON slots
  WHEN OLD.chain IS NOT NEW.chain OR OLD.account IS NOT NEW.account OR OLD.lineage IS NOT NEW.lineage OR OLD.number IS NOT NEW.number OR
    OLD.place IS NOT NEW.place OR OLD.payment_id IS NOT NEW.payment_id OR OLD.gen IS NOT NEW.gen OR OLD.created_at IS NOT NEW.created_at
BEGIN SELECT RAISE(ABORT, 'the binding of a slot never changes'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER slots_outcome BEFORE UPDATE ON slots
  WHEN OLD.state IN ('paid','void') OR (OLD.state <> 'open' AND NEW.state = 'open')
BEGIN SELECT RAISE(ABORT, 'the outcome of a slot is written once'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER slots_start BEFORE INSERT ON slots
  WHEN NEW.state <> 'open' OR NOT EXISTS (SELECT 1 FROM payments p WHERE p.id = NEW.payment_id AND p.state = 'queued'
      AND p.gen = NEW.gen AND p.chain = NEW.chain AND p.account = NEW.account)
BEGIN SELECT RAISE(ABORT, 'a slot is opened for a queued payment of its account'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER slots_members BEFORE INSERT ON slots
  WHEN EXISTS (SELECT 1 FROM attempts a WHERE a.chain = NEW.chain AND a.account = NEW.account AND a.lineage = NEW.lineage AND a.number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'a number gets its payments before anything is signed for it'); END;
-- +goose StatementEnd

-- The outcome of each payment of a transaction that makes several, one letter each (chain.Outcome); empty for any other.
ALTER TABLE effects ADD COLUMN members TEXT NOT NULL DEFAULT '';
-- One at a time of an account and a token.
CREATE UNIQUE INDEX payments_allow_once ON payments (chain, account, asset) WHERE purpose = 'allow' AND state IN ('queued','bound','held');
