-- +goose Up
-- The same guards stand in the other engine's file; recordstest tries each on both.

-- amount_sum is what our SQLite connections have as a function of their own: an exact sum of decimal texts, as text.
CREATE FUNCTION amount_add(NUMERIC, TEXT) RETURNS NUMERIC LANGUAGE SQL IMMUTABLE AS 'SELECT $1 + CAST($2 AS NUMERIC)';
CREATE FUNCTION amount_text(NUMERIC) RETURNS TEXT LANGUAGE SQL IMMUTABLE AS 'SELECT CAST($1 AS TEXT)';
CREATE AGGREGATE amount_sum (TEXT) (SFUNC = amount_add, STYPE = NUMERIC, INITCOND = '0', FINALFUNC = amount_text);

-- +goose StatementBegin
CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', TG_ARGV[0];
END $$;
-- +goose StatementEnd

CREATE TRIGGER attempts_no_update BEFORE UPDATE ON attempts FOR EACH ROW
  EXECUTE FUNCTION refuse('attempts are append-only');

CREATE TRIGGER attempts_no_delete BEFORE DELETE ON attempts FOR EACH ROW
  EXECUTE FUNCTION refuse('attempts are append-only');

CREATE TRIGGER history_no_update BEFORE UPDATE ON history FOR EACH ROW
  EXECUTE FUNCTION refuse('the history is append-only');

CREATE TRIGGER history_no_delete BEFORE DELETE ON history FOR EACH ROW
  EXECUTE FUNCTION refuse('the history is append-only');

CREATE TRIGGER lineages_no_update BEFORE UPDATE ON lineages FOR EACH ROW
  EXECUTE FUNCTION refuse('lineages are append-only');

CREATE TRIGGER lineages_no_delete BEFORE DELETE ON lineages FOR EACH ROW
  EXECUTE FUNCTION refuse('lineages are append-only');

CREATE TRIGGER bindings_no_update BEFORE UPDATE ON bindings FOR EACH ROW
  EXECUTE FUNCTION refuse('bindings are append-only');

CREATE TRIGGER bindings_no_delete BEFORE DELETE ON bindings FOR EACH ROW
  EXECUTE FUNCTION refuse('bindings are append-only');

CREATE TRIGGER transfers_no_delete BEFORE DELETE ON transfers FOR EACH ROW
  EXECUTE FUNCTION refuse('transfers are never deleted');

CREATE TRIGGER payments_no_delete BEFORE DELETE ON payments FOR EACH ROW
  EXECUTE FUNCTION refuse('payments are never deleted');

CREATE TRIGGER slots_no_delete BEFORE DELETE ON slots FOR EACH ROW
  EXECUTE FUNCTION refuse('slots are never deleted');

CREATE TRIGGER accounts_no_delete BEFORE DELETE ON accounts FOR EACH ROW
  EXECUTE FUNCTION refuse('accounts are never deleted');

CREATE TRIGGER slots_binding BEFORE UPDATE ON slots FOR EACH ROW
  WHEN (OLD.chain IS DISTINCT FROM NEW.chain OR OLD.account IS DISTINCT FROM NEW.account OR OLD.lineage IS DISTINCT FROM NEW.lineage OR
    OLD.number IS DISTINCT FROM NEW.number OR OLD.payment_id IS DISTINCT FROM NEW.payment_id OR OLD.gen IS DISTINCT FROM NEW.gen OR
    OLD.created_at IS DISTINCT FROM NEW.created_at)
  EXECUTE FUNCTION refuse('the binding of a slot never changes');

CREATE TRIGGER slots_outcome BEFORE UPDATE ON slots FOR EACH ROW
  WHEN (OLD.state IN ('paid','void') OR (OLD.state <> 'open' AND NEW.state = 'open'))
  EXECUTE FUNCTION refuse('the outcome of a slot is written once');

-- +goose StatementBegin
CREATE FUNCTION slots_start() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state <> 'open' OR NOT EXISTS (SELECT 1 FROM payments p WHERE p.id = NEW.payment_id AND p.state = 'queued'
      AND p.gen = NEW.gen AND p.chain = NEW.chain AND p.account = NEW.account) THEN
    RAISE EXCEPTION 'a slot is opened for a queued payment of its account';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER slots_start BEFORE INSERT ON slots FOR EACH ROW EXECUTE FUNCTION slots_start();

CREATE TRIGGER transfers_identity BEFORE UPDATE ON transfers FOR EACH ROW
  WHEN (OLD.id IS DISTINCT FROM NEW.id OR OLD.chain IS DISTINCT FROM NEW.chain OR OLD.ref IS DISTINCT FROM NEW.ref OR
    OLD.seen_at IS DISTINCT FROM NEW.seen_at)
  EXECUTE FUNCTION refuse('the identity of a transfer never changes');

