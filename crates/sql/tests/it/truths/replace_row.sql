-- DELETE and INSERT of one key in one transaction, beside an UPDATE of it.
CREATE TABLE cfg (k text PRIMARY KEY, v int NOT NULL, gen int NOT NULL);
CREATE PROCEDURE replace(x text, y int) LANGUAGE plpgsql AS $$
DECLARE g int;
BEGIN
  SELECT gen INTO g FROM cfg WHERE k = x;
  DELETE FROM cfg WHERE k = x;
  INSERT INTO cfg VALUES (x, y, g + 1);
END $$;
CREATE PROCEDURE bump(x text) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE cfg SET v = v + 1, gen = gen + 1 WHERE k = x;
END $$;
CREATE FUNCTION has_one() RETURNS boolean LANGUAGE sql AS $$ SELECT count(*) = 1 FROM cfg $$;
COMMENT ON FUNCTION has_one IS '@invariant';
CREATE FUNCTION generation() RETURNS int LANGUAGE sql AS $$ SELECT coalesce(max(gen), 0) FROM cfg $$;
COMMENT ON FUNCTION generation IS '@monotone';
INSERT INTO cfg VALUES ('a', 1, 1);
