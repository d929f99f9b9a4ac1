-- Songs, and playlists of them: a user's playlists are part of the user's row.
-- Source: Beillahi, Bouajjani and Enea, CAV 2019, Table 1 (from Brutschy and others, PLDI 2018).
-- Published: serializable at SI.
CREATE TABLE users (
  username text PRIMARY KEY,
  password text NOT NULL,
  playlists jsonb NOT NULL DEFAULT '{}' -- the numbers of the tracks, by the playlist's name
);
CREATE TABLE artists (name text PRIMARY KEY, letter text NOT NULL);
CREATE INDEX artists_letter ON artists (letter);
CREATE TABLE tracks (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  artist text NOT NULL,
  title text NOT NULL,
  genre text NOT NULL,
  seconds int NOT NULL
);
CREATE INDEX tracks_artist ON tracks (artist);
CREATE INDEX tracks_genre ON tracks (genre);

CREATE PROCEDURE add_track(who text, what text, kind text, length int) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT name FROM artists WHERE name = who) THEN
    INSERT INTO artists (name, letter) VALUES (who, upper(left(who, 1)));
  END IF;
  INSERT INTO tracks (artist, title, genre, seconds) VALUES (who, what, kind, length);
END $$;

CREATE PROCEDURE get_track(track int) LANGUAGE plpgsql AS $$
DECLARE
  one tracks%ROWTYPE;
BEGIN
  SELECT * INTO one FROM tracks WHERE id = track;
  RAISE NOTICE '% by % (%, % s)', one.title, one.artist, one.genre, one.seconds;
END $$;

CREATE PROCEDURE add_user(uname text, secret text) LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT username FROM users WHERE username = uname) THEN
    RAISE EXCEPTION 'the name % is taken', uname;
  END IF;
  INSERT INTO users (username, password) VALUES (uname, secret);
END $$;

CREATE PROCEDURE get_user(uname text) LANGUAGE plpgsql AS $$
DECLARE
  secret text;
  lists jsonb;
BEGIN
  SELECT password, playlists INTO secret, lists FROM users WHERE username = uname;
  RAISE NOTICE '%: % %', uname, secret, lists;
END $$;

CREATE PROCEDURE delete_user(uname text) LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM users WHERE username = uname;
END $$;

CREATE PROCEDURE artists_by_letter(first text) LANGUAGE plpgsql AS $$
DECLARE
  one text;
BEGIN
  FOR one IN SELECT name FROM artists WHERE letter = first ORDER BY name LOOP
    RAISE NOTICE '%', one;
  END LOOP;
END $$;

CREATE PROCEDURE songs_by_artist(who text) LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT id, title FROM tracks WHERE artist = who ORDER BY id LOOP
    RAISE NOTICE '%: %', one.id, one.title;
  END LOOP;
END $$;

CREATE PROCEDURE songs_by_genre(kind text) LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT id, artist, title FROM tracks WHERE genre = kind ORDER BY id LOOP
    RAISE NOTICE '%: % by %', one.id, one.title, one.artist;
  END LOOP;
END $$;

CREATE PROCEDURE create_playlist(uname text, list text) LANGUAGE plpgsql AS $$
DECLARE
  lists jsonb;
BEGIN
  SELECT playlists INTO lists FROM users WHERE username = uname;
  IF lists IS NOT NULL AND lists -> list IS NULL THEN
    UPDATE users SET playlists = lists || jsonb_build_object(list, '[]'::jsonb) WHERE username = uname;
  END IF;
END $$;

CREATE PROCEDURE delete_playlist(uname text, list text) LANGUAGE plpgsql AS $$
DECLARE
  lists jsonb;
BEGIN
  SELECT playlists INTO lists FROM users WHERE username = uname;
  IF lists -> list IS NOT NULL THEN
    UPDATE users SET playlists = lists - list WHERE username = uname;
  END IF;
END $$;

CREATE PROCEDURE add_track_to_playlist(uname text, list text, track int) LANGUAGE plpgsql AS $$
DECLARE
  lists jsonb;
BEGIN
  IF NOT EXISTS (SELECT id FROM tracks WHERE id = track) THEN
    RAISE EXCEPTION 'there is no track %', track;
  END IF;
  SELECT playlists INTO lists FROM users WHERE username = uname;
  IF lists -> list IS NOT NULL THEN
    UPDATE users SET playlists = jsonb_set(lists, ARRAY[list], (lists -> list) || to_jsonb(track))
    WHERE username = uname;
  END IF;
END $$;

-- The track at a place in the list, the first one is 0.
CREATE PROCEDURE delete_track_from_playlist(uname text, list text, place int) LANGUAGE plpgsql AS $$
DECLARE
  lists jsonb;
BEGIN
  SELECT playlists INTO lists FROM users WHERE username = uname;
  IF lists -> list IS NOT NULL THEN
    UPDATE users SET playlists = jsonb_set(lists, ARRAY[list], (lists -> list) - place) WHERE username = uname;
  END IF;
END $$;

CREATE PROCEDURE get_playlist(uname text, list text) LANGUAGE plpgsql AS $$
DECLARE
  lists jsonb;
BEGIN
  SELECT playlists INTO lists FROM users WHERE username = uname;
  RAISE NOTICE '%', lists -> list;
END $$;

CREATE PROCEDURE playlist_names(uname text) LANGUAGE plpgsql AS $$
DECLARE
  lists jsonb;
  one text;
BEGIN
  SELECT playlists INTO lists FROM users WHERE username = uname;
  FOR one IN SELECT jsonb_object_keys(lists) LOOP
    RAISE NOTICE '%', one;
  END LOOP;
END $$;

INSERT INTO users VALUES ('ann', 'sesame', '{"gym": [1]}'), ('bob', 'open', '{}');
INSERT INTO artists VALUES ('Nina', 'N');
INSERT INTO tracks (artist, title, genre, seconds) VALUES
  ('Nina', 'Feeling Good', 'jazz', 177), ('Nina', 'Sinnerman', 'jazz', 622);
