-- A blog of short posts: who is deleted takes the posts along; a timeline has the posts of those whom one follows.
-- Source: Kaki and others, POPL 2018, section 6.
-- Published: a timeline never shows a post without its author if it is read at REPEATABLE READ; READ COMMITTED is enough for
--   deletions. At READ COMMITTED a timeline finds the post, and then no author.
CREATE TABLE users (id int PRIMARY KEY, name text NOT NULL);
CREATE TABLE microposts (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id int NOT NULL REFERENCES users,
  content text NOT NULL
);
CREATE INDEX microposts_user ON microposts (user_id);
CREATE TABLE followers (
  follower int REFERENCES users,
  followed int REFERENCES users,
  PRIMARY KEY (follower, followed)
);
CREATE INDEX followers_followed ON followers (followed);

CREATE PROCEDURE post(who int, what text) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO microposts (user_id, content) VALUES (who, what);
END $$;
COMMENT ON PROCEDURE post IS '@isolation mvrc';

CREATE PROCEDURE delete_user(who int) LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM microposts WHERE user_id = who;
  DELETE FROM followers WHERE follower = who OR followed = who;
  DELETE FROM users WHERE id = who;
END $$;
COMMENT ON PROCEDURE delete_user IS '@isolation mvrc';

CREATE PROCEDURE timeline(reader int) LANGUAGE plpgsql AS $$
DECLARE
  one record;
  author text;
BEGIN
  FOR one IN SELECT p.user_id, p.content FROM followers f JOIN microposts p ON p.user_id = f.followed
             WHERE f.follower = reader ORDER BY p.id LOOP
    SELECT name INTO author FROM users WHERE id = one.user_id;
    ASSERT author IS NOT NULL, 'a post without its author';
    RAISE NOTICE '%: %', author, one.content;
  END LOOP;
END $$;
COMMENT ON PROCEDURE timeline IS '@isolation si';

CREATE FUNCTION every_post_has_its_author() RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT 1 FROM microposts WHERE user_id NOT IN (SELECT id FROM users)) $$;
COMMENT ON FUNCTION every_post_has_its_author IS '@invariant';

INSERT INTO users VALUES (1, 'ann'), (2, 'bob'), (3, 'eve');
INSERT INTO microposts (user_id, content) VALUES (2, 'hello'), (3, 'rain today'), (2, 'tea?');
INSERT INTO followers VALUES (1, 2), (1, 3), (2, 3);
