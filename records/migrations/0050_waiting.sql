-- +goose Up
-- What waits for coin or for a lower fee is found without looking at what does not wait.
CREATE INDEX payments_waiting ON payments (network, token, reason) WHERE state = 'queued' AND reason <> '';
