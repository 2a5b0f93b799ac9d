-- +goose Up

CREATE TRIGGER swept_no_update BEFORE UPDATE ON swept FOR EACH ROW
  EXECUTE FUNCTION refuse('what was swept is append-only');

CREATE TRIGGER swept_no_delete BEFORE DELETE ON swept FOR EACH ROW
  EXECUTE FUNCTION refuse('what was swept is append-only');

CREATE TRIGGER swept_no_truncate BEFORE TRUNCATE ON swept EXECUTE FUNCTION refuse('what was swept is append-only');
