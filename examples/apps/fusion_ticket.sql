-- Tickets for events at venues.
-- Source: Beillahi, Bouajjani and Enea, CAV 2019, Table 1 (from Holt and others, SoCC 2016).
-- Published: serializable at SI.
CREATE TABLE events (venue text, event text, nb_ticket int NOT NULL, PRIMARY KEY (venue, event));

CREATE PROCEDURE add_event(place text, what text, tickets int) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT event FROM events WHERE venue = place AND event = what) THEN
    INSERT INTO events (venue, event, nb_ticket) VALUES (place, what, tickets);
  END IF;
END $$;

CREATE PROCEDURE view_event(place text, what text) LANGUAGE plpgsql AS $$
DECLARE
  n int;
BEGIN
  SELECT nb_ticket INTO n FROM events WHERE venue = place AND event = what;
  RAISE NOTICE '% at %: % left', what, place, n;
END $$;

CREATE PROCEDURE browse(place text) LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT event, nb_ticket FROM events WHERE venue = place ORDER BY event LOOP
    RAISE NOTICE '%: % left', one.event, one.nb_ticket;
  END LOOP;
END $$;

CREATE PROCEDURE purchase(place text, what text) LANGUAGE plpgsql AS $$
DECLARE
  n int;
BEGIN
  SELECT nb_ticket INTO n FROM events WHERE venue = place AND event = what;
  IF n > 0 THEN
    UPDATE events SET nb_ticket = n - 1 WHERE venue = place AND event = what;
  END IF;
END $$;

CREATE FUNCTION not_oversold() RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT 1 FROM events WHERE nb_ticket < 0) $$;
COMMENT ON FUNCTION not_oversold IS '@invariant';

INSERT INTO events VALUES ('arena', 'opera', 1), ('arena', 'derby', 5), ('hall', 'opera', 2);
