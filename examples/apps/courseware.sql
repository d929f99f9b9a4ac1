-- Students enrol in courses that have a limit; a course that nobody attends can be removed.
-- Source: Beillahi, Bouajjani and Enea, CAV 2019, Table 1 and section 7.
-- Published: not serializable at SI: remove_course beside enroll leaves a student in a course that is gone. (Two enroll at
--   the last seat are another write skew.)
-- There is no foreign key from enrolled: with one the database would refuse the first of the two.
CREATE TABLE student (s text PRIMARY KEY);
CREATE TABLE course (c text PRIMARY KEY, capacity int NOT NULL);
CREATE TABLE enrolled (s text, c text, PRIMARY KEY (s, c));
CREATE INDEX enrolled_course ON enrolled (c);

CREATE PROCEDURE register_student(who text) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT s FROM student WHERE s = who) THEN
    INSERT INTO student (s) VALUES (who);
  END IF;
END $$;

CREATE PROCEDURE add_course(what text, seats int) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT c FROM course WHERE c = what) THEN
    INSERT INTO course (c, capacity) VALUES (what, seats);
  END IF;
END $$;

CREATE PROCEDURE enroll(who text, what text) LANGUAGE plpgsql AS $$
DECLARE
  seats int;
  taken int;
BEGIN
  IF NOT EXISTS (SELECT s FROM student WHERE s = who) THEN
    RETURN;
  END IF;
  SELECT capacity INTO seats FROM course WHERE c = what;
  SELECT count(*) INTO taken FROM enrolled WHERE c = what;
  IF taken < seats THEN
    INSERT INTO enrolled (s, c) VALUES (who, what);
  END IF;
END $$;

CREATE PROCEDURE remove_course(what text) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT s FROM enrolled WHERE c = what) THEN
    DELETE FROM course WHERE c = what;
  END IF;
END $$;

CREATE PROCEDURE query_courses() LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  FOR one IN SELECT c, capacity FROM course ORDER BY c LOOP
    RAISE NOTICE '%: % seats', one.c, one.capacity;
  END LOOP;
END $$;

CREATE FUNCTION no_course_too_full() RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT 1 FROM course WHERE (SELECT count(*) FROM enrolled WHERE enrolled.c = course.c) > capacity) $$;
COMMENT ON FUNCTION no_course_too_full IS '@invariant';

CREATE FUNCTION nobody_in_a_removed_course() RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT 1 FROM enrolled WHERE c NOT IN (SELECT c FROM course)) $$;
COMMENT ON FUNCTION nobody_in_a_removed_course IS '@invariant';

INSERT INTO student VALUES ('ann'), ('bob');
INSERT INTO course VALUES ('logic', 1), ('music', 2);
