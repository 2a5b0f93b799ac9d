-- +goose Up

-- +goose StatementBegin
CREATE TRIGGER swept_no_update BEFORE UPDATE ON swept
BEGIN SELECT RAISE(ABORT, 'what was swept is append-only'); END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER swept_no_delete BEFORE DELETE ON swept
BEGIN SELECT RAISE(ABORT, 'what was swept is append-only'); END;
-- +goose StatementEnd
