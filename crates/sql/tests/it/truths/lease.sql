-- A lease is taken when free; FOR UPDATE or not.
CREATE TABLE lease (id int PRIMARY KEY, owner int);
CREATE TABLE work (id int, owner int);
CREATE PROCEDURE grab(l int, me int) LANGUAGE plpgsql AS $$
DECLARE o int;
BEGIN
  SELECT owner INTO o FROM lease WHERE id = l FOR UPDATE;
  IF o IS NULL THEN
    UPDATE lease SET owner = me WHERE id = l;
    INSERT INTO work VALUES (l, me);
  END IF;
END $$;
CREATE PROCEDURE steal(l int, me int) LANGUAGE plpgsql AS $$
DECLARE o int;
BEGIN
  SELECT owner INTO o FROM lease WHERE id = l;
  IF o IS NULL THEN
    UPDATE lease SET owner = me WHERE id = l;
    INSERT INTO work VALUES (l, me);
  END IF;
END $$;
CREATE FUNCTION one_worker() RETURNS boolean LANGUAGE sql AS $$ SELECT NOT EXISTS (SELECT 1 FROM work GROUP BY id HAVING count(*) > 1) $$;
COMMENT ON FUNCTION one_worker IS '@invariant';
CREATE FUNCTION owner_works() RETURNS boolean LANGUAGE sql AS $$ SELECT NOT EXISTS (SELECT 1 FROM lease l JOIN work w ON w.id = l.id WHERE l.owner <> w.owner) $$;
COMMENT ON FUNCTION owner_works IS '@invariant';
INSERT INTO lease VALUES (1, NULL);
