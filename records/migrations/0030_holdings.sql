-- +goose Up
-- What each of our accounts holds of its ledger's own coin, by the books: opening + came - went. Kept up to the final block `folded`, so that
-- comparing it with the ledger costs nothing of the history. since: only blocks above this one count; -1 when that was not
-- noted. opening is what the account held there, empty while nobody has looked (deposit addresses are taken to have been empty).

-- What a transaction of ours moved, as its block shows it. NULL in rows of earlier versions: then its payment tells.
ALTER TABLE effects ADD COLUMN payee TEXT NOT NULL DEFAULT '';
ALTER TABLE effects ADD COLUMN value TEXT;
CREATE INDEX effects_height ON effects (chain, height);
CREATE INDEX transfers_coin ON transfers (chain, height) WHERE asset = 'native' AND failed = 0;

CREATE TABLE holdings (
  chain TEXT NOT NULL, account TEXT NOT NULL, since BIGINT NOT NULL, opening TEXT NOT NULL,
  came TEXT NOT NULL DEFAULT '0', went TEXT NOT NULL DEFAULT '0',
  PRIMARY KEY (chain, account), FOREIGN KEY (chain, account) REFERENCES accounts (chain, account));
CREATE INDEX holdings_since ON holdings (chain, since, account);

-- How far the books of a chain's coin are added up, and how far they were compared with the ledger: every account with since <= looked was
-- compared at least once, every one with since <= audited at that height or a later one.
CREATE TABLE balance_audits (
  chain TEXT PRIMARY KEY, folded BIGINT NOT NULL, looked BIGINT NOT NULL, audited BIGINT NOT NULL, audited_at BIGINT NOT NULL);

-- Accounts whose coin differed when they were compared last. clean: the height at which the account was known to fit, -1 for never.
CREATE TABLE balance_findings (
  chain TEXT NOT NULL, account TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('surplus','shortage')), amount TEXT NOT NULL,
  height BIGINT NOT NULL, clean BIGINT NOT NULL, confirmed INT NOT NULL DEFAULT 0 CHECK (confirmed IN (0,1)), created_at BIGINT NOT NULL,
  PRIMARY KEY (chain, account), FOREIGN KEY (chain, account) REFERENCES accounts (chain, account));

-- Movements that a block showed after the comparison of balances had found them: credited once, by the first.
CREATE TABLE audit_matches (
  transfer_id BIGINT PRIMARY KEY REFERENCES transfers (id), found_by BIGINT NOT NULL REFERENCES transfers (id), amount TEXT NOT NULL);

INSERT INTO holdings (chain, account, since, opening)
  SELECT chain, account, -1, CASE WHEN kind = 'deposit' THEN '0' ELSE '' END FROM accounts WHERE kind <> 'gateway';

INSERT INTO balance_audits (chain, folded, looked, audited, audited_at) SELECT chain, final_height, -1, -1, 0 FROM cursors;

UPDATE holdings SET came = m.total FROM (
  SELECT x.chain, x.account, amount_sum(x.amount) AS total FROM (
    SELECT t.chain, t.account, t.amount FROM transfers t JOIN cursors c ON c.chain = t.chain
      WHERE t.asset = 'native' AND t.failed = 0 AND t.state <> 'orphaned' AND t.height <= c.final_height
      AND NOT EXISTS (SELECT 1 FROM blocks b WHERE b.chain = t.chain AND b.hash = t.block_hash AND b.canonical = 0)
    UNION ALL
    SELECT e.chain, p.payee, COALESCE(w.brought, p.amount) FROM effects e
      JOIN attempts a ON a.chain = e.chain AND a.hash = e.tx AND a.kind <> 'cancel'
      JOIN slots s ON s.chain = a.chain AND s.account = a.account AND s.lineage = a.lineage AND s.number = a.number
      JOIN payments p ON p.id = s.payment_id AND p.asset = 'native' LEFT JOIN swept w ON w.payment_id = p.id
      WHERE e.settled = 1 AND e.ok = 1
  ) x GROUP BY x.chain, x.account) m WHERE holdings.chain = m.chain AND holdings.account = m.account;

UPDATE holdings SET went = m.total FROM (
  SELECT x.chain, x.account, amount_sum(x.amount) AS total FROM (
    SELECT e.chain, e.account, e.fee AS amount FROM effects e WHERE e.settled = 1
    UNION ALL
    SELECT e.chain, e.account, COALESCE(w.brought, p.amount) FROM effects e
      JOIN attempts a ON a.chain = e.chain AND a.hash = e.tx AND a.kind <> 'cancel'
      JOIN slots s ON s.chain = a.chain AND s.account = a.account AND s.lineage = a.lineage AND s.number = a.number
      JOIN payments p ON p.id = s.payment_id AND p.asset = 'native' LEFT JOIN swept w ON w.payment_id = p.id
      WHERE e.settled = 1 AND e.ok = 1
  ) x GROUP BY x.chain, x.account) m WHERE holdings.chain = m.chain AND holdings.account = m.account;
