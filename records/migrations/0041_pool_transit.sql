-- +goose Up
-- What is on its way between accounts of a pool is found without looking at anything else.
CREATE INDEX transfers_between ON transfers (chain, account) WHERE state = 'seen' AND reason = 'internal';
CREATE INDEX payments_untaken ON payments (chain, account) WHERE purpose = 'receive' AND state IN ('queued','bound','held');
