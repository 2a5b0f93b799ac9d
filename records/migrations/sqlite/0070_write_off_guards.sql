-- +goose Up
-- +goose StatementBegin
CREATE TRIGGER write_offs_incident BEFORE INSERT ON write_offs
  WHEN NOT EXISTS (SELECT 1 FROM transfers t WHERE t.id = NEW.transfer_id AND t.incident <> '')
BEGIN SELECT RAISE(ABORT, 'only an incident is written off'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER write_offs_no_update BEFORE UPDATE ON write_offs
BEGIN SELECT RAISE(ABORT, 'orders are append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER write_offs_stand BEFORE DELETE ON write_offs
  WHEN EXISTS (SELECT 1 FROM transfers t WHERE t.id = OLD.transfer_id AND t.incident <> '')
BEGIN SELECT RAISE(ABORT, 'a loss stands as long as its incident'); END;
-- +goose StatementEnd
