-- +goose Up
-- +goose StatementBegin
CREATE TRIGGER payments_mark BEFORE UPDATE ON payments WHEN OLD.mark IS NOT NEW.mark
BEGIN SELECT RAISE(ABORT, 'an order to pay never changes'); END;
-- +goose StatementEnd
