-- One item left: an order reads how many there are, and writes one less.
CREATE TABLE stock (item int PRIMARY KEY, n int NOT NULL);
CREATE TABLE sold (id serial PRIMARY KEY, item int NOT NULL REFERENCES stock, customer text NOT NULL);

CREATE PROCEDURE buy(what int, who text) LANGUAGE plpgsql AS $$
DECLARE
  present int;
BEGIN
  SELECT n INTO present FROM stock WHERE item = what;
  IF present > 0 THEN
    UPDATE stock SET n = present - 1 WHERE item = what;
    INSERT INTO sold (item, customer) VALUES (what, who);
  END IF;
END $$;

-- The same in one statement, which every database does without losing anything.
CREATE PROCEDURE buy_safely(what int, who text) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE stock SET n = n - 1 WHERE item = what AND n > 0;
  IF FOUND THEN
    INSERT INTO sold (item, customer) VALUES (what, who);
  END IF;
END $$;

CREATE FUNCTION not_oversold() RETURNS boolean LANGUAGE sql AS $$
  SELECT (SELECT count(*) FROM sold) + (SELECT sum(n) FROM stock) = 1 $$;
COMMENT ON FUNCTION not_oversold IS '@invariant';

INSERT INTO stock VALUES (1, 1);
