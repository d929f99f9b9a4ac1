-- The accounts of a queue service: each has a set of keys, which is part of its row.
-- Source: Beillahi, Bouajjani and Enea, CAV 2019, Table 1, Cassieq-Core (from Brutschy and others, PLDI 2018).
-- Published: serializable at SI.
CREATE TABLE useraccounts (account text PRIMARY KEY, keys text[] NOT NULL);

CREATE PROCEDURE add_account(a text) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT account FROM useraccounts WHERE account = a) THEN
    INSERT INTO useraccounts (account, keys) VALUES (a, '{}');
  END IF;
END $$;

CREATE PROCEDURE delete_account(a text) LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM useraccounts WHERE account = a;
END $$;

CREATE PROCEDURE add_key(a text, k text) LANGUAGE plpgsql AS $$
DECLARE
  present text[];
BEGIN
  SELECT keys INTO present FROM useraccounts WHERE account = a;
  IF present IS NOT NULL AND NOT k = ANY (present) THEN
    UPDATE useraccounts SET keys = array_append(present, k) WHERE account = a;
  END IF;
END $$;

CREATE PROCEDURE delete_key(a text, k text) LANGUAGE plpgsql AS $$
DECLARE
  present text[];
BEGIN
  SELECT keys INTO present FROM useraccounts WHERE account = a;
  IF k = ANY (present) THEN
    UPDATE useraccounts SET keys = array_remove(present, k) WHERE account = a;
  END IF;
END $$;

CREATE PROCEDURE get_account(a text) LANGUAGE plpgsql AS $$
DECLARE
  name text;
  present text[];
BEGIN
  SELECT account, keys INTO name, present FROM useraccounts WHERE account = a;
  IF name IS NULL THEN
    RAISE NOTICE 'there is no account %', a;
  ELSE
    RAISE NOTICE '% has %', name, present;
  END IF;
END $$;

CREATE PROCEDURE get_accounts() LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT account, keys FROM useraccounts ORDER BY account LOOP
    RAISE NOTICE '% has %', one.account, one.keys;
  END LOOP;
END $$;

CREATE PROCEDURE get_keys(a text) LANGUAGE plpgsql AS $$
DECLARE
  present text[];
  one text;
BEGIN
  SELECT keys INTO present FROM useraccounts WHERE account = a;
  IF present IS NOT NULL THEN
    FOREACH one IN ARRAY present LOOP
      RAISE NOTICE '%', one;
    END LOOP;
  END IF;
END $$;

CREATE PROCEDURE get_key(a text, k text) LANGUAGE plpgsql AS $$
DECLARE
  present text[];
BEGIN
  SELECT keys INTO present FROM useraccounts WHERE account = a;
  RAISE NOTICE '%', coalesce(k = ANY (present), false);
END $$;

INSERT INTO useraccounts VALUES ('ann', '{red}'), ('bob', '{}');
