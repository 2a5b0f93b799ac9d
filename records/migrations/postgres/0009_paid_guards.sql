-- +goose Up

CREATE TRIGGER payments_settled BEFORE UPDATE ON payments FOR EACH ROW
  WHEN (OLD.state = 'paid' AND NEW.state = 'paid' AND OLD.tx IS DISTINCT FROM NEW.tx)
  EXECUTE FUNCTION refuse('what paid a payment never changes');
