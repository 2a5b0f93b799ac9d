-- +goose Up
-- Facts of a transfer change in two cases only: its transaction was mined again, or an operator names the owner of one that nobody was
-- named for. The second moves nothing but who and what is owed, and from held to final.
DROP TRIGGER transfers_frozen;

-- +goose StatementBegin
CREATE TRIGGER transfers_frozen BEFORE UPDATE ON transfers
  WHEN (OLD.network IS NOT NEW.network OR OLD.direction IS NOT NEW.direction OR OLD.tx IS NOT NEW.tx OR OLD.sender IS NOT NEW.sender OR
    OLD.account IS NOT NEW.account OR OLD.asset IS NOT NEW.asset OR OLD.amount IS NOT NEW.amount OR OLD.memo IS NOT NEW.memo OR
    OLD.failed IS NOT NEW.failed OR OLD.token IS NOT NEW.token OR OLD.owner IS NOT NEW.owner OR OLD.payee IS NOT NEW.payee OR
    OLD.payee_label IS NOT NEW.payee_label OR OLD.net IS NOT NEW.net OR OLD.fee IS NOT NEW.fee OR OLD.policy IS NOT NEW.policy)
    AND NOT (OLD.state = 'orphaned' AND NEW.state <> 'orphaned' AND OLD.block_hash <> NEW.block_hash)
    AND NOT (OLD.state = 'held' AND NEW.state = 'final' AND OLD.direction = 'deposit' AND OLD.owner = '' AND NEW.owner <> '' AND NEW.payee = NEW.owner AND
      OLD.network IS NEW.network AND OLD.direction IS NEW.direction AND OLD.tx IS NEW.tx AND OLD.sender IS NEW.sender AND
      OLD.account IS NEW.account AND OLD.asset IS NEW.asset AND OLD.amount IS NEW.amount AND OLD.memo IS NEW.memo AND
      OLD.failed = 0 AND NEW.failed = 0 AND OLD.payee_label IS NEW.payee_label AND OLD.fee IS NEW.fee)
BEGIN SELECT RAISE(ABORT, 'what a transfer froze at first sight never changes'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER refund_payees_no_update BEFORE UPDATE ON refund_payees
BEGIN SELECT RAISE(ABORT, 'orders are append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER refund_payees_no_delete BEFORE DELETE ON refund_payees
BEGIN SELECT RAISE(ABORT, 'orders are append-only'); END;
-- +goose StatementEnd
