-- CREATE, ALTER and DROP DATABASE, and names with a database in front.
\set QUIET on
\set VERBOSITY terse
\pset tuples_only on
\pset format unaligned
\set home :DBNAME
CREATE DATABASE skew_one;
CREATE DATABASE skew_one;
\c skew_one
CREATE TABLE t (i int PRIMARY KEY);
INSERT INTO t VALUES (1), (2);
SELECT * FROM skew_one.public.t ORDER BY skew_one.public.t.i;
SELECT * FROM skew_two.public.t;
INSERT INTO skew_two.public.t VALUES (3);
SELECT skew_two.public.t.i FROM t;
CREATE TABLE skew_two.public.u (i int);
DROP TABLE skew_two.public.t;
SELECT 'skew_two.public.t'::regclass;
SELECT skew_two.pg_catalog.abs(1);
DROP DATABASE skew_one;
ALTER DATABASE skew_one RENAME TO skew_two;
\c :home
CREATE DATABASE skew_two TEMPLATE skew_one;
CREATE DATABASE skew_three TEMPLATE skew_none;
\c skew_two
INSERT INTO t VALUES (3);
SELECT count(*) FROM t;
\c skew_one
SELECT count(*) FROM t;
\c :home
ALTER DATABASE skew_one RENAME TO skew_two;
ALTER DATABASE skew_one RENAME TO skew_three;
ALTER DATABASE skew_one RENAME TO skew_four;
BEGIN;
CREATE DATABASE skew_four;
ROLLBACK;
BEGIN;
DROP DATABASE skew_two;
ROLLBACK;
DO $$ BEGIN EXECUTE 'CREATE DATABASE skew_four'; END $$;
SELECT datname FROM pg_database WHERE datname LIKE 'skew\_%' ORDER BY 1;
DROP DATABASE skew_two;
DROP DATABASE skew_two;
DROP DATABASE IF EXISTS skew_two;
DROP DATABASE skew_three WITH (FORCE);
CREATE DATABASE skew_four WITH OWNER = DEFAULT ENCODING 'UTF8' CONNECTION LIMIT = 5 nonsense 1;
