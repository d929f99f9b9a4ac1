-- ASSERT in the middle: what was counted is what is taken.
CREATE TABLE stock (item int PRIMARY KEY, n int NOT NULL);
CREATE PROCEDURE take(i int, k int) LANGUAGE plpgsql AS $$
DECLARE have int; rest int;
BEGIN
  SELECT n INTO have FROM stock WHERE item = i;
  IF have >= k THEN
    UPDATE stock SET n = n - k WHERE item = i RETURNING n INTO rest;
    ASSERT rest = have - k, 'nothing came between';
  END IF;
END $$;
CREATE PROCEDURE put(i int, k int) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE stock SET n = n + k WHERE item = i;
END $$;
CREATE FUNCTION not_negative() RETURNS boolean LANGUAGE sql AS $$ SELECT NOT EXISTS (SELECT 1 FROM stock WHERE n < 0) $$;
COMMENT ON FUNCTION not_negative IS '@invariant';
INSERT INTO stock VALUES (1, 3), (2, 5);
