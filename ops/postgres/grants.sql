-- What the role api needs of the records: it reads, and gives users addresses and labels. Run it as superuser or
-- gatewayd_daemon after the first start of the daemon, which makes the tables: psql -f grants.sql gatewayd
GRANT USAGE ON SCHEMA public TO gatewayd_api;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO gatewayd_api;
ALTER DEFAULT PRIVILEGES FOR ROLE gatewayd_daemon IN SCHEMA public GRANT SELECT ON TABLES TO gatewayd_api;
REVOKE SELECT ON console_users, console_sessions, console_passkeys, console_challenges FROM gatewayd_api;
GRANT INSERT ON accounts, bindings, history, holdings TO gatewayd_api;
GRANT INSERT, UPDATE, DELETE ON client_limits TO gatewayd_api;
