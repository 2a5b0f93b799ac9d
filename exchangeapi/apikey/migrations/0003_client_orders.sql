-- +goose Up

-- What clients call their orders. The chain knows nothing of it, so it is kept here and not in the index, which can be made anew from the chain. A row is
-- written before the order is sent, and goes only when the chain has refused the order.
CREATE TABLE api_client_orders (
    api_key   TEXT   NOT NULL REFERENCES api_keys (api_key),
    client_id TEXT   NOT NULL,
    order_id  TEXT   NOT NULL, -- 64 hexadecimal digits
    created   BIGINT NOT NULL, -- Unix milliseconds
    PRIMARY KEY (client_id, api_key)
);
CREATE UNIQUE INDEX api_client_orders_order ON api_client_orders (order_id);
