-- ON CONFLICT DO NOTHING: does not hold the row that is there.
CREATE TABLE tag (name text PRIMARY KEY);
CREATE TABLE use_of (post int, name text, PRIMARY KEY (post, name));
CREATE PROCEDURE attach(p int, t text) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO tag VALUES (t) ON CONFLICT DO NOTHING;
  INSERT INTO use_of VALUES (p, t) ON CONFLICT DO NOTHING;
END $$;
CREATE PROCEDURE sweep(t text) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM use_of WHERE name = t) THEN
    DELETE FROM tag WHERE name = t;
  END IF;
END $$;
CREATE FUNCTION all_known() RETURNS boolean LANGUAGE sql AS $$ SELECT NOT EXISTS (SELECT 1 FROM use_of u WHERE NOT EXISTS (SELECT 1 FROM tag t WHERE t.name = u.name)) $$;
COMMENT ON FUNCTION all_known IS '@invariant';
INSERT INTO tag VALUES ('x');
