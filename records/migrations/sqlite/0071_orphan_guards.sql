-- +goose Up
-- +goose StatementBegin
CREATE TRIGGER transfers_orphaned BEFORE UPDATE ON transfers
  WHEN NEW.state = 'orphaned' AND OLD.state IN ('final','held','refused') AND OLD.incident = ''
BEGIN SELECT RAISE(ABORT, 'a decided transfer is orphaned only as an incident'); END;
-- +goose StatementEnd
