-- +goose Up
-- One number of an account may carry several payments: place is that of the payment in the transaction. The attempts belong to the number, so
-- they do not refer to one row of slots any more; the trigger attempts_open requires an open one.
ALTER TABLE attempts DROP CONSTRAINT attempts_chain_account_lineage_number_fkey;
ALTER TABLE slots ADD COLUMN place INT NOT NULL DEFAULT 0;
ALTER TABLE slots DROP CONSTRAINT slots_pkey, ADD PRIMARY KEY (chain, account, lineage, number, place);
DROP INDEX slots_unmined;
CREATE INDEX slots_unmined ON slots (chain, account, number, place) WHERE state = 'open' AND mined_in = '';

DROP TRIGGER slots_binding ON slots;
CREATE TRIGGER slots_binding BEFORE UPDATE ON slots FOR EACH ROW
  WHEN (OLD.chain IS DISTINCT FROM NEW.chain OR OLD.account IS DISTINCT FROM NEW.account OR OLD.lineage IS DISTINCT FROM NEW.lineage OR
    OLD.number IS DISTINCT FROM NEW.number OR OLD.place IS DISTINCT FROM NEW.place OR OLD.payment_id IS DISTINCT FROM NEW.payment_id OR
    OLD.gen IS DISTINCT FROM NEW.gen OR OLD.created_at IS DISTINCT FROM NEW.created_at)
  EXECUTE FUNCTION refuse('the binding of a slot never changes');

-- +goose StatementBegin
CREATE FUNCTION slots_members() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM attempts a WHERE a.chain = NEW.chain AND a.account = NEW.account AND a.lineage = NEW.lineage AND a.number = NEW.number) THEN
    RAISE EXCEPTION 'a number gets its payments before anything is signed for it';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd
CREATE TRIGGER slots_members BEFORE INSERT ON slots FOR EACH ROW EXECUTE FUNCTION slots_members();

ALTER TABLE payments DROP CONSTRAINT payments_purpose_check;
ALTER TABLE payments ADD CONSTRAINT payments_purpose_check CHECK (purpose IN ('credit','refund','sweep','gas','receive','cold','allow'));
ALTER TABLE payments DROP CONSTRAINT payments_check;
ALTER TABLE payments ADD CONSTRAINT payments_check CHECK ((purpose IN ('sweep','gas','cold','allow')) = (transfer_id IS NULL));

-- The outcome of each payment of a transaction that makes several, one letter each (chain.Outcome); empty for any other.
ALTER TABLE effects ADD COLUMN members TEXT NOT NULL DEFAULT '';
-- One at a time of an account and a token.
CREATE UNIQUE INDEX payments_allow_once ON payments (chain, account, asset) WHERE purpose = 'allow' AND state IN ('queued','bound','held');
