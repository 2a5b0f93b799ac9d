-- +goose Up
-- One text for SQLite and PostgreSQL. Ids are given by the writer (one writing transaction at a time), amounts are decimal TEXT,
-- times are Unix milliseconds, flags are 0 or 1. The words are those of docs/records.md.

CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);

CREATE TABLE leases (
  role TEXT PRIMARY KEY, holder TEXT NOT NULL, epoch BIGINT NOT NULL, expires_at BIGINT NOT NULL);

CREATE TABLE cursors (
  chain TEXT PRIMARY KEY, height BIGINT NOT NULL, hash TEXT NOT NULL,
  head_height BIGINT NOT NULL, head_at BIGINT NOT NULL, final_height BIGINT NOT NULL, final_hash TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('ok','halted')), why TEXT NOT NULL DEFAULT '');

CREATE TABLE blocks (
  chain TEXT NOT NULL, hash TEXT NOT NULL, height BIGINT NOT NULL, parent TEXT NOT NULL, at BIGINT NOT NULL,
  canonical INT NOT NULL CHECK (canonical IN (0,1)), PRIMARY KEY (chain, hash));
CREATE UNIQUE INDEX blocks_line ON blocks (chain, height) WHERE canonical = 1;

-- Our own accounts on every ledger. lineage, base and next are the local end of what we have bound; they stay 0 for accounts that never pay.
-- seq grows with every row, so that a watch set finds exactly the rows that it has not loaded yet.
CREATE TABLE accounts (
  chain TEXT NOT NULL, account TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('deposit','shared','hot','gas','gateway')),
  network TEXT NOT NULL, key_path TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('new','ok','halted','recovering')), why TEXT NOT NULL DEFAULT '',
  lineage BIGINT NOT NULL DEFAULT 0, base BIGINT NOT NULL DEFAULT 0, next BIGINT NOT NULL DEFAULT 0,
  seq BIGINT NOT NULL UNIQUE, created_at BIGINT NOT NULL, PRIMARY KEY (chain, account), UNIQUE (chain, key_path));
CREATE INDEX accounts_new ON accounts (chain, seq);

CREATE TABLE bindings (
  id BIGINT PRIMARY KEY, network TEXT NOT NULL, type INT NOT NULL CHECK (type IN (0,1)), owner TEXT NOT NULL,
  chain TEXT NOT NULL, address TEXT NOT NULL, label TEXT NOT NULL, path_index BIGINT, created_at BIGINT NOT NULL,
  UNIQUE (network, type, owner), UNIQUE (chain, path_index),
  CHECK ((type = 0) = (label = '')), CHECK ((type = 0) = (path_index IS NOT NULL)));
CREATE UNIQUE INDEX bindings_address ON bindings (chain, address) WHERE type = 0;
CREATE UNIQUE INDEX bindings_label ON bindings (network, label) WHERE type = 1;

CREATE TABLE transfers (
  id BIGINT PRIMARY KEY, network TEXT NOT NULL, direction TEXT NOT NULL CHECK (direction IN ('deposit','withdrawal','funding')),
  chain TEXT NOT NULL, ref TEXT NOT NULL, tx TEXT NOT NULL, sender TEXT NOT NULL, account TEXT NOT NULL, asset TEXT NOT NULL, amount TEXT NOT NULL,
  memo TEXT NOT NULL, failed INT NOT NULL CHECK (failed IN (0,1)),
  token TEXT NOT NULL, owner TEXT NOT NULL, payee TEXT NOT NULL, payee_label TEXT NOT NULL, net TEXT NOT NULL, fee TEXT NOT NULL, policy TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('seen','final','orphaned','held','refused')), reason TEXT NOT NULL DEFAULT '',
  height BIGINT NOT NULL, block_hash TEXT NOT NULL, block_at BIGINT NOT NULL, seen_at BIGINT NOT NULL, changed_at BIGINT NOT NULL,
  UNIQUE (chain, ref));
CREATE INDEX transfers_owner ON transfers (network, token, owner, direction, id, state);
CREATE INDEX transfers_state ON transfers (chain, state, height);
CREATE INDEX transfers_tx ON transfers (tx);
CREATE INDEX transfers_ref ON transfers (ref);

CREATE TABLE payments (
  id BIGINT PRIMARY KEY, transfer_id BIGINT REFERENCES transfers (id),
  purpose TEXT NOT NULL CHECK (purpose IN ('credit','refund','sweep','gas','receive')),
  network TEXT NOT NULL, token TEXT NOT NULL, chain TEXT NOT NULL, account TEXT NOT NULL, asset TEXT NOT NULL, amount TEXT NOT NULL,
  payee TEXT NOT NULL, payee_label TEXT NOT NULL, source TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('queued','bound','paid','held','void')), reason TEXT NOT NULL DEFAULT '', gen INT NOT NULL DEFAULT 0,
  tx TEXT NOT NULL DEFAULT '', created_at BIGINT NOT NULL, changed_at BIGINT NOT NULL,
  FOREIGN KEY (chain, account) REFERENCES accounts (chain, account),
  CHECK ((purpose IN ('sweep','gas')) = (transfer_id IS NULL)), CHECK ((state = 'paid') = (tx <> '')));
