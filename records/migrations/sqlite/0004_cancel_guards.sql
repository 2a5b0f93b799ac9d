-- +goose Up

-- +goose StatementBegin
CREATE TRIGGER cancels_no_update BEFORE UPDATE ON cancels
BEGIN SELECT RAISE(ABORT, 'cancellations are append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER cancels_no_delete BEFORE DELETE ON cancels
BEGIN SELECT RAISE(ABORT, 'cancellations are append-only'); END;
-- +goose StatementEnd
