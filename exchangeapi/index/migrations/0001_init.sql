-- +goose Up
-- One text for SQLite and PostgreSQL; the names begin with ex_ so that the tables may share a database with others. Amounts are
-- decimal TEXT in smallest units, prices the shortest decimal TEXT, times Unix seconds, flags 0 or 1. (height, pos) is the
-- place of an event: the height of its contract's block and its number among that block's logs.

-- The newest blocks of both contracts: the cursors, and what is compared with the chain to notice that blocks were taken back.
-- Of blocks of dexFund, relay is the send to dexTrade that it made and clock the exchange's clock after it.
CREATE TABLE ex_blocks (
  contract TEXT NOT NULL CHECK (contract IN ('fund','trade')), height BIGINT NOT NULL, hash TEXT NOT NULL,
  send TEXT NOT NULL, relay TEXT NOT NULL, ok INT NOT NULL CHECK (ok IN (0,1)), clock BIGINT NOT NULL,
  PRIMARY KEY (contract, height));
CREATE INDEX ex_blocks_send ON ex_blocks (send);
CREATE INDEX ex_blocks_relay ON ex_blocks (relay);

-- What was announced of markets, tokens and agents, oldest first; the last line of each is what holds. data is the event, hexadecimal.
CREATE TABLE ex_markets (height BIGINT NOT NULL, pos INT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (height, pos));
CREATE TABLE ex_tokens (height BIGINT NOT NULL, pos INT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (height, pos));
CREATE TABLE ex_grants (
  height BIGINT NOT NULL, pos INT NOT NULL, principal TEXT NOT NULL, agent TEXT NOT NULL, market BIGINT NOT NULL,
  granted INT NOT NULL CHECK (granted IN (0,1)), PRIMARY KEY (height, pos));
CREATE INDEX ex_grants_of ON ex_grants (principal, agent, market);

-- noted: when we announced it ourselves, 0 if not. received: height at which dexFund took it, 0 while it has not. placed: height at
-- which dexTrade took it, 0 while it has not. cancel: our cancel request that is not decided. status is what REST shows.
CREATE TABLE ex_orders (
  id TEXT PRIMARY KEY, inner_id TEXT NOT NULL, owner TEXT NOT NULL, market BIGINT NOT NULL,
  side INT NOT NULL CHECK (side IN (0,1)), type INT NOT NULL, price TEXT NOT NULL, quantity TEXT NOT NULL, amount TEXT NOT NULL,
  created BIGINT NOT NULL, serial BIGINT NOT NULL,
  noted BIGINT NOT NULL, received BIGINT NOT NULL, received_at BIGINT NOT NULL, refused INT NOT NULL CHECK (refused IN (0,1)),
  placed BIGINT NOT NULL, state INT NOT NULL, reason INT NOT NULL,
  executed TEXT NOT NULL, executed_amount TEXT NOT NULL, base_fee TEXT NOT NULL, operator_fee TEXT NOT NULL,
  cancel TEXT NOT NULL, status INT NOT NULL CHECK (status BETWEEN 1 AND 10));
CREATE UNIQUE INDEX ex_orders_inner ON ex_orders (inner_id) WHERE inner_id <> '';
CREATE INDEX ex_orders_owner ON ex_orders (owner, created, serial, id);
CREATE INDEX ex_orders_open ON ex_orders (market, id) WHERE status IN (3,5,6);
CREATE INDEX ex_orders_waiting ON ex_orders (noted) WHERE status = 1;
CREATE INDEX ex_orders_cancel ON ex_orders (cancel) WHERE cancel <> '';

-- What an order was before an event of dexTrade; only of the newest blocks.
CREATE TABLE ex_undo (
  height BIGINT NOT NULL, pos INT NOT NULL, id TEXT NOT NULL, placed BIGINT NOT NULL, state INT NOT NULL, reason INT NOT NULL,
  executed TEXT NOT NULL, executed_amount TEXT NOT NULL, base_fee TEXT NOT NULL, operator_fee TEXT NOT NULL,
  PRIMARY KEY (height, pos));

-- side is the taker's; fees are base and operator's fee together, base_fees the base fees of both sides.
CREATE TABLE ex_trades (
  height BIGINT NOT NULL, pos INT NOT NULL, id TEXT NOT NULL, market BIGINT NOT NULL, side INT NOT NULL CHECK (side IN (0,1)),
  price TEXT NOT NULL, quantity TEXT NOT NULL, amount TEXT NOT NULL,
  taker TEXT NOT NULL, maker TEXT NOT NULL, taker_inner TEXT NOT NULL, maker_inner TEXT NOT NULL,
  taker_fee TEXT NOT NULL, maker_fee TEXT NOT NULL, base_fees TEXT NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (height, pos));
CREATE INDEX ex_trades_market ON ex_trades (market, height, pos);
CREATE INDEX ex_trades_time ON ex_trades (market, at);
CREATE INDEX ex_trades_taker ON ex_trades (taker);
CREATE INDEX ex_trades_maker ON ex_trades (maker);

-- span is the length of the bar in seconds, start a multiple of it (of a week: Monday).
CREATE TABLE ex_bars (
  market BIGINT NOT NULL, span BIGINT NOT NULL, start BIGINT NOT NULL,
  open TEXT NOT NULL, close TEXT NOT NULL, high TEXT NOT NULL, low TEXT NOT NULL, volume TEXT NOT NULL,
  PRIMARY KEY (market, span, start));

-- kind is 1 for a deposit and 2 for a withdrawal.
CREATE TABLE ex_transfers (
  height BIGINT NOT NULL, pos INT NOT NULL, account TEXT NOT NULL, token TEXT NOT NULL, amount TEXT NOT NULL,
  kind INT NOT NULL CHECK (kind IN (1,2)), at BIGINT NOT NULL, PRIMARY KEY (height, pos));
CREATE INDEX ex_transfers_of ON ex_transfers (account, token, height, pos);
