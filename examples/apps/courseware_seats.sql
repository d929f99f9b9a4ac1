-- Students enrol in courses that count their free seats; courses and students without enrolments can be removed.
-- Source: Nagar and Jagannathan, CONCUR 2018, section 6.
-- Published: at ec three kinds of anomaly with two transactions: two enroll take one seat, a course or a student is added
--   twice, enroll meets rem_course or rem_student. With enroll at PSI and those pairs serializable a harmless long fork with
--   four remains: two enroll fail, one for lack of the course, the other for lack of the student. With enroll at SI and those
--   pairs serializable: serializable, by shortest paths of length 8.
-- Students and courses have numbers, so that nothing but the program keeps two from having one name. There is no foreign key
-- from enrolled: with one the database would refuse to remove what somebody else is about to use.
CREATE TABLE student (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL);
CREATE INDEX student_name ON student (name);
CREATE TABLE course (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, seats int NOT NULL);
CREATE INDEX course_name ON course (name);
CREATE TABLE enrolled (student int, course int, PRIMARY KEY (student, course));
CREATE INDEX enrolled_course ON enrolled (course);

CREATE PROCEDURE add_student(sname text) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT id FROM student WHERE name = sname) THEN
    INSERT INTO student (name) VALUES (sname);
  END IF;
END $$;

CREATE PROCEDURE add_course(cname text, capacity int) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT id FROM course WHERE name = cname) THEN
    INSERT INTO course (name, seats) VALUES (cname, capacity);
  END IF;
END $$;

CREATE PROCEDURE enroll(who int, what int) LANGUAGE plpgsql AS $$
DECLARE
  known text;
  free int;
BEGIN
  SELECT name INTO known FROM student WHERE id = who;
  SELECT seats INTO free FROM course WHERE id = what;
  IF known IS NOT NULL AND free > 0 THEN
    UPDATE course SET seats = free - 1 WHERE id = what;
    INSERT INTO enrolled (student, course) VALUES (who, what);
  END IF;
END $$;

CREATE PROCEDURE rem_student(who int) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT course FROM enrolled WHERE student = who) THEN
    DELETE FROM student WHERE id = who;
  END IF;
END $$;

CREATE PROCEDURE rem_course(what int) LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT student FROM enrolled WHERE course = what) THEN
    DELETE FROM course WHERE id = what;
  END IF;
END $$;

CREATE FUNCTION no_course_too_full() RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT 1 FROM course WHERE seats < 0) $$;
COMMENT ON FUNCTION no_course_too_full IS '@invariant';

CREATE FUNCTION everybody_and_every_course_is_there() RETURNS boolean LANGUAGE sql AS $$
  SELECT NOT EXISTS (SELECT 1 FROM enrolled
                     WHERE student NOT IN (SELECT id FROM student) OR course NOT IN (SELECT id FROM course)) $$;
COMMENT ON FUNCTION everybody_and_every_course_is_there IS '@invariant';

INSERT INTO student (name) VALUES ('ann'), ('bob');
INSERT INTO course (name, seats) VALUES ('logic', 1), ('music', 2);
