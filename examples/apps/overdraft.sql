-- Two accounts of one customer: one may be overdrawn as long as both together are not.
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);

CREATE PROCEDURE withdraw(acct int, amount int) LANGUAGE plpgsql AS $$
DECLARE total int;
BEGIN
  SELECT sum(balance) INTO total FROM account;
  IF total >= amount THEN
    UPDATE account SET balance = balance - amount WHERE id = acct;
  END IF;
END $$;

CREATE PROCEDURE deposit(acct int, amount int) LANGUAGE plpgsql AS $$
BEGIN
  UPDATE account SET balance = balance + amount WHERE id = acct;
END $$;

CREATE FUNCTION no_overdraft() RETURNS boolean LANGUAGE sql AS $$
  SELECT sum(balance) >= 0 FROM account $$;
COMMENT ON FUNCTION no_overdraft IS '@invariant';

INSERT INTO account VALUES (1, 60), (2, 60);
