-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION write_off_incident() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' AND NOT EXISTS (SELECT 1 FROM transfers t WHERE t.id = NEW.transfer_id AND t.incident <> '') THEN
    RAISE EXCEPTION 'only an incident is written off';
  END IF;
  IF TG_OP = 'DELETE' AND EXISTS (SELECT 1 FROM transfers t WHERE t.id = OLD.transfer_id AND t.incident <> '') THEN
    RAISE EXCEPTION 'a loss stands as long as its incident';
  END IF;
  RETURN COALESCE(NEW, OLD);
END $$;
-- +goose StatementEnd

CREATE TRIGGER write_offs_incident BEFORE INSERT ON write_offs FOR EACH ROW EXECUTE FUNCTION write_off_incident();
CREATE TRIGGER write_offs_no_update BEFORE UPDATE ON write_offs FOR EACH ROW EXECUTE FUNCTION refuse('orders are append-only');
CREATE TRIGGER write_offs_stand BEFORE DELETE ON write_offs FOR EACH ROW EXECUTE FUNCTION write_off_incident();
