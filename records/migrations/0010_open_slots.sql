-- +goose Up
-- What is open is found without looking at what is done.

-- mined_in is the block of the line that an attempt of an open slot stands in; empty while none does.
ALTER TABLE slots ADD COLUMN mined_in TEXT NOT NULL DEFAULT '';
UPDATE slots SET mined_in = COALESCE((SELECT e.block_hash FROM attempts a
  JOIN effects e ON e.chain = a.chain AND e.tx = a.hash
  JOIN blocks b ON b.chain = e.chain AND b.hash = e.block_hash AND b.canonical = 1
  WHERE a.chain = slots.chain AND a.account = slots.account AND a.lineage = slots.lineage AND a.number = slots.number LIMIT 1), '')
  WHERE state = 'open';
CREATE INDEX slots_undecided ON slots (chain, account, number) WHERE state IN ('open','forked');
CREATE INDEX slots_unmined ON slots (chain, account, number) WHERE state = 'open' AND mined_in = '';
CREATE INDEX slots_mined ON slots (chain, mined_in) WHERE state = 'open' AND mined_in <> '';

-- known = signed by us: the transaction is an attempt or a cancellation of ours.
ALTER TABLE effects ADD COLUMN known INT NOT NULL DEFAULT 0 CHECK (known IN (0,1));
UPDATE effects SET known = 1 WHERE EXISTS (SELECT 1 FROM attempts a WHERE a.chain = effects.chain AND a.hash = effects.tx)
  OR EXISTS (SELECT 1 FROM cancels c WHERE c.chain = effects.chain AND c.hash = effects.tx);
DROP INDEX effects_open;
CREATE INDEX effects_unsettled ON effects (chain, settled, height) WHERE settled = 0;
CREATE INDEX effects_unknown ON effects (chain, account, number) WHERE known = 0;

-- due is the height of the chain at which a transfer's confirmations are complete; 0 when the chain's own final point decides. Rows from
-- before are looked at in every round until they are decided.
ALTER TABLE transfers ADD COLUMN due BIGINT NOT NULL DEFAULT 0;
UPDATE transfers SET due = 1 WHERE state = 'seen';
CREATE INDEX transfers_due ON transfers (chain, due, height) WHERE state = 'seen';

-- The order of service of one account: by class, within a class and asset round robin by user (rank), then by id.
ALTER TABLE payments ADD COLUMN class INT NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN owner TEXT NOT NULL DEFAULT '';
ALTER TABLE payments ADD COLUMN rank BIGINT NOT NULL DEFAULT 0;
UPDATE payments SET class = CASE purpose WHEN 'refund' THEN 1 WHEN 'receive' THEN 2 ELSE 0 END WHERE state IN ('queued','bound','held');
CREATE INDEX payments_served ON payments (chain, account, class, asset, rank, id) WHERE state = 'queued';
CREATE INDEX payments_ranked ON payments (chain, account, class, asset, owner, rank) WHERE state = 'queued';

CREATE INDEX accounts_stopped ON accounts (chain, account) WHERE state IN ('halted','recovering');
