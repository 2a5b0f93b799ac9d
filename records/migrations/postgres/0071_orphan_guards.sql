-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION decided_orphan() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.state = 'orphaned' AND OLD.state IN ('final','held','refused') AND OLD.incident = '' THEN
    RAISE EXCEPTION 'a decided transfer is orphaned only as an incident';
  END IF;
  RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER transfers_orphaned BEFORE UPDATE ON transfers FOR EACH ROW EXECUTE FUNCTION decided_orphan();
