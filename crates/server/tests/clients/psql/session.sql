-- What people type.
\pset null '(null)'
SELECT 1 AS one, 'two' AS two, NULL AS three, 4.50 AS four;
SELECT;
SELECT 1 AS a \gset
SELECT :a + 1 AS b, :'a' AS c;
CREATE TABLE t (id int PRIMARY KEY, name text);
INSERT INTO t VALUES (1, 'a'), (2, NULL) RETURNING *;
INSERT INTO t VALUES (1, 'again');
\set VERBOSITY terse
SELECT * FROM nowhere;
\set VERBOSITY default
SELECT nam FROM t;
SELEC 1;
BEGIN;
UPDATE t SET name = 'b' WHERE id = 1;
SELECT 1/0;
SELECT 1;
ROLLBACK;
TABLE t;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY;
SHOW transaction_isolation;
DELETE FROM t;
END;
SELECT 1 AS a;
-- Before version 15 psql shows the last result alone.
\set QUIET on
SET application_name = 'b' \; SELECT 3 AS c;
\set QUIET off
\copy t FROM STDIN
3	c
4	\N
\.
\copy (SELECT * FROM t ORDER BY id) TO STDOUT CSV HEADER
COPY t FROM STDIN (FORMAT csv, NULL 'none');
5,"a, b"
6,none
\.
COPY t FROM STDIN;
7	x	y
\.
COPY t TO STDOUT;
SELECT count(*), sum(id) FROM t \gx
SELECT * FROM t ORDER BY id DESC LIMIT 2 \g (format=unaligned)
SELECT id, name FROM t \gdesc
PREPARE get (int) AS SELECT name FROM t WHERE id = $1;
EXECUTE get(1);
DEALLOCATE get;
EXECUTE get(1);
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM t ORDER BY id;
FETCH 2 FROM c;
FETCH FORWARD ALL FROM c;
CLOSE c;
SAVEPOINT s;
INSERT INTO t VALUES (1, 'x');
ROLLBACK TO s;
COMMIT;
DO $$ BEGIN RAISE NOTICE 'hello'; RAISE WARNING 'careful' USING HINT = 'really'; END $$;
DO $$ BEGIN RAISE EXCEPTION 'no %', 1 USING ERRCODE = 'P0042', DETAIL = 'some detail'; END $$;
SET TIME ZONE 'UTC';
SELECT timestamptz '2024-02-29 12:00:00+02', interval '1 day 02:03', date '2024-02-29' + 1 AS next;
SELECT true AS t, '{1,2}'::int[] AS a, '{"b": 1, "a": [null]}'::jsonb AS j, '\x00ff'::bytea AS y, 1e20::float8 AS f, 'x'::char(3) AS c;
\echo :ROW_COUNT :LAST_ERROR_SQLSTATE
\encoding
\x on
SELECT 1 AS a, 'multi
line' AS b;
DROP TABLE t;
