-- +goose Up
-- What the signer holds is asked about again, by reason.
CREATE INDEX payments_held_for ON payments (reason, id) WHERE state = 'held';
