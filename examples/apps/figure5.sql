-- Two programs that look as if they could be a write skew and never are: only one of them ever writes.
-- Source: Beillahi, Bouajjani and Enea, CAV 2019, Figure 5.
-- Published: serializable at SI, which dependencies that follow from the text alone cannot show: each program reads both
--   variables and may write one, but the two conditions exclude each other.
CREATE TABLE variable (name text PRIMARY KEY, value int NOT NULL);

CREATE PROCEDURE t1() LANGUAGE plpgsql AS $$
DECLARE
  x int;
  y int;
BEGIN
  SELECT value INTO x FROM variable WHERE name = 'x';
  SELECT value INTO y FROM variable WHERE name = 'y';
  IF x > y THEN
    UPDATE variable SET value = y WHERE name = 'x';
  END IF;
END $$;

CREATE PROCEDURE t2() LANGUAGE plpgsql AS $$
DECLARE
  x int;
  y int;
BEGIN
  SELECT value INTO x FROM variable WHERE name = 'x';
  SELECT value INTO y FROM variable WHERE name = 'y';
  IF y > x THEN
    UPDATE variable SET value = x WHERE name = 'y';
  END IF;
END $$;

INSERT INTO variable VALUES ('x', 1), ('y', 0);
