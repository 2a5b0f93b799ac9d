-- +goose Up
-- Orders that have not ended, of an account: its history is many times as long.
CREATE INDEX ex_orders_living ON ex_orders (owner, created, serial, id) WHERE status IN (1,2,3,5,6);
