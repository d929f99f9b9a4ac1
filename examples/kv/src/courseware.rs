//! Courseware: students register, courses are created, and students enroll in courses up to their capacity.
//!
//! Three keys hold a set each: `students`, `courses` with their capacities, and `enrollments`. Enrollments have
//! registered students and existing courses only, because whoever removes one removes its enrollments along with it.

use std::collections::{BTreeMap, BTreeSet};

use skew_store::{Db, Error, Session, Transaction, Value};

use crate::{ATTEMPTS, RETRIED};

const STUDENTS: &str = "students";
const COURSES: &str = "courses";
const ENROLLMENTS: &str = "enrollments";

/// What became of a wish to enroll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Enrollment {
    /// The student is in the course.
    Confirmed,
    /// The student is not registered, or there is no such course.
    Invalid,
    /// The course is full.
    Full,
}

/// Registers a student.
pub fn register_student(session: &Session, student: &str) -> Result<(), Error> {
    session.retry(ATTEMPTS, |t| {
        let mut students = students(t)?;
        students.insert(student.to_owned());
        t.write(STUDENTS, students)
    })
}

/// Removes a student, who leaves all courses.
pub fn deregister_student(session: &Session, student: &str) -> Result<(), Error> {
    session.retry(ATTEMPTS, |t| {
        let mut students = students(t)?;
        students.remove(student);
        t.write(STUDENTS, students)?;
        let mut enrollments = enrollments(t)?;
        enrollments.retain(|(enrolled, _)| enrolled != student);
        t.write(ENROLLMENTS, enrollments)
    })
}

/// Creates a course, or changes its capacity.
pub fn create_course(session: &Session, course: &str, capacity: usize) -> Result<(), Error> {
    session.retry(ATTEMPTS, |t| {
        let mut courses = courses(t)?;
        courses.insert(course.to_owned(), capacity);
        t.write(COURSES, courses.into_iter().collect::<Value>())
    })
}

/// Removes a course and everybody's enrollment in it.
pub fn remove_course(session: &Session, course: &str) -> Result<(), Error> {
    session.retry(ATTEMPTS, |t| {
        let mut courses = courses(t)?;
        courses.remove(course);
        t.write(COURSES, courses.into_iter().collect::<Value>())?;
        let mut enrollments = enrollments(t)?;
        enrollments.retain(|(_, in_course)| in_course != course);
        t.write(ENROLLMENTS, enrollments)
    })
}

/// Enrolls a student in a course that has a place left.
pub fn enroll(session: &Session, student: &str, course: &str) -> Result<Enrollment, Error> {
    session.retry(ATTEMPTS, |t| {
        let students = students(t)?;
        let Some(&capacity) = courses(t)?.get(course) else { return Ok(Enrollment::Invalid) };
        if !students.contains(student) {
            return Ok(Enrollment::Invalid);
        }
        let mut enrollments = enrollments(t)?;
        if enrollments.iter().filter(|(_, in_course)| in_course == course).count() >= capacity {
            return Ok(Enrollment::Full);
        }
        enrollments.insert((student.to_owned(), course.to_owned()));
        t.write(ENROLLMENTS, enrollments)?;
        Ok(Enrollment::Confirmed)
    })
}

/// The students in a course.
pub fn participants(session: &Session, course: &str) -> Result<BTreeSet<String>, Error> {
    session.retry(ATTEMPTS, |t| {
        let enrollments = enrollments(t)?.into_iter();
        Ok(enrollments.filter(|(_, in_course)| in_course == course).map(|(student, _)| student).collect())
    })
}

/// Opens the department with these students, and these courses with their capacities.
pub fn open(db: &Db, students: &[&str], courses: &BTreeMap<&str, usize>) {
    db.init(STUDENTS, BTreeSet::from_iter(students.iter().copied()));
    db.init(COURSES, courses.iter().map(|(&course, &capacity)| (course, capacity)).collect::<Value>());
    db.init(ENROLLMENTS, BTreeSet::<String>::new());
}

fn students(t: &Transaction<'_>) -> Result<BTreeSet<String>, Error> {
    t.read(STUDENTS)
}

fn courses(t: &Transaction<'_>) -> Result<BTreeMap<String, usize>, Error> {
    Ok(t.read::<Vec<(String, usize)>>(COURSES)?.into_iter().collect())
}

fn enrollments(t: &Transaction<'_>) -> Result<BTreeSet<(String, String)>, Error> {
    t.read(ENROLLMENTS)
}

/// A seminar with one place and a lecture. Three students register, try to get into the seminar, and enroll in the
/// lecture. Returns what became of the tries.
pub fn rush(db: &Db) -> Vec<Enrollment> {
    open(db, &[], &BTreeMap::from([("seminar", 1), ("lecture", 100)]));
    let clients = ["ann", "bob", "eve"].map(|student| {
        db.spawn(student, move |session| {
            register_student(&session, student).expect(RETRIED);
            let seminar = enroll(&session, student, "seminar").expect(RETRIED);
            enroll(&session, student, "lecture").expect(RETRIED);
            seminar
        })
    });
    db.join_all();
    clients.into_iter().map(|client| client.join()).collect()
}

/// Whether more students have been told that they are in than there are places; nobody leaves.
pub fn overflows(seminar: &[Enrollment]) -> bool {
    seminar.iter().filter(|&&answer| answer == Enrollment::Confirmed).count() > 1
}

/// The test: no course has more participants than places.
pub fn no_course_overflows(db: Db) {
    let seminar = rush(&db);
    assert!(!overflows(&seminar), "one place, and more than one student was told to have it");
}

/// A seminar and a lecture. Two students register and enroll in both, while the secretary creates a replacement for the
/// seminar, removes the seminar, and looks who is in it. Returns whom she sees.
pub fn cancellation(db: &Db) -> BTreeSet<String> {
    open(db, &[], &BTreeMap::from([("seminar", 10), ("lecture", 100)]));
    for student in ["ann", "bob"] {
        db.spawn(student, move |session| {
            register_student(&session, student).expect(RETRIED);
            enroll(&session, student, "seminar").expect(RETRIED);
            enroll(&session, student, "lecture").expect(RETRIED);
        });
    }
    let secretary = db.spawn("secretary", |session| {
        create_course(&session, "workshop", 10).expect(RETRIED);
        remove_course(&session, "seminar").expect(RETRIED);
        participants(&session, "seminar").expect(RETRIED)
    });
    db.join_all();
    secretary.join()
}

/// The test: once a course is removed, nobody is seen in it.
pub fn nobody_is_in_a_removed_course(db: Db) {
    let left: Vec<String> = cancellation(&db).into_iter().collect();
    assert!(left.is_empty(), "in a course that was removed: {}", left.join(", "));
}
