-- A sum over rows bounded by a check before the insert; with and without a lock of the user's row.
CREATE TABLE usr (id int PRIMARY KEY, quota int NOT NULL);
CREATE TABLE file (id int PRIMARY KEY, usr int REFERENCES usr, size int NOT NULL);
CREATE PROCEDURE upload(f int, u int, s int) LANGUAGE plpgsql AS $$
DECLARE used int; q int;
BEGIN
  SELECT quota INTO q FROM usr WHERE id = u;
  SELECT coalesce(sum(size), 0) INTO used FROM file WHERE usr = u;
  IF used + s <= q THEN
    INSERT INTO file VALUES (f, u, s);
  END IF;
END $$;
CREATE PROCEDURE upload_locked(f int, u int, s int) LANGUAGE plpgsql AS $$
DECLARE used int; q int;
BEGIN
  SELECT quota INTO q FROM usr WHERE id = u FOR UPDATE;
  SELECT coalesce(sum(size), 0) INTO used FROM file WHERE usr = u;
  IF used + s <= q THEN
    INSERT INTO file VALUES (f, u, s);
  END IF;
END $$;
CREATE FUNCTION within() RETURNS boolean LANGUAGE sql AS $$ SELECT NOT EXISTS (SELECT 1 FROM usr u WHERE quota < (SELECT coalesce(sum(size), 0) FROM file f WHERE f.usr = u.id)) $$;
COMMENT ON FUNCTION within IS '@invariant';
INSERT INTO usr VALUES (1, 10);
