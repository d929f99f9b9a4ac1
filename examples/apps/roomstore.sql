-- Messages in chat rooms, kept by day.
-- Source: Beillahi, Bouajjani and Enea, CAV 2019, Table 1 (from Brutschy and others, PLDI 2018).
-- Published: serializable at SI. Only add_message writes.
CREATE TABLE messages (
  day date,
  channel text,
  date_time timestamp,
  username text,
  message text NOT NULL,
  PRIMARY KEY (day, channel, date_time, username)
);

CREATE PROCEDURE add_message(on_day date, room text, at timestamp, who text, what text) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO messages (day, channel, date_time, username, message) VALUES (on_day, room, at, who, what);
END $$;

CREATE PROCEDURE last_message(on_day date, room text) LANGUAGE plpgsql AS $$
DECLARE
  who text;
  what text;
BEGIN
  SELECT username, message INTO who, what FROM messages
  WHERE day = on_day AND channel = room
  ORDER BY date_time DESC, username DESC LIMIT 1;
  RAISE NOTICE '%: %', who, what;
END $$;

CREATE PROCEDURE messages_of_day(on_day date, room text) LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT date_time, username, message FROM messages
             WHERE day = on_day AND channel = room ORDER BY date_time, username LOOP
    RAISE NOTICE '% %: %', one.date_time, one.username, one.message;
  END LOOP;
END $$;

CREATE PROCEDURE specific_message(on_day date, room text, at timestamp, who text) LANGUAGE plpgsql AS $$
DECLARE
  what text;
BEGIN
  SELECT message INTO what FROM messages
  WHERE day = on_day AND channel = room AND date_time = at AND username = who;
  RAISE NOTICE '%', what;
END $$;

CREATE PROCEDURE topic_messages(word text) LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT channel, username, message FROM messages
             WHERE message LIKE '%' || word || '%' ORDER BY day, channel, date_time, username LOOP
    RAISE NOTICE '% %: %', one.channel, one.username, one.message;
  END LOOP;
END $$;

INSERT INTO messages VALUES
  ('2026-03-01', 'tea', '2026-03-01 08:00:00', 'ann', 'good morning'),
  ('2026-03-01', 'tea', '2026-03-01 08:05:00', 'bob', 'is there tea?');
