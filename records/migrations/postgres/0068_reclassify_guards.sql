-- +goose Up
-- Facts of a transfer change in three cases only: its transaction was mined again, an operator names the owner of one that nobody was named for,
-- or one that nobody was named for and that was of no token is decided again under another configuration.
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
      OLD.failed = 0 AND NEW.failed = 0 AND OLD.payee_label = NEW.payee_label AND OLD.fee = NEW.fee)
    AND NOT (OLD.state = 'held' AND NEW.state IN ('final','refused') AND OLD.owner = '' AND OLD.token = '' AND
      (NEW.direction = OLD.direction AND NEW.token <> '' AND NEW.owner <> '' AND (NEW.direction = 'withdrawal' OR NEW.payee = NEW.owner) OR
        NEW.direction = 'funding' AND NEW.state = 'final' AND NEW.owner = '' AND NEW.payee = '') AND
      OLD.network = NEW.network AND OLD.tx = NEW.tx AND OLD.sender = NEW.sender AND OLD.account = NEW.account AND
      OLD.asset = NEW.asset AND OLD.amount = NEW.amount AND OLD.memo = NEW.memo AND OLD.failed = 0 AND NEW.failed = 0))
  EXECUTE FUNCTION refuse('what a transfer froze at first sight never changes');
