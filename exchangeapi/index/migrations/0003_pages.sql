-- +goose Up
-- What clients ask for is read along an index, in the order in which it is shown, also where they name times, a side, or orders that have not ended. The
-- exchange's clock never goes back, so (at, height, pos) is the order of the chain.
CREATE INDEX ex_trades_at ON ex_trades (market, at, height, pos);
CREATE INDEX ex_trades_buys ON ex_trades (market, at, height, pos) WHERE side = 0;
CREATE INDEX ex_trades_sells ON ex_trades (market, at, height, pos) WHERE side = 1;
DROP INDEX ex_trades_market;
DROP INDEX ex_trades_time;
