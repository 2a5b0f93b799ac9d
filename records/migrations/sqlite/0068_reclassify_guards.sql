-- +goose Up
-- Facts of a transfer change in three cases only: its transaction was mined again, an operator names the owner of one that nobody was named for,
-- or one that nobody was named for and that was of no token is decided again under another configuration.
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
    AND NOT (OLD.state = 'held' AND NEW.state IN ('final','refused') AND OLD.owner = '' AND OLD.token = '' AND
      (NEW.direction = OLD.direction AND NEW.token <> '' AND NEW.owner <> '' AND (NEW.direction = 'withdrawal' OR NEW.payee = NEW.owner) OR
        NEW.direction = 'funding' AND NEW.state = 'final' AND NEW.owner = '' AND NEW.payee = '') AND
      OLD.network IS NEW.network AND OLD.tx IS NEW.tx AND OLD.sender IS NEW.sender AND OLD.account IS NEW.account AND
      OLD.asset IS NEW.asset AND OLD.amount IS NEW.amount AND OLD.memo IS NEW.memo AND OLD.failed = 0 AND NEW.failed = 0)
BEGIN SELECT RAISE(ABORT, 'what a transfer froze at first sight never changes'); END;
-- +goose StatementEnd