CREATE TRIGGER transfers_frozen BEFORE UPDATE ON transfers FOR EACH ROW
  WHEN ((OLD.network IS DISTINCT FROM NEW.network OR OLD.direction IS DISTINCT FROM NEW.direction OR OLD.tx IS DISTINCT FROM NEW.tx OR
    OLD.sender IS DISTINCT FROM NEW.sender OR OLD.account IS DISTINCT FROM NEW.account OR OLD.asset IS DISTINCT FROM NEW.asset OR
    OLD.amount IS DISTINCT FROM NEW.amount OR OLD.memo IS DISTINCT FROM NEW.memo OR OLD.failed IS DISTINCT FROM NEW.failed OR
    OLD.token IS DISTINCT FROM NEW.token OR OLD.owner IS DISTINCT FROM NEW.owner OR OLD.payee IS DISTINCT FROM NEW.payee OR
    OLD.payee_label IS DISTINCT FROM NEW.payee_label OR OLD.net IS DISTINCT FROM NEW.net OR OLD.fee IS DISTINCT FROM NEW.fee OR
    OLD.policy IS DISTINCT FROM NEW.policy)
    AND NOT (OLD.state = 'orphaned' AND NEW.state <> 'orphaned' AND OLD.block_hash <> NEW.block_hash))
  EXECUTE FUNCTION refuse('what a transfer froze at first sight never changes');

CREATE TRIGGER transfers_seen BEFORE UPDATE ON transfers FOR EACH ROW
  WHEN (NEW.state = 'seen' AND OLD.state NOT IN ('seen','orphaned'))
  EXECUTE FUNCTION refuse('a decided transfer is never seen again');

-- +goose StatementBegin
CREATE FUNCTION transfers_owed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state IN ('seen','orphaned') AND EXISTS (SELECT 1 FROM payments p WHERE p.transfer_id = NEW.id AND p.state <> 'void') THEN
    RAISE EXCEPTION 'a transfer with a live payment stays decided';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER transfers_owed BEFORE UPDATE ON transfers FOR EACH ROW EXECUTE FUNCTION transfers_owed();

-- +goose StatementBegin
CREATE FUNCTION payments_cause() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state NOT IN ('queued','held') OR (NEW.transfer_id IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM transfers t WHERE t.id = NEW.transfer_id AND t.state IN ('final','refused','held'))) THEN
    RAISE EXCEPTION 'a payment needs a decided transfer';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER payments_cause BEFORE INSERT ON payments FOR EACH ROW EXECUTE FUNCTION payments_cause();

CREATE TRIGGER payments_frozen BEFORE UPDATE ON payments FOR EACH ROW
  WHEN (OLD.id IS DISTINCT FROM NEW.id OR OLD.transfer_id IS DISTINCT FROM NEW.transfer_id OR OLD.purpose IS DISTINCT FROM NEW.purpose OR
    OLD.network IS DISTINCT FROM NEW.network OR OLD.token IS DISTINCT FROM NEW.token OR OLD.chain IS DISTINCT FROM NEW.chain OR
    OLD.account IS DISTINCT FROM NEW.account OR OLD.asset IS DISTINCT FROM NEW.asset OR OLD.amount IS DISTINCT FROM NEW.amount OR
    OLD.payee IS DISTINCT FROM NEW.payee OR OLD.payee_label IS DISTINCT FROM NEW.payee_label OR OLD.source IS DISTINCT FROM NEW.source OR
    OLD.created_at IS DISTINCT FROM NEW.created_at)
  EXECUTE FUNCTION refuse('an order to pay never changes');

CREATE TRIGGER payments_arrows BEFORE UPDATE ON payments FOR EACH ROW
  WHEN (OLD.state <> NEW.state AND (OLD.state IN ('paid','void') OR (OLD.state = 'bound' AND NEW.state = 'void') OR (OLD.state = 'held' AND NEW.state = 'bound')))
  EXECUTE FUNCTION refuse('there is no such arrow between states of a payment');

CREATE TRIGGER payments_gen BEFORE UPDATE ON payments FOR EACH ROW
  WHEN ((OLD.state = 'bound' AND NEW.state IN ('queued','held')) <> (NEW.gen = OLD.gen + 1) OR NEW.gen NOT IN (OLD.gen, OLD.gen + 1))
  EXECUTE FUNCTION refuse('a payment gets a new generation when its slot is given up, and only then');

