-- Moves in a tree must not make a cycle of two.
CREATE TABLE node (id int PRIMARY KEY, parent int);
CREATE PROCEDURE move(n int, p int) LANGUAGE plpgsql AS $$
DECLARE up int;
BEGIN
  SELECT parent INTO up FROM node WHERE id = p;
  IF up IS DISTINCT FROM n THEN
    UPDATE node SET parent = p WHERE id = n;
  END IF;
END $$;
CREATE PROCEDURE move_locked(n int, p int) LANGUAGE plpgsql AS $$
DECLARE up int;
BEGIN
  SELECT parent INTO up FROM node WHERE id = p FOR SHARE;
  IF up IS DISTINCT FROM n THEN
    UPDATE node SET parent = p WHERE id = n;
  END IF;
END $$;
CREATE FUNCTION no_cycle() RETURNS boolean LANGUAGE sql AS $$ SELECT NOT EXISTS (SELECT 1 FROM node a JOIN node b ON a.parent = b.id AND b.parent = a.id) $$;
COMMENT ON FUNCTION no_cycle IS '@invariant';
INSERT INTO node VALUES (1, NULL), (2, NULL), (3, 1);
