-- +goose Up
-- What operators list, and what is looked up seldom, is found without looking through all that ever was.
CREATE INDEX transfers_by_network ON transfers (network, id);
CREATE INDEX transfers_by_token ON transfers (token, id);
CREATE INDEX transfers_by_direction ON transfers (direction, id);
CREATE INDEX transfers_by_owner ON transfers (owner, id);
CREATE INDEX transfers_by_reason ON transfers (reason, id) WHERE reason <> '';
CREATE INDEX transfers_not_final ON transfers (state, id) WHERE state <> 'final';
CREATE INDEX payments_held ON payments (transfer_id) WHERE state = 'held';
CREATE INDEX payments_by_tx ON payments (tx) WHERE tx <> '';
CREATE INDEX transfers_height ON transfers (chain, height, id);

-- Our own accounts but for users' addresses: every block is searched for them.
CREATE INDEX accounts_ours ON accounts (chain, seq) WHERE kind <> 'deposit';

-- Blocks that have left the line, for pruning; those of the line have an index.
CREATE INDEX blocks_left ON blocks (chain, height) WHERE canonical = 0;