-- +goose StatementBegin
CREATE FUNCTION payments_bound() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state <> 'bound' AND NEW.state = 'bound' AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = NEW.id AND s.gen = NEW.gen AND s.state = 'open') THEN
    RAISE EXCEPTION 'a bound payment has an open slot';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER payments_bound BEFORE UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION payments_bound();

-- +goose StatementBegin
CREATE FUNCTION payments_freed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = 'bound' AND NEW.state IN ('queued','held') AND EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = NEW.id AND s.state IN ('open','paid')) THEN
    RAISE EXCEPTION 'a payment is not freed from a live slot';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER payments_freed BEFORE UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION payments_freed();

-- +goose StatementBegin
CREATE FUNCTION payments_paid() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state <> 'paid' AND NEW.state = 'paid' AND NOT EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = NEW.id AND s.state = 'paid' AND s.tx = NEW.tx) THEN
    RAISE EXCEPTION 'a paid payment has a paid slot';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER payments_paid BEFORE UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION payments_paid();

-- +goose StatementBegin
CREATE FUNCTION payments_void() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state <> 'void' AND NEW.state = 'void' AND EXISTS (SELECT 1 FROM slots s WHERE s.payment_id = NEW.id AND s.state <> 'void') THEN
    RAISE EXCEPTION 'a payment with an undecided slot is never void';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER payments_void BEFORE UPDATE ON payments FOR EACH ROW EXECUTE FUNCTION payments_void();

-- +goose StatementBegin
CREATE FUNCTION attempts_open() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM slots s WHERE s.chain = NEW.chain AND s.account = NEW.account AND s.lineage = NEW.lineage
      AND s.number = NEW.number AND s.state = 'open') THEN
    RAISE EXCEPTION 'an attempt needs an open slot';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER attempts_open BEFORE INSERT ON attempts FOR EACH ROW EXECUTE FUNCTION attempts_open();

CREATE TRIGGER accounts_identity BEFORE UPDATE ON accounts FOR EACH ROW
  WHEN (OLD.chain IS DISTINCT FROM NEW.chain OR OLD.account IS DISTINCT FROM NEW.account OR OLD.kind IS DISTINCT FROM NEW.kind OR
    OLD.key_path IS DISTINCT FROM NEW.key_path OR OLD.seq IS DISTINCT FROM NEW.seq)
  EXECUTE FUNCTION refuse('the identity of an account never changes');

CREATE TRIGGER accounts_lineage BEFORE UPDATE ON accounts FOR EACH ROW
  WHEN (NEW.lineage < OLD.lineage OR (NEW.lineage = OLD.lineage AND NEW.next < OLD.next))
  EXECUTE FUNCTION refuse('numbers of an account are never given twice');

-- +goose StatementBegin
CREATE FUNCTION blocks_final() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.canonical = 1 AND NEW.canonical = 0 AND OLD.height <= (SELECT c.final_height FROM cursors c WHERE c.chain = OLD.chain) THEN
    RAISE EXCEPTION 'a final block never leaves the line';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER blocks_final BEFORE UPDATE ON blocks FOR EACH ROW EXECUTE FUNCTION blocks_final();

CREATE TRIGGER cursors_final BEFORE UPDATE ON cursors FOR EACH ROW
  WHEN (NEW.final_height < OLD.final_height)
  EXECUTE FUNCTION refuse('the final point never goes back');

CREATE TRIGGER attempts_no_truncate BEFORE TRUNCATE ON attempts EXECUTE FUNCTION refuse('attempts are never deleted');
CREATE TRIGGER history_no_truncate BEFORE TRUNCATE ON history EXECUTE FUNCTION refuse('the history is append-only');
CREATE TRIGGER lineages_no_truncate BEFORE TRUNCATE ON lineages EXECUTE FUNCTION refuse('lineages are never deleted');
CREATE TRIGGER bindings_no_truncate BEFORE TRUNCATE ON bindings EXECUTE FUNCTION refuse('bindings are never deleted');
CREATE TRIGGER transfers_no_truncate BEFORE TRUNCATE ON transfers EXECUTE FUNCTION refuse('transfers are never deleted');
CREATE TRIGGER payments_no_truncate BEFORE TRUNCATE ON payments EXECUTE FUNCTION refuse('payments are never deleted');
CREATE TRIGGER slots_no_truncate BEFORE TRUNCATE ON slots EXECUTE FUNCTION refuse('slots are never deleted');
CREATE TRIGGER accounts_no_truncate BEFORE TRUNCATE ON accounts EXECUTE FUNCTION refuse('accounts are never deleted');
