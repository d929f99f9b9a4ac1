//! Certificates: what the graph says is verified again, and what was changed is not.

use skew_prove::certificate::data::{LevelPart, Outcome, Script};
use skew_prove::certificate::{Certificate, Unproved, check, is_of, write};
use skew_prove::robust::answer::Effort;
use skew_prove::robust::{LEVELS, Question, Robustness};

use crate::generate::{generate, with_levels};
use crate::{example, load};

const SESSIONS: [bool; 2] = [true, false];

/// An application's certificate for all levels at which it is robust, if there are any.
fn certificate(text: &str, sessions: bool) -> (Robustness, Option<Certificate>, usize) {
    let (database, app) = load(text);
    let robustness = Robustness::of(&database, &app).expect("an application");
    let question = Question { sessions, ..Question::default() };
    let robust = LEVELS.into_iter().filter(|level| {
        let searched = robustness.cycles(*level, &question);
        searched.suspects.is_empty() && searched.limit.is_none()
    });
    let answers: Vec<_> = robust
        .map(|level| robustness.answer(&database, &app, level, &question, &[], Effort::default()).expect("an answer"))
        .collect();
    let (certificate, left_out) = write("app.sql", &robustness, &question, &answers);
    for one in &left_out {
        println!("{text}\n{}, sessions {sessions}: {}", one.level, one.why);
    }
    let is_empty = certificate.levels.is_empty();
    (robustness, (!is_empty).then_some(certificate), left_out.len())
}

fn no_solver(_: &Script) -> Result<(), Unproved> {
    Err(Unproved::NotKnown("there is no solver".to_owned()))
}

fn of_example(name: &str) -> (Robustness, Certificate) {
    let (robustness, certificate, _) = certificate(&example(&format!("{name}.sql")), true);
    (robustness, certificate.expect("it is robust at some level"))
}

#[test]
fn what_the_graph_says_about_the_examples_is_verified_again() {
    // With the order of sessions, and without.
    for (name, with, without) in [
        ("auction", "si", "si"),
        ("cassieq", "si", "si"),
        ("currency_exchange", "pc si", "pc si"),
        ("fusion_ticket", "si", "si"),
        ("playlist", "si", "si"),
        ("roomstore", "pc si", "pc si"),
        ("shop", "si", "psi si"),
        ("shopping_cart", "rc ra cc mvrc pc psi si", "rc ra cc mvrc pc psi si"),
        ("withdraw", "si", "psi si"),
    ] {
        for (sessions, levels) in SESSIONS.into_iter().zip([with, without]) {
            let (robustness, certificate, _) = certificate(&example(&format!("{name}.sql")), sessions);
            let certificate = certificate.unwrap_or_else(|| panic!("{name} is robust at some level"));
            let read = Certificate::from_json(&certificate.to_json()).expect("its own JSON");
            assert_eq!(read, certificate);
            let checked = check(&read, &no_solver).unwrap_or_else(|error| panic!("{name}: {error}"));
            is_of(&read, &robustness).unwrap_or_else(|error| panic!("{name}: {error}"));
            for level in levels.split(' ') {
                assert!(checked.levels.contains(&level.to_owned()), "{name} at {level}: {:?}", checked.levels);
            }
        }
    }
}

#[test]
fn what_the_graph_says_about_generated_applications_is_verified_again() {
    let seeds = std::env::var("SKEW_SEEDS").map_or(0..150, |text| {
        let (from, to) = text.split_once("..").expect("SKEW_SEEDS reads 0..100");
        from.parse().expect("a number")..to.parse().expect("a number")
    });
    let (mut verified, mut left_out) = (0, 0);
    for seed in seeds {
        for (make, sessions) in [(generate as fn(u64) -> _, true), (generate, false), (with_levels, true)] {
            let generated = make(seed);
            let (_, certificate, unverified) = certificate(&generated.text, sessions);
            left_out += unverified;
            let Some(certificate) = certificate else { continue };
            match check(&certificate, &no_solver) {
                Ok(checked) => verified += checked.levels.len(),
                Err(error) => panic!("seed {seed}, sessions {sessions}: {error}\n{}", generated.text),
            }
        }
    }
    println!("{verified} verdicts verified again, {left_out} not");
    assert!(verified > 0 && left_out * 50 <= verified, "{verified} verdicts verified again, {left_out} not");
}

/// Whether somebody notices.
fn is_refused(certificate: &Certificate, robustness: &Robustness) -> bool {
    check(certificate, &no_solver).is_err() || is_of(certificate, robustness).is_err()
}

#[test]
fn a_certificate_without_one_of_its_dependencies_is_refused() {
    for name in ["auction", "fusion_ticket", "withdraw"] {
        let (_, certificate) = of_example(name);
        for at in 0..certificate.summaries[0].edges.len() {
            let mut changed = certificate.clone();
            changed.summaries[0].edges.remove(at);
            let error = check(&changed, &no_solver).expect_err("a dependency is missing");
            assert!(error.ends_with("is missing"), "{error}");
        }
    }
}

