-- +goose Up
CREATE TRIGGER payments_mark BEFORE UPDATE ON payments FOR EACH ROW WHEN (OLD.mark IS DISTINCT FROM NEW.mark)
  EXECUTE FUNCTION refuse('an order to pay never changes');
