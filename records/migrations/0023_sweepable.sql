-- +goose Up
-- What came to each deposit address and what was swept from it, added up as it happens: to look for something to sweep costs nothing of the
-- history. open: it holds deposits that no sweep has taken yet. came_at is when the newest deposit was decided.
CREATE TABLE sweepable (
  chain TEXT NOT NULL, account TEXT NOT NULL, asset TEXT NOT NULL, came TEXT NOT NULL, went TEXT NOT NULL, came_at BIGINT NOT NULL,
  open INT NOT NULL CHECK (open IN (0,1)),
  PRIMARY KEY (chain, account, asset), FOREIGN KEY (chain, account) REFERENCES accounts (chain, account));
CREATE INDEX sweepable_open ON sweepable (chain, open, account, asset) WHERE open = 1;

INSERT INTO sweepable (chain, account, asset, came, went, came_at, open)
  SELECT t.chain, t.account, t.asset, amount_sum(t.amount), '0', MAX(t.changed_at), 1 FROM transfers t
    JOIN accounts a ON a.chain = t.chain AND a.account = t.account AND a.kind = 'deposit'
    WHERE t.state IN ('final','refused') AND t.failed = 0 GROUP BY t.chain, t.account, t.asset;
UPDATE sweepable SET went = m.total FROM (
  SELECT p.chain, p.account, p.asset, amount_sum(COALESCE(w.brought, p.amount)) AS total FROM payments p LEFT JOIN swept w ON w.payment_id = p.id
    WHERE p.purpose = 'sweep' AND p.state = 'paid' GROUP BY p.chain, p.account, p.asset) m
  WHERE sweepable.chain = m.chain AND sweepable.account = m.account AND sweepable.asset = m.asset;
UPDATE sweepable SET open = 0 WHERE came = went;

-- What is not paid yet, by account, in place of an index of everything that was.
DROP INDEX payments_queue;
CREATE INDEX payments_unpaid ON payments (chain, account, state, id) WHERE state IN ('queued','held','bound');
