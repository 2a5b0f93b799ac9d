-- +goose Up
-- Facts of a transfer change in two cases only: its transaction was mined again, or an operator names the owner of one that nobody was
-- named for. The second moves nothing but who and what is owed, and from held to final.
DROP TRIGGER transfers_frozen ON transfers;

CREATE TRIGGER transfers_frozen BEFORE UPDATE ON transfers FOR EACH ROW
  WHEN ((OLD.network IS DISTINCT FROM NEW.network OR OLD.direction IS DISTINCT FROM NEW.direction OR OLD.tx IS DISTINCT FROM NEW.tx OR
    OLD.sender IS DISTINCT FROM NEW.sender OR OLD.account IS DISTINCT FROM NEW.account OR OLD.asset IS DISTINCT FROM NEW.asset OR
    OLD.amount IS DISTINCT FROM NEW.amount OR OLD.memo IS DISTINCT FROM NEW.memo OR OLD.failed IS DISTINCT FROM NEW.failed OR
    OLD.token IS DISTINCT FROM NEW.token OR OLD.owner IS DISTINCT FROM NEW.owner OR OLD.payee IS DISTINCT FROM NEW.payee OR
    OLD.payee_label IS DISTINCT FROM NEW.payee_label OR OLD.net IS DISTINCT FROM NEW.net OR OLD.fee IS DISTINCT FROM NEW.fee OR
    OLD.policy IS DISTINCT FROM NEW.policy)
    AND NOT (OLD.state = 'orphaned' AND NEW.state <> 'orphaned' AND OLD.block_hash <> NEW.block_hash)
    AND NOT (OLD.state = 'held' AND NEW.state = 'final' AND OLD.direction = 'deposit' AND OLD.owner = '' AND NEW.owner <> '' AND NEW.payee = NEW.owner AND
      OLD.network = NEW.network AND OLD.direction = NEW.direction AND OLD.tx = NEW.tx AND OLD.sender = NEW.sender AND
      OLD.account = NEW.account AND OLD.asset = NEW.asset AND OLD.amount = NEW.amount AND OLD.memo = NEW.memo AND
      OLD.failed = 0 AND NEW.failed = 0 AND OLD.payee_label = NEW.payee_label AND OLD.fee = NEW.fee))
  EXECUTE FUNCTION refuse('what a transfer froze at first sight never changes');

CREATE TRIGGER refund_payees_no_update BEFORE UPDATE ON refund_payees FOR EACH ROW EXECUTE FUNCTION refuse('orders are append-only');
CREATE TRIGGER refund_payees_no_delete BEFORE DELETE ON refund_payees FOR EACH ROW EXECUTE FUNCTION refuse('orders are append-only');
