-- +goose Up

-- +goose StatementBegin
CREATE TRIGGER payments_settled BEFORE UPDATE ON payments
  WHEN OLD.state = 'paid' AND NEW.state = 'paid' AND OLD.tx IS NOT NEW.tx
BEGIN SELECT RAISE(ABORT, 'what paid a payment never changes'); END;
-- +goose StatementEnd
