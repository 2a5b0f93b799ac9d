-- +goose Up

CREATE TRIGGER cancels_no_update BEFORE UPDATE ON cancels FOR EACH ROW
  EXECUTE FUNCTION refuse('cancellations are append-only');

CREATE TRIGGER cancels_no_delete BEFORE DELETE ON cancels FOR EACH ROW
  EXECUTE FUNCTION refuse('cancellations are append-only');

CREATE TRIGGER cancels_no_truncate BEFORE TRUNCATE ON cancels EXECUTE FUNCTION refuse('cancellations are append-only');
