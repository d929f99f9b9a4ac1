-- An auction: users register by name, and bid on items that count their bids.
-- Source: Bernardi and Gotsman, CONCUR 2016, Figure 1, with the name as the key of a user, as in Beillahi, Bouajjani and
--   Enea, CAV 2019, Table 1.
-- Published: serializable at SI. auction_surrogate.sql has users with numbers, and is not.
CREATE TABLE users (name text PRIMARY KEY);
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
  FOR one IN SELECT name FROM users ORDER BY name LOOP
    RAISE NOTICE '%', one;
  END LOOP;
END $$;

INSERT INTO users VALUES ('ann');
INSERT INTO items VALUES (1, 'lamp', 0), (2, 'chair', 0);
