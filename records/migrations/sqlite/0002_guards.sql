-- +goose Up
-- The same guards stand in the other engine's file; recordstest tries each on both.

-- +goose StatementBegin
CREATE TRIGGER attempts_no_update BEFORE UPDATE ON attempts
BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER attempts_no_delete BEFORE DELETE ON attempts
BEGIN SELECT RAISE(ABORT, 'attempts are append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER history_no_update BEFORE UPDATE ON history
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER history_no_delete BEFORE DELETE ON history
BEGIN SELECT RAISE(ABORT, 'the history is append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER lineages_no_update BEFORE UPDATE ON lineages
BEGIN SELECT RAISE(ABORT, 'lineages are append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER lineages_no_delete BEFORE DELETE ON lineages
BEGIN SELECT RAISE(ABORT, 'lineages are append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER bindings_no_update BEFORE UPDATE ON bindings
BEGIN SELECT RAISE(ABORT, 'bindings are append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER bindings_no_delete BEFORE DELETE ON bindings
BEGIN SELECT RAISE(ABORT, 'bindings are append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER transfers_no_delete BEFORE DELETE ON transfers
BEGIN SELECT RAISE(ABORT, 'transfers are never deleted'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER payments_no_delete BEFORE DELETE ON payments
BEGIN SELECT RAISE(ABORT, 'payments are never deleted'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER slots_no_delete BEFORE DELETE ON slots
BEGIN SELECT RAISE(ABORT, 'slots are never deleted'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER accounts_no_delete BEFORE DELETE ON accounts
BEGIN SELECT RAISE(ABORT, 'accounts are never deleted'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER slots_binding BEFORE UPDATE ON slots
  WHEN OLD.chain IS NOT NEW.chain OR OLD.account IS NOT NEW.account OR OLD.lineage IS NOT NEW.lineage OR OLD.number IS NOT NEW.number OR
    OLD.payment_id IS NOT NEW.payment_id OR OLD.gen IS NOT NEW.gen OR OLD.created_at IS NOT NEW.created_at
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
CREATE TRIGGER transfers_identity BEFORE UPDATE ON transfers
  WHEN OLD.id IS NOT NEW.id OR OLD.chain IS NOT NEW.chain OR OLD.ref IS NOT NEW.ref OR OLD.seen_at IS NOT NEW.seen_at
BEGIN SELECT RAISE(ABORT, 'the identity of a transfer never changes'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER transfers_frozen BEFORE UPDATE ON transfers
  WHEN (OLD.network IS NOT NEW.network OR OLD.direction IS NOT NEW.direction OR OLD.tx IS NOT NEW.tx OR OLD.sender IS NOT NEW.sender OR
    OLD.account IS NOT NEW.account OR OLD.asset IS NOT NEW.asset OR OLD.amount IS NOT NEW.amount OR OLD.memo IS NOT NEW.memo OR
    OLD.failed IS NOT NEW.failed OR OLD.token IS NOT NEW.token OR OLD.owner IS NOT NEW.owner OR OLD.payee IS NOT NEW.payee OR
    OLD.payee_label IS NOT NEW.payee_label OR OLD.net IS NOT NEW.net OR OLD.fee IS NOT NEW.fee OR OLD.policy IS NOT NEW.policy)
    AND NOT (OLD.state = 'orphaned' AND NEW.state <> 'orphaned' AND OLD.block_hash <> NEW.block_hash)
BEGIN SELECT RAISE(ABORT, 'what a transfer froze at first sight never changes'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER transfers_seen BEFORE UPDATE ON transfers
  WHEN NEW.state = 'seen' AND OLD.state NOT IN ('seen','orphaned')
BEGIN SELECT RAISE(ABORT, 'a decided transfer is never seen again'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER transfers_owed BEFORE UPDATE ON transfers
  WHEN NEW.state IN ('seen','orphaned') AND EXISTS (SELECT 1 FROM payments p WHERE p.transfer_id = NEW.id AND p.state <> 'void')
BEGIN SELECT RAISE(ABORT, 'a transfer with a live payment stays decided'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER payments_cause BEFORE INSERT ON payments
  WHEN NEW.state NOT IN ('queued','held') OR (NEW.transfer_id IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM transfers t WHERE t.id = NEW.transfer_id AND t.state IN ('final','refused','held')))
BEGIN SELECT RAISE(ABORT, 'a payment needs a decided transfer'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER payments_frozen BEFORE UPDATE ON payments
  WHEN OLD.id IS NOT NEW.id OR OLD.transfer_id IS NOT NEW.transfer_id OR OLD.purpose IS NOT NEW.purpose OR OLD.network IS NOT NEW.network OR
    OLD.token IS NOT NEW.token OR OLD.chain IS NOT NEW.chain OR OLD.account IS NOT NEW.account OR OLD.asset IS NOT NEW.asset OR
    OLD.amount IS NOT NEW.amount OR OLD.payee IS NOT NEW.payee OR OLD.payee_label IS NOT NEW.payee_label OR OLD.source IS NOT NEW.source OR
    OLD.created_at IS NOT NEW.created_at
BEGIN SELECT RAISE(ABORT, 'an order to pay never changes'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER payments_arrows BEFORE UPDATE ON payments
  WHEN OLD.state <> NEW.state AND (OLD.state IN ('paid','void') OR (OLD.state = 'bound' AND NEW.state = 'void') OR (OLD.state = 'held' AND NEW.state = 'bound'))
BEGIN SELECT RAISE(ABORT, 'there is no such arrow between states of a payment'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER payments_gen BEFORE UPDATE ON payments
  WHEN (OLD.state = 'bound' AND NEW.state IN ('queued','held')) <> (NEW.gen = OLD.gen + 1) OR NEW.gen NOT IN (OLD.gen, OLD.gen + 1)
BEGIN SELECT RAISE(ABORT, 'a payment gets a new generation when its slot is given up, and only then'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER payments_bound BEFORE UPDATE ON payments
  WHEN OLD.state <> 'bound' AND NEW.state = 'bound' AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = NEW.id AND s.gen = NEW.gen AND s.state = 'open')
BEGIN SELECT RAISE(ABORT, 'a bound payment has an open slot'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER payments_freed BEFORE UPDATE ON payments
  WHEN OLD.state = 'bound' AND NEW.state IN ('queued','held') AND EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = NEW.id AND s.state IN ('open','paid'))
BEGIN SELECT RAISE(ABORT, 'a payment is not freed from a live slot'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER payments_paid BEFORE UPDATE ON payments
  WHEN OLD.state <> 'paid' AND NEW.state = 'paid' AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = NEW.id AND s.state = 'paid' AND s.tx = NEW.tx)
BEGIN SELECT RAISE(ABORT, 'a paid payment has a paid slot'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER payments_void BEFORE UPDATE ON payments
  WHEN OLD.state <> 'void' AND NEW.state = 'void' AND EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = NEW.id AND s.state <> 'void')
BEGIN SELECT RAISE(ABORT, 'a payment with an undecided slot is never void'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER attempts_open BEFORE INSERT ON attempts
  WHEN NOT EXISTS (SELECT 1 FROM slots s WHERE s.chain = NEW.chain AND s.account = NEW.account AND s.lineage = NEW.lineage
      AND s.number = NEW.number AND s.state = 'open')
BEGIN SELECT RAISE(ABORT, 'an attempt needs an open slot'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER accounts_identity BEFORE UPDATE ON accounts
  WHEN OLD.chain IS NOT NEW.chain OR OLD.account IS NOT NEW.account OR OLD.kind IS NOT NEW.kind OR OLD.key_path IS NOT NEW.key_path OR
    OLD.seq IS NOT NEW.seq
BEGIN SELECT RAISE(ABORT, 'the identity of an account never changes'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER accounts_lineage BEFORE UPDATE ON accounts
  WHEN NEW.lineage < OLD.lineage OR (NEW.lineage = OLD.lineage AND NEW.next < OLD.next)
BEGIN SELECT RAISE(ABORT, 'numbers of an account are never given twice'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER blocks_final BEFORE UPDATE ON blocks
  WHEN OLD.canonical = 1 AND NEW.canonical = 0 AND OLD.height <= (SELECT c.final_height FROM cursors c WHERE c.chain = OLD.chain)
BEGIN SELECT RAISE(ABORT, 'a final block never leaves the line'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cursors_final BEFORE UPDATE ON cursors
  WHEN NEW.final_height < OLD.final_height
BEGIN SELECT RAISE(ABORT, 'the final point never goes back'); END;
-- +goose StatementEnd
