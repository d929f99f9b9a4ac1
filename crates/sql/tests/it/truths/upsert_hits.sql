-- ON CONFLICT DO UPDATE counts, and a reset by DELETE.
CREATE TABLE hits (page text PRIMARY KEY, n int NOT NULL);
CREATE TABLE log (id int GENERATED ALWAYS AS IDENTITY, page text);
CREATE PROCEDURE hit(p text) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO hits VALUES (p, 1) ON CONFLICT (page) DO UPDATE SET n = hits.n + 1;
  INSERT INTO log (page) VALUES (p);
END $$;
CREATE PROCEDURE recount(p text) LANGUAGE plpgsql AS $$
DECLARE c int;
BEGIN
  SELECT count(*) INTO c FROM log WHERE page = p;
  UPDATE hits SET n = c WHERE page = p;
END $$;
CREATE FUNCTION counted() RETURNS boolean LANGUAGE sql AS $$ SELECT NOT EXISTS (SELECT 1 FROM hits h WHERE n <> (SELECT count(*) FROM log l WHERE l.page = h.page)) $$;
COMMENT ON FUNCTION counted IS '@invariant';
