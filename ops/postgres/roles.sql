-- Roles and databases of PostgreSQL for a gateway of several processes. A superuser runs it once:
-- psql -f roles.sql postgres, then \password for each role. Each process has the role of its part in the URL.
-- gatewayd_daemon owns the records (roles follow and pay, and commands of operators).
CREATE ROLE gatewayd_daemon LOGIN;
-- gatewayd_api serves wallets (role api). grants.sql gives it what it needs of the records.
CREATE ROLE gatewayd_api LOGIN;
-- gatewayd_exchange owns the exchange's index and API keys (role exchange). It has no right on the records.
CREATE ROLE gatewayd_exchange LOGIN;
CREATE DATABASE gatewayd OWNER gatewayd_daemon;
CREATE DATABASE exchange OWNER gatewayd_exchange;
REVOKE ALL ON DATABASE gatewayd FROM PUBLIC;
REVOKE ALL ON DATABASE exchange FROM PUBLIC;
GRANT CONNECT ON DATABASE gatewayd TO gatewayd_api;