#[test]
fn a_certificate_with_another_equality_is_refused() {
    let (_, certificate) = of_example("auction");
    for at in 0..certificate.summaries[0].edges.len() {
        let mut changed = certificate.clone();
        let edge = &mut changed.summaries[0].edges[at];
        match edge.equal.pop() {
            Some(_) => {}
            None => edge.equal.push((0, 0)),
        }
        let error = check(&changed, &no_solver).expect_err("an equality is another one");
        assert!(error.contains("which values are equal"), "{error}");
    }
}

#[test]
fn a_certificate_without_a_reason_is_refused() {
    let (_, certificate) = of_example("playlist");
    assert!(!certificate.summaries[0].apart.is_empty());
    for at in 0..certificate.summaries[0].apart.len().min(20) {
        let mut changed = certificate.clone();
        changed.summaries[0].apart.remove(at);
        let error = check(&changed, &no_solver).expect_err("a reason is missing");
        assert!(error.ends_with("the reason is missing"), "{error}");
        let mut changed = certificate.clone();
        changed.summaries[0].apart[at].reason = "because".to_owned();
        assert!(check(&changed, &no_solver).is_err());
    }
}

#[test]
fn a_certificate_of_another_level_is_refused() {
    let (_, everywhere) = of_example("shopping_cart");
    for (name, level) in [("auction", "psi"), ("withdraw", "psi"), ("currency_exchange", "psi"), ("withdraw", "pc")] {
        let (_, mut certificate) = of_example(name);
        let rule = everywhere.levels.iter().find(|part| part.level == level).expect("it is robust at every level");
        certificate.levels = vec![LevelPart { level: level.to_owned(), ..certificate.levels[0].clone() }];
        let error = check(&certificate, &no_solver).expect_err("the rule is that of another level");
        assert!(error.contains("its rule reads"), "{error}");
        certificate.levels = vec![rule.clone()];
        let error = check(&certificate, &no_solver).expect_err("it is not robust there");
        let is_known = error.contains("a cycle is not excluded") || error.contains("there is no summary");
        assert!(is_known && (level == "pc" || error.contains("cycle")), "{name} {level}: {error}");
    }
}

#[test]
fn a_certificate_with_other_programs_is_refused() {
    let (robustness, certificate) = of_example("fusion_ticket");
    let programs = &certificate.summaries[0].programs;
    for (program, way) in
        programs.iter().enumerate().flat_map(|(at, one)| (0..one.ways.len()).map(move |way| (at, way)))
    {
        for access in 0..programs[program].ways[way].accesses.len() {
            let mut changed = certificate.clone();
            changed.summaries[0].programs[program].ways[way].accesses.remove(access);
            assert!(is_refused(&changed, &robustness), "without access {access}");
            let mut changed = certificate.clone();
            let one = &mut changed.summaries[0].programs[program].ways[way].accesses[access];
            one.writes.clear();
            one.reads.clear();
            assert!(is_refused(&changed, &robustness), "access {access} does nothing");
            let mut changed = certificate.clone();
            let one = &mut changed.summaries[0].programs[program].ways[way].accesses[access];
            one.outcome = if one.outcome == Outcome::Found { Outcome::Open } else { Outcome::Found };
            assert!(is_refused(&changed, &robustness), "access {access} finds something else");
        }
        let mut changed = certificate.clone();
        changed.summaries[0].programs[program].ways.remove(way);
        assert!(is_refused(&changed, &robustness), "without way {way}");
    }
    for table in 0..certificate.summaries[0].tables.len() {
        let mut changed = certificate.clone();
        changed.summaries[0].tables[table].deleted ^= true;
        assert!(check(&changed, &no_solver).is_err(), "table {table} is deleted from, or not");
    }
}

#[test]
fn a_certificate_about_nothing_is_refused() {
    let (_, mut certificate) = of_example("withdraw");
    certificate.levels.clear();
    assert_eq!(check(&certificate, &no_solver), Err("it is about no level".to_owned()));
    let (_, mut certificate) = of_example("withdraw");
    certificate.levels.push(certificate.levels[0].clone());
    assert_eq!(check(&certificate, &no_solver), Err("it is about si twice".to_owned()));
    let (_, mut certificate) = of_example("withdraw");
    certificate.levels[0].argument = "solver".to_owned();
    assert_eq!(check(&certificate, &no_solver), Err("si: the solver was asked nothing".to_owned()));
    certificate.levels[0].scripts =
        vec![Script { purpose: "no cycle of two".to_owned(), text: "(check-sat)".to_owned() }];
    let unknown = check(&certificate, &no_solver).expect("nothing is wrong with it");
    assert_eq!((unknown.levels.len(), unknown.open), (0, vec!["si: no cycle of two: there is no solver".to_owned()]));
    let sat = check(&certificate, &|_| Err(Unproved::Satisfiable));
    assert_eq!(sat, Err("si: no cycle of two: the solver says sat".to_owned()));
    let believed = check(&certificate, &|_| Ok(())).expect("nothing is wrong with it");
    assert_eq!((believed.levels, believed.believed), (vec!["si".to_owned()], vec!["si".to_owned()]));
}
