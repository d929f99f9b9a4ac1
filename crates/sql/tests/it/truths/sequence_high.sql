-- The highest number that is announced only grows: announced and written apart.
CREATE TABLE msg (n int PRIMARY KEY);
CREATE TABLE head (id int PRIMARY KEY, n int NOT NULL);
CREATE PROCEDURE post() LANGUAGE plpgsql AS $$
DECLARE m int;
BEGIN
  SELECT coalesce(max(n), 0) + 1 INTO m FROM msg;
  INSERT INTO msg VALUES (m);
  UPDATE head SET n = m WHERE id = 1;
END $$;
CREATE PROCEDURE drop_last() LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM msg WHERE n = (SELECT max(n) FROM msg);
END $$;
CREATE FUNCTION announced() RETURNS int LANGUAGE sql AS $$ SELECT n FROM head $$;
COMMENT ON FUNCTION announced IS '@monotone';
CREATE FUNCTION head_not_behind() RETURNS boolean LANGUAGE sql AS $$ SELECT (SELECT n FROM head) >= coalesce((SELECT max(n) FROM msg), 0) $$;
COMMENT ON FUNCTION head_not_behind IS '@invariant';
INSERT INTO head VALUES (1, 0);
