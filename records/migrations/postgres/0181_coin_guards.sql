-- +goose Up
CREATE TRIGGER slots_coin BEFORE UPDATE ON slots FOR EACH ROW WHEN (OLD.coin IS DISTINCT FROM NEW.coin)
  EXECUTE FUNCTION refuse('the coin of a slot never changes');
