-- An auction whose users have numbers: nothing but the program keeps two users from having one name.
-- Source: Bernardi and Gotsman, CONCUR 2016, Figure 1.
-- Published: not serializable at CC (lost update of two bids), nor at PSI (two registrations of one name are a write skew,
--   two registrations seen in different orders a long fork), and so not at SI; serializable at PSI once reg_user runs at
--   serializable.
CREATE TABLE users (uid int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
CREATE INDEX users_name ON users (name);
CREATE TABLE items (iid int PRIMARY KEY, descr text NOT NULL, nbids int NOT NULL DEFAULT 0);
CREATE TABLE bids (
  bid int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  iid int NOT NULL REFERENCES items,
  val int NOT NULL
);

CREATE PROCEDURE reg_user(uname text) LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT name FROM users WHERE name = uname) THEN
    RAISE EXCEPTION 'the name % is taken', uname;
  END IF;
  INSERT INTO users (name) VALUES (uname);
END $$;

CREATE PROCEDURE store_bid(item int, amount int) LANGUAGE plpgsql AS $$
DECLARE
  n int;
BEGIN
  INSERT INTO bids (iid, val) VALUES (item, amount);
  SELECT nbids INTO n FROM items WHERE iid = item;
  UPDATE items SET nbids = n + 1 WHERE iid = item;
END $$;

CREATE PROCEDURE view_item(item int) LANGUAGE plpgsql AS $$
DECLARE
  what text;
  n int;
BEGIN
  SELECT descr, nbids INTO what, n FROM items WHERE iid = item;
  RAISE NOTICE '%: % bids', what, n;
END $$;

CREATE PROCEDURE view_users() LANGUAGE plpgsql AS $$
DECLARE
  one text;
BEGIN
  FOR one IN SELECT name FROM users ORDER BY name, uid LOOP
    RAISE NOTICE '%', one;
  END LOOP;
END $$;

INSERT INTO users (name) VALUES ('ann');
INSERT INTO items VALUES (1, 'lamp', 0), (2, 'chair', 0);
