-- Role and database of a sign-guard on PostgreSQL (signer.guard), on a server of its own.
CREATE ROLE gatewayd_signer LOGIN;
CREATE DATABASE guard OWNER gatewayd_signer;
REVOKE ALL ON DATABASE guard FROM PUBLIC;
