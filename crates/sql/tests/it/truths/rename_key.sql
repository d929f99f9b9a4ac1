-- A key moves while another one writes through it.
CREATE TABLE acc (name text PRIMARY KEY, n int NOT NULL);
CREATE PROCEDURE rename(a text, b text) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE acc SET name = b WHERE name = a;
END $$;
CREATE PROCEDURE add(a text, k int) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE acc SET n = n + k WHERE name = a;
  IF NOT FOUND THEN
    INSERT INTO acc VALUES (a, k);
  END IF;
END $$;
CREATE FUNCTION total() RETURNS int LANGUAGE sql AS $$ SELECT coalesce(sum(n), 0)::int FROM acc $$;
COMMENT ON FUNCTION total IS '@monotone';
CREATE FUNCTION one_row() RETURNS boolean LANGUAGE sql AS $$ SELECT count(*) = 1 FROM acc $$;
COMMENT ON FUNCTION one_row IS '@invariant';
INSERT INTO acc VALUES ('a', 1);
