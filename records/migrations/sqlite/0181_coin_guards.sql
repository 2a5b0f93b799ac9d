-- +goose Up
-- +goose StatementBegin
CREATE TRIGGER slots_coin BEFORE UPDATE ON slots WHEN OLD.coin IS NOT NEW.coin
BEGIN SELECT RAISE(ABORT, 'the coin of a slot never changes'); END;
-- +goose StatementEnd
