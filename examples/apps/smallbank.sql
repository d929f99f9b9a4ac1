-- A bank with a saving and a checking account for each customer.
-- Source: Beillahi, Bouajjani and Enea, CAV 2019, Table 1 (from Alomari and others, ICDE 2008).
-- Published: not serializable at SI: write_check does not see what transact_saving does, and balance sees the one without
--   the other. Sets of programs that are serializable at READ COMMITTED (Vandevoort and others, VLDB 2021):
--   {amalgamate, deposit_checking, transact_saving}, {balance, deposit_checking}, {balance, transact_saving}.
-- What is read and then overwritten is read by the UPDATE itself or under a lock, as those sets suppose.
CREATE TABLE account (name text PRIMARY KEY, cust_id int NOT NULL);
CREATE TABLE saving (cust_id int PRIMARY KEY, balance numeric(12, 2) NOT NULL);
CREATE TABLE checking (cust_id int PRIMARY KEY, balance numeric(12, 2) NOT NULL);

CREATE PROCEDURE balance(n text) LANGUAGE plpgsql AS $$
DECLARE
  cust int;
  saved numeric;
  checked numeric;
BEGIN
  SELECT cust_id INTO cust FROM account WHERE name = n;
  IF cust IS NULL THEN
    RAISE EXCEPTION 'there is no account of %', n;
  END IF;
  SELECT balance INTO saved FROM saving WHERE cust_id = cust;
  SELECT balance INTO checked FROM checking WHERE cust_id = cust;
  RAISE NOTICE '% has %', n, saved + checked;
END $$;

CREATE PROCEDURE deposit_checking(n text, v numeric) LANGUAGE plpgsql AS $$
DECLARE
  cust int;
BEGIN
  IF v < 0 THEN
    RAISE EXCEPTION 'a deposit of % is negative', v;
  END IF;
  SELECT cust_id INTO cust FROM account WHERE name = n;
  IF cust IS NULL THEN
    RAISE EXCEPTION 'there is no account of %', n;
  END IF;
  UPDATE checking SET balance = balance + v WHERE cust_id = cust;
END $$;

CREATE PROCEDURE transact_saving(n text, v numeric) LANGUAGE plpgsql AS $$
DECLARE
  cust int;
  left_over numeric;
BEGIN
  SELECT cust_id INTO cust FROM account WHERE name = n;
  IF cust IS NULL THEN
    RAISE EXCEPTION 'there is no account of %', n;
  END IF;
  UPDATE saving SET balance = balance + v WHERE cust_id = cust RETURNING balance INTO left_over;
  IF left_over < 0 THEN
    RAISE EXCEPTION 'the savings of % do not cover %', n, -v;
  END IF;
END $$;

CREATE PROCEDURE amalgamate(n1 text, n2 text) LANGUAGE plpgsql AS $$
DECLARE
  cust1 int;
  cust2 int;
  saved numeric;
  checked numeric;
BEGIN
  SELECT cust_id INTO cust1 FROM account WHERE name = n1;
  SELECT cust_id INTO cust2 FROM account WHERE name = n2;
  IF cust1 IS NULL OR cust2 IS NULL THEN
    RAISE EXCEPTION 'there is no account of % or of %', n1, n2;
  END IF;
  SELECT balance INTO saved FROM saving WHERE cust_id = cust1 FOR UPDATE;
  UPDATE saving SET balance = 0 WHERE cust_id = cust1;
  SELECT balance INTO checked FROM checking WHERE cust_id = cust1 FOR UPDATE;
  UPDATE checking SET balance = 0 WHERE cust_id = cust1;
  UPDATE checking SET balance = balance + saved + checked WHERE cust_id = cust2;
END $$;

CREATE PROCEDURE write_check(n text, v numeric) LANGUAGE plpgsql AS $$
DECLARE
  cust int;
  saved numeric;
  checked numeric;
BEGIN
  SELECT cust_id INTO cust FROM account WHERE name = n;
  IF cust IS NULL THEN
    RAISE EXCEPTION 'there is no account of %', n;
  END IF;
  SELECT balance INTO saved FROM saving WHERE cust_id = cust;
  SELECT balance INTO checked FROM checking WHERE cust_id = cust;
  IF saved + checked < v THEN
    UPDATE checking SET balance = balance - (v + 1) WHERE cust_id = cust;
  ELSE
    UPDATE checking SET balance = balance - v WHERE cust_id = cust;
  END IF;
END $$;

INSERT INTO account VALUES ('ann', 1), ('bob', 2), ('eve', 3);
INSERT INTO saving VALUES (1, 100), (2, 50), (3, 0);
INSERT INTO checking VALUES (1, 20), (2, 10), (3, 0);