-- A transfer is credited or refunded, once; it is received once.
CREATE UNIQUE INDEX payments_once ON payments (transfer_id) WHERE purpose IN ('credit','refund') AND state <> 'void';
CREATE UNIQUE INDEX payments_received_once ON payments (transfer_id) WHERE purpose = 'receive' AND state <> 'void';
-- One sweep and one gas top-up at a time per deposit address and asset.
CREATE UNIQUE INDEX payments_sweep_once ON payments (chain, account, asset) WHERE purpose = 'sweep' AND state IN ('queued','bound','held');
CREATE UNIQUE INDEX payments_gas_once ON payments (chain, payee) WHERE purpose = 'gas' AND state IN ('queued','bound','held');
CREATE INDEX payments_queue ON payments (chain, account, state, id);
CREATE INDEX payments_transfer ON payments (transfer_id);

-- slot: one nonce, or one height of one lineage. forked = excluded by a sibling line of ours, until a final block says otherwise.
CREATE TABLE slots (
  chain TEXT NOT NULL, account TEXT NOT NULL, lineage BIGINT NOT NULL, number BIGINT NOT NULL,
  payment_id BIGINT NOT NULL REFERENCES payments (id), gen INT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open','paid','void','forked')), tx TEXT NOT NULL DEFAULT '', block_hash TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL, changed_at BIGINT NOT NULL,
  PRIMARY KEY (chain, account, lineage, number), UNIQUE (payment_id, gen),
  FOREIGN KEY (chain, account) REFERENCES accounts (chain, account),
  CHECK ((state IN ('paid','void')) = (block_hash <> '')));
CREATE UNIQUE INDEX slots_live ON slots (payment_id) WHERE state IN ('open','paid');

CREATE TABLE attempts (
  chain TEXT NOT NULL, account TEXT NOT NULL, lineage BIGINT NOT NULL, number BIGINT NOT NULL, seq INT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('pay','replace','cancel')), hash TEXT NOT NULL, raw TEXT NOT NULL, tip TEXT NOT NULL, cap TEXT NOT NULL,
  head BIGINT NOT NULL, created_at BIGINT NOT NULL,
  PRIMARY KEY (chain, account, lineage, number, seq), UNIQUE (chain, hash),
  FOREIGN KEY (chain, account, lineage, number) REFERENCES slots (chain, account, lineage, number));
CREATE INDEX attempts_hash ON attempts (hash);

CREATE TABLE lineages (
  chain TEXT NOT NULL, account TEXT NOT NULL, lineage BIGINT NOT NULL, base BIGINT NOT NULL, base_hash TEXT NOT NULL,
  why TEXT NOT NULL, created_at BIGINT NOT NULL, PRIMARY KEY (chain, account, lineage));

-- What our accounts did, as blocks show it. settled = a final block has decided it.
CREATE TABLE effects (
  chain TEXT NOT NULL, tx TEXT NOT NULL, block_hash TEXT NOT NULL, height BIGINT NOT NULL, account TEXT NOT NULL, number BIGINT NOT NULL,
  ok INT NOT NULL CHECK (ok IN (0,1)), void INT NOT NULL CHECK (void IN (0,1) AND (void = 0 OR ok = 0)), fee TEXT NOT NULL, settled INT NOT NULL DEFAULT 0 CHECK (settled IN (0,1)),
  PRIMARY KEY (chain, tx, block_hash));
CREATE INDEX effects_open ON effects (chain, settled, height);

CREATE TABLE channels (
  network TEXT NOT NULL, token TEXT NOT NULL, direction TEXT NOT NULL CHECK (direction IN ('deposit','withdrawal')),
  operator TEXT NOT NULL CHECK (operator IN ('OPEN','MAINTAIN','CLOSED')), automatic TEXT NOT NULL CHECK (automatic IN ('OPEN','MAINTAIN')),
  operator_why TEXT NOT NULL, automatic_why TEXT NOT NULL, changed_at BIGINT NOT NULL, PRIMARY KEY (network, token, direction));

CREATE TABLE quotes (
  network TEXT NOT NULL, token TEXT NOT NULL, at BIGINT NOT NULL, cost TEXT NOT NULL, PRIMARY KEY (network, token, at));

-- Everything that happened, append-only; each row's digest covers the one before.
CREATE TABLE history (
  seq BIGINT PRIMARY KEY, at BIGINT NOT NULL, actor TEXT NOT NULL, subject TEXT NOT NULL, subject_id TEXT NOT NULL,
  event TEXT NOT NULL, detail TEXT NOT NULL, digest TEXT NOT NULL);
CREATE INDEX history_subject ON history (subject, subject_id, seq);
