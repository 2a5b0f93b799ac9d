-- +goose Up
-- What operators look for by address and amount, and the list of what moved between our own accounts.
CREATE INDEX transfers_by_sender ON transfers (sender, id);
CREATE INDEX transfers_by_payee ON transfers (payee, id) WHERE payee <> '';
CREATE INDEX transfers_by_amount ON transfers (amount, id);
CREATE INDEX payments_between ON payments (purpose, id) WHERE transfer_id IS NULL;
-- What people did: the daemon's own lines are a thousand times as many.
CREATE INDEX history_by_people ON history (seq) WHERE actor <> 'daemon';
