-- +goose Up
-- The assets that any network has ever served: what comes of others is of no concern to operators.
CREATE TABLE served_tokens (chain TEXT NOT NULL, asset TEXT NOT NULL, PRIMARY KEY (chain, asset));
INSERT INTO served_tokens (chain, asset) SELECT DISTINCT chain, asset FROM transfers WHERE token <> '';
