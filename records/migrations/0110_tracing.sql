-- +goose Up
-- How a chain's blocks were searched for coin that contracts moved. traced: 1 once some block was traced. lost_at: when the first of the blocks
-- passed that no node could trace, untraced of them until now; 0 since a block was traced again. first, last: the untraced blocks that no
-- comparison of all balances covers; -1 when there are none.
CREATE TABLE tracing (
  chain TEXT PRIMARY KEY, traced INT NOT NULL CHECK (traced IN (0,1)), lost_at BIGINT NOT NULL, untraced BIGINT NOT NULL,
  first BIGINT NOT NULL, last BIGINT NOT NULL);
