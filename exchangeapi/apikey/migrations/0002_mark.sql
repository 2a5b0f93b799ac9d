-- +goose Up

-- The one program that serves private requests from a database of SQLite knows in its memory which are used. Which those before it have used has a
-- timestamp below the mark.
CREATE TABLE api_mark (
    id      BIGINT PRIMARY KEY CHECK (id = 1),
    program TEXT   NOT NULL, -- random, of the program that may move the mark
    until   BIGINT NOT NULL  -- Unix milliseconds
);
