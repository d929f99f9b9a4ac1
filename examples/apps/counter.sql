-- A counter of a video's views: an increment reads, then writes one more.
-- Source: Kaki and others, POPL 2018, section 6.
-- Published: the count that a session sees never goes down if increments run at serializable (ANSI levels, MariaDB) or at
--   PostgreSQL's REPEATABLE READ; reads may run at READ UNCOMMITTED. On an eventually consistent store reads need causal
--   consistency as well.
CREATE TABLE video (id int PRIMARY KEY, views int NOT NULL);

CREATE PROCEDURE increment(which int) LANGUAGE plpgsql AS $$
DECLARE
  n int;
BEGIN
  SELECT views INTO n FROM video WHERE id = which;
  UPDATE video SET views = n + 1 WHERE id = which;
END $$;
COMMENT ON PROCEDURE increment IS '@isolation si';

CREATE PROCEDURE read_views(which int) LANGUAGE plpgsql AS $$
DECLARE
  n int;
BEGIN
  SELECT views INTO n FROM video WHERE id = which;
  RAISE NOTICE '%', n;
END $$;
COMMENT ON PROCEDURE read_views IS '@isolation mvrc';

CREATE FUNCTION views() RETURNS int LANGUAGE sql AS $$
  SELECT views FROM video WHERE id = 1 $$;
COMMENT ON FUNCTION views IS '@monotone';

INSERT INTO video VALUES (1, 0);
