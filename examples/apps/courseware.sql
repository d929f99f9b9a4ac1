-- Students enrol in courses that have a limit; a course can be closed.
CREATE TABLE course (id int PRIMARY KEY, capacity int NOT NULL, is_open bool NOT NULL DEFAULT true);
CREATE TABLE enrolment (student int, course int REFERENCES course, PRIMARY KEY (student, course));

CREATE PROCEDURE enrol(who int, what int) LANGUAGE plpgsql AS $$
DECLARE
  room int;
  taken int;
BEGIN
  SELECT capacity INTO room FROM course WHERE id = what AND is_open;
  SELECT count(*) INTO taken FROM enrolment WHERE course = what;
  IF room IS NOT NULL AND taken < room THEN
    INSERT INTO enrolment VALUES (who, what);
  END IF;
END $$;

CREATE PROCEDURE close_course(what int) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM enrolment WHERE course = what) THEN
    UPDATE course SET is_open = false WHERE id = what;
  END IF;
END $$;

CREATE FUNCTION nobody_too_many() RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT 1 FROM course c
                     WHERE (SELECT count(*) FROM enrolment e WHERE e.course = c.id) > c.capacity) $$;
COMMENT ON FUNCTION nobody_too_many IS '@invariant';

CREATE FUNCTION nobody_in_closed_course() RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT 1 FROM enrolment e JOIN course c ON c.id = e.course WHERE NOT c.is_open) $$;
COMMENT ON FUNCTION nobody_in_closed_course IS '@invariant';

INSERT INTO course VALUES (1, 1);
