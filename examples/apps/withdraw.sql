-- Withdrawals from accounts: read the balance, then write what is left of it.
-- Source: Nagar and Jagannathan, CONCUR 2018, Figure 1; also Kaki and others, POPL 2018, Figure 1.
-- Published: not serializable at ec (two withdrawals, a lost update); serializable at psi, for any number of them.
--   The balance reflects both of two withdrawals at SI, but not at READ COMMITTED.
CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL);

CREATE PROCEDURE withdraw(acct int, amount int) LANGUAGE plpgsql AS $$
DECLARE
  bal int;
BEGIN
  SELECT balance INTO bal FROM account WHERE id = acct;
  IF bal >= amount THEN
    UPDATE account SET balance = bal - amount WHERE id = acct;
  END IF;
END $$;

CREATE FUNCTION no_overdraft() RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT 1 FROM account WHERE balance < 0) $$;
COMMENT ON FUNCTION no_overdraft IS '@invariant';

INSERT INTO account VALUES (1, 100), (2, 50);
